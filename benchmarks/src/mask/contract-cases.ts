/**
 * The patch contracts that all engines are measured on: 4, 16 or 64 members of four kinds, at most 3 or 8 operations, strings without a
 * bound or with one of 64 or 256. For us they are contracts bound to a document, for the peers the JSON Schema of their patches, which
 * says the same but for what no schema can: the peers do not know the document.
 */
import { loadContract, type Contract, type JsonObject, type JsonPointer, type JsonValue, type RepairState } from '@contractrl/core';

export interface ContractCase {
  readonly name: string;
  readonly pathCount: number;
  readonly operationCount: number;
  /** Undefined: strings are bounded by nothing but the output. */
  readonly maxLength: number | undefined;
}

export const CONTRACT_CASES: readonly ContractCase[] = [
  ...[4, 16, 64].flatMap((pathCount) => [undefined, 64].map((maxLength) => caseOf(pathCount, 3, maxLength))),
  ...[undefined, 256].map((maxLength) => caseOf(16, 8, maxLength)),
];

function caseOf(pathCount: number, operationCount: number, maxLength: number | undefined): ContractCase {
  const name = `${String(pathCount)} paths, ≤ ${String(operationCount)} ops, ${maxLength === undefined ? 'no maxLength' : `maxLength ${String(maxLength)}`}`;
  return { name, pathCount, operationCount, maxLength };
}

const CHOICES = ['alpha', 'beta', 'gamma', 'delta'];

function valueSchema(index: number, maxLength: number | undefined): JsonObject {
  const kinds: readonly JsonObject[] = [
    { type: 'string', ...(maxLength === undefined ? {} : { maxLength }) }, { type: 'integer', minimum: 1, maximum: 500 }, { enum: CHOICES }, { type: 'boolean' },
  ];
  return kinds[index % kinds.length]!;
}

const memberName = (index: number): string => `field${String(index)}`;
const indices = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

export function contractOf({ pathCount, operationCount, maxLength }: ContractCase): Contract {
  const properties = Object.fromEntries(indices(pathCount).map((index) => [memberName(index), valueSchema(index, maxLength)]));
  const loaded = loadContract({
    tool: { name: 'tool', description: '', parameters: { type: 'object', properties, additionalProperties: false } },
    allowedOperations: ['add', 'remove', 'replace', 'move', 'copy'], operationBudget: operationCount,
  });
  if (!loaded.ok) throw new Error(loaded.error.code);
  return loaded.value;
}

/** Every member is there and wrong, each in its own way. */
export function stateFor({ pathCount, operationCount }: ContractCase, salt: number): RepairState {
  const candidate: JsonValue = Object.fromEntries(indices(pathCount).map((index) => [memberName(index), [salt, index]]));
  return { candidate, code: 'wrong_type', pointer: '' as JsonPointer, history: [], attemptsLeft: 2, operationsLeft: operationCount };
}

/** The schema of the patches; `slash` stands in front of a member's name: XGrammar cannot spell a `/`. */
export function patchSchema({ pathCount, operationCount, maxLength }: ContractCase, slash: string): JsonObject {
  const paths = indices(pathCount).map((index) => slash + memberName(index));
  const operation = (properties: JsonObject): JsonObject => ({ type: 'object', properties, required: Object.keys(properties), additionalProperties: false });
  const writes = paths.map((path, index) => operation({ op: { enum: ['replace', 'add'] }, path: { const: path }, value: valueSchema(index, maxLength) }));
  const others = [operation({ op: { const: 'remove' }, path: { enum: paths } }), operation({ op: { enum: ['move', 'copy'] }, from: { enum: paths }, path: { enum: paths } })];
  return { type: 'array', minItems: 1, maxItems: operationCount, items: { anyOf: [...writes, ...others] } };
}

const WORDS = ['San Francisco', 'café', 'near the', 'Old Town', 'order 66', 'Zürich', 'two', 'and', 'North', 'line\nbreak', '“quoted”', '東京', '😀'];

function wordsOf(salt: number): string {
  return indices(3 + salt % 4).map((step) => WORDS[(salt * 5 + step * 3) % WORDS.length]!).join(' ');
}

/** `count` different outputs that every engine should allow: text, integer, literal, removal and move, values and members by index. */
export function outputsFor({ pathCount }: ContractCase, count: number, slash: string): readonly string[] {
  return indices(count).map((salt) => {
    const group = 4 * (salt % (pathCount / 4));
    const at = (offset: number): string => slash + memberName(group + offset);
    const operations: readonly JsonObject[] = [
      { op: 'replace', path: at(0), value: [...wordsOf(salt)].slice(0, 60).join('') },
      salt % 2 === 0 ? { op: 'replace', path: at(1), value: 1 + (salt * 37) % 500 } : { op: 'replace', path: at(2), value: CHOICES[salt % CHOICES.length]! },
      salt % 3 === 0 ? { op: 'remove', path: at(3) } : { op: salt % 3 === 1 ? 'move' : 'copy', from: at(0), path: at(3) },
    ];
    return JSON.stringify(operations);
  });
}

/** A document with three wrong members, and the patch that makes it right: text, integer and literal, all of which stand in the request. */
export interface Repair {
  readonly state: RepairState;
  readonly output: string;
  readonly request: string;
}

export function repairFor({ pathCount, operationCount }: ContractCase, salt: number): Repair {
  const group = 4 * (salt % (pathCount / 4));
  const text = [...wordsOf(salt)].slice(0, 60).join('');
  const values: readonly JsonValue[] = [text, 1 + (salt * 37) % 500, CHOICES[salt % CHOICES.length]!];
  const valid: readonly JsonValue[] = ['as it was', 1, CHOICES[0]!, true];
  const isWrong = (index: number): boolean => index >= group && index < group + values.length;
  const candidate = Object.fromEntries(indices(pathCount).map((index) => [memberName(index), isWrong(index) ? [salt, index] : valid[index % valid.length]!]));
  const operations = values.map((value, offset) => ({ op: 'replace', path: `/${memberName(group + offset)}`, value }));
  return {
    state: { candidate, code: 'wrong_type', pointer: '' as JsonPointer, history: [], attemptsLeft: 2, operationsLeft: operationCount },
    output: JSON.stringify(operations), request: `Please write ${text} and then ${values.slice(1).map(String).join(', ')}.`,
  };
}
