/**
 * `npm run bench:runtime`: time, memory and steadiness of the policy's runtime, part by part, and the report. `measure` runs parts, some of them in
 * processes of their own; `report` renders from what is there.
 */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { openRuntime, type OpenOptions, type Runtime } from '@contractrl/runtime-webgpu/node';
import { surroundingsNow } from '../parts.ts';
import { formatLeak } from '../score.ts';
import { measureBatch } from './batch.ts';
import { allCases } from './cases.ts';
import type { ColdEngine, ColdStart } from './cold.ts';
import { measureAgreement, measureHead, measureRanks } from './costs.ts';
import { RUNTIME_PARTS, writePart, writeReport, type RuntimePart, type RuntimeParts } from './results.ts';
import { SOAK_ENGINES, type SoakRun } from './soak.ts';
import { measureSpeed, type PeerName, type PeerPlace, type SpeedRun } from './speed.ts';
import { taken } from './wasm-runtime.ts';

const RESULTS = fileURLToPath(new URL('../../results/runtime', import.meta.url));
const AGREEMENT_POSITIONS = 1500;
const SOAK_REPAIRS = 1000;
const ROUNDS = 10;
/** A round of the part batch is half a minute's work. */
const BATCH_ROUNDS_SHARE = 2;
const BATCH_CASES = 16;
/** Fresh processes on Node; on WASM one. */
const COLD_STARTS = 3;
/** One of each kind of corruption. */
const COLD_CASES = [0, 40] as const;
const CHILD = fileURLToPath(new URL('child.js', import.meta.url));

const log = (line: string): void => { process.stderr.write(`${line}\n`); };

interface MeasureOptions {
  readonly out: string;
  readonly cases: number;
  readonly threads: number;
  readonly positions: number;
  readonly repairs: number;
  readonly rounds: number;
  readonly model?: string;
  readonly peer: Readonly<Record<string, string>>;
  readonly peerMissing: Readonly<Record<string, string>>;
}

const program = new Command('bench:runtime').description('Measures the runtime of the policy.');
program.command('measure')
  .addArgument(new Argument('<parts...>', 'what to measure').choices(RUNTIME_PARTS))
  .addOption(new Option('--cases <count>', 'of the 192 or `all`, for the part speed').argParser(countOrAll).default(64))
  .addOption(new Option('--positions <count>', 'for the part agreement').argParser(positive).default(AGREEMENT_POSITIONS))
  .addOption(new Option('--repairs <count>', 'for the part soak').argParser(positive).default(SOAK_REPAIRS))
  .addOption(new Option('--rounds <count>', 'for the parts ranks and head, half as many for batch').argParser(positive).default(ROUNDS))
  .addOption(new Option('--threads <count>', 'of every engine').argParser(positive).default(availableParallelism()))
  .option('--model <file>', 'the base model, instead of the one in the cache')
  .addOption(new Option('--peer <name=folder>', 'where a peer was installed').argParser(named).default({}))
  .addOption(new Option('--peer-missing <name=reason>', 'why one was not').argParser(named).default({}))
  .option('--out <folder>', 'where raw results are written', RESULTS)
  .action(measure);
program.command('report').option('--out <folder>', 'where the raw results are', RESULTS).action(report);
await program.parseAsync();

async function measure(parts: readonly RuntimePart[], options: MeasureOptions): Promise<void> {
  for (const part of parts) {
    log(`measuring ${part}`);
    const surroundings = surroundingsNow();
    const result = await measurePart(part, options);
    await writePart<RuntimePart>(options.out, part, { surroundings, result });
    if ('leakage' in result) failOnLeaks(result);
  }
}

function measurePart(part: RuntimePart, options: MeasureOptions): Promise<RuntimeParts[RuntimePart]> | RuntimeParts[RuntimePart] {
  const { cases, positions, rounds, repairs } = options;
  switch (part) {
    case 'speed': return withRuntime(options, (runtime) => measureSpeed(runtime, { caseCount: cases, threads: options.threads, peers: peersOf(options), log }));
    case 'ranks': return withRuntime(options, (runtime) => measureRanks(runtime, rounds));
    case 'head': return withRuntime(options, (runtime) => measureHead(runtime, rounds));
    case 'agreement': return withRuntime(options, (shipped) => withRuntime({ ...options, format: 'f32' }, (reference) => measureAgreement(shipped, reference, positions, log)));
    case 'batch': return withRuntime(options, (runtime) => measureBatch(runtime, { caseCount: BATCH_CASES, rounds: Math.ceil(rounds / BATCH_ROUNDS_SHARE), threads: options.threads, clock: () => performance.now(), log }));
    case 'cold': return measureCold(options);
    case 'soak': return SOAK_ENGINES.map((engine) => inProcess<SoakRun>(['soak', engine, String(repairs)]));
  }
}

function peersOf({ peer, peerMissing }: MeasureOptions): Readonly<Record<PeerName, PeerPlace>> {
  const placeOf = (name: PeerName): PeerPlace => (peer[name] === undefined ? { reason: peerMissing[name] ?? 'it was not installed' } : { folder: peer[name] });
  return { 'node-llama-cpp': placeOf('node-llama-cpp'), 'transformers-js': placeOf('transformers-js') };
}

async function withRuntime<T>({ threads, model, format }: Pick<MeasureOptions, 'threads' | 'model'> & Pick<OpenOptions, 'format'>, work: (runtime: Runtime) => Promise<T>): Promise<T> {
  const runtime = taken(await openRuntime({ threads, ...(model === undefined ? {} : { model }), ...(format === undefined ? {} : { format }) }));
  const result = await work(runtime);
  await runtime.engine.dispose();
  return result;
}

async function measureCold(options: MeasureOptions): Promise<RuntimeParts['cold']> {
  const { threads, model } = options;
  const path = await withRuntime(options, (runtime) => Promise.resolve(runtime.model.path));
  const engines: readonly ColdEngine[] = [...Array<ColdEngine>(COLD_STARTS).fill('node'), 'wasm'];
  const requests = JSON.stringify(COLD_CASES.map((index) => allCases()[index]!));
  const starts = engines.map((engine) => inProcess<ColdStart>(['cold-start', engine, String(threads), ...(model === undefined ? [] : [model])], requests));
  return { weightBytes: statSync(path).size, starts };
}

/** What a fresh process of {@link CHILD} prints. */
function inProcess<T>(args: readonly string[], input = ''): T {
  const { status, stdout } = spawnSync(process.execPath, [CHILD, ...args], { encoding: 'utf8', input, stdio: ['pipe', 'pipe', 'inherit'] });
  if (status !== 0) throw new Error(`${args.join(' ')}: ended with ${String(status)}`);
  return JSON.parse(stdout) as T;
}

function failOnLeaks({ leakage }: SpeedRun): void {
  for (const leak of leakage?.leaks ?? []) {
    log(formatLeak(leak));
    process.exitCode = 1;
  }
}

async function report({ out }: { readonly out: string }): Promise<void> {
  const written = await writeReport(out);
  if (written.ok) {
    process.stdout.write(written.value);
    return;
  }
  log(JSON.stringify(written.error));
  process.exitCode = 1;
}

/** `name=value`, added to those before. */
function named(text: string, previous: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const [name, value] = text.split(/=(.*)/su);
  if (name === undefined || value === undefined) throw new InvalidArgumentError('must be a name, = and a value');
  return { ...previous, [name]: value };
}

function countOrAll(text: string): number {
  return text === 'all' ? Infinity : positive(text);
}

function positive(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('must be a whole number above 0');
  return count;
}
