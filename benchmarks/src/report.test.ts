import { Gold } from '@contractrl/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { counterCase, scriptedArm } from '../tests/scripted-arm.ts';
import type { CaseGold } from './datasets/case.ts';
import type { Manifest } from './manifest.ts';
import type { FrozenRun } from './record.ts';
import { renderReport } from './report.ts';
import { runArms } from './run.ts';
import { scoreRun, type CaseScore } from './score.ts';

const cases = ['a', 'b', 'c', 'd'].map((id) => counterCase(id, '{"n":"5"}'));
const gold = new Map<string, Gold<CaseGold>>(cases.map(({ request }) => [
  request.id, new Gold<CaseGold>(request.id === 'd' ? { kind: 'abstain' } : { kind: 'one-of', acceptable: [{ n: 5 }], abstainOk: false }),
]));
const arms = [
  scriptedArm('first', { a: '{"n":5}', b: '{"n":5}', c: '{"n":7}', d: { decline: 'x/declined' } }),
  scriptedArm('second', { a: '{"n":5}', b: { decline: 'x/declined' }, c: '{"n":0}', d: '{"n":1}' }),
];
const manifest: Manifest = {
  title: 'A small run', seed: 13, data: {}, caseCount: 4, recordsDigest: '', ledger: { count: 0, head: '' as never }, versions: {},
  arms: arms.map(({ name, description, identity }) => ({ name, description, identity })),
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
    expect(report).toContain('| first | 4 | 3 (75 %, 30–95) | 2 | 1 | 0 | 0 | 1 (25 %, 5–70) | 0 | 3 | 0 (0 %, 0–79) |');
    expect(report).toContain('| second | 4 | 1 (25 %, 5–70) | 1 | 0 | 1 | 1 | 1 (25 %, 5–70) | 0 | 2 | 2 (67 %, 21–94) |');
  });

  test('counts statuses and the reasons of what was not dispatched', () => {
    expect(report).toContain('| first | 0 | 3 | 1 | 0 | 0 | x/declined 1 |');
    expect(report).toContain('| second | 0 | 2 | 1 | 0 | 1 | shot/still-invalid 1, x/declined 1 |');
  });

  // checklist: D7, D8, D9, D10, D16
  test('gives means of cost and n/a for a metric that an arm does not have', () => {
    expect(report).toContain('| first | 0.75 | 7.50 | 5.25 | 0.75 | 5.00 | 5.00 | n/a | 0.00 | 0.00 |');
  });

  test('compares arms on the same cases, and names the wrong ones', () => {
    expect(report).toContain('- first right and second not: 2; the other way round: 0 (exact paired test, p = 0.5000).');
    expect(report).toContain('- first: c\n- second: d\n');
  });

  // checklist: E5
  test('names seed, machine and the digest of the records', () => {
    expect(report).toContain(`Seed 13. Records SHA-256 \`${run.digest}\`. Machine: a processor, 2 threads, linux x64, Node 20.19.0.`);
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
