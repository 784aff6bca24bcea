import { canonicalText, digestOfText, readAbstention, validateArguments, applyPatch, jsonEqual, parsePatch } from '@contractrl/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CALLS, FIXTURES } from '../../tests/calls.ts';
import { readEvaluationSets } from '../audit/evaluation-sets.ts';
import { exampleKeys } from '../audit/example-keys.ts';
import { auditTraining, indexEvaluation } from '../audit/leakage-index.ts';
import { FAMILIES } from '../corrupt/family.ts';
import { buildDataset, type Dataset } from './build-dataset.ts';
import { callOf, openExample, type Example } from './example.ts';
import { linesOf, manifestOf } from './manifest.ts';
import { openSource } from './source.ts';
import { auditTable, datasetTable } from './table.ts';

const index = indexEvaluation(readEvaluationSets(FIXTURES).evaluation);
const TOOL = { name: 'book_a_day', parameters: { type: 'object', required: ['day'], properties: { day: { type: 'string', description: 'YYYY-MM-DD' } } } };
const build = (seed: number, count = 400): Dataset => buildDataset(CALLS, { seed, count, validationShare: 0.1, noiseShare: 0.2, index });
const dataset = build(13);
const audit = auditTraining(index, dataset.examples.map((example) => ({ id: example.id, keys: exampleKeys(example) })));

/** Neighbours that were drawn together. */
function pairsOf(examples: readonly Example[]): readonly (readonly [Example, Example])[] {
  const numberOf = ({ id }: Example): number => Number(id.slice(id.lastIndexOf('#') + 1));
  return examples.flatMap((example, at) => {
    const next = examples[at + 1];
    return next !== undefined && numberOf(example) % 2 === 0 && numberOf(next) === numberOf(example) + 1 ? [[example, next] as const] : [];
  });
}

describe('a data set', () => {
  test('has the same bytes for the same seed, and others for another', () => {
    const digest = (made: Dataset): string => digestOfText(linesOf(made.examples, 'train') + linesOf(made.examples, 'validation'));
    const once = digest(build(13, 80));
    expect(digest(build(13, 80))).toBe(once);
    expect(digest(build(14, 80))).not.toBe(once);
  });

  test('holds every family, both sides, and no example twice', () => {
    expect(dataset.examples.length).toBe(400);
    expect(new Set(dataset.examples.map(({ family }) => family)).size).toBeGreaterThan(FAMILIES.length - 3);
    expect(new Set(dataset.examples.map(({ split }) => split)).size).toBe(2);
    expect(new Set(dataset.examples.map(({ record, answer }) => canonicalText([{ ...record, id: '' }, answer]))).size).toBe(400);
  });

  test('shares no tool between its sides', () => {
    const names = (split: string): ReadonlySet<unknown> => new Set(dataset.examples.filter((each) => each.split === split).map(({ record }) => (record['tool'] as { name: string }).name));
    expect([...names('train')].filter((name) => names('validation').has(name))).toEqual([]);
  });

  test('draws two examples of a call after each other, on one side, whatever the seed', () => {
    fc.assert(fc.property(fc.nat(), (seed) => {
      const { examples } = build(seed, 40);
      const pairs = pairsOf(examples);
      // what is drawn twice is left out, and its pair with it
      expect(pairs.length).toBeGreaterThan(12);
      for (const [a, b] of pairs) expect([callOf(b), b.split]).toEqual([callOf(a), a.split]);
      const sides = (split: string): ReadonlySet<string> => new Set(examples.filter((each) => each.split === split).map(callOf));
      expect([...sides('train')].filter((call) => sides('validation').has(call))).toEqual([]);
    }), { numRuns: 5 });
  });

  test('draws as many of a call as it is told to', () => {
    const runsOf = (examplesACall: number): number => {
      const { examples } = buildDataset(CALLS, { seed: 13, count: 90, index, examplesACall });
      return examples.filter((example, at) => at === 0 || callOf(example) !== callOf(examples[at - 1]!)).length;
    };
    const [one, three] = [runsOf(1), runsOf(3)];
    expect([one > 80, three < 45, three >= 30]).toEqual([true, true, true]);
  });

  test('asks for a value of a public call that its request says in other words only where it is told to, and never for one that it does not say', () => {
    const isAsked = (request: string, asksSpoken: boolean): boolean => {
      const row = { id: '1', request, tool: TOOL, arguments: { day: '2024-03-07' } };
      const { calls } = openSource({ name: 'rows', licence: 'Apache-2.0', attribution: '', rows: [row] });
      const { examples } = buildDataset(calls, { seed: 13, count: 6, validationShare: 0, noiseShare: 0, index, asksSpoken });
      return examples.some(({ answer, difficulty }) => answer.includes('2024-03-07') && difficulty === 'inferred');
    };
    expect(isAsked('Book it for March 7th, 2024 please', true)).toBe(true);
    expect(isAsked('Book it for March 7th, 2024 please', false)).toBe(false);
    expect(isAsked('Book it for the day that we agreed', true)).toBe(false);
  });

  // checklist: J3
  test('passes the audit it was built with', () => {
    expect(audit).toMatchObject({ isClean: true, leaks: [] });
  });

  test('that holds one row of an evaluation set does not pass', () => {
    const [first] = dataset.examples;
    const held = indexEvaluation([{ set: 'held', keys: [['case-id', first!.id.slice(first!.id.indexOf(':') + 1, first!.id.lastIndexOf('#'))]] }]);
    expect(auditTraining(held, [{ id: first!.id, keys: exampleKeys(first!) }]).leaks.map(({ unit }) => unit)).toEqual(['case-id']);
  });

  test('leaves out calls whose tool is held out', () => {
    const held = CALLS.at(-1)!;
    const { name, parameters } = held.contract.document.tool;
    const strict = indexEvaluation([{ set: 'held', keys: [['tool-name', name.toLowerCase().replaceAll('_', '')], ['request', 'x']] }]);
    const made = buildDataset(CALLS, { seed: 1, count: 50, index: strict });
    expect(made.leftOut.leaking['tool-name']).toBeGreaterThan(0);
    expect(made.examples.some(({ record }) => (record['tool'] as { name: string }).name === name)).toBe(false);
    expect(parameters).toBeDefined();
  });
});

describe('an example', () => {
  test('opens as what the policy sees, and its answer mends it or declines', () => {
    for (const example of dataset.examples) {
      const opened = openExample(example);
      if (!opened.ok) throw new TypeError(opened.error.code);
      const { contract, state } = opened.value;
      const patch = parsePatch(example.answer);
      if (example.target === null) expect(readAbstention(example.answer)).toBeDefined();
      else {
        const repaired = patch.ok ? applyPatch(contract, state.candidate, patch.value, state.operationsLeft) : patch;
        expect(repaired.ok && jsonEqual(repaired.value, example.target)).toBe(true);
        expect(validateArguments(contract, JSON.stringify(example.target)).report.kind).toBe('valid');
      }
    }
  });

  // checklist: F5
  test('shows nothing of its answer in the record', () => {
    for (const { record } of dataset.examples) {
      expect(Object.keys(record)).toEqual(['id', 'request', 'tool', 'call', 'contract']);
      expect(JSON.stringify(record)).not.toMatch(/"(?:answer|target|family|difficulty)":/u);
    }
  });

  test('with a noisy verifier shows the noise, and one without shows the judge’s report', () => {
    const noisy = dataset.examples.filter(({ noise }) => noise !== null);
    expect(noisy.length).toBeGreaterThan(20);
    for (const { record, noise } of dataset.examples) {
      const [shown, judged] = [openExample({ record, noise }), openExample({ record, noise: null })];
      if (!shown.ok || !judged.ok) throw new TypeError('closed');
      if (noise === null) expect(shown.value.violations).toEqual(judged.value.violations);
      else expect(shown.value.violations).toEqual(noise.shown);
      expect(shown.value.state.candidate).toEqual(judged.value.state.candidate);
    }
  });

  test('that lacks a value is one to decline about as often where the value is missing as where its type is wrong: the code alone says nothing', () => {
    const { examples } = build(13, 1200);
    const declined = (code: string): number => {
      const lacking = examples.filter(({ report }) => report.length === 1 && report[0]!.code === code);
      return lacking.filter(({ target }) => target === null).length / lacking.length;
    };
    const [missing, wrongType] = [declined('missing_required'), declined('wrong_type')];
    expect([missing > 0.05, wrongType > 0.05]).toEqual([true, true]);
    expect(Math.max(missing / wrongType, wrongType / missing)).toBeLessThan(2);
  });

  test('with a lock may be repairable: a lock alone says nothing', () => {
    const locked = dataset.examples.filter(({ record }) => 'immutablePaths' in (record['contract'] as object));
    expect(new Set(locked.map(({ target }) => target === null)).size).toBe(2);
  });
});

// checklist: J1
test('a manifest names versions, seed, licences, counts and digests, and its text repeats', () => {
  const parts = { seed: 13, options: { count: 400 }, sources: [], dataset, audit };
  const manifest = manifestOf(parts);
  expect(JSON.stringify(manifestOf(parts))).toBe(JSON.stringify(manifest));
  expect(manifest).toMatchObject({ datasetVersion: '2', corruptionVersion: '4', seed: 13, count: 400, digests: { train: digestOfText(linesOf(dataset.examples, 'train')) } });
  const { family } = manifest['counts'] as { family: Record<string, number> };
  expect(Object.values(family).reduce((sum, count) => sum + count, 0)).toBe(400);
});

test('tables have a row for each family and each unit', () => {
  expect(datasetTable(dataset.examples).split('\n').length).toBe(FAMILIES.length + 2);
  expect(auditTable(audit).split('\n').length).toBe(14);
});
