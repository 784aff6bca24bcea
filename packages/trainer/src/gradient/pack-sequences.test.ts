import type { TokenId } from '@contractrl/grammar-mask';
import fc from 'fast-check';
import * as ort from 'onnxruntime-node';
import { describe, expect, test } from 'vitest';
import { tinyDecoder, tinyParameters, VOCABULARY_SIZE } from '../../tests/support/tiny-decoder.ts';
import { packSegments, type PackedBatch } from './batch.ts';
import { createGradientEngine } from './gradient-engine.ts';
import { packSequences, type Decision, type Sequence } from './pack-sequences.ts';

const ALL = Int32Array.from({ length: VOCABULARY_SIZE }, (_, id) => id);
const FEW = Int32Array.of(2, 5, 6);
const PROMPT = [3, 7, 1, 19, 4, 11] as readonly TokenId[];

/** An answer behind the prompt; `allowed` by place of those of its tokens that were chosen. */
function sequence(ids: readonly number[], allowed: Readonly<Record<number, Int32Array>>): Sequence<Decision> {
  const decisions = Object.entries(allowed).map(([place, among]): Decision => ({ index: PROMPT.length + Number(place), allowed: among }));
  return { tokens: [...PROMPT, ...(ids as readonly TokenId[])], decisions };
}

/** Two that begin alike, one twice, and one that was forced in the middle. */
const SEQUENCES: readonly Sequence<Decision>[] = [
  sequence([5, 2, 9, 8], { 0: FEW, 1: ALL, 3: ALL }), sequence([5, 2, 10], { 0: FEW, 1: ALL, 2: Int32Array.of(9, 10) }),
  sequence([6, 22, 13], { 0: FEW, 2: ALL }), sequence([6, 22, 13], { 0: FEW, 2: ALL }), sequence([2], { 0: FEW }),
];
const DECISION_COUNT = SEQUENCES.flatMap(({ decisions }) => decisions).length;

/** Of few tokens, so that many have beginnings in common; of each decision the token itself and some others may be chosen. */
const anySequence: fc.Arbitrary<Sequence<Decision>> = fc.array(fc.tuple(fc.nat({ max: 2 }), fc.option(fc.subarray([0, 1, 2]), { freq: 2 })), { minLength: 2, maxLength: 8 }).map((places) => ({
  tokens: places.map(([token]) => token as TokenId),
  decisions: places.flatMap(([token, others], index): readonly Decision[] => (others === null || index === 0 ? [] : [{ index, allowed: Int32Array.from(new Set([token, ...others])).sort() }])),
}));

/** What the token at a position sees, itself included. */
function pathTo({ tokens, bias }: PackedBatch, position: number): readonly TokenId[] {
  return tokens.filter((_, other) => bias[position * tokens.length + other] === 0);
}

describe('packs', () => {
  test('have each decision once, behind the beginning of its own sequence and nothing else, and each beginning once', () => {
    fc.assert(fc.property(fc.array(anySequence, { minLength: 1, maxLength: 12 }), fc.integer({ min: 4, max: 24 }), fc.integer({ min: 1, max: 12 }), (sequences, maxLength, maxSteps) => {
      const packs = packSequences(sequences, maxLength, maxSteps);
      const taken = packs.flatMap(({ decisions }) => decisions.flat());
      const wanted = sequences.flatMap(({ decisions }) => decisions);
      expect([taken.length, new Set(taken)]).toEqual([wanted.length, new Set(wanted)]);
      for (const { batch, decisions } of packs) {
        const held = sequences.filter((each) => each.decisions.some((decision) => decisions.flat().includes(decision)));
        for (const [step, those] of decisions.entries()) {
          const past = pathTo(batch, Number(batch.stepPositions[step]));
          for (const decision of those) {
            const { tokens } = held.find((each) => each.decisions.includes(decision))!;
            expect([past, batch.targets[step], batch.allowed[step]]).toEqual([tokens.slice(0, decision.index), tokens[decision.index], decision.allowed]);
          }
        }
        const beginnings = new Set(held.flatMap(({ tokens }) => tokens.map((__, index) => tokens.slice(0, index + 1).join())));
        expect(batch.tokens).toHaveLength(beginnings.size);
        if (held.length > 1) expect([batch.tokens.length <= maxLength, decisions.length <= maxSteps]).toEqual([true, true]);
      }
    }), { numRuns: 200 });
  });

  test('hold what sequences share once, and each decision in its own step', () => {
    const [pack, ...others] = packSequences(SEQUENCES, 32);
    expect(others).toEqual([]);
    expect(pack!.batch.tokens).toHaveLength(PROMPT.length + 2 + 2 + 1 + 3 + 1);
    expect(pack!.decisions.flat()).toHaveLength(DECISION_COUNT);
    // 5 and 2 are shared by two, 6 and 13 by two
    expect(pack!.decisions.map((taken) => taken.length).sort()).toEqual([1, 1, 1, 2, 2, 2, 2]);
  });

  test('of a choice among other ids at the same place are steps of their own', () => {
    const [pack] = packSequences([sequence([5, 2], { 0: FEW }), sequence([5, 9], { 0: ALL })], 32);
    expect(pack!.decisions.map((taken) => taken.length)).toEqual([1, 1]);
  });

  test.each([
    { what: 'too long', maxLength: 11, maxSteps: 512 }, { what: 'of too many decisions', maxLength: 32, maxSteps: 4 },
  ])('are as many as it takes for none to be $what', ({ maxLength, maxSteps }) => {
    const packs = packSequences(SEQUENCES, maxLength, maxSteps);
    expect(packs.length).toBeGreaterThan(1);
    for (const { batch, decisions } of packs) expect([batch.tokens.length <= maxLength, decisions.length <= maxSteps]).toEqual([true, true]);
    expect(packs.flatMap(({ decisions }) => decisions).flat()).toHaveLength(DECISION_COUNT);
  });

  test('give the probabilities of sequences by themselves', async () => {
    const model = tinyDecoder('llama');
    const engine = await createGradientEngine({ ort, model, contextLength: 32, threadCount: 1 });
    if (!engine.ok) throw new Error(engine.error.code, { cause: engine.error });
    const parameters = tinyParameters(model.config, 2);
    const logsOf = async (batch: PackedBatch): Promise<Float32Array> => {
      const run = await engine.value.run(batch, parameters);
      if (!run.ok) throw new Error(run.error.code);
      return run.value.logProbabilities;
    };
    const [pack] = packSequences(SEQUENCES, 32);
    const logs = await logsOf(pack!.batch);
    for (const { tokens, decisions } of SEQUENCES) {
      const alone = await logsOf(packSegments([{ tokens, steps: decisions.map(({ index, allowed }) => ({ index, allowed, weight: 1 })) }]));
      for (const [index, decision] of decisions.entries()) {
        const step = pack!.decisions.findIndex((taken) => taken.includes(decision));
        expect(logs[step]).toBeCloseTo(alone[index]!, 4);
      }
    }
    await engine.value.dispose();
  });
});
