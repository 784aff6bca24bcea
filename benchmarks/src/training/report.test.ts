import type { JsonObject } from '@contractrl/core';
import type { EvaluationRow } from '@contractrl/trainer';
import { beforeAll, describe, expect, test } from 'vitest';
import { evaluationOf } from '../../tests/scripted-evaluation.ts';
import type { EvaluationHead } from './evaluations.ts';
import { measure, SHIPPED, type MeasuredEvaluation } from './measured.ts';
import { CURVE_PLOT, drawTraining, REWARD_PLOT } from './plots.ts';
import { renderTrainingReport } from './report.ts';
import type { LogEntry, TrainingRun } from './runs.ts';
import type { ScoredRow } from './score-rows.ts';
import type { ValidationEvaluation } from './validation.ts';

/** 48 of 64 right. */
let policy: MeasuredEvaluation;
/** 32 of 64 right. */
let worse: MeasuredEvaluation;

beforeAll(async () => {
  const evaluations = await Promise.all([evaluationOf(SHIPPED, 'j2', 'policy', (index) => index % 4 !== 0), evaluationOf('r4', 'j2', 'policy', (index) => index % 2 !== 0)]);
  [policy, worse] = measure(evaluations) as [MeasuredEvaluation, MeasuredEvaluation];
});

function reportOf(measured: readonly MeasuredEvaluation[], runs: readonly TrainingRun[] = [], validations: readonly ValidationEvaluation[] = []): string {
  return renderTrainingReport({ measured, runs, validations, plots: [] });
}

/** The same rows, or others, under another head. */
function as({ head, rows: own, isWhole }: MeasuredEvaluation, changes: Partial<EvaluationHead>, rows: readonly ScoredRow[] = own): MeasuredEvaluation {
  return { head: { ...head, ...changes }, rows, isWhole };
}

/** From its title to the next of the same level; undefined where there is none. */
function sectionOf(report: string, title: string): string | undefined {
  return report.split(/^## /mu).find((text) => text.startsWith(`${title}\n`));
}

/** The cells of the table line that begins so. */
function cellsOf(section: string | undefined, ...first: readonly string[]): readonly string[] | undefined {
  return section?.split('\n').map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim())).find((cells) => first.every((cell, index) => cells[index] === cell));
}

const runOf = (name: string, identity: JsonObject, entries: readonly LogEntry[], adapterDigest = name): TrainingRun => ({ name, identity, adapterDigest, entries, calibration: undefined });

describe('a line of the prompt', () => {
  const TITLE = 'What a line of the prompt is worth';
  const without = (identity: JsonObject = {}): MeasuredEvaluation => {
    const rows = worse.rows.map((one, index) => ({ ...one, row: { ...one.row, tokens: { ...one.row.tokens, prompt: one.row.tokens.prompt === 0 ? 0 : index < 8 ? one.row.tokens.prompt : 7 } } }));
    return as(worse, { name: `${SHIPPED}-without-field`, identity, prompt: { without: 'field', staticTokenCount: 4 } }, rows);
  };

  test('is worth what the same adapter loses without it, on the cases that both have', () => {
    const report = reportOf([policy, without()]);
    const cells = cellsOf(sectionOf(report, TITLE), 'field', SHIPPED, 'j2', 'policy');
    expect(cells?.slice(4)).toEqual(['64', '44', '48 of 64 (75 %, 63–84)', '32 of 64 (50 %, 38–62)', expect.stringMatching(/^0\.250 \(0\.1\d\d to 0\.\d{3}\)$/u), '3.1e-5', '6', '3']);
    expect(sectionOf(report, 'The 64 of the fixed file')).not.toContain('without');
  });

  test('is worth nothing that can be told where no other evaluation is of the same adapter', () => {
    expect(sectionOf(reportOf([policy, without({ adapterDigest: 'another' })]), TITLE)).toBeUndefined();
    expect(sectionOf(reportOf([without()]), TITLE)).toBeUndefined();
  });
});

describe('adapters of several ranks', () => {
  test('stand beside the one that ships', () => {
    const section = sectionOf(reportOf([policy, worse]), 'Ranks');
    expect(cellsOf(section, 'j2', 'policy', 'r4')?.slice(3)).toEqual(['64', '32 of 64 (50 %, 38–62)', '0', expect.stringMatching(/^-0\.250 /u), '3.1e-5']);
    expect(cellsOf(section, 'j2', 'policy', SHIPPED)?.slice(3)).toEqual(['64', '48 of 64 (75 %, 63–84)', '0', '', '']);
  });

  test('are no section where there is one', () => {
    expect(sectionOf(reportOf([policy]), 'Ranks')).toBeUndefined();
  });
});

describe('another base', () => {
  const larger = (head: Partial<EvaluationHead>): MeasuredEvaluation => as(worse, { name: 'large', identity: { modelDigest: 'larger' }, ...head });

  test.each([
    { what: 'its own name', head: { base: 'large.gguf' }, runs: [], name: 'large.gguf' },
    { what: 'the name that a run of it gives', head: {}, runs: [runOf('large', { model: 'larger', base: 'a/Large' }, [])], name: 'a/Large' },
    { what: 'its digest where nobody named it', head: {}, runs: [], name: 'larger' },
  ])('goes by $what, and stands in a table of its own', ({ head, runs, name }) => {
    const report = reportOf([policy, larger(head)], runs);
    expect(cellsOf(sectionOf(report, 'Other bases'), name, 'large', 'j2', 'policy')?.slice(4, 6)).toEqual(['64', '32 of 64 (50 %, 38–62)']);
    expect(cellsOf(sectionOf(report, 'The 64 of the fixed file'), 'large')).toBeUndefined();
  });

  test('is no section where there is none', () => {
    expect(sectionOf(reportOf([policy]), 'Other bases')).toBeUndefined();
  });
});

describe('more examples', () => {
  const curve = [
    runOf(SHIPPED, { rank: 8, settings: { batchSize: 8 } }, [{ kind: 'step', step: 800 }, { kind: 'validation', step: 400, loss: 0.2 }, { kind: 'validation', step: 800, loss: 0.25 }]),
    runOf('r4', { rank: 4, settings: { batchSize: 8 } }, [{ kind: 'step', step: 500 }]),
    runOf('unmeasured', { rank: 8, settings: { batchSize: 8 } }, [{ kind: 'step', step: 900 }]),
  ];

  test('stand in their order, each with what its adapter has right', async () => {
    const section = sectionOf(reportOf([policy, worse], curve), 'What more examples give');
    expect(cellsOf(section, 'r4')).toEqual(['r4', '4', '4000', 'n/a', '32 of 64 (50 %, 38–62)', 'n/a']);
    expect(cellsOf(section, SHIPPED)).toEqual([SHIPPED, '8', '6400', 'n/a', '48 of 64 (75 %, 63–84)', '0.2000']);
    expect(section!.indexOf('| r4 ')).toBeLessThan(section!.indexOf(`| ${SHIPPED} `));
    expect(section).not.toContain('unmeasured');
    const plots = new Map(await drawTraining([policy, worse], curve));
    expect(plots.get(CURVE_PLOT)).toContain('examples');
  });

  test('are no curve with one run', async () => {
    expect(sectionOf(reportOf([policy, worse], curve.slice(0, 1)), 'What more examples give')).toBeUndefined();
    expect((await drawTraining([policy], curve.slice(0, 1))).map(([name]) => name)).not.toContain(CURVE_PLOT);
  });
});

describe('group-relative runs', () => {
  const rewards = { collateral: 0.2, token: 0.002 };
  const identity = { method: 'grpo', from: 'start', rank: 8, settings: { steps: 40, mask: 'decoding', rewards } };
  const entries: readonly LogEntry[] = [
    { kind: 'validation', step: 0, reward: 0.5, success: 0.5, wrong: 0.4, abstainedWrongly: 0.1, tokens: 20 },
    { kind: 'step', step: 1, reward: 0.5, success: 0.5, flatShare: 0.5, unsafe: 0 }, { kind: 'step', step: 40, reward: 0.7, success: 0.75, flatShare: 0.75, unsafe: 0 },
    { kind: 'validation', step: 20, reward: 0.625, success: 0.75, wrong: 0.25, abstainedWrongly: 0, tokens: 18 }, { kind: 'validation', step: 40, reward: 0.6, success: 0.7, wrong: 0.3, abstainedWrongly: 0, tokens: 19 },
  ];
  const runs = [
    runOf('grpo', identity, entries), runOf('grpo-no-mask', { ...identity, settings: { ...identity.settings, steps: 20, mask: 'off' } }, entries.slice(0, 2)),
    runOf('grpo-collateral', { ...identity, settings: { ...identity.settings, steps: 20, rewards: { ...rewards, collateral: 0.5 } } }, entries.slice(0, 2)),
    runOf('grpo-other-start', { ...identity, from: 'another' }, entries),
  ];

  test('say what was changed, what the run itself saw, and what an evaluation does', () => {
    const declined = worse.rows.filter(({ row }) => row.status === 'abstained').slice(0, 8);
    const evaluated = ['grpo', 'grpo-no-mask'].map((name) => as(worse, { name, set: 'bfcl' }, declined));
    const section = sectionOf(reportOf(evaluated, runs), 'Group-relative optimisation');
    const course = ['0.500 → 0.625', '0.500 → 0.750', '0.400 → 0.250', '0.100 → 0.000', '20.0 → 18.0'];
    expect(cellsOf(section, 'grpo')).toEqual(['grpo', 'start', '–', '40', ...course, '0.63', '0', 'n/a', '', '8', '0 of 8 (0 %, 0–32)', 'n/a', '', '']);
    expect(cellsOf(section, 'grpo-no-mask', 'start', 'mask off', '1')?.slice(-5)).toEqual(['8', '0 of 8 (0 %, 0–32)', 'n/a', '0.000 (0.000 to 0.000)', 'grpo']);
    expect(cellsOf(section, 'grpo-collateral', 'start', 'rewards.collateral 0.5', '1')?.slice(-5)).toEqual(['n/a', 'n/a', 'n/a', '', '']);
    const [parts, weights] = [section!.indexOf('### Parts taken away'), section!.indexOf('### Weights of the reward')];
    expect([section!.indexOf('| grpo-no-mask '), section!.indexOf('| grpo-collateral ')].map((at) => [at > parts, at > weights])).toEqual([[true, false], [true, true]]);
    expect(section!.indexOf('### Other starts or data')).toBeLessThan(section!.indexOf('| grpo-other-start | another |'));
  });

  test('are held against each other on the validation side too', () => {
    const validationOf = (name: string, verdicts: readonly EvaluationRow['verdict'][]): ValidationEvaluation => ({
      head: { name, arm: 'policy', seed: 13, identity: {}, surroundings: policy.head.surroundings },
      rows: verdicts.map((verdict, index) => ({
        id: `rows:${String(index)}#1`, family: 'enum', difficulty: 'listed', structure: 'flat', isRepairable: true, verdict, reason: null, collateral: 0, attempts: 1,
        tokens: { prompt: 1, generated: 1, forced: 0 }, totalMs: 1, confidence: 1, signals: null,
      })),
    });
    const validations = [validationOf('grpo', ['right', 'right', 'abstained-rightly', 'wrong']), validationOf('first', ['right', 'wrong', 'wrong', 'wrong'])];
    const section = sectionOf(reportOf([], [...runs, runOf('first', {}, [], 'start')], validations), 'Group-relative optimisation');
    const cells = cellsOf(section, 'grpo')?.slice(-7);
    expect(cellsOf(sectionOf(reportOf([], [...runs, runOf('first', {}, [], 'start')], validations), 'Bars'), 'the same, on the validation side: never trained on, but looks at a part of it chose the step')).toEqual([
      'the same, on the validation side: never trained on, but looks at a part of it chose the step', 'interval above 0', expect.stringMatching(/^0\.500 .* of 4, grpo less first$/u) as string, expect.any(String) as string,
    ]);
    expect(cells).toEqual(['3 of 4 (75 %, 30–95)', expect.stringMatching(/^0\.500 /u) as string, 'n/a', 'n/a', 'n/a', '', 'first']);
  });

  test('of another length are held against the unchanged one of that length, and that against its start', () => {
    const short = { ...identity, settings: { ...identity.settings, steps: 1 } };
    const all = [...runs, runOf('grpo-short', short, entries.slice(0, 2)), runOf('first', {}, [], 'start')];
    const evaluated = [as(worse, { name: 'grpo-no-mask', set: 'bfcl' }, worse.rows.slice(0, 8)), ...['grpo-short', 'first'].map((name) => as(policy, { name, set: 'bfcl' }, policy.rows.slice(0, 8)))];
    const section = sectionOf(reportOf(evaluated, all), 'Group-relative optimisation');
    expect(cellsOf(section, 'grpo-no-mask', 'first', 'mask off', '1')?.at(-1)).toBe('grpo-short');
    expect(cellsOf(section, 'grpo-short', 'first', '–', '1')?.at(-1)).toBe('first');
  });

  test('are drawn, sampled episodes and those of validation', async () => {
    const plots = new Map(await drawTraining([], runs));
    expect(['reward, sampled', 'success, sampled', 'reward, validation', 'success, validation'].filter((panel) => plots.get(REWARD_PLOT)?.includes(panel) !== true)).toEqual([]);
  });

  test('are no section without one', () => {
    expect(sectionOf(reportOf([policy], [runOf(SHIPPED, {}, [])]), 'Group-relative optimisation')).toBeUndefined();
  });
});
