/**
 * Legal call → failed call with its canonical answer. Faults are proposed by the family and each is put to the production judge: it is taken only where the
 * verifier gives the family's code at the family's place and the canonical patch, admitted and applied as in a repair, leads back to the legal call.
 * So an example cannot teach what production would refuse. Reference: CHECKLIST A3, E1; TRAINING § Recipe.
 */
import {
  applyPatch, isJsonArray, isJsonObject, jsonEqual, resolvePointer, ROOT_POINTER, schemaAt, tokensOf, validateArguments, type Contract, type InvalidReport, type JsonObject, type JsonPointer, type JsonValue, type ViolationCode,
} from '@contractrl/core';
import type { LegalCall } from '../legal-call.ts';
import type { Random } from '../random.ts';
import type { Request } from '../request.ts';
import { crossFieldFaults } from './cross-field-faults.ts';
import type { Answer, Fault, Family, Position, SingleFamily } from './family.ts';
import { extraFaults, memberFaults } from './member-faults.ts';
import { placesOf, type Place } from './place.ts';
import { lockedField, otherTool, valueUnknown } from './unrepairable.ts';
import { valueFaults } from './value-faults.ts';

export interface Corruption {
  readonly family: Family;
  /** The way, within the family; of several fields, both ways. */
  readonly form: string;
  readonly position: Position;
  /** The call's own, or one with a lock. */
  readonly contract: Contract;
  /** The call's own, or one that no longer says a value. */
  readonly request: Request;
  /** The failed call, and the value its text holds. */
  readonly argumentsText: string;
  readonly candidate: JsonValue;
  /** The verifier's on the failed call; it holds `code` at `pointer`. */
  readonly report: InvalidReport;
  readonly code: ViolationCode;
  readonly pointer: JsonPointer;
  readonly answer: Answer;
}

/**
 * One corruption of `family`; undefined where the call offers none. `another` is a call of another tool, for the family that needs one. The same call,
 * family and stream of choices give the same corruption. O(faults × judge) at the worst, one or two judgements as a rule.
 */
export function corrupt(call: LegalCall, family: Family, random: Random, another?: LegalCall): Corruption | undefined {
  switch (family) {
    case 'several_fields': return severalFields(call, random);
    case 'value_unknown': return valueUnknown(call, takenOf(call, lackingOf(random), random), random);
    case 'locked_field': return lockedField(takenOf(call, lockableOf(random), random));
    case 'other_tool': return another === undefined ? undefined : otherTool(call, takenOf(call, lackingOf(random), random), another);
    default: return takenOf(call, [family], random).next().value;
  }
}

/** Of the calls that lack a value: about as among those that can be mended, so that the verifier's code alone is no reason to decline. */
const MISSING_SHARE = 0.55;

function lackingOf(random: Random): readonly SingleFamily[] {
  return random.chance(MISSING_SHARE) ? ['missing_required', 'wrong_type_lossy'] : ['wrong_type_lossy', 'missing_required'];
}

const LACKING_SHARE = 0.8;
const LOCKABLE_BESIDE: readonly SingleFamily[] = ['wrong_type_lossless', 'enum', 'format', 'pattern', 'range', 'length'];

function lockableOf(random: Random): readonly SingleFamily[] {
  const [lacking, beside] = [lackingOf(random), random.shuffled(LOCKABLE_BESIDE)];
  return random.chance(LACKING_SHARE) ? [...lacking, ...beside] : [...beside, ...lacking];
}

/** Families of one fault that the call can have, before the judge is asked. */
export function familiesOf(call: LegalCall): ReadonlySet<SingleFamily> {
  return new Set(faultsOf(call).keys());
}

/** In this share of draws a whole list is spoilt where there is one: its elements and the other members outnumber it. */
const LISTS_FIRST = 0.3;

/** Corruptions that the judge confirms, family after family, places and forms in the stream's order. */
function* takenOf(call: LegalCall, families: readonly SingleFamily[], random: Random): Generator<Corruption, undefined> {
  const faults = faultsOf(call);
  const areListsFirst = random.chance(LISTS_FIRST);
  const isFirst = ({ pointer }: Fault): boolean => areListsFirst && isJsonArray(resolvePointer(call.arguments, pointer));
  for (const family of families) {
    const shuffled = random.shuffled(faults.get(family) ?? []);
    for (const fault of [...shuffled.filter(isFirst), ...shuffled.filter((each) => !isFirst(each))]) {
      const taken = confirm(call, family, [fault]);
      if (taken !== undefined) yield taken;
    }
  }
  return undefined;
}

/** Pairs looked at before a call is given up; most pairs of different members go together. */
const MAX_PAIRS = 24;

function severalFields(call: LegalCall, random: Random): Corruption | undefined {
  const byFamily = [...faultsOf(call).values()];
  for (let tried = 0; tried < MAX_PAIRS && byFamily.length > 0; tried += 1) {
    const [one, other] = [random.pickAny(random.pickAny(byFamily)!)!, random.pickAny(random.pickAny(byFamily)!)!];
    if (areApart(one, other)) {
      const taken = confirm(call, 'several_fields', [one, other]);
      if (taken !== undefined) return taken;
    }
  }
  return undefined;
}

/** On different top-level members, neither of which a check across fields could undo or hide. */
function areApart(one: Fault, other: Fault): boolean {
  const [a, b] = [tokensOf(one.place)[0], tokensOf(other.place)[0]];
  const isCrossField = one.family === 'cross_field' || other.family === 'cross_field';
  return !isCrossField && a !== b && (a !== undefined || b !== undefined) && tokensOf(one.pointer)[0] !== tokensOf(other.pointer)[0];
}

/** The failed call with its answer, if judge and admission agree that it is one. */
function confirm(call: LegalCall, family: Family, faults: readonly [Fault, ...Fault[]]): Corruption | undefined {
  const { contract, request } = call;
  const argumentsText = JSON.stringify(faults.reduce<JsonValue>((document, { spoil }) => spoil(document), call.arguments));
  const { report, value: candidate } = validateArguments(contract, argumentsText);
  if (report.kind === 'valid' || candidate === undefined) return undefined;
  const isReported = faults.every(({ code, pointer }) => report.violations.some((each) => each.code === code && each.pointer === pointer));
  const patch = faults.flatMap((fault) => fault.patch);
  const repaired = applyPatch(contract, candidate, patch, contract.document.operationBudget);
  if (!isReported || !repaired.ok || !jsonEqual(repaired.value, call.arguments)) return undefined;
  const [{ code, pointer }] = faults;
  return {
    family, form: faults.map((fault) => (faults.length === 1 ? fault.form : `${fault.family}:${fault.form}`)).join('+'), position: positionOf(call.arguments, pointer),
    contract, request, argumentsText, candidate, report, code, pointer, answer: { kind: 'patch', patch },
  };
}

function positionOf(document: JsonObject, pointer: JsonPointer): Position {
  const tokens = tokensOf(pointer);
  const containers = tokens.map((_, depth) => resolvePointer(document, pointer.split('/').slice(0, depth + 1).join('/') as JsonPointer));
  return containers.some(Array.isArray) ? 'array' : tokens.length > 1 ? 'nested' : 'top';
}

/** Faults by family, none of an empty list. Not kept from one corruption to the next: those of ten thousand calls would take more memory than time. */
function faultsOf({ contract, arguments: args }: LegalCall): ReadonlyMap<SingleFamily, readonly Fault[]> {
  const places = placesOf(contract, args);
  const objects = [ROOT_POINTER, ...places.filter(({ value }) => isJsonObject(value)).map(({ pointer }) => pointer)];
  const all = [
    ...places.flatMap((place: Place) => [...valueFaults(place), ...memberFaults(place, places)]), ...objects.flatMap((pointer) => extraFaults(args, pointer)),
    ...contract.document.crossField.flatMap((check) => crossFieldFaults(check, args, (pointer) => namedValues(contract, args, pointer))),
  ];
  // what stands elsewhere in the call is copied from there: one canonical answer, not two
  const copied = new Set(all.filter(({ family }) => family === 'misplaced_value').map(({ pointer }) => pointer));
  const kept = all.filter(({ family, pointer }) => (family !== 'missing_required' && family !== 'wrong_type_lossy') || !copied.has(pointer));
  return new Map([...new Set(kept.map(({ family }) => family))].map((family) => [family, kept.filter((fault) => fault.family === family)]));
}

/** Values that the schema itself lists for a place, and both truth values. */
function namedValues(contract: Contract, document: JsonObject, pointer: JsonPointer): readonly JsonValue[] {
  return schemaAt(contract, document, pointer).flatMap(({ schema: { enum: literals, type } }) => [...(isJsonArray(literals) ? literals : []), ...(type === 'boolean' ? [true, false] : [])]);
}
