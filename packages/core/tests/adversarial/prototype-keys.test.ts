/** Family: names that mean something to the host language, in every position where a name can stand. */
// checklist: H5
import fc from 'fast-check';
import { expect } from 'vitest';
import { loadContract, setMember, type JsonObject, type JsonValue } from '../../src/index.ts';
import { requestOf } from '../support.ts';
import { attack, family, OP, PROTOTYPE_NAMES, saying } from './support.ts';

const name = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...PROTOTYPE_NAMES) }, { weight: 1, arbitrary: fc.constantFrom('a', 'b') });

/** An object with own members of any name. */
function own(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  const object: Record<string, JsonValue> = {};
  for (const [key, value] of entries) setMember(object, key, value);
  return object;
}

const leaf = fc.constantFrom<JsonValue>(1, 'x', null, { polluted: true }, []);
const object = fc.array(fc.tuple(name, fc.oneof(leaf, fc.array(fc.tuple(name, leaf), { maxLength: 2 }).map(own))), { maxLength: 4 }).map(own);
const pointer = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.map((each) => `/${each}`).join(''));
const patch = fc.array(fc.record({ op: fc.oneof(OP, fc.constantFrom('__proto__', 'constructor', 'toString')), path: pointer, from: pointer, value: fc.oneof(leaf, object) }), { minLength: 1, maxLength: 3 }).map((each) => JSON.stringify(each));

const positions = fc.record({
  n: fc.constantFrom<JsonValue>(1, {}), declared: fc.uniqueArray(name, { maxLength: 4 }), required: fc.uniqueArray(name, { maxLength: 1 }), isClosed: fc.boolean(), args: object, context: object,
  toolName: fc.oneof(fc.constant('put'), name), gate: fc.option(fc.tuple(pointer, name)), texts: fc.array(patch, { minLength: 1, maxLength: 2 }),
  locks: fc.array(fc.constantFrom('/a', '/toString', '/length'), { maxLength: 1 }),
});

family('own members stay own members, and no prototype is read or written', positions, { runs: 500, sees: ['failed', 'valid', 'repaired', 'rejected'] }, async (drawn) => {
  const parameters: JsonObject = {
    type: 'object', required: drawn.required,
    properties: own([['n', { type: 'integer' }], ...drawn.declared.map((each) => [each, { type: ['integer', 'string'] }] as const)]), ...(drawn.isClosed ? { additionalProperties: false } : {}),
  };
  const gates = drawn.gate === null ? [] : [{ kind: 'reference_exists', pointer: drawn.gate[0], in: drawn.gate[1] }];
  const request = requestOf({
    tool: { name: drawn.toolName, parameters }, call: { name: drawn.toolName, arguments: own([['n', drawn.n], ...Object.entries(drawn.args)]) }, context: drawn.context, contract: { gates, immutablePaths: drawn.locks, operationBudget: 6, attemptBudget: 3 },
  });
  const status = await attack(request, saying(...drawn.texts, '[{"op":"replace","path":"/n","value":1}]'));
  expect(({} as { readonly polluted?: unknown }).polluted).toBeUndefined();
  return status;
});

family('a contract document with such names anywhere loads or is refused with a code', fc.tuple(object, fc.array(name, { minLength: 1, maxLength: 3 })), { sees: ['refused'] }, ([value, path]) => {
  let document: Record<string, JsonValue> = { tool: { name: 'put', description: '', parameters: { type: 'object' } } };
  setMember(document, path[0] ?? 'a', value);
  if (path.length > 1) document = own([['tool', own([['name', 'put'], ['parameters', own([['type', 'object'], ...path.map((each) => [each, value] as const)])]])]]);
  const loaded = loadContract(document);
  if (!loaded.ok) expect(loaded.error.code).toMatch(/^(contract|json)\//);
  return loaded.ok ? 'loaded' : 'refused';
});
