import { expect, test } from 'vitest';
import { openRandom } from '../random.ts';
import { drawWeighted, SuccessRecord } from './draw.ts';

function recordOf(rows: Readonly<Record<string, readonly [solved: number, asked: number]>>): SuccessRecord {
  const record = new SuccessRecord();
  for (const [id, [solved, asked]] of Object.entries(rows)) record.add(id, solved, asked);
  return record;
}

test('what is sometimes solved weighs more than what always or never is', () => {
  const record = recordOf({ always: [24, 24], never: [0, 24], sometimes: [12, 24] });
  expect(record.weight('sometimes')).toBeGreaterThan(3 * record.weight('always'));
  expect(record.weight('never')).toBeCloseTo(record.weight('always'), 12);
  expect(record.weight('unasked')).toBeGreaterThan(record.weight('always'));
  expect(record.weight('always')).toBeGreaterThan(0);
});

test('counts of several steps add up', () => {
  const record = recordOf({ a: [2, 8] });
  record.add('a', 8, 8);
  expect(record.estimate('a')).toBeCloseTo(11 / 18, 12);
});

test('items come by their weight, none twice, the same for the same seed', () => {
  const items = Array.from({ length: 20 }, (_, item) => item);
  const weightOf = (item: number): number => (item < 5 ? 10 : 1);
  const drawn = (seed: number): readonly number[] => drawWeighted(items, 5, weightOf, openRandom(seed, 'draw'));
  expect(drawn(1)).toEqual(drawn(1));
  const all = Array.from({ length: 200 }, (_, seed) => drawn(seed));
  for (const one of all) expect(new Set(one).size).toBe(5);
  const heavy = all.flat().filter((item) => item < 5).length / all.flat().length;
  // 50 of 65 in the first draw, fewer as they are used up
  expect(heavy).toBeGreaterThan(0.55);
  expect(heavy).toBeLessThan(0.8);
});

test('there are never more than there are items', () => {
  expect([...drawWeighted(['a', 'b'], 5, () => 1, openRandom(1, 'draw'))].sort()).toEqual(['a', 'b']);
});
