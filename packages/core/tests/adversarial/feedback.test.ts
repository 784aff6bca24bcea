/** Family: malformed text, from the policy and in the record that opens a repair. */
// checklist: H5
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Proposal } from '../../src/index.ts';
import { readRequestText } from '../../src/records.ts';
import { COST, requestOf, textProposal, TRANSFER } from '../support.ts';
import { attack, family, saying } from './support.ts';

const GOOD = '[{"op":"replace","path":"/amount_cents","value":15000}]';
const CALL = { to: 'ACC-2041', amount_cents: 'a lot' };
const piece = fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', '\u0000', '\ud800', '\ufeff', '\u2028', '0', 'e', '-', '//', '/*', 'NaN', GOOD));

/** A text with one run of characters replaced. */
function broken(text: string): fc.Arbitrary<string> {
  return fc.tuple(fc.nat(text.length), fc.nat(4), piece).map(([at, length, insert]) => text.slice(0, at) + insert + text.slice(at + length));
}

const answer: fc.Arbitrary<string | Proposal> = fc.oneof(
  { weight: 6, arbitrary: broken(GOOD) },
  { weight: 1, arbitrary: fc.constantFrom(GOOD, `\`\`\`json\n${GOOD}\n\`\`\``, `${GOOD}${GOOD}`, JSON.stringify(GOOD), `{"patch":${GOOD}}`, `[${GOOD}]`, '{"abstain":"locked"}', '{"abstain":["locked"]}', '[{"abstain":"locked"}]') },
  { weight: 1, arbitrary: fc.json().map((text) => text) },
  { weight: 1, arbitrary: fc.string().map((text): Proposal => ({ kind: 'incomplete', text, code: 'engine/token-limit', cost: COST })) },
  { weight: 1, arbitrary: broken('{"abstain":"ambiguous"}') },
);

family('text that is not exactly a patch repairs nothing', fc.array(answer, { minLength: 1, maxLength: 3 }), { runs: 300, sees: ['failed', 'repaired', 'abstained'] }, (answers) =>
  attack(requestOf({ call: { name: 'transfer', arguments: CALL } }), saying(...answers.map((each) => (typeof each === 'string' ? textProposal(each) : each)))));

const RECORD = JSON.stringify({ id: 'a', request: 'Send it.', tool: TRANSFER, call: { name: 'transfer', arguments: CALL }, contract: { immutablePaths: ['/to'] } });

family('a record that is broken anywhere is read as it stands or refused with a code', broken(RECORD), { runs: 400, sees: ['refused', 'failed', 'repaired'] }, async (text) => {
  const read = readRequestText(text);
  if (read.ok) return attack(read.value, saying(GOOD));
  expect(read.error.code).toMatch(/^request\//);
  return 'refused';
});

family('argument text that is broken anywhere is never completed', broken(JSON.stringify(CALL)), { runs: 400, sees: ['abstained', 'repaired'] }, (text) => {
  const request = requestOf({ call: { name: 'transfer', arguments: '{}' } });
  return attack({ ...request, call: { name: 'transfer', argumentsText: text } }, saying(GOOD));
});
