/**
 * No-ops and churn by direct definition, for comparison: the output's operations are replayed on a tree whose values know whether they were
 * written and whose containers keep a gap where something was removed. Nothing is shifted and nothing is kept between two questions.
 */
import { formatPointer, isJsonArray, isJsonObject, jsonEqual, tokensOf, validateArguments, type Contract, type JsonObject, type JsonPointer, type JsonValue, type Operation } from '@contractrl/core';

export interface NaiveRules {
  readonly excludeNoOps: boolean;
  readonly goal: boolean;
  readonly nearer: boolean;
}

const LOCAL = ['type', 'enum', 'const', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength', 'pattern', 'format', 'minItems', 'maxItems', 'required', 'additionalProperties'];
const CONDITIONAL = ['anyOf', 'oneOf', 'not', 'if', 'dependentSchemas', 'dependencies', 'contains', 'unevaluatedProperties', 'unevaluatedItems', '$dynamicRef', '$recursiveRef'];

/** Whether writing a value at `path` leaves violations in more members of the root than `further` operations can come to. */
export function isNaivelyTooFar(contract: Contract, document: JsonValue, path: JsonPointer, further: number): boolean {
  if (isConditional(contract)) return false;
  const members = new Set<string>();
  for (const { keyword, pointer } of contract.judge.judge(document)) {
    const place = tokensOf(pointer);
    if (LOCAL.includes(keyword) && place.length > 0 && !isTouched(document, tokensOf(path), place)) members.add(place[0] as string);
  }
  return members.size > further * (contract.document.allowedOperations.includes('move') ? 2 : 1);
}

/**
 * Whether no place of `operation` is, holds or stands in one that the judge names, or in the one that a misnamed member should have, though every fault is one of
 * its place alone; or it takes such a member away, which may be moved.
 */
export function isNaivelyStray(contract: Contract, document: JsonValue, operation: Operation): boolean {
  const { report } = validateArguments(contract, JSON.stringify(document));
  const meant = new Map((report.kind === 'invalid' ? report.violations : []).flatMap(({ code, pointer, params: { closestName } }) => (
    code === 'additional_property' && typeof closestName === 'string' ? [[pointer, formatPointer([...tokensOf(pointer).slice(0, -1), closestName])] as const] : []
  )));
  const target = operation.op === 'remove' ? meant.get(operation.path) : undefined;
  const isLocked = contract.immutablePaths.some((locked) => target !== undefined && (locked === target || locked.startsWith(`${target}/`) || target.startsWith(`${locked}/`)));
  if (target !== undefined && !isLocked && contract.document.allowedOperations.includes('move')) return true;
  const faults = contract.judge.judge(document);
  if (isConditional(contract) || faults.length === 0 || faults.some(({ keyword, pointer }) => !LOCAL.includes(keyword) || pointer === '')) return false;
  const places = [...faults.map(({ pointer }) => pointer), ...meant.values()];
  return (operation.op === 'move' ? [operation.from, operation.path] : [operation.path]).every((path) => places.every((place) => !isTouched(document, tokensOf(path), tokensOf(place))));
}

function isConditional(contract: Contract): boolean {
  const namesIn = (value: JsonValue): readonly string[] => (isJsonArray(value) ? value.flatMap(namesIn) : isJsonObject(value) ? Object.entries(value).flatMap(([name, member]) => [name, ...namesIn(member)]) : []);
  return namesIn(contract.document.tool.parameters).some((name) => CONDITIONAL.includes(name));
}

/** Whether a change at `written` can be one of `place`: one of them is or holds the other, or they are elements of the array that it inserts into. */
function isTouched(document: JsonValue, written: readonly string[], place: readonly string[]): boolean {
  const shared = place.findIndex((token, depth) => token !== written[depth]);
  if (shared === -1 || shared >= Math.min(place.length, written.length)) return true;
  return shared === written.length - 1 && Array.isArray(written.slice(0, -1).reduce((value: unknown, token) => (value as Record<string, unknown>)[token], document));
}

type Slot = Tagged | 'gap';
interface Tagged {
  written: boolean;
  readonly content: JsonValue | Slot[] | Map<string, Slot>;
}

/** Whether `operation` only undoes or repeats what `done` did to `document`, or changes nothing. A value to write does not count: see {@link naivelyRestoring}. */
export function isNaiveChurn(contract: Contract, document: JsonValue, done: readonly Operation[], operation: Operation): boolean {
  const { tree, seen } = replay(document, done);
  switch (operation.op) {
    case 'replace': return holdsWritten(at(tree, operation.path));
    case 'remove': return holdsWritten(at(tree, operation.path)) || isSeen(seen, operation);
    case 'add': return contract.document.allowedOperations.includes('replace') && isGap(tree, operation.path);
    case 'copy': return isGap(tree, operation.path) || overwritesWritten(tree, operation.path) || isSeen(seen, operation);
    case 'move': {
      if (at(tree, operation.from).written || isSeen(seen, operation)) return true;
      take(tree, operation.from, false);
      return isGap(tree, operation.path) || overwritesWritten(tree, operation.path);
    }
  }
}

/** The values with which a write leads back to a document that there was, the present one among them: found among all that those documents hold. */
export function naivelyRestoring(document: JsonValue, done: readonly Operation[], op: 'add' | 'replace', path: JsonPointer): readonly JsonValue[] {
  const { seen } = replay(document, done);
  const held = (value: JsonValue): readonly JsonValue[] => [value, ...(typeof value === 'object' && value !== null ? Object.values(value as JsonObject).flatMap(held) : [])];
  const distinct = new Map(seen.flatMap(held).map((value) => [JSON.stringify(value), value]));
  return [...distinct.values()].filter((value) => isSeen(seen, { op, path, value }));
}

function replay(document: JsonValue, done: readonly Operation[]): { readonly tree: Tagged; readonly seen: readonly JsonValue[] } {
  const tree = tag(document);
  const seen = [document];
  for (const operation of done) seen.push(untag(perform(tree, operation)));
  return { tree, seen };
}

/** Whether `operation` makes of the last document one of them. */
function isSeen(seen: readonly JsonValue[], operation: Operation): boolean {
  const after = untag(perform(tag(seen.at(-1) as JsonValue), operation));
  return seen.some((earlier) => jsonEqual(earlier, after));
}

function tag(value: JsonValue): Tagged {
  if (isJsonArray(value)) return { written: false, content: value.map(tag) };
  if (isJsonObject(value)) return { written: false, content: new Map(Object.entries(value).map(([name, member]) => [name, tag(member)])) };
  return { written: false, content: value };
}

function untag({ content }: Tagged): JsonValue {
  if (Array.isArray(content)) return (content as Slot[]).filter((slot) => slot !== 'gap').map(untag);
  if (!(content instanceof Map)) return content as JsonValue;
  return Object.fromEntries([...content].flatMap(([name, slot]) => (slot === 'gap' ? [] : [[name, untag(slot)]])));
}

function perform(tree: Tagged, operation: Operation): Tagged {
  switch (operation.op) {
    case 'remove': take(tree, operation.path, true); break;
    case 'add': put(tree, operation.path, tag(operation.value)); break;
    case 'replace': exchange(tree, operation.path, tag(operation.value)); break;
    case 'copy': put(tree, operation.path, tag(untag(at(tree, operation.from)))); break;
    case 'move': put(tree, operation.path, take(tree, operation.from, false)); break;
  }
  return tree;
}

function container(tree: Tagged, path: JsonPointer): { readonly content: Slot[] | Map<string, Slot>; readonly last: string } {
  const tokens = tokensOf(path);
  let current = tree;
  for (const token of tokens.slice(0, -1)) current = slotIn(current.content, token) as Tagged;
  return { content: current.content as Slot[] | Map<string, Slot>, last: tokens.at(-1) as string };
}

function slotIn(content: Tagged['content'], token: string): Slot | undefined {
  return content instanceof Map ? content.get(token) : (content as Slot[])[rawIndex(content as Slot[], Number(token))];
}

/** Where the element `index`, counted without gaps, stands; the length where there is none. */
function rawIndex(slots: Slot[], index: number): number {
  let seen = -1;
  const raw = slots.findIndex((slot) => slot !== 'gap' && (seen += 1) === index);
  return raw === -1 ? slots.length : raw;
}

function at(tree: Tagged, path: JsonPointer): Tagged {
  const { content, last } = container(tree, path);
  return slotIn(content, last) as Tagged;
}

function take(tree: Tagged, path: JsonPointer, leavesGap: boolean): Tagged {
  const { content, last } = container(tree, path);
  const taken = slotIn(content, last) as Tagged;
  if (!(content instanceof Map)) content.splice(rawIndex(content, Number(last)), 1, ...(leavesGap ? ['gap' as const] : []));
  else if (leavesGap) content.set(last, 'gap');
  else content.delete(last);
  return taken;
}

function exchange(tree: Tagged, path: JsonPointer, value: Tagged): void {
  const { content, last } = container(tree, path);
  value.written = true;
  if (content instanceof Map) content.set(last, value);
  else content[rawIndex(content, Number(last))] = value;
}

function put(tree: Tagged, path: JsonPointer, value: Tagged): void {
  const { content, last } = container(tree, path);
  value.written = true;
  if (content instanceof Map) content.set(last, value);
  else content.splice(boundary(content, last), 0, value);
}

/** The first slot behind the element before the one at `token`. */
function boundary(slots: Slot[], token: string): number {
  const index = token === '-' ? slots.filter((slot) => slot !== 'gap').length : Number(token);
  return index === 0 ? 0 : rawIndex(slots, index - 1) + 1;
}

function isGap(tree: Tagged, path: JsonPointer): boolean {
  const { content, last } = container(tree, path);
  return (content instanceof Map ? content.get(last) : content[boundary(content, last)]) === 'gap';
}

function overwritesWritten(tree: Tagged, path: JsonPointer): boolean {
  const { content, last } = container(tree, path);
  const present = content instanceof Map ? content.get(last) : undefined;
  return present !== undefined && present !== 'gap' && holdsWritten(present);
}

function holdsWritten({ written, content }: Tagged): boolean {
  const inside = content instanceof Map ? [...content.values()] : Array.isArray(content) ? content as Slot[] : [];
  return written || inside.some((slot) => slot !== 'gap' && holdsWritten(slot));
}
