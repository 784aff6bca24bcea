import { expect, test } from 'vitest';
import { measureConformance } from './conformance.ts';
import { measureLedger } from './ledger.ts';
import { comparePatches } from './patch-agreement.ts';
import { springTraps } from './patch-traps.ts';
import { measureValidation } from './validation-speed.ts';

test('every trap is refused by a code of its own kind, and the document is left alone', () => {
  const traps = springTraps();
  expect(traps).toHaveLength(16);
  for (const { ours } of traps) expect(ours).toMatchObject({ outcome: expect.stringMatching(/^patch\//), isRefused: true, changedInput: false });
  // what the library's own validation lets through
  expect(traps.filter(({ fastJsonPatchValidate: { isRefused } }) => !isRefused).map(({ name }) => name)).toEqual([
    'move into its own child', 'replace an inherited member', 'an operation named toString', 'the escape ~2', 'a value with a member __proto__',
  ]);
});

test('admitted patches are applied as fast-json-patch applies them, and all five operations are among them', () => {
  const run = comparePatches(3_000, 1);
  expect(run).toMatchObject({ patches: 3_000, disagreements: 0, examples: [] });
  expect(Object.keys(run.operations).sort()).toEqual(['add', 'copy', 'move', 'remove', 'replace']);
  expect(comparePatches(100, 2)).toEqual(comparePatches(100, 2));
});

test('the suites come out as the tests of core say', () => {
  const suites = Object.values(measureConformance());
  expect(suites.every(({ agreed }) => agreed > 50)).toBe(true);
});

test('every round is timed, of a call of about 2 KB', () => {
  const run = measureValidation(10);
  expect([run.validUs.length, run.invalidUs.length, run.parseUs.length]).toEqual([10, 10, 10]);
  expect(Math.abs(run.textLength - 2_048)).toBeLessThan(100);
});

test('a chain of every length verifies', async () => {
  const runs = await measureLedger([10, 1_500], () => undefined);
  expect(runs.map(({ rows }) => rows)).toEqual([10, 1_500]);
  for (const { appendMs, verifyMs, readMs } of runs) expect(Math.min(appendMs, verifyMs, readMs)).toBeGreaterThan(0);
});
