/** What a reader of rows asks of an entry: exactly the fields of its kind. A repair, which only writes entries, does without it. */
import { isJsonObject, jsonTypeOf, memberOf, type JsonValue } from '../json/value.ts';
import type { LedgerEntry } from './entry.ts';

type FieldType = 'string' | 'number' | 'boolean' | 'array' | 'object';
type FieldTable<Entry> = { readonly [Name in keyof Entry]-?: FieldType | `${FieldType}|null` | (undefined extends Entry[Name] ? `${FieldType}|absent` : never) };

/** The fields of every entry and their JSON types, fixed before anything is recorded: a reader refuses every other shape. */
export const ENTRY_FIELDS: { readonly [Kind in LedgerEntry['kind']]: FieldTable<Extract<LedgerEntry, { readonly kind: Kind }>> } = {
  opened: {
    kind: 'string', version: 'number|absent', caseId: 'string', contractDigest: 'string|null', contract: 'object|null', call: 'object', toolNames: 'array', finishReason: 'string|null',
    context: 'object', requestDigest: 'string', request: 'array|absent', report: 'array', deterministic: 'boolean|absent', reading: 'object|absent', proposer: 'object', seed: 'number|null', manifest: 'object',
    privacy: 'object|absent',
  },
  deterministic: { kind: 'string', caseId: 'string', patch: 'array', rules: 'array', written: 'array|absent', verdict: 'string', report: 'array' },
  attempt: {
    kind: 'string', caseId: 'string', number: 'number', proposal: 'object', isComplete: 'boolean', patch: 'array|null', written: 'array|absent', verdict: 'string',
    report: 'array', tokens: 'object', maskDigest: 'string|null', maskTrail: 'object|absent',
  },
  abstention: { kind: 'string', caseId: 'string', proposal: 'object', verdict: 'string', tokens: 'object', maskDigest: 'string|null', maskTrail: 'object|absent' },
  closed: {
    kind: 'string', caseId: 'string', status: 'string', reason: 'string|null', params: 'object', patch: 'array|null', written: 'array|absent', argumentsDigest: 'string|null',
    attempts: 'number', retries: 'number', operations: 'number', attemptsLeft: 'number', operationsLeft: 'number', validatorCalls: 'number',
    collateralOp: 'number', collateralPtr: 'number',
  },
  resources: { kind: 'string', caseId: 'string', prefillMs: 'number', decodeMs: 'number', maskMs: 'number', confidence: 'number|null', signals: 'array|absent' },
};

/** {@link ENTRY_FIELDS} as it is asked for, since every row that is read asks. */
const FIELD_CHECKS: ReadonlyMap<unknown, readonly (readonly [name: string, types: string, allowed: readonly string[]])[]> = new Map(
  Object.entries(ENTRY_FIELDS).map(([kind, fields]) => [kind, Object.entries(fields).map(([name, types]) => [name, types, types.split('|')] as const)]),
);

/** The first fault of a value that should be an entry: a field that is unknown, missing or of another type. Undefined where there is none. */
export function entryFault(value: JsonValue | undefined): string | undefined {
  if (!isJsonObject(value)) return 'entry: not an object';
  const kind = memberOf(value, 'kind');
  const checks = FIELD_CHECKS.get(kind);
  if (checks === undefined) return 'kind: unknown';
  const fields = ENTRY_FIELDS[kind as LedgerEntry['kind']];
  const stranger = Object.keys(value).find((name) => !Object.hasOwn(fields, name));
  if (stranger !== undefined) return `${stranger}: unknown field`;
  const fault = checks.find(([name, , allowed]) => {
    const member = memberOf(value, name);
    return !allowed.includes(member === undefined ? 'absent' : jsonTypeOf(member));
  });
  return fault === undefined ? undefined : `${fault[0]}: not ${fault[1]}`;
}
