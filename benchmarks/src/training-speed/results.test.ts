import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { otherLoss, type EngineName, type SpeedComparison } from './measure.ts';
import { allowedOf, choiceOf } from './prepare-work.ts';
import { barsOf, ratioOf } from './report.ts';
import { isRegenerated, writeResults } from './results.ts';
import type { StepTaken } from './worker.ts';

const COMMITTED = fileURLToPath(new URL('../../results/training-speed', import.meta.url));
const isMeasured = existsSync(COMMITTED);

const taken = (ms: number, positions = 1600, peakBytes = 2e9): StepTaken => ({ ms, loss: 2, positions, peakBytes });
/** Of 8 examples. */
const roundOf = (ours: number, f32: number, bf16: number): Record<EngineName, StepTaken> => (
  { 'ours': taken(ours, 1000), 'ours-single': taken(2 * ours), 'torch-f32': taken(f32), 'torch-bf16': taken(bf16) }
);
const comparisonOf = (...rounds: SpeedComparison['rounds']): SpeedComparison => ({ base: 'a base', rank: 8, threads: 2, batchSize: 8, meanTokens: 200, versions: { torch: '2.15.0' }, rounds });
const surroundings = { cpu: 'a processor', threadCount: 2, platform: 'linux x64', node: '20.20.2', load: [0.5, 0.25, 0] };

test('the first round, in which all is loaded, does not count', () => {
  expect(ratioOf(comparisonOf(roundOf(9000, 1, 1), roundOf(100, 200, 90), roundOf(100, 200, 90)), 'torch-f32').mean).toBeCloseTo(2, 10);
});

test('a round twice as slow and one twice as fast are a draw', () => {
  expect(ratioOf(comparisonOf(roundOf(1, 1, 1), roundOf(100, 200, 1), roundOf(100, 50, 1)), 'torch-f32')).toEqual({ mean: 1, low: 0.5, high: 2 });
});

test('the bars are those of the engine as it trains, whatever it takes one example at a time', () => {
  const round = { ...roundOf(100, 150, 150), 'ours-single': taken(500) };
  expect(barsOf(comparisonOf(roundOf(1, 1, 1), round, round)).map(({ isMet }) => isMet)).toEqual([true, true, true]);
});

test('a bar is met where the whole interval is on the right side', () => {
  const bars = barsOf(comparisonOf(roundOf(1, 1, 1), roundOf(100, 150, 90), roundOf(100, 160, 120)));
  expect(bars.map(({ isMet }) => isMet)).toEqual([true, false, true]);
  const heavy = { ...roundOf(100, 150, 90), ours: taken(100, 1000, 7e9) };
  expect(barsOf(comparisonOf(heavy, roundOf(100, 150, 150))).map(({ isMet }) => isMet)).toEqual([true, true, false]);
});

test.each([
  { what: 'the same', losses: [2.0001, 2.0001, 2.05], engine: undefined }, { what: 'another where the batch is packed', losses: [2.001, 2, 2], engine: 'ours' },
  { what: 'another in float32', losses: [2, 2.001, 2], engine: 'torch-f32' }, { what: 'another in bfloat16', losses: [2, 2, 2.2], engine: 'torch-bf16' },
  { what: 'no number', losses: [2, Number.NaN, 2], engine: 'torch-f32' },
])('a first loss that is $what', ({ losses: [ours = 0, f32 = 0, bf16 = 0], engine }) => {
  expect(otherLoss({ 'ours': { loss: ours }, 'ours-single': { loss: 2 }, 'torch-f32': { loss: f32 }, 'torch-bf16': { loss: bf16 } })?.engine).toBe(engine);
});

test.each([{ allowed: [1, 4], length: 2 }, { allowed: [0, 1, 2, 3, 5], length: 1 }, { allowed: [0, 1, 2, 3, 4, 5], length: 0 }])('a choice among $allowed of six is written with $length ids, and read back', ({ allowed, length }) => {
  const choice = choiceOf(Int32Array.from(allowed), 6);
  expect(choice.ids).toHaveLength(length);
  expect(allowedOf(choice, 6)).toEqual(allowed);
});

test('results come back, and a changed report is noticed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'contractrl-training-speed-'));
  const report = await writeResults(folder, { surroundings, result: comparisonOf(roundOf(1, 1, 1), roundOf(800, 1600, 1200)) });
  expect(report).toContain('| PyTorch, float32 | 0.20 | 5.00 | 200 |');
  expect(report).toContain('| this package as it trains, float32 | 0.10 | 10.00 | 125 |');
  expect(await isRegenerated(folder)).toBe(true);
  const path = join(folder, 'report.md');
  await writeFile(path, (await readFile(path, 'utf8')).replace('0.20', '0.21'));
  expect(await isRegenerated(folder)).toBe(false);
  await rm(folder, { recursive: true });
});

// as long as nothing is committed there is nothing to regenerate, and no figure of this part stands anywhere
if (isMeasured) {
  test('the committed results regenerate byte by byte', async () => {
    expect(await isRegenerated(COMMITTED)).toBe(true);
  });
}
