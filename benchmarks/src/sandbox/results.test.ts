import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rewriteFile } from '../../tests/rewrite-file.ts';
import { ajvCoercion } from '../arms/ajv-coercion.ts';
import type { Arm } from '../arms/arm.ts';
import { deterministicOnly } from '../arms/deterministic-only.ts';
import { describeArms, surroundings } from '../manifest.ts';
import { renderReport } from '../report.ts';
import { scoreRun, type CaseScore } from '../score.ts';
import { retailShop, sandboxEpisodes, SANDBOX_SEED } from './episodes.ts';
import { concludeSandbox, sandboxData, verifySandbox, writeSandbox, type SandboxData, type SandboxResults } from './results.ts';
import { runSandbox, type SandboxRun } from './run.ts';
import { sandboxLeaks } from './score.ts';

const shop = retailShop();
const clock = (): number => 0;
const arms = [ajvCoercion(clock), deterministicOnly(clock)];
const draftOf = (of: readonly Arm[]): Parameters<typeof concludeSandbox>[0] =>
  ({ ...surroundings(SANDBOX_SEED, []), title: 'A small shop', caseCount: episodes.length, arms: describeArms(of) });
/** Of three tasks, which have faults that coercion hides. */
const episodes = sandboxEpisodes().slice(0, 12);

let data: SandboxData;
let run: SandboxRun;
let results: SandboxResults;
let folder: string;

async function play(of: readonly Arm[]): Promise<SandboxRun> {
  const played = await runSandbox(shop, episodes, of, { aborted: false }, () => undefined);
  if (played === undefined) throw new Error('cancelled');
  return played;
}

beforeAll(async () => {
  data = await sandboxData();
  run = await play(arms);
  const concluded = await concludeSandbox(draftOf(arms), run, data);
  if (!concluded.ok) throw new Error(concluded.error.code);
  results = concluded.value;
  folder = await mkdtemp(join(tmpdir(), 'contractrl-sandbox-'));
});
beforeEach(() => writeSandbox(folder, results));
afterAll(() => rm(folder, { recursive: true }));

// checklist: I2
test('two runs are the same bytes, times aside', async () => {
  const again = await play(arms);
  expect(JSON.stringify(again.episodes)).toBe(JSON.stringify(run.episodes));
  expect(again.repairs.cases.map(({ frozen }) => frozen.digest)).toEqual(run.repairs.cases.map(({ frozen }) => frozen.digest));
  expect(again.repairs.digest).toBe(run.repairs.digest);
});

// checklist: I1
describe('all arms work under the same conditions', () => {
  test('their ledgers open alike, but for the arm itself', () => {
    const opened = (arm: string): unknown[] => run.repairs.cases.filter(({ record }) => record.arm === arm).map(({ frozen: { opened: { contract, call, toolNames, context, requestDigest, report } } }) =>
      ({ contract, call, toolNames, context, requestDigest, report }));
    expect(opened('ajv-coercion')).toEqual(opened('deterministic'));
  });

  test.each<{ what: string; change: (request: Parameters<Arm['answer']>[0]) => Parameters<Arm['answer']>[0] }>([
    { what: 'a shorter dialogue', change: (request) => ({ ...request, request: request.request.slice(1) }) },
    { what: 'another budget', change: (request) => ({ ...request, contract: { ...request.contract, attemptBudget: 3 } }) },
    { what: 'no gates', change: (request) => ({ ...request, contract: { ...request.contract, gates: [] } }) },
    { what: 'fewer tools', change: (request) => ({ ...request, toolNames: [request.call.name] }) },
    { what: 'more of the state', change: (request) => ({ ...request, context: { ...request.context, users: {} } }) },
    { what: 'another text', change: (request) => ({ ...request, call: { ...request.call, argumentsText: `${request.call.argumentsText} ` } }) },
  ])('an arm that gets $what is found', async ({ change }) => {
    const plain = deterministicOnly(clock);
    const favoured: Arm = { ...plain, answer: (request, signal) => plain.answer(change(request), signal) };
    const played = await runSandbox(shop, episodes.slice(0, 1), [favoured], { aborted: false }, () => undefined);
    expect(await concludeSandbox(draftOf([favoured]), played!, data)).toEqual({ ok: false, error: { code: 'sandbox/other-conditions', arm: 'deterministic', id: episodes[0]!.id } });
  });
});

// checklist: D18, I3, I4
test('each trajectory has success, tool error, side effects and final object on record; an arm that hides a fault finishes more than it gets right', () => {
  const rows = (arm: string): SandboxResults['sheet'] => results.sheet.filter((row) => row.arm === arm);
  for (const [index, { id, arm, calls, finalObject, step }] of run.episodes.entries()) {
    const row = results.sheet[index]!;
    expect([row.id, row.arm]).toEqual([id, arm]);
    expect(finalObject).toEqual(run.repairs.cases[index]!.record.arguments ?? null);
    expect(calls.slice(0, step).every(({ outcome }) => outcome === 'executed')).toBe(true);
    expect(row.isSuccess && !row.isFinished).toBe(false);
  }
  const finished = (arm: string): number => rows(arm).filter(({ isFinished }) => isFinished).length;
  const successful = (arm: string): number => rows(arm).filter(({ isSuccess }) => isSuccess).length;
  expect([finished('deterministic') > 0, successful('deterministic')]).toEqual([true, finished('deterministic')]);
  expect(successful('ajv-coercion')).toBeLessThan(finished('ajv-coercion'));
  expect(rows('ajv-coercion').some(({ verdict, hasToolError, extraEffects }) => verdict === 'silently-wrong' && (hasToolError || extraEffects > 0))).toBe(true);
});

// checklist: G6
test('the sheet keeps the structural columns of every benchmark as they are, and adds to them', () => {
  const structural = scoreRun(run.repairs, data.cases, data.gold.calls);
  const names = Object.keys(structural[0]!) as (keyof CaseScore)[];
  expect(results.sheet.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])))).toEqual(structural);
  const tables = (report: string): string => report.slice(report.indexOf('## Spoilt calls'), report.indexOf('Silently wrong or unsafe'));
  expect(tables(results.report).length).toBeGreaterThan(500);
  expect(tables(results.report)).toBe(tables(renderReport(results.manifest, run.repairs, structural)));
});

// checklist: D13
test('gold in what a policy was shown is found: the call, its patch and what the tool will answer', () => {
  const { id } = episodes[0]!;
  const of = (text: string): readonly string[] => sandboxLeaks(run, data.cases, [{ arm: 'deterministic', id, texts: [text] }], data.gold).map(({ field }) => field);
  const { finalObject } = run.episodes.find((one) => one.arm === 'deterministic' && one.finalObject !== null)!;
  const shown = run.episodes.find((one) => one.finalObject === finalObject)!;
  const leaked = sandboxLeaks(run, data.cases, [{ arm: 'deterministic', id: shown.id, texts: [JSON.stringify(finalObject)] }], data.gold);
  expect(of('nothing of it')).toEqual([]);
  expect(of('{"patches":[]}')).toEqual(['patches']);
  expect(leaked.map(({ field }) => field)).toContain('acceptable');
});

const edit = (name: string, change: (text: string) => string): Promise<void> => rewriteFile(join(folder, name), change);

describe('verifySandbox', () => {
  test('regenerates every figure of what was written, byte for byte', async () => {
    expect(await verifySandbox(folder, data)).toMatchObject({ ok: true });
  });

  test.each([
    { what: 'a figure typed into the report', file: 'report.md', change: (text: string) => text.replace('12 |', '13 |'), code: 'results/report-differs' },
    { what: 'a better row of the sheet', file: 'scores.jsonl.gz', change: (text: string) => text.replace('"isSuccess":false', '"isSuccess":true'), code: 'results/scores-differ' },
    { what: 'a side effect left out', file: 'episodes.jsonl.gz', change: (text: string) => text.replace('"before":"pending"', '"before":null'), code: 'sandbox/episodes-changed' },
    { what: 'a changed ledger row', file: 'ledger.jsonl.gz', change: (text: string) => text.replace('"retries":0', '"retries":1'), code: 'results/ledger-broken' },
    { what: 'a faster record', file: 'records.jsonl.gz', change: (text: string) => text.replace('"totalMs":0', '"totalMs":-1'), code: 'results/records-changed' },
  ])('finds $what', async ({ file, change, code }) => {
    const before = await readFile(join(folder, file));
    await edit(file, change);
    expect(await readFile(join(folder, file))).not.toEqual(before);
    expect(await verifySandbox(folder, data)).toMatchObject({ ok: false, error: { code } });
  });
});

test('the committed run can be regenerated from its raw records, and holds no unsafe dispatch', async () => {
  const verified = await verifySandbox(fileURLToPath(new URL('../../results/sandbox', import.meta.url)), data);
  expect(verified).toMatchObject({ ok: true });
  expect(verified.ok && verified.value.sheet.filter(({ unsafe }) => unsafe !== null)).toEqual([]);
});
