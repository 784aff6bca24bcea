import { expect, test } from 'vitest';
import { openRandom } from '../../random.ts';
import { wholeText, type Request } from '../../request.ts';
import type { Said } from './field.ts';
import { phrase } from './phrase.ts';

const SAID: readonly Said[] = [
  { values: { guests: 4 }, clause: 'for 4 guests', mentions: { guests: '4' } }, { values: { from: 'Bend', to: 'Reno' }, clause: 'from Bend to Reno', mentions: { from: 'Bend', to: 'Reno' } },
  { values: { refundable: true }, clause: 'refundable' },
];
const drawn = (said: readonly Said[], aside?: string): readonly Request[] => Array.from({ length: 300 }, (_, seed) => phrase('book a garden tour', said, aside, openRandom(seed, 'phrase')));

test('every request holds the words that carry a value, and the clauses of what is not asked for', () => {
  for (const request of drawn(SAID)) for (const words of ['4', 'from Bend to Reno', 'refundable']) expect(wholeText(request)).toContain(words);
});

test('some are dialogues, which users begin and end and in which speakers take turns', () => {
  const dialogues = drawn(SAID).filter((request) => typeof request !== 'string');
  expect(dialogues.length).toBeGreaterThan(30);
  for (const turns of dialogues) expect(turns.map(({ role }) => role)).toEqual(turns.map((_, index) => (index % 2 === 0 ? 'user' : 'assistant')));
});

test('some dialogues ask for one value by its name and get it bare', () => {
  const asked = drawn(SAID).filter((request) => typeof request !== 'string' && request.some(({ content }, index) => content === 'Which guests is it?' && /^4\b/u.test(request[index + 1]!.content)));
  expect(asked.length).toBeGreaterThan(3);
});

test('another thing of the kind is said once, apart from what is meant', () => {
  for (const request of drawn(SAID, 'for 9 guests')) expect(wholeText(request).split('for 9 guests').length).toBe(2);
});

test('some are in another language, with values by their label', () => {
  const labelled = drawn(SAID).filter((request) => typeof request === 'string' && /(?:huéspedes: |Gäste: |invités : |hóspedes: |客人：)4/u.test(request));
  expect(labelled.length).toBeGreaterThan(3);
});

test('without a clause the request still asks', () => {
  for (const request of drawn([])) expect(typeof request === 'string' && request.length > 15).toBe(true);
});
