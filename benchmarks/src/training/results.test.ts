import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rewriteFile } from '../../tests/rewrite-file.ts';
import { scriptedArm } from '../../tests/scripted-arm.ts';
import { evaluationOf, headed, surroundings } from '../../tests/scripted-evaluation.ts';
import { sealRows } from './answer-row.ts';
import { barsOf } from './bars.ts';
import { writeEvaluation, type Evaluation } from './evaluations.ts';
import { goldOf } from './gold.ts';
import { compare, heldOutCurve, measure, SHIPPED } from './measured.ts';
import { RAW, REPORT, VALIDATION, verifyTraining, writeTrainingReport } from './results.ts';
import { runArm } from './run.ts';
import { keepRun, readRuns } from './runs.ts';
import { scoreEvaluation } from './score-rows.ts';
import { requestsOf, SEEDS, sizeOf } from './sets.ts';
import { writeValidation } from './validation.ts';

const COMMITTED = fileURLToPath(new URL('../../results/training', import.meta.url));

let folder: string;
let j2: Evaluation;

beforeAll(async () => {
  j2 = await evaluationOf(SHIPPED, 'j2', 'system', (index) => index % 4 !== 0);
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'contractrl-training-'));
  await writeEvaluation(join(folder, RAW), j2);
});
afterEach(() => rm(folder, { recursive: true }));

describe('sets', () => {
  test.each([{ set: 'j2', size: 64 }, { set: 'bugcases', size: 61 }, { set: 'families', size: 230 }, { set: 'unrepairable', size: 144 }] as const)('$set has its cases, and gold for each', ({ set, size }) => {
    expect(requestsOf(set, SEEDS).map(({ id }) => id)).toEqual([...goldOf(set, SEEDS).keys()]);
    expect(sizeOf(set)).toBe(size);
  });

  test('bfcl has 192 of each seed, no call twice in one', () => {
    const ids = requestsOf('bfcl', [1]).map(({ id }) => id);
    expect(sizeOf('bfcl')).toBe(SEEDS.length * 192);
    expect([ids.length, new Set(ids.map((id) => id.slice(0, id.lastIndexOf(':')))).size]).toEqual([192, 192]);
    expect([...goldOf('bfcl', [1]).keys()]).toEqual(ids);
  });
});

describe('a run', () => {
  test('seals what was answered; a verdict needs gold', () => {
    expect(j2.sealed.rows[1]).toMatchObject({ status: 'repaired', attempts: 1 });
    expect(scoreEvaluation(j2).map(({ score }) => score.verdict).filter((verdict) => verdict === 'right-call').length).toBe(48);
    expect(() => { (j2.sealed.rows as unknown[]).pop(); }).toThrow(TypeError);
  });

  test('that was aborted is none', async () => {
    const signal = { aborted: false };
    const arm = scriptedArm('system', {});
    expect(await runArm(arm, requestsOf('j2', SEEDS), { takeShown: () => [], signal, onAnswer: (done) => { signal.aborted = done === 2; } })).toBeUndefined();
  });

  test('has no case twice', () => {
    expect(() => sealRows([j2.sealed.rows[0]!, j2.sealed.rows[0]!])).toThrow(RangeError);
  });

  test('of a case that its set does not have cannot be scored', () => {
    const sealed = sealRows([{ ...j2.sealed.rows[0]!, id: 'another' }]);
    expect(() => scoreEvaluation(headed('a', 'j2', 'system', sealed))).toThrow(RangeError);
  });
});

describe('results on disk', () => {
  test('give the same report and plots byte by byte', async () => {
    const run = join(folder, 'a-run');
    await mkdir(join(run, 'adapter'), { recursive: true });
    await writeFile(join(run, 'run.json'), '{"rank":8}\n');
    await writeFile(join(run, 'metrics.jsonl'), [
      { kind: 'step', step: 1, loss: 1.5, examplesPerSecond: 2 }, { kind: 'group', step: 1 }, { kind: 'validation', step: 1, loss: 1.25 }, { kind: 'step', step: 2, reward: 0.5, success: 0.25, unsafe: 0, flatShare: 0.5 },
    ].map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    await writeFile(join(run, 'adapter', 'adapter_model.safetensors'), 'weights');
    const curve = [{ threshold: 0.9, coverage: 0.5, risk: 0 }, { threshold: 0.1, coverage: 1, risk: 0.25 }];
    const report = { rule: { alpha: 0.1, level: 0.95 }, rows: 4, right: 3, map: 'logistic', released: { released: 2, wrong: 0, upperBound: 0.1 }, figures: { calibrationError: 0.01, brier: 0.1, areaUnderCurve: 0.9 }, curve };
    await writeFile(join(run, 'adapter', 'calibration.json'), JSON.stringify({ threshold: 0.5, report }));
    await keepRun(folder, SHIPPED, run);
    expect(readRuns(folder)).toMatchObject([{ name: SHIPPED, identity: { rank: 8 }, calibration: { threshold: 0.5 } }]);
    expect(readRuns(folder)[0]!.entries.map(({ kind }) => kind)).toEqual(['step', 'validation', 'step']);
    const row = { id: 'a', family: 'enum', difficulty: 'listed', structure: 'flat', isRepairable: true, verdict: 'right', reason: null, collateral: 0, attempts: 1, tokens: { prompt: 9, generated: 4, forced: 1 }, totalMs: 5, confidence: 0.5, signals: null } as const;
    await writeValidation(join(folder, VALIDATION), { head: { name: SHIPPED, arm: 'policy', seed: 13, identity: {}, surroundings }, rows: [row] });

    const written = await writeTrainingReport(folder);
    expect(written.ok && [...written.value.files.keys()].sort()).toEqual(['loss.svg', REPORT, 'reward.svg', 'risk-coverage.svg'].sort());
    expect(await verifyTraining(folder)).toMatchObject({ ok: true });
  });

  test.each([
    { what: 'a figure typed into the report', file: REPORT, change: (text: string) => text.replace('| 48 ', '| 49 '), code: 'training-results/not-regenerated' },
    { what: 'a declined row that is dispatched', file: join(RAW, `${SHIPPED}.j2.system.jsonl.gz`), change: (text: string) => text.replace('"status":"abstained"', '"status":"repaired"'), code: 'evaluation/rows-changed' },
    { what: 'a row left out', file: join(RAW, `${SHIPPED}.j2.system.jsonl.gz`), change: (text: string) => text.slice(0, text.trimEnd().lastIndexOf('\n') + 1), code: 'evaluation/rows-changed' },
    { what: 'a file without rows', file: join(RAW, `${SHIPPED}.j2.system.jsonl.gz`), change: () => '', code: 'evaluation/no-rows' },
  ])('with $what are noticed', async ({ file, change, code }) => {
    await writeTrainingReport(folder);
    await rewriteFile(join(folder, file), change);
    expect(await verifyTraining(folder)).toMatchObject({ ok: false, error: { code } });
  });
});

describe('bars', () => {
  const barOf = (bars: ReturnType<typeof barsOf>, about: string): readonly (boolean | undefined)[] => bars.filter(({ what }) => what.includes(about)).map(({ isMet }) => isMet);

  test('that nothing was measured for are neither met nor missed', () => {
    expect(barsOf([], []).map(({ isMet }) => isMet).every((isMet) => isMet === undefined)).toBe(true);
    const part = headed(SHIPPED, 'bugcases', 'system', sealRows([{ ...j2.sealed.rows[0]!, id: requestsOf('bugcases', [])[0]!.id }]));
    expect(barsOf(measure([part]), []).find(({ what }) => what.includes('bug reports'))).toMatchObject({ isMet: undefined, value: 'not whole: 1 of 61 cases' });
  });

  test('on declining are met by an arm that always declines, on false ones missed', async () => {
    const measured = measure([await evaluationOf(SHIPPED, 'unrepairable', 'system', () => false), await evaluationOf(SHIPPED, 'bugcases', 'system', () => false)]);
    expect(barOf(barsOf(measured, []), 'no patch may mend')).toEqual([true]);
    expect(barOf(barsOf(measured, []), 'bug reports')).toEqual([true]);
  });

  const run = { name: SHIPPED, identity: { seed: 13 }, adapterDigest: 'a'.repeat(64), entries: [{ kind: 'step', step: 1, examplesPerSecond: 0.5 }], calibration: undefined } as const;
  const optimised = { ...run, name: 'grpo', identity: { method: 'grpo', from: run.adapterDigest }, adapterDigest: 'c'.repeat(64), entries: [] } as const;
  test.each([
    { what: 'slow training is missed', runs: [run], met: [false, undefined] },
    { what: 'the same adapter again is met', runs: [{ ...run, entries: [{ kind: 'step', step: 1, examplesPerSecond: 2 }] }, { ...run, name: 'r8-again' }] as const, met: [true, true] },
    { what: 'another adapter of the same training is missed', runs: [run, { ...run, name: 'r8-again', adapterDigest: 'b'.repeat(64) }], met: [false, false] },
    { what: 'another training is no second run', runs: [run, { ...run, name: 'r4', identity: { seed: 14 } }], met: [false, undefined] },
    { what: 'what ships may have begun with another run', runs: [{ ...run, name: 'start' }, { ...optimised, name: SHIPPED }], met: [false, undefined] },
  ])('on training: $what', ({ runs, met }) => {
    expect(barOf(barsOf([], runs), 'training:')).toEqual(met);
  });

  test('on group-relative optimisation are about the run and the one that it began with', () => {
    const [whole] = measure([j2]) as [ReturnType<typeof measure>[number]];
    const measuredAs = (name: string, rows: typeof whole.rows): typeof whole => ({ head: { ...whole.head, name, set: 'bfcl', arm: 'policy' }, rows, isWhole: true });
    const better = whole.rows.map((one) => ({ ...one, score: { ...one.score, verdict: 'right-call' as const } }));
    const [start, end, same] = [measuredAs(SHIPPED, whole.rows), measuredAs('grpo', better), measuredAs('grpo', whole.rows)];
    const about = 'group-relative optimisation';
    expect(barsOf([start, end], [run, optimised]).find(({ what }) => what.includes(about))).toMatchObject({ isMet: true, value: expect.stringMatching(/^0\.250 .*, grpo less r8$/u) });
    expect(barOf(barsOf([start, same], [run, optimised]), about)).toEqual([false]);
    // no step was better than the start: the run ended with the adapter that it began with, and stands before it in the list
    expect(barOf(barsOf([], [{ ...optimised, adapterDigest: run.adapterDigest }, run]), about)).toEqual([false]);
    expect(barOf(barsOf([start, end], [run]), about)).toEqual([undefined]);
    expect(barOf(barsOf([start, end], [run, { ...optimised, identity: { method: 'grpo', from: 'd'.repeat(64) } }]), about)).toEqual([undefined]);
  });
});

describe('two arms on the same cases', () => {
  test('differ by what one alone has right, with an interval over calls', () => {
    const rows = scoreEvaluation(j2);
    const flipped = rows.map((one, index) => (index < 16 ? { ...one, score: { ...one.score, verdict: 'silently-wrong' as const } } : one));
    const compared = compare(rows, flipped)!;
    expect(compared).toMatchObject({ n: 64, firstOnly: 12, secondOnly: 0, difference: { mean: 12 / 64 } });
    expect(compared.worstP).toBeCloseTo(2 * 0.5 ** 12, 10);
    expect(compared.difference.low).toBeGreaterThan(0);
    expect(compare(rows, rows)).toMatchObject({ firstOnly: 0, secondOnly: 0, worstP: 1, difference: { mean: 0, low: 0, high: 0 } });
    expect(compare(rows, [])).toBeUndefined();
  });

  test('give risk by falling confidence, of what the policy wrote', () => {
    const [first, second, third, fourth] = scoreEvaluation(j2).slice(1) as [ReturnType<typeof scoreEvaluation>[number], ...ReturnType<typeof scoreEvaluation>];
    const judged = (one: typeof first, confidence: number | null, verdict: 'right-call' | 'silently-wrong'): typeof first => ({ ...one, row: { ...one.row, confidence }, score: { ...one.score, verdict } });
    const rows = [judged(first, 0.9, 'right-call'), judged(second!, 0.5, 'silently-wrong'), judged(third!, 0.5, 'right-call'), judged(fourth!, null, 'right-call')];
    expect(heldOutCurve(rows, rows)).toEqual([{ coverage: 1 / 3, risk: 0 }, { coverage: 1, risk: 1 / 3 }]);
  });
});

describe('the committed training results', () => {
  let verified: Awaited<ReturnType<typeof verifyTraining>>;
  beforeAll(async () => { verified = await verifyTraining(COMMITTED); });

  test('regenerate byte by byte', () => {
    expect(verified).toMatchObject({ ok: true });
  });

  test('count no unsafe dispatch, and no gold in a prompt', () => {
    if (!verified.ok) throw new Error(verified.error.code);
    expect(verified.value.measured.flatMap(({ rows }) => rows).filter(({ score }) => score.unsafe !== null)).toEqual([]);
    expect(verified.value.measured.flatMap(({ head }) => head.leakage.leaks)).toEqual([]);
  });
});
