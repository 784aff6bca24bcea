/**
 * The published JSON Schema of contract documents, made from the tables that `loadContract` reads by. It says the document's shape; what a schema cannot
 * say of it (whether the tool's schema can be honoured, whether a place can exist, whether a function is there) is left to `loadContract`.
 */
import { MAX_ATTEMPT_BUDGET, MAX_OPERATION_BUDGET, CONTRACT_VERSION } from '../src/contract/contract.ts';
import type { JsonObject } from '../src/json/value.ts';
import { OPERATION_KINDS } from '../src/patch/operation.ts';
import { CHECK_MEMBERS, LENGTH_COMPARISONS, type CheckMember } from '../src/validate/cross-field.ts';

const ref = (name: string): JsonObject => ({ $ref: `#/$defs/${name}` });
const closed = (properties: JsonObject, required: readonly string[]): JsonObject => ({ type: 'object', properties, required, additionalProperties: false });
const listOf = (items: JsonObject): JsonObject => ({ type: 'array', items, minItems: 1 });

const CHECK_SHAPES: Readonly<Record<CheckMember, JsonObject>> = {
  pointer: ref('pointer'), list: listOf(ref('pointer')), compare: { enum: LENGTH_COMPARISONS }, text: { type: 'string', minLength: 1 }, '?object': { type: 'object' },
};
const CHECKS = [...CHECK_MEMBERS].map(([kind, members]) => {
  const properties = Object.fromEntries(Object.entries(members).map(([name, shape]) => [name, CHECK_SHAPES[shape]]));
  const required = Object.keys(members).filter((name) => !(members[name] as string).startsWith('?'));
  return closed({ kind: { const: kind }, ...properties, when: ref('condition') }, ['kind', ...required]);
});

const BINARY = { a: ref('operand'), b: ref('operand') };
const TEXT = { type: 'string' };
/** Members of each kind of gate, all required. */
const GATES: readonly (readonly [kinds: readonly string[], members: JsonObject])[] = [
  [['reference_exists'], { pointer: ref('pointer'), in: TEXT }],
  [['read_before_write'], { pointer: ref('pointer'), log: TEXT, tool: TEXT, argument: ref('pointer') }],
  [['lt', 'lte', 'gt', 'gte', 'eq', 'ne', 'in', 'not_in'], BINARY],
  [['within'], { ...BINARY, seconds: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } }],
  [['absent'], { pointer: ref('pointer') }],
  [['all', 'any'], { gates: listOf(ref('rule')) }],
  [['function'], { name: TEXT, version: TEXT }],
];
const gates = (more: JsonObject): readonly JsonObject[] => GATES.map(([kinds, members]) => (
  closed({ kind: { enum: kinds }, ...members, ...more }, ['kind', ...Object.keys(members)])
));

export const CONTRACT_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Contract of a tool',
  description: 'What a repair of a failed call to this tool must keep to. Everything but the tool\'s name and schema has a default.',
  ...closed({
    version: { const: CONTRACT_VERSION, description: 'Of this form of document.' },
    tool: {
      ...closed({
        name: { type: 'string', minLength: 1 },
        description: { type: 'string', default: '' },
        parameters: { type: 'object', description: 'JSON Schema of the arguments, 2020-12 or draft-07.' },
      }, ['name', 'parameters']),
    },
    allowedOperations: { ...listOf({ enum: OPERATION_KINDS }), default: OPERATION_KINDS },
    operationBudget: { type: 'integer', minimum: 0, maximum: MAX_OPERATION_BUDGET, default: 2, description: 'Operations of all patches together.' },
    attemptBudget: { type: 'integer', minimum: 0, maximum: MAX_ATTEMPT_BUDGET, default: 2 },
    immutablePaths: { type: 'array', items: ref('lockablePointer'), default: [], description: 'Places that a repair leaves as they are.' },
    provenance: {
      oneOf: [{ const: 'require' }, closed({ require: { type: 'array', items: ref('lockablePointer') } }, ['require'])],
      description: 'Places, with all below them, where a repair writes only what comes of the request, the state, the call or the schema; "require" is the whole call.',
    },
    crossField: { type: 'array', items: ref('check'), default: [], description: 'Checks across fields.' },
    gates: { type: 'array', items: ref('gate'), default: [], description: 'Decisions before a valid call is let through.' },
    unknownKeywords: { enum: ['refuse', 'annotate'], default: 'refuse' },
    toolNames: { enum: ['exact', 'closest'], default: 'exact', description: 'Whether a call of a tool that is not offered may be taken for the closest one.' },
  }, ['tool']),
  $defs: {
    pointer: { type: 'string', pattern: '^(?:/(?:[^~/]|~[01])*)*$', description: 'JSON Pointer (RFC 6901) into the arguments.' },
    lockablePointer: { ...ref('pointer'), not: { pattern: '/(?:__proto__|prototype|constructor)(?:/|$)' } },
    condition: { ...closed({ pointer: ref('pointer'), equals: true }, ['pointer', 'equals']), description: 'The check binds only where the value there equals this one.' },
    check: { oneOf: CHECKS },
    operand: {
      oneOf: [
        closed({ argument: ref('pointer'), count: { const: true } }, ['argument']),
        { ...closed({ state: ref('pointer'), by: ref('pointer'), then: ref('pointer'), count: { const: true } }, ['state']), dependentRequired: { then: ['by'] } },
        closed({ value: true, count: { const: true } }, ['value']),
      ],
    },
    gate: { oneOf: gates({ mayShow: { const: true, description: 'The policy may see the reason and try again.' } }) },
    rule: { oneOf: gates({}) },
  },
};
