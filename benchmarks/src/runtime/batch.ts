/**
 * Throughput of several rows in one pass over one after the other on the plain engine, three ways: steps of one token behind prompts of different
 * cases; groups of samples of one case, as group-relative training asks for them; and repairs of different cases, most of whose time is their prompts,
 * which a batch reads no faster. All arms in turn, answers compared with the plain engine's.
 */
import { readFile } from 'node:fs/promises';
import type { RepairRequest } from '@contractrl/core';
import type { RepairRecord } from '@contractrl/core/records';
import type { TokenId } from '@contractrl/grammar-mask';
import { createRepairer, openBatch, readGguf, type Batch, type Clock, type Engine, type EngineStep, type KvCache, type Repairer, type Sampling } from '@contractrl/runtime-webgpu';
import type { Runtime } from '@contractrl/runtime-webgpu/node';
import { allCases, promptIds, rotated, spread } from './cases.ts';
import { importOrt, taken } from './wasm-runtime.ts';

/** Rows at once; 0 is the plain engine. */
const BATCH_WIDTHS: readonly number[] = [0, 1, 2, 4, 8];
const GROUP_SIZE = 8;
/** Of the cases, for groups. */
const GROUPS = 3;
/** Tokens behind each prompt. */
const STEPS = 32;

export interface BatchArm {
  readonly width: number;
  /** By round, all rows' steps. */
  readonly decodeMs: readonly number[];
  readonly repairsMs: readonly number[];
  readonly groupsMs: readonly number[];
  /** Greedy answers of the cases that are those of the plain engine, in the last round. */
  readonly sameRepairs: number;
  /** Sampled ones: where a thousand words are about as likely, the last digits of a sum choose among them. */
  readonly sameSamples: number;
}

export interface BatchRun {
  readonly caseCount: number;
  readonly groupCount: number;
  readonly groupSize: number;
  readonly threads: number;
  readonly rowCount: number;
  /** In each row. */
  readonly stepCount: number;
  /** Between the last hidden states of the rows in any arm, and the plain engine's. */
  readonly largestDifference: number;
  readonly arms: readonly BatchArm[];
}

export interface BatchBenchOptions {
  readonly caseCount: number;
  readonly rounds: number;
  readonly threads: number;
  readonly clock: Clock;
  readonly log: (line: string) => void;
}

export async function measureBatch(runtime: Runtime, { caseCount, rounds, threads, clock, log }: BatchBenchOptions): Promise<BatchRun> {
  const { adapter, model: located } = runtime;
  const widest = Math.max(...BATCH_WIDTHS);
  const model = taken(await readGguf(new Uint8Array(await readFile(located.path))));
  const batch = taken(await openBatch({ ort: await importOrt('node', threads), model, graph: { format: 'q41x' }, executionProvider: 'cpu', threadCount: threads, width: widest }));
  taken(batch.engine.useAdapter(adapter));
  const cases = spread(allCases(), caseCount);
  const greedy = cases.map((request): Asked => ({ request, sampling: { kind: 'greedy' } }));
  const groups = spread(cases, GROUPS).flatMap((request) => Array.from({ length: GROUP_SIZE }, (_, seed): Asked => ({ request, sampling: { kind: 'random', temperature: 1, topP: 1, seed } })));
  const prompts = spread(allCases(), widest).map((request) => promptIds(request, runtime.tokenizer));
  const rows = prompts.map((prompt, index) => ({ prompt, rest: prompts[(index + 1) % widest]!.slice(0, STEPS) }));

  const arms = BATCH_WIDTHS.map((width) => ({ width, decodeMs: [] as number[], repairsMs: [] as number[], groupsMs: [] as number[], sameRepairs: 0, sameSamples: 0 }));
  const expected = { states: [] as readonly Float32Array[], repairs: [] as readonly string[], samples: [] as readonly string[] };
  let largestDifference = 0;
  // round 0 is the warm-up, and begins with the plain engine, whose answers are expected of all
  for (let round = 0; round <= rounds; round += 1) {
    for (const arm of rotated(arms, round === 0 ? 0 : round)) {
      const on: Runner = arm.width === 0 ? alone(runtime.engine) : inBatch(batch, arm.width);
      const decoded = await step(on, rows, clock);
      const repairs = await repairAll({ ...runtime, engine: on.engine }, on, greedy, clock);
      const grouped = await repairAll({ ...runtime, engine: on.engine }, on, groups, clock);
      if (round === 0 && arm.width === 0) Object.assign(expected, { states: decoded.states, repairs: repairs.answers, samples: grouped.answers });
      largestDifference = Math.max(largestDifference, ...decoded.states.map((state, index) => difference(state, expected.states[index]!)));
      arm.sameRepairs = sameCount(repairs.answers, expected.repairs);
      arm.sameSamples = sameCount(grouped.answers, expected.samples);
      log(`round ${String(round)}, width ${String(arm.width)}: decoding ${decoded.ms.toFixed(0)} ms, groups ${grouped.ms.toFixed(0)} ms, repairs ${repairs.ms.toFixed(0)} ms; the same ${String(arm.sameRepairs)} of ${String(greedy.length)} repairs, ${String(arm.sameSamples)} of ${String(groups.length)} samples`);
      if (round === 0) continue;
      arm.decodeMs.push(decoded.ms);
      arm.repairsMs.push(repairs.ms);
      arm.groupsMs.push(grouped.ms);
    }
  }
  await batch.engine.dispose();
  return { caseCount: cases.length, groupCount: groups.length / GROUP_SIZE, groupSize: GROUP_SIZE, threads, rowCount: rows.length, stepCount: STEPS, largestDifference, arms };
}

/** Where works run: one after the other, or so many at once. */
interface Runner {
  readonly engine: Engine;
  readonly width: number;
  run<T>(work: () => Promise<T>): Promise<T>;
}

function alone(engine: Engine): Runner {
  return { engine, width: 1, run: (work) => work() };
}

function inBatch(batch: Batch, width: number): Runner {
  return { engine: batch.engine, width, run: (work) => batch.run(work) };
}

/** `width` workers take the items in order, each in a row for as long as it has any. */
async function overAll<T, R>({ width, run }: Runner, items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  let next = 0;
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, () => run(async () => {
    while (next < items.length) {
      const index = next;
      next += 1;
      results[index] = await work(items[index]!);
    }
  })));
  return results;
}

interface Row {
  readonly prompt: readonly TokenId[];
  /** Which ids they are has no bearing on the time. */
  readonly rest: readonly TokenId[];
}

/** Reads `rest` token by token in each row. Prompts are read before the clock starts. */
async function step(on: Runner, rows: readonly Row[], clock: Clock): Promise<{ readonly ms: number; readonly states: readonly Float32Array[] }> {
  const { engine } = on;
  const starts: { readonly cache: KvCache; readonly rest: readonly TokenId[] }[] = [];
  for (const { prompt, rest } of rows) starts.push({ cache: taken(await engine.extend(engine.emptyCache, prompt)).cache, rest });
  const from = clock();
  const states = await overAll(on, starts, async ({ cache, rest }) => {
    let at: Pick<EngineStep, 'cache' | 'hidden'> = { cache, hidden: new Float32Array(0) };
    for (const token of rest) at = taken(await engine.extend(at.cache, [token]));
    return at.hidden;
  });
  return { ms: clock() - from, states };
}

interface Asked {
  readonly request: RepairRequest;
  readonly sampling: Sampling;
}

async function repairAll(parts: Pick<Runtime, 'engine' | 'tokenizer' | 'vocabulary'>, on: Runner, asked: readonly Asked[], clock: Clock): Promise<{ readonly ms: number; readonly answers: readonly string[] }> {
  const repairer: Repairer = createRepairer({ ...parts, clock });
  const from = clock();
  const records = await overAll(on, asked, async ({ request, sampling }) => (await repairer.repairToRecord(request, { deterministic: false, sampling })).record);
  return { ms: clock() - from, answers: records.map(answerOf) };
}

function answerOf({ status, reason, arguments: given }: RepairRecord): string {
  return JSON.stringify([status, reason ?? null, given ?? null]);
}

function sameCount(answers: readonly string[], expected: readonly string[]): number {
  return answers.filter((answer, index) => answer === expected[index]).length;
}

function difference(a: Float32Array, b: Float32Array): number {
  return a.reduce((largest, value, index) => Math.max(largest, Math.abs(value - b[index]!)), 0);
}
