import type { TokenId } from '@contractrl/grammar-mask';
import { createRandom } from '@contractrl/runtime-webgpu';
import * as ort from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tinyDecoder, tinyParameters, VOCABULARY_SIZE } from '../../tests/support/tiny-decoder.ts';
import { createGradientEngine, type GradientEngine } from '../gradient/gradient-engine.ts';
import { packSequences, type Pack, type Sequence } from '../gradient/pack-sequences.ts';
import type { LoraParameters } from '../gradient/parameters.ts';
import { divergenceOf, type ObjectiveSettings } from './objective.ts';
import { Updates, type Batch, type LearntDecision, type Update } from './update.ts';

const model = tinyDecoder('llama');
const SETTINGS: ObjectiveSettings = { epsilonLow: 0.05, epsilonHigh: 0.08, beta: 0.2, normalisation: 'dapo' };
const ALL = Int32Array.from({ length: VOCABULARY_SIZE }, (_, id) => id);
const PROMPT = [3, 7, 1, 19, 4, 11] as readonly TokenId[];

/** An answer behind the prompt; `allowed` by place of those of its tokens that were chosen. */
function sequence(ids: readonly number[], advantage: number, allowed: Readonly<Record<number, Int32Array>>): Sequence<LearntDecision> {
  const decisions = Object.entries(allowed).map(([place, among]): LearntDecision => ({ index: PROMPT.length + Number(place), allowed: among, advantage, scale: 1 / 12 }));
  return { tokens: [...PROMPT, ...(ids as readonly TokenId[])], decisions };
}

const FEW = Int32Array.of(2, 5, 6);
/** Two that begin alike, one twice with another advantage, and one that was forced in the middle. */
const SEQUENCES: readonly Sequence<LearntDecision>[] = [
  sequence([5, 2, 9, 8], 1.5, { 0: FEW, 1: ALL, 3: ALL }), sequence([5, 2, 10], -0.5, { 0: FEW, 1: ALL, 2: Int32Array.of(9, 10) }),
  sequence([6, 22, 13], -1, { 0: FEW, 2: ALL }), sequence([6, 22, 13], -0.25, { 0: FEW, 2: ALL }), sequence([2], 0.75, { 0: FEW }),
];

let engine: GradientEngine;
beforeAll(async () => {
  const made = await createGradientEngine({ ort, model, contextLength: 32, threadCount: 1 });
  if (!made.ok) throw new Error(made.error.code, { cause: made.error });
  engine = made.value;
});
afterAll(() => engine.dispose());

function moved({ rank, alpha, tensors }: LoraParameters, direction: readonly Float32Array[], by: number): LoraParameters {
  return { rank, alpha, tensors: tensors.map((tensor, index) => ({ ...tensor, data: tensor.data.map((value, at) => value + by * direction[index]![at]!) })) };
}

function directionOf({ tensors }: LoraParameters, seed: number): readonly Float32Array[] {
  const random = createRandom(seed);
  return tensors.map(({ data }) => data.map(() => 2 * random() - 1));
}

async function logsOf(pack: Pack<LearntDecision>, parameters: LoraParameters): Promise<Float32Array> {
  const run = await engine.run(pack.batch, parameters);
  if (!run.ok) throw new Error(run.error.code);
  return run.value.logProbabilities;
}

async function next(updates: Updates, parameters: LoraParameters): Promise<Update> {
  const update = await updates.next(parameters);
  if (!update.ok) throw new Error(update.error.code);
  return update.value;
}

const dot = (a: readonly Float32Array[], b: readonly Float32Array[]): number => a.reduce((sum, tensor, index) => sum + tensor.reduce((inner, value, at) => inner + value * b[index]![at]!, 0), 0);

describe('an inner step', () => {
  const start = tinyParameters(model.config, 2);
  const old = moved(start, directionOf(start, 1), 0.005);
  const current = moved(old, directionOf(start, 2), 0.01);
  const packs = packSequences(SEQUENCES, 14);
  const batch: Batch = { packs, told: [] };

  test.each([2, 3, 4])('has the derivative of the clipped objective, in direction %i', async (seed) => {
    const updates = new Updates(engine, batch, start, SETTINGS);
    const first = await next(updates, old);
    expect(first.clipShare).toBe(0);
    const { gradients, clipShare, divergence } = await next(updates, current);
    expect([clipShare > 0, clipShare < 1, divergence > 0]).toEqual([true, true, true]);

    const known = await Promise.all(packs.map(async (pack) => ({ old: await logsOf(pack, old), reference: await logsOf(pack, start) })));
    const objective = async (parameters: LoraParameters): Promise<number> => {
      let sum = 0;
      for (const [index, pack] of packs.entries()) {
        const logs = await logsOf(pack, parameters);
        for (const [step, taken] of pack.decisions.entries()) {
          for (const { advantage, scale } of taken) {
            const ratio = Math.exp(logs[step]! - known[index]!.old[step]!);
            const clipped = Math.min(Math.max(ratio, 1 - SETTINGS.epsilonLow), 1 + SETTINGS.epsilonHigh);
            sum += scale * (Math.min(ratio * advantage, clipped * advantage) - SETTINGS.beta * divergenceOf({ current: logs[step]!, reference: known[index]!.reference[step]! }));
          }
        }
      }
      return sum;
    };
    const direction = directionOf(start, seed);
    const h = 1e-3;
    const difference = ((await objective(moved(current, direction, h))) - (await objective(moved(current, direction, -h)))) / (2 * h);
    expect(Math.abs(difference)).toBeGreaterThan(0.01);
    // the graph goes down, the objective up
    expect(Math.abs(-dot(gradients, direction) - difference)).toBeLessThan(0.02 * Math.abs(difference));
  });

  test('that is the only one weighs each decision by its advantage', async () => {
    const updates = new Updates(engine, batch, start, { ...SETTINGS, beta: 0 });
    const { gradients } = await next(updates, old);
    const direction = directionOf(start, 5);
    let expected = 0;
    for (const { batch: packed, decisions } of packs) {
      const run = await engine.run({ ...packed, weights: Float32Array.from(decisions, (taken) => taken.reduce((sum, { advantage, scale }) => sum + advantage * scale, 0)) }, old);
      if (!run.ok) throw new Error(run.error.code);
      expected += dot(run.value.gradients, direction);
    }
    expect(dot(gradients, direction)).toBeCloseTo(expected, 5);
  });

  test('tells how far the rollout’s probabilities are from the graph’s', async () => {
    const [{ decisions: taken }] = [SEQUENCES[0]!];
    const logs = await Promise.all(packs.map((pack) => logsOf(pack, old)));
    const sum = taken.reduce((total, decision) => {
      const index = packs.findIndex(({ decisions }) => decisions.flat().includes(decision));
      return total + logs[index]![packs[index]!.decisions.findIndex((each) => each.includes(decision))]!;
    }, 0);
    for (const [off, expected] of [[0, 0], [0.3, 0.1]] as const) {
      const updates = new Updates(engine, { packs, told: [{ decisions: taken, logProbability: sum + off }] }, start, SETTINGS);
      await next(updates, old);
      expect(updates.disagreement()).toBeCloseTo(expected, 4);
    }
  });
});
