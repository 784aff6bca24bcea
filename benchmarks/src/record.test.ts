import type { Digest } from '@contractrl/core';
import { describe, expect, test } from 'vitest';
import { counterCase, scriptedArm } from '../tests/scripted-arm.ts';
import { freezeRun, type CaseRecord, type RunCase } from './record.ts';
import { runArms } from './run.ts';

async function oneCase(): Promise<RunCase> {
  const run = await runArms([counterCase('c', '{"n":"5"}')], [scriptedArm('scripted', { c: '{"n":5}' })], { aborted: false }, () => undefined);
  return run!.cases[0]!;
}

describe('freezeRun', () => {
  test('gives the same digest for the same records and another for any change', async () => {
    const one = await oneCase();
    const slower = { ...one, record: { ...one.record, timing: { ...one.record.timing, totalMs: 99 } } };
    expect(freezeRun([one]).digest).toBe(freezeRun([one]).digest);
    expect(freezeRun([slower]).digest).not.toBe(freezeRun([one]).digest);
  });

  test('hands out records that cannot be changed', async () => {
    const { record } = freezeRun([await oneCase()]).cases[0]!;
    expect(() => { (record.tokens as { prompt: number }).prompt = 0; }).toThrow(TypeError);
  });

  test('refuses a case that an arm has twice', async () => {
    const one = await oneCase();
    expect(() => freezeRun([one, one])).toThrow(RangeError);
  });

  test.each<{ what: string; change: Partial<CaseRecord> }>([
    { what: 'status', change: { status: 'abstained' } },
    { what: 'arguments', change: { arguments: { n: 6 } } },
    { what: 'digest', change: { ledger: '0'.repeat(64) as Digest } },
    { what: 'case', change: { id: 'other' } },
  ])('refuses a record whose $what is not that of its ledger', async ({ change }) => {
    const one = await oneCase();
    expect(() => freezeRun([{ ...one, record: { ...one.record, ...change } }])).toThrow(RangeError);
  });
});

test('a run that is aborted is no run', async () => {
  const signal = { aborted: false };
  const run = await runArms([counterCase('a', '{}'), counterCase('b', '{}')], [scriptedArm('scripted', {})], signal, () => { signal.aborted = true; });
  expect(run).toBeUndefined();
});
