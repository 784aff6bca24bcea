import { jsonEqual, ok, type JsonValue, type Observation, type Proposer } from '@contractrl/core';
import { expect, test } from 'vitest';
import { CALLS } from '../../tests/calls.ts';
import { tinyDataset } from '../../tests/support/tiny-policy.ts';
import { indexEvaluation } from '../audit/leakage-index.ts';
import { buildDataset } from '../data/build-dataset.ts';
import type { Example } from '../data/example.ts';
import { evaluateExamples, type EvaluationRow } from './evaluate-examples.ts';
import { summariseBy, summariseEvaluation } from './summary.ts';

const { examples } = tinyDataset(150);
const repairable = examples.filter(({ target }) => target !== null);
const cost = { promptTokenCount: 9, generatedTokenCount: 4, forcedTokenCount: 1, prefillMs: 0, decodeMs: 0, maskMs: 0 };

/** Answers with a text, whatever it is asked; what it was shown is kept. */
function scripted(answer: (observation: Observation) => string, shown: Observation[] = []): Proposer {
  return {
    identity: { policy: 'scripted' },
    propose(observation) {
      shown.push(observation);
      return Promise.resolve(ok({ kind: 'text' as const, text: answer(observation), confidence: 0.5, maskDigest: undefined, cost }));
    },
  };
}

/** Knows the answers by what an example shows. */
const oracle = scripted(({ state, request }) => examples.find(({ record }) => {
  const { arguments: text } = record['call'] as { readonly arguments: string };
  return jsonEqual(JSON.parse(text) as JsonValue, state.candidate) && JSON.stringify(request).includes(JSON.stringify(record['request']).replace(/^\[|\]$/gu, ''));
})!.answer);

async function rowsOf(some: readonly Example[], proposer: Proposer, deterministic = false): Promise<readonly EvaluationRow[]> {
  let now = 0;
  const rows = await evaluateExamples(some, { proposer, deterministic, clock: () => (now += 5) });
  if (!rows.ok) throw new Error(rows.error.code);
  return rows.value;
}

test('the canonical answers are right, one row an example, nothing touched beside them', async () => {
  const rows = await rowsOf(examples, oracle);
  expect(rows.map(({ id, family, difficulty, structure }) => [id, family, difficulty, structure])).toEqual(examples.map(({ id, family, difficulty, structure }) => [id, family, difficulty, structure]));
  expect(rows.filter(({ verdict }) => verdict !== 'right' && verdict !== 'abstained-rightly')).toEqual([]);
  expect(rows.filter(({ isRepairable, collateral }) => isRepairable && collateral === null)).toEqual([]);
  expect(rows[0]).toMatchObject({ attempts: 1, tokens: { prompt: 9, generated: 4, forced: 1 }, totalMs: 5, confidence: 0.5 });
});

test('declining is right exactly where no repair is known', async () => {
  const rows = await rowsOf(examples, scripted(() => '{"abstain":"not-in-state"}'));
  expect(rows.map(({ verdict }) => verdict)).toEqual(examples.map(({ target }) => (target === null ? 'abstained-rightly' : 'abstained-falsely')));
  const { trueAbstentions, falseAbstentions, right } = summariseEvaluation(rows);
  expect([trueAbstentions?.count, falseAbstentions?.count]).toEqual([examples.length - repairable.length, repairable.length]);
  expect(right).toMatchObject({ count: examples.length - repairable.length, n: examples.length });
});

test('what is no patch is rejected when the budget is spent', async () => {
  const rows = await rowsOf(examples.slice(0, 5), scripted(() => 'Sorry!'));
  expect(rows.map(({ verdict, reason }) => [verdict, reason])).toEqual(Array(5).fill(['rejected', 'repair/attempts-exhausted']));
});

test('a valid call that is not the target is wrong, and what it changes elsewhere is collateral', async () => {
  const dispatched = (await rowsOf(repairable, oracle)).findIndex(({ verdict, collateral }) => verdict === 'right' && collateral === 0);
  const example = repairable[dispatched]!;
  const [row] = await rowsOf([{ ...example, target: { another: 'call' } }], oracle);
  expect(row).toMatchObject({ verdict: 'wrong', isRepairable: true });
  const [unrepairable] = await rowsOf([{ ...example, target: null }], oracle);
  expect(unrepairable).toMatchObject({ verdict: 'wrong', isRepairable: false });
});

test('the deterministic step comes first where it is asked for', async () => {
  // few of them are kept as a rule
  const made = buildDataset(CALLS, { seed: 13, count: 60, certainShare: 1, noiseShare: 0, index: indexEvaluation([]) });
  const certain = made.examples.filter(({ difficulty }) => difficulty === 'certain');
  expect(certain.length).toBeGreaterThan(0);
  const rows = await rowsOf(certain, scripted(() => '{"abstain":"not-in-state"}'), true);
  expect(rows.map(({ verdict, attempts }) => [verdict, attempts])).toEqual(certain.map(() => ['right', 0]));
});

test('a verifier that speaks wrongly is heard as the example says', async () => {
  const noisy = examples.filter(({ noise }) => noise !== null);
  expect(noisy.length).toBeGreaterThan(0);
  const shown: Observation[] = [];
  await rowsOf(noisy, scripted(() => '{"abstain":"not-in-state"}', shown));
  const wanted = noisy.map(({ noise, report }) => noise!.shown[0]?.pointer ?? report[0]!.pointer);
  expect(shown.map(({ violations }) => violations[0].pointer)).toEqual(wanted);
});

test.each([
  { what: 'a record that is none', change: { record: {} }, cause: 'request/missing-field' },
  { what: 'a wrong report of a valid call', change: { noise: { kind: 'stale', shown: [] }, record: { id: 'a', request: 'r', tool: { name: 't', parameters: { type: 'object' } }, call: { name: 't', arguments: '{}' } } }, cause: 'trainer/call-valid' },
] as const)('$what is no example', async ({ change, cause }) => {
  const result = await evaluateExamples([{ ...examples[0]!, ...change } as Example], { proposer: oracle, clock: () => 0 });
  expect(result).toEqual({ ok: false, error: { code: 'evaluate/bad-example', id: examples[0]!.id, cause } });
});

test('half an evaluation is none', async () => {
  const signal = { aborted: false };
  const result = await evaluateExamples(examples, { proposer: oracle, clock: () => 0, signal, onProgress: (done) => { signal.aborted = done === 3; } });
  expect(result).toEqual({ ok: false, error: { code: 'evaluate/aborted' } });
});

test('groups add up to the whole, and a share without rows is none', async () => {
  const rows = await rowsOf(examples, oracle);
  for (const by of ['family', 'difficulty', 'structure'] as const) {
    const groups = [...summariseBy(rows, by).values()];
    expect(groups.reduce((sum, { n }) => sum + n, 0)).toBe(rows.length);
    for (const { n, verdicts } of groups) expect(Object.values(verdicts).reduce((sum, count) => sum + count, 0)).toBe(n);
  }
  const none = summariseEvaluation(rows.filter(({ isRepairable }) => isRepairable));
  expect(none.trueAbstentions).toBeUndefined();
  expect(none.falseAbstentions).toMatchObject({ count: 0 });
});
