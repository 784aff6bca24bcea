import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rewriteFile } from '../tests/rewrite-file.ts';
import { scriptedArm } from '../tests/scripted-arm.ts';
import { ajvCoercion } from './arms/ajv-coercion.ts';
import { describeArms, surroundings } from './manifest.ts';
import { baselineCases, conclude, verifyResults, writeResults, type Results } from './results.ts';
import { runArms } from './run.ts';

let folder: string;
let results: Results;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'contractrl-results-'));
  const cases = baselineCases().slice(0, 12);
  const arms = [ajvCoercion(() => 0), scriptedArm('scripted', { 'BC-005': '{"command":"npm test","tail":10}' })];
  const run = await runArms(cases, arms, { aborted: false }, () => undefined);
  const draft = { ...surroundings(13, []), title: 'A small run', caseCount: cases.length, arms: describeArms(arms) };
  results = conclude(draft, run!);
});
beforeEach(() => writeResults(folder, results));
afterAll(() => rm(folder, { recursive: true }));

const edit = (name: string, change: (text: string) => string): Promise<void> => rewriteFile(join(folder, name), change);

describe('verifyResults', () => {
  // checklist: I2
  test('regenerates every figure of what was written, byte for byte', async () => {
    const verified = await verifyResults(folder);
    expect(verified).toMatchObject({ ok: true });
    expect(verified.ok && verified.value.report).toBe(results.report);
  });

  test.each([
    { what: 'a figure typed into the report', file: 'report.md', change: (text: string) => text.replace('| 12 |', '| 13 |'), code: 'results/report-differs' },
    { what: 'a better verdict', file: 'scores.jsonl.gz', change: (text: string) => text.replace('silently-wrong', 'right-call'), code: 'results/scores-differ' },
    { what: 'a faster record', file: 'records.jsonl.gz', change: (text: string) => text.replace('"totalMs":5', '"totalMs":1'), code: 'results/records-changed' },
    { what: 'a record left out', file: 'records.jsonl.gz', change: (text: string) => text.slice(text.indexOf('\n') + 1), code: 'results/record-count' },
    { what: 'a changed ledger row', file: 'ledger.jsonl.gz', change: (text: string) => text.replace('"retries":0', '"retries":1'), code: 'results/ledger-broken' },
    { what: 'a ledger cut at its end', file: 'ledger.jsonl.gz', change: (text: string) => text.slice(0, text.trimEnd().lastIndexOf('\n') + 1), code: 'results/ledger-broken' },
  ])('finds $what', async ({ file, change, code }) => {
    const before = await readFile(join(folder, file));
    await edit(file, change);
    expect(await readFile(join(folder, file))).not.toEqual(before);
    expect(await verifyResults(folder)).toMatchObject({ ok: false, error: { code } });
  });

  test('finds arguments in a record that its ledger does not know', async () => {
    await edit('records.jsonl.gz', (text) => text.replace('"tail":10', '"tail":11'));
    await expect(verifyResults(folder)).rejects.toThrow(RangeError);
  });
});

test('the committed baseline can be regenerated from its raw records', async () => {
  const verified = await verifyResults(new URL('../results/baseline', import.meta.url).pathname);
  expect(verified).toMatchObject({ ok: true });
});
