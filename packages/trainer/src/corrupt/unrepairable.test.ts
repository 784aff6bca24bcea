import { loadContract, type JsonPointer } from '@contractrl/core';
import { expect, test } from 'vitest';
import type { LegalCall } from '../legal-call.ts';
import { openRandom } from '../random.ts';
import { textsOf, wholeText } from '../request.ts';
import { corrupt, type Corruption } from './corrupt.ts';
import { vagueElsewhere } from './unrepairable.ts';

const loaded = loadContract({
  tool: {
    name: 'book_tour', description: 'Book a tour.',
    parameters: {
      type: 'object', required: ['guide', 'seats', 'ticket'], additionalProperties: false,
      properties: { guide: { type: 'string', description: 'Who leads it' }, seats: { type: 'integer' }, ticket: { type: 'string', description: "The ticket, such as 'TCK-0000'." } },
    },
  },
  allowedOperations: ['add', 'remove', 'replace', 'move', 'copy'], operationBudget: 2, attemptBudget: 2, immutablePaths: [], crossField: [], gates: [],
});
if (!loaded.ok) throw new TypeError(loaded.error.code);
const contract = loaded.value;
const at = (text: string): JsonPointer => text as JsonPointer;
const mentions = new Map([[at('/guide'), 'Maeve'], [at('/seats'), '7'], [at('/ticket'), 'TCK-4821']]);
const SENTENCE: LegalCall = {
  id: 'test:1', source: 'test', contract, request: 'Please book a garden tour led by Maeve, with 7 seats, on ticket TCK-4821.', arguments: { guide: 'Maeve', seats: 7, ticket: 'TCK-4821' }, mentions,
};
const DIALOGUE: LegalCall = {
  ...SENTENCE, request: [
    { role: 'user', content: 'My ticket is TCK-4821.' }, { role: 'assistant', content: 'What shall I do with it?' }, { role: 'user', content: 'Please book a garden tour led by Maeve, with 7 seats.' },
  ],
};
const unknown = (call: LegalCall): readonly Corruption[] => Array.from({ length: 200 }, (_, seed) => corrupt(call, 'value_unknown', openRandom(seed, 'unknown'))).filter((each) => each !== undefined);

test.each([['one text', SENTENCE], ['a dialogue', DIALOGUE]])('a value is taken out of %s in every way, whichever turn says it', (_, call) => {
  const found = unknown(call);
  expect(new Set(found.map(({ form }) => form))).toEqual(new Set(['vague', 'omitted', 'cut', 'not-told']));
  for (const { request, pointer } of found) expect(wholeText(request)).not.toContain(mentions.get(pointer));
});

test('an example in the description does not keep a value from being unknown', () => {
  const lost = unknown(SENTENCE).filter(({ pointer }) => pointer === '/ticket');
  expect(lost.length).toBeGreaterThan(20);
  for (const { answer } of lost) expect(answer).toEqual({ kind: 'abstain', code: 'not-in-state' });
});

test('what is asked for and not told ends with the user at a loss', () => {
  for (const { request, pointer } of unknown(SENTENCE).filter(({ form }) => form === 'not-told')) {
    expect(textsOf(request)[1]).toBe(`Which ${pointer.slice(1)} is it?`);
    expect(textsOf(request).length).toBe(3);
  }
});

test('vague words about another value leave the answer and its words alone', () => {
  const random = openRandom(3, 'vague');
  const lacking = corrupt(SENTENCE, 'missing_required', random)!;
  const vague = vagueElsewhere(lacking, SENTENCE, random)!;
  expect(vague).toEqual({ ...lacking, request: vague.request });
  expect(wholeText(vague.request)).not.toBe(SENTENCE.request);
  expect(wholeText(vague.request)).toContain(mentions.get(lacking.pointer));
});

test('where no other value is said once, nothing is made vague', () => {
  const random = openRandom(4, 'vague');
  const call: LegalCall = { ...SENTENCE, request: 'Ticket TCK-4821.', mentions: new Map([[at('/ticket'), 'TCK-4821']]) };
  const lacking = corrupt(call, 'missing_required', openRandom(0, 'x'))!;
  expect(vagueElsewhere({ ...lacking, answer: { kind: 'patch', patch: [{ op: 'add', path: at('/ticket'), value: 'TCK-4821' }] } }, call, random)).toBeUndefined();
});
