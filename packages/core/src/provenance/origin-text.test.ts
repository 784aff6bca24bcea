import { expect, test } from 'vitest';
import type { JsonPointer } from '../pointer.ts';
import { formatOrigin } from './origin-text.ts';

const at = (text: string): JsonPointer => text as JsonPointer;

test.each<[Parameters<typeof formatOrigin>[0], string]>([
  [{ kind: 'model' }, 'made up by the model'],
  [{ kind: 'schema-literal' }, 'needs no source'],
  [{ kind: 'schema-literal', keywordLocation: at('/properties/a/enum') }, 'from the schema at /properties/a/enum'],
  [{ kind: 'request', text: 0, start: 15, end: 23, derivation: 'verbatim' }, 'from the request, characters 16 to 23'],
  [{ kind: 'request', text: 2, start: 0, end: 3, derivation: 'lower-case' }, 'from the request, message 3, characters 1 to 3 (lower-case)'],
  [{ kind: 'context', pointer: at('/now'), start: 0, end: 3, derivation: 'verbatim' }, 'from the state at /now'],
  [{ kind: 'candidate', pointer: at('/a'), rule: 'text-to-json', start: 0, end: 3, derivation: 'upper-case' }, 'from the call at /a (text-to-json, upper-case)'],
  [{ hidden: 'ab' }, 'from a place that is hidden'],
])('%j is told', (origin, text) => {
  expect(formatOrigin(origin)).toBe(text);
});
