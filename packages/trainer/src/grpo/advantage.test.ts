import fc from 'fast-check';
import { expect, test } from 'vitest';
import { advantagesOf, isFlat, meanOf, type AdvantageSettings } from './advantage.ts';

const PLAIN: AdvantageSettings = { scale: 'none', baseline: true, minSpread: 0 };
const SCALED: AdvantageSettings = { ...PLAIN, scale: 'group' };
const group = fc.array(fc.integer({ min: -300, max: 200 }).map((value) => value / 100), { minLength: 2, maxLength: 16 });
const unequal = group.filter((rewards) => !isFlat(rewards, 0));

// checklist: E4
test('advantages of a group add up to nothing, whatever they are scaled by', () => {
  fc.assert(fc.property(unequal, fc.constantFrom(PLAIN, SCALED), (rewards, settings) => {
    expect(meanOf(advantagesOf(rewards, settings)!)).toBeCloseTo(0, 9);
  }));
});

test('a better episode has a larger advantage, an equal one the same', () => {
  fc.assert(fc.property(unequal, fc.constantFrom(PLAIN, SCALED), (rewards, settings) => {
    const advantages = advantagesOf(rewards, settings)!;
    for (const [i, one] of rewards.entries()) for (const [j, other] of rewards.entries()) expect(Math.sign(advantages[i]! - advantages[j]!)).toBe(Math.sign(one - other));
  }));
});

test('what all episodes get more of changes nothing', () => {
  fc.assert(fc.property(unequal, fc.integer({ min: -5, max: 5 }), (rewards, more) => {
    const [before, after] = [advantagesOf(rewards, PLAIN)!, advantagesOf(rewards.map((reward) => reward + more), PLAIN)!];
    for (const [i, value] of before.entries()) expect(after[i]).toBeCloseTo(value, 9);
  }));
});

test('scaled by the group they spread by 1, however far apart its rewards are', () => {
  fc.assert(fc.property(unequal, fc.integer({ min: 1, max: 50 }), (rewards, factor) => {
    const advantages = advantagesOf(rewards.map((reward) => 10 * factor * reward), SCALED)!;
    expect(Math.sqrt(advantages.reduce((sum, value) => sum + value * value, 0) / (rewards.length - 1))).toBeCloseTo(1, 2);
  }));
});

test.each([
  { what: 'equal rewards', rewards: [1, 1, 1], minSpread: 0, flat: true },
  { what: 'rewards within the spread', rewards: [1, 0.96, 0.98], minSpread: 0.05, flat: true },
  { what: 'rewards beyond it', rewards: [1, 0.9, 0.98], minSpread: 0.05, flat: false },
])('a group of $what teaches: $flat is flat', ({ rewards, minSpread, flat }) => {
  expect(advantagesOf(rewards, { ...PLAIN, minSpread }) === undefined).toBe(flat);
});

test('without the baseline the reward is the advantage, and a group of failures without cost teaches nothing', () => {
  const settings = { ...SCALED, baseline: false };
  expect(advantagesOf([1, 1, 0.5], settings)).toEqual([1, 1, 0.5]);
  expect(advantagesOf([0, 0], settings)).toBeUndefined();
});

test('one episode is no group', () => {
  expect(() => advantagesOf([1], PLAIN)).toThrow(RangeError);
});
