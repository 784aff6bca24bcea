/**
 * What single steps of the engine cost: prompt and decode steps under adapters of several ranks, the whole head as JavaScript loops and as
 * the kernel, and whether the shipped weight format answers as f32 does.
 */
import { performance } from 'node:perf_hooks';
import type { Digest } from '@contractrl/core';
import { createRandom, LINEAR_NAMES, type Engine, type EngineStep, type KvCache, type LoraAdapter, type LoraMatrix } from '@contractrl/runtime-webgpu';
import type { TokenId } from '@contractrl/grammar-mask';
import type { Runtime } from '@contractrl/runtime-webgpu/node';
import { allCases, promptIds, rotated } from './cases.ts';

export const RANKS: readonly number[] = [0, 4, 8, 16, 64];
export const ADAPTER_SEED = 13;

export interface RankCost {
  readonly rank: number;
  /** One prompt from nothing, by round. */
  readonly prefillMs: readonly number[];
  /** One token after it, by step. */
  readonly decodeMs: readonly number[];
}

export interface RankRun {
  readonly promptTokens: number;
  readonly seed: number;
  readonly costs: readonly RankCost[];
}

const PREFILL_TOKENS = 200;
const DECODE_STEPS = 12;

/** Ranks in turn, `rounds` times, each from an empty cache. Rank 0 is no adapter, in the same session. */
export async function measureRanks({ engine, adapter, tokenizer }: Runtime, rounds: number): Promise<RankRun> {
  if (adapter === undefined) throw new Error('the shapes are those of the shipped adapter');
  const ids = longPrompt(tokenizer, PREFILL_TOKENS + DECODE_STEPS);
  const [prompt, rest] = [ids.slice(0, PREFILL_TOKENS), ids.slice(PREFILL_TOKENS)];
  const adapters = RANKS.map((rank) => ({ rank, adapter: rank === 0 ? undefined : randomAdapter(adapter, rank), prefillMs: [] as number[], decodeMs: [] as number[] }));
  // round 0 is the warm-up
  for (let round = 0; round <= rounds; round += 1) {
    for (const cost of rotated(adapters, round)) {
      use(engine, cost.adapter);
      const read = await timed(engine, engine.emptyCache, prompt);
      if (round > 0) cost.prefillMs.push(read.ms);
      let { cache } = read.step;
      for (const id of rest) {
        const next = await timed(engine, cache, [id]);
        if (round > 0) cost.decodeMs.push(next.ms);
        ({ cache } = next.step);
      }
    }
  }
  return { promptTokens: prompt.length, seed: ADAPTER_SEED, costs: adapters.map(({ rank, prefillMs, decodeMs }) => ({ rank, prefillMs, decodeMs })) };
}

/** Random numbers in the shapes of `like`, small enough to leave the activations finite; the cost does not depend on them. */
export function randomAdapter(like: LoraAdapter, rank: number): LoraAdapter {
  const random = createRandom(ADAPTER_SEED + rank);
  const draw = (length: number): Float32Array => Float32Array.from({ length }, () => 0.02 * (random() - 0.5));
  const layers = like.layers.map((linears) => Object.fromEntries(LINEAR_NAMES.flatMap((name): readonly (readonly [string, LoraMatrix])[] => {
    const matrix = linears[name];
    if (matrix === undefined) return [];
    const { inputSize, outputSize } = matrix;
    return [[name, { a: draw(rank * inputSize), b: draw(outputSize * rank), inputSize, outputSize }]];
  })));
  return { rank, alpha: 2 * rank, digest: String(rank).padStart(64, '0') as Digest, layers };
}

export interface HeadRun {
  readonly logitWidth: number;
  /** Row by row, double precision. */
  readonly loopMs: readonly number[];
  readonly kernelMs: readonly number[];
  readonly largestDifference: number;
  /** One token through the layers. */
  readonly layersMs: readonly number[];
}

/** All logits, both ways in turn. */
export async function measureHead({ engine, tokenizer }: Runtime, rounds: number): Promise<HeadRun> {
  const prompt = longPrompt(tokenizer, PREFILL_TOKENS);
  const { step } = await timed(engine, engine.emptyCache, prompt.slice(0, -1));
  const ids = Int32Array.from({ length: engine.logitWidth }, (_, id) => id);
  const [byLoop, byKernel] = [new Float32Array(ids.length), new Float32Array(ids.length)];
  const run: { readonly loopMs: number[]; readonly kernelMs: number[]; readonly layersMs: number[] } = { loopMs: [], kernelMs: [], layersMs: [] };
  let largestDifference = 0;
  // round 0 is the warm-up
  for (let round = 0; round <= rounds; round += 1) {
    const layers = await timed(engine, step.cache, prompt.slice(-1));
    const { hidden } = layers.step;
    const loopAt = performance.now();
    engine.logitsOf(hidden, ids, byLoop);
    const kernelAt = performance.now();
    engine.allLogits(hidden, byKernel);
    const endAt = performance.now();
    largestDifference = byLoop.reduce((largest, value, id) => Math.max(largest, Math.abs(value - byKernel[id]!)), largestDifference);
    if (round === 0) continue;
    run.layersMs.push(layers.ms);
    run.loopMs.push(kernelAt - loopAt);
    run.kernelMs.push(endAt - kernelAt);
  }
  return { logitWidth: ids.length, ...run, largestDifference };
}

export interface AgreementRun {
  readonly format: string;
  readonly reference: string;
  readonly prompts: number;
  readonly positions: number;
  readonly agreed: number;
  readonly largestLogitDifference: number;
}

/** Both formats read the same prompts token by token under the shipped adapter, until `positions` next tokens were compared. */
export async function measureAgreement(shipped: Runtime, reference: Runtime, positions: number, log: (line: string) => void): Promise<AgreementRun> {
  const logits = [new Float32Array(shipped.engine.logitWidth), new Float32Array(shipped.engine.logitWidth)] as const;
  let [prompts, compared, agreed, largestLogitDifference] = [0, 0, 0, 0];
  for (const request of allCases()) {
    if (compared === positions) break;
    prompts += 1;
    let caches: readonly [KvCache, KvCache] = [shipped.engine.emptyCache, reference.engine.emptyCache];
    for (const id of promptIds(request, shipped.tokenizer).slice(0, positions - compared)) {
      const [ours, theirs] = [await timed(shipped.engine, caches[0], [id]), await timed(reference.engine, caches[1], [id])];
      caches = [ours.step.cache, theirs.step.cache];
      shipped.engine.allLogits(ours.step.hidden, logits[0]);
      reference.engine.allLogits(theirs.step.hidden, logits[1]);
      compared += 1;
      if (indexOfLargest(logits[0]) === indexOfLargest(logits[1])) agreed += 1;
      largestLogitDifference = logits[0].reduce((largest, value, index) => Math.max(largest, Math.abs(value - logits[1][index]!)), largestLogitDifference);
    }
    log(`${String(agreed)} of ${String(compared)} positions agree`);
  }
  return { format: shipped.engine.identity.format, reference: reference.engine.identity.format, prompts, positions: compared, agreed, largestLogitDifference };
}

/** Of the first on a tie. */
export function indexOfLargest(values: Float32Array): number {
  return values.reduce((best, value, index) => (value > values[best]! ? index : best), 0);
}

function longPrompt(tokenizer: Runtime['tokenizer'], length: number): readonly TokenId[] {
  const ids = allCases().slice(0, 8).flatMap((request) => promptIds(request, tokenizer));
  return ids.slice(0, length);
}

function use(engine: Engine, adapter: LoraAdapter | undefined): void {
  const used = engine.useAdapter(adapter);
  if (!used.ok) throw new Error(used.error.code);
}

async function timed(engine: Engine, cache: KvCache, ids: readonly TokenId[]): Promise<{ readonly step: EngineStep; readonly ms: number }> {
  const from = performance.now();
  const step = await engine.extend(cache, ids);
  const ms = performance.now() - from;
  if (!step.ok) throw new Error(step.error.code);
  return { step: step.value, ms };
}
