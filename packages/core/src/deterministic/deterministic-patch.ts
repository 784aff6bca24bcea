/**
 * The step before the policy: operations that need no model, because they keep what the call says and only one of them helps. Each is admitted
 * like a policy's, must take away its violation and bring no other, and must be the only one that does; whatever has two readings is left to the
 * policy. Places are visited in the order of their pointers, so that the order of members does not matter.
 */
import type { Contract } from '../contract/contract.ts';
import { declaredNames, schemaAt } from '../contract/schema-at.ts';
import { isJsonObject, jsonEqual, memberOf, type JsonValue } from '../json/value.ts';
import { applyPatch } from '../patch/apply.ts';
import type { Operation, Patch } from '../patch/operation.ts';
import { childOf, isPrefix, lastTokenOf, parentOf, resolvePointer, type JsonPointer } from '../pointer.ts';
import { roundedNumbers } from '../repair/accepted-call.ts';
import { lettersOf } from '../validate/near-miss.ts';
import { validateValue } from '../validate/validate.ts';
import type { Violation, ViolationCode } from '../validate/violation.ts';
import { conversionsOf, jsonOfText, type ConversionRule } from './conversions.ts';
import { readLeakedMarkup, type ArgumentText } from './leaked-markup.ts';

export type DeterministicRule = ConversionRule | 'drop-null' | 'rename-member';

export interface DeterministicPatch {
  readonly patch: Patch;
  /** The rule of each operation. */
  readonly rules: readonly DeterministicRule[];
}

/** A call with more places at fault is no slip of notation; each costs a few judgements of the whole call, so its size (UTF-16 units) is bounded too. */
const MAX_PLACES = 32;
const MAX_CALL_LENGTH = 65_536;

/**
 * The certain operations for a candidate that `violations` are about; undefined where there is none, or where they would use up the operation
 * budget without making the call valid. `lossy` are the numbers that reading had to round.
 */
export function deterministicPatch(
  contract: Contract, candidate: JsonValue, violations: readonly Violation[], lossy: ReadonlySet<number>,
): DeterministicPatch | undefined {
  const { operationBudget } = contract.document;
  if (placesOf(violations).length > MAX_PLACES || JSON.stringify(candidate).length > MAX_CALL_LENGTH) return undefined;
  const seek = { contract, lossy, candidate, original: violations };
  let found: Found = { document: candidate, violations, patch: [], rules: [] };
  for (let before = -1; before < found.patch.length && found.violations.length > 0;) {
    before = found.patch.length;
    for (const place of placesOf(found.violations)) found = onlyHelp(seek, found, place) ?? found;
  }
  const { patch, rules } = found;
  const leavesBudget = patch.length < operationBudget || (patch.length === operationBudget && found.violations.length === 0);
  return patch.length > 0 && leavesBudget ? { patch, rules } : undefined;
}

/** The value is not of the kind that is wanted. What a range, a pattern or a check across fields refuses is a wrong value, not a wrong notation. */
const KIND_CODES: readonly ViolationCode[] = ['wrong_type', 'enum_mismatch', 'const_mismatch', 'union_no_match'];

function placesOf(violations: readonly Violation[]): readonly JsonPointer[] {
  return [...new Set(violations.map(({ pointer }) => pointer))].sort();
}

interface Seek {
  readonly contract: Contract;
  readonly lossy: ReadonlySet<number>;
  readonly candidate: JsonValue;
  /** The first report: it alone knows how a number was written. */
  readonly original: readonly Violation[];
}

interface Found extends DeterministicPatch {
  readonly document: JsonValue;
  readonly violations: readonly Violation[];
}

interface Option {
  readonly operations: Patch;
  readonly rules: readonly DeterministicRule[];
  readonly needsNarrowText?: boolean;
}

/** What is found after the one option that helps at `place`; undefined where none does, or two lead to different documents. */
function onlyHelp(seek: Seek, found: Found, place: JsonPointer): Found | undefined {
  const codes = new Set(found.violations.filter(({ pointer }) => pointer === place).map(({ code }) => code));
  const value = resolvePointer(found.document, place);
  const isOfOtherKind = KIND_CODES.some((code) => codes.has(code));
  const { contract } = seek;
  // the first of these that helps at all must help in one way only
  const tiers = [
    ...(value !== undefined && codes.has('additional_property') ? renames(contract, found.document, place, value) : []),
    ...(value !== undefined && isOfOtherKind ? [replacements(seek, found, place, value), drops(seek, place, value)] : []),
    splits(contract, found.document, place),
  ];
  for (const options of tiers) {
    const helping = options.flatMap((option) => withOption(seek, found, place, option) ?? []);
    const [first, ...others] = helping;
    if (first !== undefined) return others.every(({ document }) => jsonEqual(document, first.document)) ? first : undefined;
  }
  return undefined;
}

function replacements({ original }: Seek, found: Found, place: JsonPointer, value: JsonValue): readonly Option[] {
  const about = [...original, ...found.violations].filter(({ pointer }) => pointer === place);
  return conversionsOf(value, about).map((conversion) => ({
    operations: [{ op: 'replace', path: place, value: conversion.value }], rules: [conversion.rule], needsNarrowText: conversion.needsNarrowText,
  }));
}

/**
 * Null, or its text, for a member that may be left out, by a caller who writes every declared member and null for what is not given. One who leaves
 * others out means something by null: a value that was lost, or one to be cleared. So does null beside a default, which may not be wanted.
 */
function drops({ contract, candidate }: Seek, place: JsonPointer, value: JsonValue): readonly Option[] {
  const parent = parentOf(place);
  const container = parent === undefined ? undefined : resolvePointer(candidate, parent);
  if ((value !== null && value !== 'null') || parent === undefined || !isJsonObject(container)) return [];
  const declared = declaredNames(schemaAt(contract, candidate, parent));
  const isHabit = declared.includes(lastTokenOf(place) ?? '') && declared.every((name) => Object.hasOwn(container, name));
  const hasDefault = schemaAt(contract, candidate, place).some(({ schema }) => (memberOf(schema, 'default') ?? null) !== null);
  return isHabit && !hasDefault ? [{ operations: [{ op: 'remove', path: place }], rules: ['drop-null'] }] : [];
}

/** The one declared name that is absent and differs by case and separators only, and the one member that differs so; its value may need a conversion there. */
function renames(contract: Contract, document: JsonValue, place: JsonPointer, value: JsonValue): readonly (readonly Option[])[] {
  const parent = parentOf(place);
  const container = parent === undefined ? undefined : resolvePointer(document, parent);
  if (parent === undefined || !isJsonObject(container)) return [];
  const isAlike = (name: string): boolean => lettersOf(name) === lettersOf(lastTokenOf(place) ?? '');
  const declared = declaredNames(schemaAt(contract, document, parent)).filter(isAlike);
  const [name] = declared;
  if (name === undefined || declared.length > 1 || Object.keys(container).filter(isAlike).length > 1) return [];
  const path = childOf(parent, name);
  const move: Operation = { op: 'move', from: place, path };
  const rewritten = conversionsOf(value, []).map((conversion): Option => ({
    operations: [move, { op: 'replace', path, value: conversion.value }], rules: ['rename-member', conversion.rule], needsNarrowText: conversion.needsNarrowText,
  }));
  return [[{ operations: [move], rules: ['rename-member'] }], rewritten];
}

/** Each more doubles the readings, and each of those is judged. */
const MAX_PARTS = 4;

/** A text that holds its own end, as markup, and maybe other arguments after it: that at `place`, or the one that swallowed what is missing there. */
function splits(contract: Contract, document: JsonValue, place: JsonPointer): readonly Option[] {
  const parent = parentOf(place);
  const container = parent === undefined ? undefined : resolvePointer(document, parent);
  if (parent === undefined || !isJsonObject(container)) return [];
  const missing = lastTokenOf(place) ?? '';
  const declared = declaredNames(schemaAt(contract, document, parent));
  return Object.entries(container).flatMap(([name, text]) => {
    const parts = typeof text === 'string' && (name === missing || !Object.hasOwn(container, missing)) ? readLeakedMarkup(name, text) ?? [] : [];
    const [, ...swallowed] = parts;
    const isAbout = name === missing || swallowed.some((part) => part.name === missing);
    const isNew = swallowed.every((part) => declared.includes(part.name) && !Object.hasOwn(container, part.name));
    const isOnce = new Set(parts.map((part) => part.name)).size === parts.length;
    return isAbout && isNew && isOnce && parts.length <= MAX_PARTS ? readingsOf(parts).map((values): Option => ({
      operations: values.map((value, index) => ({ op: index === 0 ? 'replace' : 'add', path: childOf(parent, parts[index]?.name ?? ''), value })), rules: parts.map(() => 'leaked-markup'),
    })) : [];
  });
}

/** Every way to take each text as it stands or as JSON: which of them the schema wants is the judge's to say. */
function readingsOf(parts: readonly ArgumentText[]): readonly (readonly JsonValue[])[] {
  return parts.reduce<readonly (readonly JsonValue[])[]>((before, { text }) => (
    [text, ...jsonOfText(text).map(({ value }) => value)].flatMap((value) => before.map((values) => [...values, value]))
  ), [[]]);
}

function withOption({ contract, lossy }: Seek, found: Found, place: JsonPointer, { operations, rules, needsNarrowText = false }: Option): Found | undefined {
  const applied = applyPatch(contract, found.document, operations, contract.document.operationBudget - found.patch.length);
  if (!applied.ok) return undefined;
  const document = applied.value;
  const violations = judge(contract, document, lossy);
  const known = new Set(found.violations.map(keyOf));
  // checks across fields speak only once the schema is content: they were not caused here
  const isBetter = violations.every((each) => each.code === 'cross_field' || (!isPrefix(place, each.pointer) && known.has(keyOf(each))));
  if (!isBetter || (needsNarrowText && !isNarrow(contract, found, operations))) return undefined;
  return { document, violations, patch: [...found.patch, ...operations], rules: [...found.rules, ...rules] };
}

/** Whether the schema refuses an arbitrary text of the same length in place of the one that the last operation writes. */
function isNarrow(contract: Contract, { document, patch }: Found, operations: Patch): boolean {
  const last = operations.at(-1);
  if (last?.op !== 'replace' || typeof last.value !== 'string') return false;
  const probe: Patch = [...operations.slice(0, -1), { ...last, value: '\ue000'.repeat(last.value.length) }];
  const probed = applyPatch(contract, document, probe, contract.document.operationBudget - patch.length);
  return probed.ok && judge(contract, probed.value, NONE).some(({ pointer }) => pointer === last.path);
}

const NONE: ReadonlySet<number> = new Set();

function judge(contract: Contract, document: JsonValue, lossy: ReadonlySet<number>): readonly Violation[] {
  const report = validateValue(contract, document);
  return [...roundedNumbers(document, lossy), ...(report.kind === 'invalid' ? report.violations : [])];
}

function keyOf({ code, pointer }: Violation): string {
  return `${code} ${pointer}`;
}
