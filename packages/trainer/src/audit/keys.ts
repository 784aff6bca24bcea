/**
 * The units of the leakage audit. Each is a key; two sides overlap in a unit where they have a key in common, and zero in one unit says nothing about another
 * (CHECKLIST J5). What short texts have in common by chance is no leak: each unit says from what size on it looks. Reference: CHECKLIST J3 to J7.
 */
import { canonicalText, digestOfText, type JsonObject, type Operation, type ToolDefinition } from '@contractrl/core';
import { meaningOf, normalLeaves, normalText, pointerTemplate, schemaShape, tightName, wordRuns } from './normal-form.ts';

/** Of a legal call and its tool. */
const CALL_UNITS = ['case-id', 'request', 'request-run', 'tool-name', 'schema', 'schema-shape', 'target', 'argument-value', 'meaning'] as const;
/** Of what was made of a call. */
const CASE_UNITS = ['candidate', 'target-paths', 'operations', 'error-template'] as const;
export type LeakUnit = (typeof CALL_UNITS)[number] | (typeof CASE_UNITS)[number];
export const LEAK_UNITS: readonly LeakUnit[] = [...CALL_UNITS, ...CASE_UNITS];

export const UNIT_MEANINGS: Readonly<Record<LeakUnit, string>> = {
  'case-id': 'identifier of the case, and of the row it was made of',
  request: 'the request as words in lower case, from 4 words on',
  'request-run': 'any 10 words in a row of the request',
  'tool-name': 'name of any tool on offer, without case and separators',
  schema: 'digest of the parameters, prose included, of any tool on offer',
  'schema-shape': 'names, types and required members of any tool on offer, without prose, from 3 members on (the candidate pool)',
  target: 'the legal arguments, from 2 members on',
  'argument-value': 'a text among the legal arguments, from 5 words on',
  meaning: 'names and values of the arguments whatever their order and spelling, from 2 members on (semantic equivalence)',
  candidate: 'the failed arguments with the name of the tool',
  'target-paths': 'operations and paths of the answer with the name of the tool',
  operations: 'operations, paths and values of the answer, from 8 characters of value on',
  'error-template': 'codes and pointers of the report, indices left out, with the name of the tool',
};

const MIN_REQUEST_WORDS = 4;
const RUN_WORDS = 10;
const MIN_SHAPE_MEMBERS = 3;
const MIN_TARGET_MEMBERS = 2;
const MIN_VALUE_WORDS = 5;
const MIN_OPERATION_VALUE_LENGTH = 8;

export interface AuditedCall {
  readonly id: string;
  readonly request: string;
  /** The tool that is called, and every other one on offer. */
  readonly tools: readonly Pick<ToolDefinition, 'name' | 'parameters'>[];
  /** The legal arguments; undefined where the case has none. */
  readonly target: JsonObject | undefined;
}

export interface AuditedCase {
  readonly toolName: string;
  /** Undefined where the failed text holds no object. */
  readonly candidate: JsonObject | undefined;
  readonly operations: readonly Operation[];
  /** Of the report. */
  readonly faults: readonly { readonly code: string; readonly pointer: string }[];
}

export type KeyOf = readonly [unit: LeakUnit, key: string];

/** All keys of a call, each once. */
export function callKeys({ id, request, tools, target }: AuditedCall): readonly KeyOf[] {
  const words = normalText(request);
  const isLong = words.split(' ').length >= MIN_REQUEST_WORDS;
  const ofTarget = target !== undefined && Object.keys(target).length >= MIN_TARGET_MEMBERS;
  return distinct([
    ['case-id', id], ...(isLong ? [['request', words] as const] : []), ...wordRuns(request, RUN_WORDS).map((run) => ['request-run', run] as const),
    ...tools.flatMap(toolKeys),
    ...(ofTarget ? [['target', canonicalText(target)] as const, ['meaning', meaningOf(target)] as const] : []),
    ...normalLeaves(target ?? {}).filter((leaf) => leaf.split(' ').length >= MIN_VALUE_WORDS).map((leaf) => ['argument-value', leaf] as const),
  ]);
}

/** A tool's keys are asked for with every call of it. */
const knownToolKeys = new WeakMap<object, readonly KeyOf[]>();

function toolKeys(tool: AuditedCall['tools'][number]): readonly KeyOf[] {
  const known = knownToolKeys.get(tool);
  if (known !== undefined) return known;
  const { name, parameters } = tool;
  const properties = (parameters['properties'] ?? {}) as JsonObject;
  const size = Object.keys(properties).length;
  const keys: readonly KeyOf[] = [
    ['tool-name', tightName(name)], ...(size === 0 ? [] : [['schema', digestOfText(canonicalText(withoutClosing(parameters)))] as const]),
    ...(size >= MIN_SHAPE_MEMBERS ? [['schema-shape', canonicalText(schemaShape(parameters))] as const] : []),
  ];
  knownToolKeys.set(tool, keys);
  return keys;
}

/** Closing its objects does not make a schema another one. */
function withoutClosing(schema: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(schema, (name, value: unknown) => (name === 'additionalProperties' && value === false ? undefined : value))) as JsonObject;
}

/** All keys of a failed call with its answer. */
export function caseKeys({ toolName, candidate, operations, faults }: AuditedCase): readonly KeyOf[] {
  const tool = tightName(toolName);
  const written = operations.flatMap((operation) => ('value' in operation ? [JSON.stringify(operation.value)] : [])).join('');
  return distinct([
    ...(candidate === undefined ? [] : [['candidate', canonicalText([tool, candidate])] as const]),
    ...(operations.length === 0 ? [] : [['target-paths', canonicalText([tool, ...operations.map(({ op, path }) => [op, pointerTemplate(path)])])] as const]),
    ...(written.length >= MIN_OPERATION_VALUE_LENGTH ? [['operations', canonicalText(operations.map((operation) => ({ ...operation })))] as const] : []),
    ...(faults.length === 0 ? [] : [['error-template', canonicalText([tool, ...faults.map(({ code, pointer }) => [code, pointerTemplate(pointer as Operation['path'])])])] as const]),
  ]);
}

function distinct(keys: readonly KeyOf[]): readonly KeyOf[] {
  return [...new Map(keys.map((each) => [each.join(' '), each])).values()];
}
