import { Gold } from '@contractrl/core/ledger';
import { beforeAll, describe, expect, test } from 'vitest';
import { counterCase, scriptedArm } from '../tests/scripted-arm.ts';
import type { CaseGold } from './datasets/case.ts';
import { describeArms, type Manifest } from './manifest.ts';
import type { FrozenRun } from './record.ts';
import { renderReport } from './report.ts';
import { runArms } from './run.ts';
import { scoreRun, type CaseScore } from './score.ts';

const cases = ['a', 'b', 'c', 'd'].map((id) => counterCase(id, '{"n":"5"}'));
const gold = new Map<string, Gold<CaseGold>>(cases.map(({ request }) => [
  request.id, new Gold<CaseGold>(request.id === 'd' ? { kind: 'abstain' } : { kind: 'one-of', acceptable: [{ n: 5 }], patches: [], abstainOk: false }),
]));
const arms = [
  scriptedArm('first', { a: '{"n":5}', b: '{"n":5}', c: '{"n":7}', d: { decline: 'x/declined' } }),
  scriptedArm('second', { a: '{"n":5}', b: { decline: 'x/declined' }, c: '{"n":0}', d: '{"n":1}' }),
];
const manifest: Manifest = {
  title: 'A small run', seed: 13, data: {}, caseCount: 4, recordsDigest: '', ledger: { count: 0, head: '' as never }, versions: {},
  arms: describeArms(arms),
  machine: { cpu: 'a processor', threadCount: 2, platform: 'linux x64', node: '20.19.0' },
};

let run: FrozenRun;
let scores: readonly CaseScore[];
let report: string;
beforeAll(async () => {
  run = (await runArms(cases, arms, { aborted: false }, () => undefined))!;
  scores = scoreRun(run, cases, gold);
  report = renderReport(manifest, run, scores);
});

describe('renderReport', () => {
  // checklist: C6, I5
  test('counts every verdict of every arm, with n and a Wilson interval', () => {
    expect(report).toContain('| first | 4 | 3 (75 %, 30–95) | 2 | 1 | 0 | 0 | 1 (25 %, 5–70) | 0 | 3 |');
    expect(report).toContain('| second | 4 | 1 (25 %, 5–70) | 1 | 0 | 1 | 1 | 1 (25 %, 5–70) | 0 | 2 |');
  });

  // checklist: D3, D11, D12, D14, D15, I5
  test('gives every share its own denominator', () => {
    expect(report).toContain('| arm | canonical patch | valid at first | valid at last | pointer fixed | coverage | selective risk | fail-closed |');
    expect(report).toContain('| first | n/a | 3 of 4 (75 %, 30–95) | 3 of 4 (75 %, 30–95) | 3 of 4 (75 %, 30–95) | 3 of 4 (75 %, 30–95) | 1 of 3 (33 %, 6–79) | 1 of 2 (50 %, 9–91) |');
    expect(report).toContain('| second | n/a | 2 of 4 (50 %, 15–85) | 2 of 4 (50 %, 15–85) | 2 of 4 (50 %, 15–85) | 3 of 4 (75 %, 30–95) | 2 of 3 (67 %, 21–94) | 2 of 3 (67 %, 21–94) |');
  });

  test('counts statuses and the reasons of what was not dispatched', () => {
    expect(report).toContain('| first | 0 | 3 | 1 | 0 | 0 | x/declined 1 |');
    expect(report).toContain('| second | 0 | 2 | 1 | 0 | 1 | shot/still-invalid 1, x/declined 1 |');
  });

  // checklist: D7, D8, D9, D10, D16
  test('gives means of cost and n/a for a metric that an arm does not have', () => {
    expect(report).toContain('| first | n/a | 0.00 (0.00–0.00) | 0.00 (0.00–0.00) | 0.75 (0.25–1.00) | 0.00 (0.00–0.00) | 1.75 (1.25–2.00) | 0.00 |');
    expect(report).toContain('| first | 7.50 (2.50–10.00) | 5.25 (1.75–7.00) | 0.75 (0.25–1.00) | 5.00 | 5.00 | 5.00 |');
  });

  // checklist: D6
  test('names a collateral of none as made by construction, where every call was read as it stands', () => {
    const asPatches = { ...manifest, arms: manifest.arms.map((arm) => ({ ...arm, output: 'patch' as const })) };
    const patched = scores.map((score) => ({ ...score, collateralOp: 0 }));
    expect(renderReport(asPatches, run, patched)).toContain('| first | 0 by construction | 0.00 (0.00–0.00) |');
    const [one, ...rest] = run.cases;
    const read = { ...run, cases: [{ ...one!, record: { ...one!.record, reading: { steps: [] } } }, ...rest] } as FrozenRun;
    expect(renderReport(asPatches, read, patched)).toContain('| first | 0.00 (0.00–0.00) | 0.00 (0.00–0.00) |');
    expect(report).toContain('| first | n/a | 0.00 (0.00–0.00) |');
  });

  // checklist: G8
  test('defines every column that is a share, a mean or a quantile, once, with family and denominator', () => {
    const columns = report.split('\n').filter((line) => line.startsWith('| arm |')).flatMap((line) => line.split(' | ').slice(1)).map((cell) => cell.replace(' |', ''));
    const defined = report.split('## Definitions')[1]!.split('\n').filter((line) => line.startsWith('| ')).slice(2).map((line) => line.slice(2, -2).split(' | '));
    expect(defined.every((cells) => cells.length === 4 && cells.every((cell) => cell !== ''))).toBe(true);
    const counted = ['n', 'right call', 'abstained rightly', 'abstained wrongly', 'failed', 'unsafe', 'schema-valid', 'valid', 'repaired', 'abstained', 'rejected', 'no dispatch because'];
    expect(columns.filter((name) => !counted.includes(name)).sort()).toEqual(defined.map(([name]) => name).sort());
  });

  test('compares arms on the same cases, and names the wrong ones', () => {
    expect(report).toContain('- first right and second not: 2; the other way round: 0 (exact paired test, p = 0.5000).');
    expect(report).toContain('- first: c\n- second: d\n');
  });

  // checklist: E5
  test('names seed, machine and the digest of the records', () => {
    expect(report).toContain(`Seed 13. Records SHA-256 \`${run.digest}\`. Machine: a processor, 2 threads, linux x64, Node 20.19.0.`);
  });

  // checklist: D13
  test('says what the scan for gold in the prompts found, where there was one', () => {
    const line = 'Leaks of gold into what the policies were shown: 1, in the prompts of 7 answers.';
    const leaks = [{ arm: 'first', id: 'a', text: 0, field: 'acceptable', found: '5' }];
    expect(renderReport({ ...manifest, leakage: { answerCount: 7, leaks } }, run, scores)).toContain(line);
    expect(report).not.toContain('were shown');
  });

  // checklist: A5
  test('says what it is not', () => {
    expect(report).toContain('## What this is not');
  });

  test('is the same text for the same input', () => {
    expect(renderReport(manifest, run, scores)).toBe(report);
  });

  test.each([
    { what: 'fewer scores than records', broken: () => scores.slice(1) },
    { what: 'scores in another order', broken: () => [...scores].reverse() },
  ])('refuses $what', ({ broken }) => {
    expect(() => renderReport(manifest, run, broken())).toThrow(RangeError);
  });
});
