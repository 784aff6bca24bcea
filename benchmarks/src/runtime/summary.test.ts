import { describe, expect, test } from 'vitest';
import { NO_FIGURES } from './metered-engine.ts';
import type { ArmName, SpeedRow } from './speed.ts';
import type { BatchArm, BatchRun } from './batch.ts';
import { batchCurve, rankCurve, ratioOf, repairedByAll, sharesOf, timesOf, verdictsOf } from './summary.ts';

function row(arm: ArmName, id: string, totalMs: number, more: Partial<SpeedRow> = {}): SpeedRow {
  return {
    arm, id, status: 'repaired', reason: null, isChecked: true, attempts: 1, tokens: { prompt: 100, generated: 20, forced: 12 },
    timing: { totalMs, prefillMs: 0, decodeMs: 0, maskMs: 0 }, engine: null, ...more,
  };
}

describe('times', () => {
  const rows = [...Array.from({ length: 20 }, (_, index) => row('adapter', String(index), index + 1)), row('base', '0', 7)];

  test('are nearest-rank quantiles of one arm', () => {
    expect(timesOf(rows, 'adapter')).toEqual({ n: 20, p50: 10, p95: 19 });
  });

  test('leave out answers that failed their check', () => {
    expect(timesOf([...rows, row('adapter', 'x', 999, { isChecked: false })], 'adapter')).toEqual({ n: 20, p50: 10, p95: 19 });
  });

  test('of an arm without rows are undefined, and so is a ratio over it', () => {
    expect(timesOf(rows, 'node-llama-cpp')).toBeUndefined();
    expect(ratioOf(rows, 'adapter', 'node-llama-cpp')).toBeUndefined();
  });

  test('are compared quantile by quantile, ours over theirs', () => {
    const theirs = rows.map((each) => ({ ...each, arm: 'full-regeneration' as const, timing: { ...each.timing, totalMs: 4 * each.timing.totalMs } }));
    expect(ratioOf([...rows.filter(({ arm }) => arm === 'adapter'), ...theirs.slice(0, 20)], 'adapter', 'full-regeneration')).toEqual({ p50: 0.25, p95: 0.25 });
  });
});

test('only cases that every arm repaired, and with a checked answer, are common', () => {
  const rows = [
    row('adapter', 'a', 1), row('base', 'a', 2), row('adapter', 'b', 3), row('base', 'b', 4, { status: 'abstained' }),
    row('adapter', 'c', 5, { isChecked: false }), row('base', 'c', 6), row('full-regeneration', 'a', 7),
  ];
  expect(repairedByAll(rows, ['adapter', 'base']).map(({ arm, id }) => `${arm} ${id}`)).toEqual(['adapter a', 'base a']);
});

test('verdicts are counted by status, unchecked ones beside them', () => {
  const rows = [row('base', 'a', 1), row('base', 'b', 1, { status: 'failed', isChecked: false }), row('base', 'c', 1, { status: 'failed' }), row('adapter', 'a', 1)];
  expect(verdictsOf(rows, 'base')).toEqual({ n: 3, unchecked: 1, statuses: { repaired: 1, failed: 2 } });
});

describe('shares', () => {
  const engine = { ...NO_FIGURES, decodeCalls: 5, decodeMs: 30, headMs: 4 };
  const rows = [row('adapter', 'a', 100, { timing: { totalMs: 100, prefillMs: 50, decodeMs: 40, maskMs: 2 }, engine })];

  test('split the time from call to answer without a remainder', () => {
    const shares = sharesOf(rows, 'adapter')!;
    expect(shares).toMatchObject({ decodeSteps: 0.25, forcedTokens: 0.6, prefill: 0.5, layers: 0.3, head: 0.04, mask: 0.02 });
    expect(shares.sampling).toBeCloseTo(0.06);
    expect(shares.prefill + shares.layers + shares.head + shares.mask + shares.sampling + shares.rest).toBeCloseTo(1);
  });

  test('of guesses are of what was guessed, over all answers', () => {
    const guessed = row('adapter', 'b', 100, { engine, speculation: { passCount: 5, draftedTokenCount: 16, acceptedTokenCount: 12 } });
    expect(sharesOf(rows, 'adapter')).toMatchObject({ draftedTokens: 0, acceptedDrafts: undefined });
    expect(sharesOf([...rows, guessed], 'adapter')).toMatchObject({ draftedTokens: 0.4, acceptedDrafts: 0.75 });
  });

  test('weigh every answer by its time, not alike', () => {
    const slow = row('adapter', 'b', 900, { timing: { totalMs: 900, prefillMs: 0, decodeMs: 900, maskMs: 0 }, engine: { ...engine, decodeMs: 900, headMs: 0 } });
    expect(sharesOf([...rows, slow], 'adapter')!.prefill).toBeCloseTo(0.05);
  });

  test('of another’s engine are unknown', () => {
    expect(sharesOf([row('node-llama-cpp', 'a', 100)], 'node-llama-cpp')).toBeUndefined();
  });
});

describe('the curve over ranks', () => {
  test('is of medians, over those of rank 0', () => {
    const curve = rankCurve([{ rank: 0, prefillMs: [90, 100, 500], decodeMs: [10, 10, 11] }, { rank: 16, prefillMs: [120, 100, 110], decodeMs: [12, 13, 99] }]);
    expect(curve).toEqual([
      { rank: 0, prefillMs: 100, decodeMs: 10, prefillRatio: 1, decodeRatio: 1 }, { rank: 16, prefillMs: 110, decodeMs: 13, prefillRatio: 1.1, decodeRatio: 1.3 },
    ]);
  });

  test.each([
    { name: 'without rank 0', costs: [{ rank: 4, prefillMs: [1], decodeMs: [1] }] },
    { name: 'with a rank that was not measured', costs: [{ rank: 0, prefillMs: [1], decodeMs: [1] }, { rank: 4, prefillMs: [], decodeMs: [1] }] },
  ])('is unknown $name', ({ costs }) => {
    expect(rankCurve(costs)).toBeUndefined();
  });
});

describe('the curve over rows at once', () => {
  const arm = (width: number, ms: readonly number[]): BatchArm => ({ width, decodeMs: ms, groupsMs: ms, repairsMs: ms, sameRepairs: 2, sameSamples: 8 });
  const run: BatchRun = { caseCount: 2, groupCount: 1, groupSize: 8, threads: 2, rowCount: 8, stepCount: 32, largestDifference: 0, arms: [arm(0, [900, 800, 2000]), arm(8, [300, 250, 310])] };

  test('is of medians, over the plain engine’s', () => {
    expect(batchCurve(run)!.map(({ decode, groups, repairs }) => [decode, groups, repairs].map(({ perSecond, ratio }) => [Math.round(perSecond), ratio]))).toEqual([
      [[284, 1], [9, 1], [2, 1]], [[853, 3], [27, 3], [7, 3]],
    ]);
  });

  test.each([
    { name: 'without the plain engine', arms: run.arms.slice(1) }, { name: 'with an arm that was not measured', arms: [...run.arms, arm(4, [])] },
  ])('is unknown $name', ({ arms }) => {
    expect(batchCurve({ ...run, arms })).toBeUndefined();
  });
});
