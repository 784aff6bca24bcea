import type { TokenId } from '@contractrl/grammar-mask';
import { describe, expect, test } from 'vitest';
import { packSegments, type Segment } from './batch.ts';

const ids = (...values: readonly number[]): readonly TokenId[] => values as readonly TokenId[];
const step = (index: number, ...allowed: readonly number[]): Segment['steps'][number] => ({ index, allowed: Int32Array.from(allowed), weight: 1 });

describe('a prompt with two completions and one that follows the second', () => {
  const batch = packSegments([
    { tokens: ids(10, 11), steps: [] },
    { tokens: ids(20, 21), after: 0, steps: [step(0, 20), step(1, 5, 21)] },
    { tokens: ids(30), after: 0, steps: [step(0, 20, 30)] },
    { tokens: ids(40), after: 2, steps: [step(0, 40)] },
  ]);

  test('stands there once, and positions count along each path', () => {
    expect(batch.tokens).toEqual([10, 11, 20, 21, 30, 40]);
    expect(Array.from(batch.positionIds, Number)).toEqual([0, 1, 2, 3, 2, 3]);
  });

  test('each token sees its own path up to itself and nothing else', () => {
    const seen = Array.from({ length: 6 }, (_, row) => Array.from({ length: 6 }, (_column, column) => column).filter((column) => batch.bias[row * 6 + column] === 0));
    expect(seen).toEqual([[0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 1, 4], [0, 1, 4, 5]]);
    expect([...batch.bias].filter((value) => value !== 0).every((value) => value === Math.fround(-1e30))).toBe(true);
  });

  test('a step is predicted by the token before it on the path', () => {
    expect(Array.from(batch.stepPositions, Number)).toEqual([1, 2, 1, 4]);
    expect(batch.targets).toEqual([20, 21, 30, 40]);
    expect(batch.allowed.map((allowed) => [...allowed])).toEqual([[20], [5, 21], [20, 30], [40]]);
  });
});

describe('the caller’s mistakes', () => {
  const whole: Segment = { tokens: ids(1, 2), steps: [step(1, 2)] };
  test.each([
    { what: 'no segment', segments: [] },
    { what: 'no step', segments: [{ ...whole, steps: [] }] },
    { what: 'no tokens', segments: [whole, { tokens: [], steps: [] }] },
    { what: 'after a later one', segments: [{ ...whole, after: 1 }, whole] },
    { what: 'after itself', segments: [{ ...whole, after: 0 }] },
    { what: 'nothing before the step', segments: [{ tokens: ids(1, 2), steps: [step(0, 1)] }] },
    { what: 'a step past the end', segments: [{ tokens: ids(1, 2), steps: [step(2, 1)] }] },
    { what: 'a token that is not allowed', segments: [{ tokens: ids(1, 2), steps: [step(1, 1, 3)] }] },
    { what: 'a weight that is no number', segments: [{ tokens: ids(1, 2), steps: [{ ...step(1, 2), weight: Number.NaN }] }] },
  ])('$what', ({ segments }) => {
    expect(() => packSegments(segments)).toThrow(RangeError);
  });
});
