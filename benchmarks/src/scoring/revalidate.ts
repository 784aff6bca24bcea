/**
 * A second opinion on every dispatched call, which shares no code with the product: its own Ajv, its own reading of the cross-field
 * checks, gates and immutable paths. A call that the arm dispatches and this refuses is an unsafe dispatch (CHECKLIST C4).
 */
import { isDeepStrictEqual } from 'node:util';
import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { ContractDocument, CrossFieldCheck, GateDocument, GateOperand, JsonObject, JsonValue, RepairRequest } from '@contractrl/core';
import { valueAt } from './value-at.ts';

const OPTIONS = { strict: false, allErrors: false, ownProperties: true, validateFormats: true, logger: false } as const;

/** Why dispatching `finalArguments` in answer to `request` is not allowed, or undefined where it is. */
export function refusal(request: RepairRequest, finalArguments: JsonObject): string | undefined {
  const { contract, context, call } = request;
  if (!compile(contract)(finalArguments)) return 'schema';
  const check = contract.crossField.find((one) => !holds(one, finalArguments));
  if (check !== undefined) return `cross-field ${check.kind}`;
  if (!contract.gates.every((gate) => allows(gate, finalArguments, context))) return 'gate';
  const before = parseLeniently(call.argumentsText);
  const edited = contract.immutablePaths.find((pointer) => !isDeepStrictEqual(valueAt(before, pointer), valueAt(finalArguments, pointer)));
  return edited === undefined ? undefined : `immutable ${edited}`;
}

/** By schema: many arms answer one case. */
const compiled = new WeakMap<JsonObject, ValidateFunction>();

function compile({ tool: { parameters } }: ContractDocument): ValidateFunction {
  const known = compiled.get(parameters) ?? compileAnew(parameters);
  compiled.set(parameters, known);
  return known;
}

function compileAnew(schema: JsonObject): ValidateFunction {
  const isDraft7 = typeof schema['$schema'] === 'string' && schema['$schema'].includes('draft-07');
  const ajv = isDraft7 ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
  formats.default(ajv);
  return ajv.compile(schema);
}

function holds(check: CrossFieldCheck, document: JsonObject): boolean {
  const present = (pointer: string): boolean => valueAt(document, pointer) !== undefined;
  const { when } = check;
  if (when !== undefined && !isDeepStrictEqual(valueAt(document, when.pointer), when.equals)) return true;
  switch (check.kind) {
    case 'requires': return !present(check.pointer) || check.required.every(present);
    case 'excludes': return !present(check.pointer) || !check.excluded.some(present);
    case 'exactly_one_of': return check.pointers.filter(present).length === 1;
    case 'at_least_one_of': return check.pointers.some(present);
    case 'sum': {
      const parts = check.pointers.map((pointer) => valueAt(document, pointer)).filter((part) => typeof part === 'number');
      const total = valueAt(document, check.total);
      return typeof total !== 'number' || parts.length !== check.pointers.length || parts.reduce((sum, part) => sum + part, 0) === total;
    }
    case 'list_length': {
      const [list, count] = [valueAt(document, check.pointer), valueAt(document, check.to)];
      return list === undefined || count === undefined || (Array.isArray(list) && typeof count === 'number' && compares(check.compare, list.length, count));
    }
    case 'member_of': {
      const [value, container] = [valueAt(document, check.pointer), valueAt(document, check.in)];
      const known: readonly unknown[] = Array.isArray(container) ? container : typeof container === 'object' && container !== null ? Object.keys(container) : [];
      const members: readonly unknown[] = value === undefined ? [] : Array.isArray(value) ? value : [value];
      return members.every((member) => known.some((one) => isDeepStrictEqual(one, member)));
    }
    case 'unique_by': {
      const list = valueAt(document, check.pointer);
      if (!Array.isArray(list)) return list === undefined;
      const keys = (list as readonly JsonValue[]).map((item) => valueAt(item, check.by)).filter((key) => key !== undefined);
      return keys.every((key, index) => !keys.slice(0, index).some((earlier) => isDeepStrictEqual(earlier, key)));
    }
    // what only the host's function can say has no second opinion here, and without one nothing is allowed
    case 'function': return false;
    default: return compares(check.kind, valueAt(document, check.a), valueAt(document, check.b));
  }
}

function compares(kind: 'lt' | 'lte' | 'gt' | 'gte' | 'eq' | 'ne', a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === undefined || b === undefined) return true;
  if (kind === 'eq') return isDeepStrictEqual(a, b);
  if (kind === 'ne') return !isDeepStrictEqual(a, b);
  const comparable = (typeof a === 'number' && typeof b === 'number') || (typeof a === 'string' && typeof b === 'string');
  if (!comparable) return false;
  return { lt: a < b, lte: a <= b, gt: a > b, gte: a >= b }[kind];
}

function allows(gate: GateDocument, document: JsonObject, context: JsonObject): boolean {
  switch (gate.kind) {
    case 'reference_exists': {
      const named = valueAt(document, gate.pointer);
      return named === undefined || areAll(named, context[gate.in]);
    }
    case 'read_before_write': {
      const [named, log] = [valueAt(document, gate.pointer), context[gate.log]];
      if (named === undefined || !Array.isArray(log)) return false;
      const own = (log as readonly JsonValue[]).filter((entry) => isDeepStrictEqual(valueAt(entry, '/tool'), gate.tool));
      return areAll(named, own.map((entry) => valueAt(valueAt(entry, '/arguments'), gate.argument) ?? null));
    }
    case 'in': {
      const [value, list] = [operand(gate.a, document, context), operand(gate.b, document, context)];
      return value !== undefined && areAll(value, list);
    }
    // no case has a gate of another kind, so there is no second opinion on one, and without one nothing is allowed
    default: return false;
  }
}

/** Each element of a list, or the one value, is an element of `known`. */
function areAll(named: JsonValue, known: JsonValue | undefined): boolean {
  const values: readonly JsonValue[] = Array.isArray(named) ? (named as readonly JsonValue[]) : [named];
  return Array.isArray(known) && values.every((one) => (known as readonly JsonValue[]).some((other) => isDeepStrictEqual(one, other)));
}

function operand(of: GateOperand, document: JsonObject, context: JsonObject): JsonValue | undefined {
  // a count has no second opinion
  if (of.count === true) return undefined;
  if ('argument' in of) return valueAt(document, of.argument);
  if ('value' in of) return of.value;
  const found = valueAt(context, of.state);
  if (of.by === undefined) return found;
  const name = valueAt(document, of.by);
  const record = typeof name === 'string' && typeof found === 'object' && found !== null && Object.hasOwn(found, name) ? (found as JsonObject)[name] : undefined;
  return valueAt(record, of.then ?? '');
}

/** The document the call arrived with, or undefined where its text is not JSON: then every immutable path counts as absent before. */
export function parseLeniently(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
