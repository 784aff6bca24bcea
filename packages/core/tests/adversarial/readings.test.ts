/** Family: words around a whole call that set it aside, and wrappers that only look like those of a provider. No policy is asked. */
// checklist: H5
import fc from 'fast-check';
import { expect } from 'vitest';
import { NO_POLICY, repairCall } from '../../src/index.ts';
import { requestOf } from '../support.ts';
import { family, holds, withLoaded } from './support.ts';

const ARGS = '{"to":"ACC-2041","amount_cents":15000}';

async function dispatched(argumentsText: string): Promise<string | undefined> {
  const request = withLoaded({ ...requestOf(), call: { name: 'transfer', argumentsText } });
  const outcome = await repairCall(request, NO_POLICY);
  await holds(request, outcome);
  return 'argumentsText' in outcome ? outcome.argumentsText : undefined;
}

const known = fc.constantFrom('Sure!', 'here', 'are', 'the', 'corrected', 'arguments:', 'calling', 'transfer', 'with', '**', '<tool_call>', '```json', '```', '\n');
const stranger = fc.oneof(
  fc.constantFrom('not', "don't", 'never', 'no', 'wrong', 'old', 'instead', 'example', 'if', 'cancel', '//', '#', '!', '?', '~~', '<!--', '-->', 'kein', '\u4e0d', 'n\u200bot', 'undo(', '/*'),
  fc.string({ minLength: 1, maxLength: 6 }),
);
const around = fc.record({ before: fc.array(known, { maxLength: 4 }), after: fc.array(known, { maxLength: 3 }), word: fc.option(stranger), place: fc.nat(7) });

family('a whole call goes out only out of words that say nothing', around, { runs: 400, sees: ['sent', 'declined'] }, async ({ before, after, word, place }) => {
  const words = [...before, ARGS, ...after];
  const text = words.toSpliced(place % (words.length + 1), 0, ...(word === null ? [] : [word])).join(' ');
  const sent = await dispatched(text);
  if (sent === undefined) return 'declined';
  expect(sent.trim()).toBe(ARGS);
  expect(text).not.toMatch(/\bnot\b|don't|never|\bno\b|wrong|old|instead|example|\bif\b|cancel|\/\/|#|[^a-z]!|\?|~~|--|kein|\u4e0d|\u200b|undo|\/\*/iu);
  return 'sent';
});

const name = fc.constantFrom('input', 'arguments', 'args', 'parameters', '$PARAMETER_NAME', 'name', 'undo', 'Input', 'to', 'memo', '__proto__', 'output', 'previous');
const content = fc.oneof(
  { weight: 3, arbitrary: fc.constant(ARGS) },
  { weight: 1, arbitrary: fc.constantFrom('"transfer"', '"refund"', '{}', '[]', 'null', JSON.stringify(ARGS), `[${ARGS}]`, '{"to":"ACC-2041"}', '{"to":"ACC-2041","amount_cents":9007199254740993}', `{"input":${ARGS}}`) },
);

family('of a wrapper only its one whole content goes out', fc.array(fc.tuple(name, content), { minLength: 1, maxLength: 3 }), { runs: 400, sees: ['sent', 'declined'] }, async (members) => {
  const sent = await dispatched(`{${members.map(([each, text]) => `"${each}": ${text}`).join(', ')}}`);
  if (sent === undefined) return 'declined';
  expect(sent).toBe(ARGS);
  const others = members.filter(([, text]) => text !== ARGS);
  expect(members.length - others.length).toBe(1);
  expect(others.every(([each, text]) => each === 'name' && text === '"transfer"')).toBe(true);
  expect(members.every(([each]) => !['undo', 'Input', 'to', 'memo', '__proto__', 'output', 'previous'].includes(each))).toBe(true);
  return 'sent';
});
