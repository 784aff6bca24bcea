import type { JsonPointer } from '@contractrl/core';
import { describe, expect, test } from 'vitest';
import { FIXTURES, SYNTHETIC_CALLS } from '../../tests/calls.ts';
import { readEvaluationSets } from './evaluation-sets.ts';
import { callKeys, caseKeys, LEAK_UNITS, UNIT_MEANINGS, type AuditedCall, type AuditedCase, type LeakUnit } from './keys.ts';
import { wholeText } from '../request.ts';
import { auditTraining, indexEvaluation } from './leakage-index.ts';

const HELD_OUT: AuditedCall = {
  id: 'held-out-1', request: 'Please send the quarterly figures of the northern branch to Mirela before noon on Friday',
  tools: [{ name: 'send_report', parameters: { type: 'object', properties: { branch: { type: 'string', description: 'Which branch' }, to: { type: 'string' }, note: { type: 'string' } }, required: ['branch'] } }],
  target: { branch: 'Northern', to: 'Mirela', note: 'before noon on Friday at the latest' },
};
const HELD_OUT_CASE: AuditedCase = {
  toolName: 'send_report', candidate: { branch: null, to: 'Mirela' }, operations: [{ op: 'replace', path: '/branch' as JsonPointer, value: 'Northern branch' }], faults: [{ code: 'wrong_type', pointer: '/branch' }],
};
const index = indexEvaluation([{ set: 'held-out', keys: [...callKeys(HELD_OUT), ...caseKeys(HELD_OUT_CASE)] }]);

const OTHER: AuditedCall = { id: 'mine-1', request: 'Water the basil in the greenhouse twice', tools: [{ name: 'water_plant', parameters: { properties: { plant: {} } } }], target: { plant: 'basil', times: 2 } };
const OTHER_CASE: AuditedCase = { toolName: 'water_plant', candidate: { plant: 1 }, operations: [], faults: [] };
const unitsIn = (call: Partial<AuditedCall>, made: Partial<AuditedCase> = {}): readonly LeakUnit[] => (
  [...new Set(index.leaks('mine-1', [...callKeys({ ...OTHER, ...call }), ...caseKeys({ ...OTHER_CASE, ...made })]).map(({ unit }) => unit))]
);

// checklist: J3, J5
describe('a leak is found in its own unit', () => {
  const { parameters } = HELD_OUT.tools[0]!;
  test.each<[LeakUnit, string, readonly LeakUnit[]]>([
    ['case-id', 'the same identifier', unitsIn({ id: 'held-out-1' })],
    ['request', 'other case and punctuation', unitsIn({ request: HELD_OUT.request.toUpperCase().replaceAll(' ', ' – ') })],
    ['request-run', 'ten words inside another request', unitsIn({ request: `Hello! ${HELD_OUT.request.split(' ').slice(2, 12).join(' ')} or so.` })],
    ['tool-name', 'another way to write a name', unitsIn({ tools: [{ name: 'sendReport', parameters: {} }] })],
    ['schema', 'the same schema, closed', unitsIn({ tools: [{ name: 'other', parameters: { ...parameters, additionalProperties: false } }] })],
    ['schema-shape', 'other prose and another order of members', unitsIn({ tools: [{ name: 'other', parameters: {
      type: 'object', required: ['branch'], properties: { note: { type: 'string', description: 'x' }, to: { type: 'string' }, branch: { type: 'string' } } } }] })],
    ['target', 'the same arguments in another order', unitsIn({ target: { note: 'before noon on Friday at the latest', to: 'Mirela', branch: 'Northern' } })],
    ['argument-value', 'a long text among the arguments', unitsIn({ target: { text: 'Before noon, on Friday (at the latest)' } })],
    ['meaning', 'the same arguments spelled otherwise', unitsIn({ target: { Branch: 'northern', TO: 'mirela!', note: 'before noon on friday at the latest' } })],
    ['candidate', 'the same failed call', unitsIn({}, { toolName: 'Send-Report', candidate: { to: 'Mirela', branch: null } })],
    ['target-paths', 'the same operations and paths', unitsIn({}, { toolName: 'send_report', operations: [{ op: 'replace', path: '/branch' as JsonPointer, value: 'x' }] })],
    ['operations', 'the same patch for another tool', unitsIn({}, { operations: HELD_OUT_CASE.operations })],
    ['error-template', 'the same report of the same tool', unitsIn({}, { toolName: 'send_report', faults: HELD_OUT_CASE.faults })],
  ])('%s: %s', (unit, _, found) => {
    expect(found).toContain(unit);
  });

  test('and every unit has its meaning', () => {
    expect(Object.keys(UNIT_MEANINGS)).toEqual([...LEAK_UNITS]);
  });
});

test('what is short or usual is no leak', () => {
  expect(unitsIn({})).toEqual([]);
  expect(unitsIn({ request: 'Before noon on Friday', target: { branch: 'Northern' } })).toEqual([]);
});

// checklist: J7
test('meaning and schema shape are units apart from target and schema', () => {
  expect(unitsIn({ target: { Branch: 'northern', TO: 'mirela!', note: 'before noon on friday at the latest' } })).not.toContain('target');
  expect(unitsIn({ tools: [{ name: 'other', parameters: { type: 'object', required: ['branch'], properties: { branch: { type: 'string' }, to: { type: 'string' }, note: { type: 'string' } } } }] })).toEqual(['schema-shape']);
});

describe('the audit', () => {
  // checklist: J4
  test('is clean where nothing is shared, and counts both sides of each unit', () => {
    const report = auditTraining(index, [{ id: 'mine-1', keys: callKeys(OTHER) }]);
    expect(report).toMatchObject({ isClean: true, leaks: [], units: { 'tool-name': { evaluation: 1, training: 1, shared: 0 }, request: { evaluation: 1, training: 1, shared: 0 } } });
  });

  test('names what is shared, by whom and with which set', () => {
    const report = auditTraining(index, [{ id: 'mine-2', keys: callKeys({ ...OTHER, tools: [{ name: 'SEND_REPORT', parameters: {} }] }) }]);
    expect(report.isClean).toBe(false);
    expect(report.leaks).toEqual([{ unit: 'tool-name', key: 'sendreport', id: 'mine-2', sets: ['held-out'] }]);
  });

  test('of an evaluation side that was not read is never clean', () => {
    expect(auditTraining(indexEvaluation([]), [{ id: 'mine-1', keys: callKeys(OTHER) }]).isClean).toBe(false);
  });
});

describe('evaluation sets', () => {
  // checklist: J6
  test('are read, bug cases too, with every tool on offer and the corruptions that cases are drawn from', () => {
    const { evaluation, missing } = readEvaluationSets(FIXTURES);
    expect(missing).toEqual([]);
    expect([...new Set(evaluation.map(({ set }) => set))]).toEqual(['bfcl', 'bfcl-irrelevance', 'tau-bench', 'tau2-bench', 'bugcases']);
    const { sizes } = indexEvaluation(evaluation);
    // no argument of these few rows is a text of five words
    expect(LEAK_UNITS.filter((unit) => sizes[unit] === 0)).toEqual(['argument-value']);
  });

  test('that are missing are named', () => {
    expect(readEvaluationSets('/nowhere').missing.map(({ code, set }) => `${code} ${set}`)).toContain('audit/evaluation-set-missing bfcl');
  });

  test('share nothing with synthetic calls', () => {
    const fixtures = indexEvaluation(readEvaluationSets(FIXTURES).evaluation);
    const training = SYNTHETIC_CALLS.map(({ id, request, contract, arguments: target }) => ({ id, keys: callKeys({ id, request: wholeText(request), tools: [contract.document.tool], target }) }));
    expect(auditTraining(fixtures, training).leaks).toEqual([]);
  });
});
