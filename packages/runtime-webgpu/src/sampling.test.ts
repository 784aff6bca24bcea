import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRandom, createSampler, logSumExp, type Sampling } from './sampling.ts';

function choose(sampling: Sampling, logits: readonly number[], ids: readonly number[] = logits.map((_, index) => index)) {
  return createSampler(sampling).choose(Int32Array.from(ids), Float32Array.from(logits), logits.length);
}

function chosenId(sampling: Sampling, logits: readonly number[], ids?: readonly number[]): number {
  const choice = choose(sampling, logits, ids);
  if (!choice.ok) throw new Error(choice.error.code);
  return choice.value.id;
}

const GREEDY: Sampling = { kind: 'greedy' };
const finiteLogits = fc.array(fc.float({ min: -30, max: 30, noNaN: true }), { minLength: 1, maxLength: 40 });
const seeds = fc.integer({ min: 0, max: 2 ** 32 - 1 });

describe('greedy', () => {
  test.each([
    { name: 'the largest logit wins', logits: [0, 3, 1], ids: [5, 9, 70], id: 9 },
    { name: 'a tie goes to the lowest id', logits: [1, 2, 2, 2], ids: [4, 8, 15, 16], id: 8 },
    { name: '−Infinity among others is only improbable', logits: [-Infinity, -4], ids: [0, 3], id: 3 },
    { name: 'one id is chosen whatever its logit', logits: [-80], ids: [7], id: 7 },
  ])('$name', ({ logits, ids, id }) => expect(chosenId(GREEDY, logits, ids)).toBe(id));

  test('the log-probability is that of the masked distribution', () => {
    const choice = choose(GREEDY, [Math.log(3), Math.log(1)]);
    expect(choice.ok && choice.value.logProbability).toBeCloseTo(Math.log(0.75), 6);
  });

  test('entries beyond the count are not read', () => {
    const choice = createSampler(GREEDY).choose(Int32Array.of(1, 2, 3), Float32Array.of(0, 1, 99), 2);
    expect(choice.ok && choice.value.id).toBe(2);
  });
});

describe('logits that mean nothing end in a failure, never in id 0', () => {
  const random: Sampling = { kind: 'random', temperature: 0.7, topP: 0.9, seed: 1 };
  test.each([
    { name: 'a NaN', logits: [0, NaN, 1] },
    { name: '+Infinity', logits: [0, Infinity] },
    { name: 'all −Infinity', logits: [-Infinity, -Infinity] },
    { name: 'no logit at all', logits: [] },
  ])('$name', ({ logits }) => {
    for (const sampling of [GREEDY, random]) expect(choose(sampling, logits)).toEqual({ ok: false, error: { code: 'engine/bad-logits' } });
  });
});

describe('random', () => {
  test('the same seed gives the same choices', () => {
    fc.assert(
      fc.property(finiteLogits, seeds, (logits, seed) => {
        const draws = () => {
          const sampler = createSampler({ kind: 'random', temperature: 1, topP: 0.95, seed });
          const ids = Int32Array.from(logits.keys());
          return Array.from({ length: 5 }, () => sampler.choose(ids, Float32Array.from(logits), logits.length));
        };
        expect(draws()).toEqual(draws());
      }),
    );
  });

  test('a small top-p, or a low temperature, is greedy', () => {
    fc.assert(
      fc.property(finiteLogits, seeds, (logits, seed) => {
        const best = chosenId(GREEDY, logits);
        const second = Math.max(...logits.filter((_, index) => index !== best));
        fc.pre(logits[best]! - second > 1e-3);
        expect(chosenId({ kind: 'random', temperature: 1, topP: 1e-9, seed }, logits)).toBe(best);
        expect(chosenId({ kind: 'random', temperature: 1e-6, topP: 1, seed }, logits)).toBe(best);
      }),
    );
  });

  test('top-p never draws outside its nucleus', () => {
    const logits = [0.5, 0.3, 0.15, 0.05].map(Math.log);
    const seen = new Set(Array.from({ length: 300 }, (_, seed) => chosenId({ kind: 'random', temperature: 1, topP: 0.8, seed }, logits)));
    expect([...seen].sort()).toEqual([0, 1]);
  });

  test('frequencies follow the probabilities', () => {
    const sampler = createSampler({ kind: 'random', temperature: 1, topP: 1, seed: 7 });
    const logits = Float32Array.from([0.5, 0.3, 0.2].map(Math.log));
    const counts = [0, 0, 0];
    for (let draw = 0; draw < 10_000; draw += 1) {
      const choice = sampler.choose(Int32Array.of(0, 1, 2), logits, 3);
      if (choice.ok) counts[choice.value.id]! += 1;
    }
    expect(counts.map((count) => Math.round(count / 200) / 50)).toEqual([0.5, 0.3, 0.2]);
  });

  test.each([
    { temperature: 0, topP: 1, seed: 1 },
    { temperature: NaN, topP: 1, seed: 1 },
    { temperature: 1, topP: 0, seed: 1 },
    { temperature: 1, topP: 1.1, seed: 1 },
    { temperature: 1, topP: 1, seed: -1 },
    { temperature: 1, topP: 1, seed: 0.5 },
  ])('settings out of range are the caller’s bug: %o', (settings) => {
    expect(() => createSampler({ kind: 'random', ...settings })).toThrow(RangeError);
  });
});

test('the generator repeats a known sequence', () => {
  const random = createRandom(42);
  expect([random(), random(), random()]).toEqual([0.6011037519201636, 0.44829055899754167, 0.8524657934904099]);
});

test('logSumExp with a cut leaves out what is far below the highest, and keeps a NaN', () => {
  const logits = Float32Array.from([20, 1.99, 2.01]);
  expect(logSumExp(logits, 3, 18)).toBeCloseTo(20 + Math.log(1 + Math.exp(-17.99)), 12);
  expect(logSumExp(logits, 3, 18)).toBeLessThan(logSumExp(logits, 3));
  expect(logSumExp(Float32Array.from([1, NaN, 2]), 3, 18)).toBeNaN();
});

test('logSumExp agrees with the plain formula where that does not overflow', () => {
  fc.assert(
    fc.property(finiteLogits, (logits) => {
      const single = Float32Array.from(logits);
      expect(logSumExp(single, single.length)).toBeCloseTo(Math.log(single.reduce((sum, logit) => sum + Math.exp(logit), 0)), 5);
    }),
  );
});
