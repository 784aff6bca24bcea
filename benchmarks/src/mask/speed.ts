/**
 * Speed, all engines in one process. Per vocabulary and contract, in rounds, each engine in turn walks outputs that it has not seen. Every
 * token is checked to be allowed, outside the clock; an output that is refused on its way gives no times. We and structured-output compile
 * anew for each output, so that every state met is cold; XGrammar, whose work is done when it compiles, compiles once a round, or once in
 * all where that takes long. llguidance runs in a process of its own, after them. The order of the engines turns from round to round.
 */
import { loadavg } from 'node:os';
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { TokenId } from '@contractrl/grammar-mask';
import { CONTRACT_CASES, outputsFor, type ContractCase } from './contract-cases.ts';
import type { Awaitable, CompiledCase, Engine, EngineName, PreparedEngine } from './peers/engine.ts';
import { measureLlguidance } from './peers/llguidance.ts';
import { greedyEncoder, type TokenList, type VocabularyName } from './vocabularies.ts';

/** One engine on one contract under one vocabulary. Times in ms or µs, one number a call. */
export interface SpeedCell {
  readonly vocabulary: VocabularyName;
  readonly contract: string;
  readonly hasStringBound: boolean;
  readonly engine: string;
  readonly compileMs: readonly number[];
  /** Opening a matcher; for us: binding a new document. */
  readonly startUs: readonly number[];
  /** From the contract to the first mask. */
  readonly firstMaskMs: readonly number[];
  readonly maskUs: readonly number[];
  readonly acceptUs: readonly number[];
  /** Outputs this engine should allow and does not; they are left out of the clock. */
  readonly refusedOutputs: readonly string[];
}

export interface PreparedCell {
  readonly vocabulary: VocabularyName;
  readonly tokenCount: number;
  readonly engine: string;
  readonly prepareMs: readonly number[];
  /** Heap and buffers that stay after preparing, garbage collected before and after. */
  readonly residentBytes: number | undefined;
}

export interface SpeedRun {
  /** How many different outputs every engine was given under every contract. */
  readonly outputCount: number;
  readonly cells: readonly SpeedCell[];
  readonly prepared: readonly PreparedCell[];
  /** One-minute load average of the machine before and after each vocabulary. */
  readonly load: Readonly<Partial<Record<VocabularyName, readonly number[]>>>;
}

const ROUND_COUNT = 3;
const OUTPUTS_PER_ROUND = 2;
const OUTPUT_COUNT = ROUND_COUNT * OUTPUTS_PER_ROUND;
const PREPARE_COUNT = 3;
/** Compiling again for every round would take minutes where once takes longer than this. */
const SLOW_COMPILE_MS = 400;
/** Outputs walked before the clock, on a contract that is not measured with them: for the host's compiler. */
const WARM_UP_OUTPUTS = 4;
const WARM_UP_SALT = 1000;

interface Samples {
  readonly compileMs: number[];
  readonly startUs: number[];
  readonly firstMaskMs: number[];
  readonly maskUs: number[];
  readonly acceptUs: number[];
}

interface Timed<T> {
  readonly value: T;
  readonly ms: number;
}

async function timed<T>(run: () => Awaitable<T>): Promise<Timed<T>> {
  const start = performance.now();
  const result = run();
  if (result instanceof Promise) {
    const value = await (result as Promise<T>);
    return { value, ms: performance.now() - start };
  }
  return { value: result, ms: performance.now() - start };
}

/** One vocabulary; runs of several are put together by {@link joinSpeedRuns}. */
export async function measureSpeed(list: TokenList, engines: readonly Engine[], progress: (line: string) => void): Promise<SpeedRun> {
  const cells: SpeedCell[] = [];
  const prepared: PreparedCell[] = [];
  const loadBefore = loadavg()[0]!;
  const encode = greedyEncoder(list);
  const opened: { readonly engine: Engine; readonly ready: PreparedEngine }[] = [];
  for (const engine of engines) {
    const { ready, cell } = await prepare(engine, list);
    prepared.push(cell);
    opened.push({ engine, ready });
  }
  for (const { engine, ready } of opened) await warmUp(engine, ready, encode);
  for (const contractCase of CONTRACT_CASES) {
    progress(`${list.name}: ${contractCase.name}`);
    cells.push(...(await measureCase(list.name, contractCase, opened, encode)));
  }
  for (const { ready } of opened) ready.dispose();
  const reference = measureLlguidance(list, OUTPUT_COUNT, progress);
  if (reference !== undefined) {
    cells.push(...reference.cells);
    prepared.push(reference.prepared);
  }
  return { outputCount: OUTPUT_COUNT, cells, prepared, load: { [list.name]: [loadBefore, loadavg()[0]!].map(round) } };
}

/** `later` replaces what `earlier` says of the same vocabularies. */
export function joinSpeedRuns(earlier: SpeedRun | undefined, later: SpeedRun): SpeedRun {
  const isKept = ({ vocabulary }: { readonly vocabulary: VocabularyName }): boolean => later.load[vocabulary] === undefined;
  return {
    outputCount: later.outputCount,
    cells: [...(earlier?.cells.filter(isKept) ?? []), ...later.cells],
    prepared: [...(earlier?.prepared.filter(isKept) ?? []), ...later.prepared],
    load: { ...earlier?.load, ...later.load },
  };
}

async function prepare(engine: Engine, list: TokenList): Promise<{ readonly ready: PreparedEngine; readonly cell: PreparedCell }> {
  const prepareMs: number[] = [];
  let ready: PreparedEngine | undefined;
  let residentBytes = 0;
  for (let count = 0; count < PREPARE_COUNT; count += 1) {
    ready?.dispose();
    const before = residentNow();
    const { value, ms } = await timed(() => engine.prepare(list));
    ready = value;
    prepareMs.push(round(ms));
    // a later round would count what is left of the earlier one
    if (count === 0) residentBytes = residentNow() - before;
  }
  return { ready: ready!, cell: { vocabulary: list.name, tokenCount: list.tokens.length, engine: engine.name, prepareMs, residentBytes } };
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function residentNow(): number {
  // buffers are swept while the first collection's caller already goes on
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function warmUp(engine: Engine, ready: PreparedEngine, encode: (text: string) => readonly TokenId[]): Promise<void> {
  const [contractCase] = CONTRACT_CASES;
  const compiled = await ready.compiler(contractCase!)();
  for (let index = 0; index < WARM_UP_OUTPUTS; index += 1) {
    await walk(compiled, encode(outputsFor(contractCase!, WARM_UP_OUTPUTS, engine.slash)[index]!), WARM_UP_SALT + index, newSamples());
  }
  compiled.dispose();
}

function newSamples(): Samples {
  return { compileMs: [], startUs: [], firstMaskMs: [], maskUs: [], acceptUs: [] };
}

interface Contestant {
  readonly engine: Engine;
  readonly ready: PreparedEngine;
  readonly outputs: readonly string[];
  readonly refused: string[];
  readonly samples: Samples;
  /** Kept for the whole case where compiling is slow. */
  kept: { readonly compiled: CompiledCase; readonly ms: number } | undefined;
}

async function measureCase(
  vocabulary: VocabularyName, contractCase: ContractCase, opened: readonly { readonly engine: Engine; readonly ready: PreparedEngine }[],
  encode: (text: string) => readonly TokenId[],
): Promise<readonly SpeedCell[]> {
  const contestants: Contestant[] = opened.map(({ engine, ready }) => (
    { engine, ready, outputs: outputsFor(contractCase, OUTPUT_COUNT, engine.slash), refused: [], samples: newSamples(), kept: undefined }
  ));
  for (let turn = 0; turn < ROUND_COUNT; turn += 1) {
    for (let place = 0; place < contestants.length; place += 1) {
      const contestant = contestants[(place + turn) % contestants.length]!;
      await measureRound(contestant, contractCase, turn, encode);
    }
  }
  return contestants.map(({ engine, refused, samples, kept }) => {
    kept?.compiled.dispose();
    return { vocabulary, contract: contractCase.name, hasStringBound: contractCase.maxLength !== undefined, engine: engine.name, ...samples, refusedOutputs: refused };
  });
}

async function measureRound(contestant: Contestant, contractCase: ContractCase, turn: number, encode: (text: string) => readonly TokenId[]): Promise<void> {
  const { engine, ready, outputs, refused, samples } = contestant;
  let shared = contestant.kept;
  for (let index = turn * OUTPUTS_PER_ROUND; index < (turn + 1) * OUTPUTS_PER_ROUND; index += 1) {
    const output = outputs[index]!;
    if (shared === undefined) {
      const { value, ms } = await timed(ready.compiler(contractCase));
      samples.compileMs.push(round(ms));
      shared = { compiled: value, ms };
      if (ms > SLOW_COMPILE_MS && !COMPILES_PER_OUTPUT.has(engine.name)) contestant.kept = shared;
    }
    const found = newSamples();
    if (await walk(shared.compiled, encode(output), index, found, shared.ms)) append(samples, found);
    else refused.push(output);
    if (COMPILES_PER_OUTPUT.has(engine.name)) {
      shared.compiled.dispose();
      shared = undefined;
    }
  }
  if (shared !== contestant.kept) shared?.compiled.dispose();
}

function append(samples: Samples, found: Samples): void {
  for (const list of ['startUs', 'firstMaskMs', 'maskUs', 'acceptUs'] as const) samples[list].push(...found[list]);
}

/** Engines that fill their caches while they decode. */
const COMPILES_PER_OUTPUT: ReadonlySet<EngineName> = new Set<EngineName>(['contractrl', 'structured-output']);

/** False where the mask leaves out a token of the output, or the engine refuses it: then `samples` are not to be used. */
async function walk(compiled: CompiledCase, ids: readonly TokenId[], salt: number, samples: Samples, compileMs = 0): Promise<boolean> {
  const { value: walker, ms: startMs } = await timed(() => compiled.start(salt));
  samples.startUs.push(round(startMs * 1000));
  let isAllowed = true;
  for (const [index, id] of ids.entries()) {
    const mask = await timed(() => walker.fill());
    samples.maskUs.push(round(mask.ms * 1000));
    if (index === 0) samples.firstMaskMs.push(round(compileMs + startMs + mask.ms));
    if (!walker.isAllowed(id)) {
      isAllowed = false;
      break;
    }
    const accept = await timed(() => walker.accept(id));
    samples.acceptUs.push(round(accept.ms * 1000));
    isAllowed = accept.value;
    if (!isAllowed) break;
  }
  walker.dispose();
  return isAllowed;
}

/** Two digits are what the clock holds. */
function round(value: number): number {
  return Math.round(value * 100) / 100;
}
