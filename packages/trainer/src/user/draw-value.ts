/**
 * Values that a schema accepts, drawn for training: its examples and literals, formats as people write them, numbers inside the bounds, texts by what the
 * member's name says, and for a pattern a walk through its automaton. A format that only a description states is not known here. Nothing is believed: who
 * draws asks the judge.
 */
import type { JsonObject, JsonValue } from '@contractrl/core';
import { contentAutomaton, type NumberNode, type SchemaNode, type StringNode, type TextAutomaton } from '@contractrl/core/schema';
import type { Random } from '../random.ts';
import { CITIES, FAMILY_NAMES, GIVEN_NAMES, STREETS, THINGS } from '../data/synthetic/words.ts';

export type ObjectNode = Extract<SchemaNode, { readonly kind: 'object' }>;

/** Of the members that may be left out. */
const OPTIONAL_SHARE = 0.6;
/** Of the values that the schema gives as examples. */
const SUGGESTED_SHARE = 0.4;
const MAX_ELEMENTS = 4;

/** A value of `node`, which stands under `name`; undefined where none was found. */
export function drawValue(node: SchemaNode, name: string, random: Random): JsonValue | undefined {
  switch (node.kind) {
    case 'literals': return random.pickAny(node.values);
    case 'string': return drawText(node, name, random);
    case 'number': return drawNumber(node, random);
    case 'object': return drawMembers(node, random, {}, name);
    case 'union': return drawBranch(node.branches, name, random);
    case 'array': {
      const wanted = Math.max(node.minItems, Math.min(node.maxItems ?? MAX_ELEMENTS, 1 + random.whole(MAX_ELEMENTS)));
      if (node.uniqueItems === true && node.rest.kind === 'literals') return random.shuffled(node.rest.values).slice(0, wanted);
      const { counted, min = 0 } = node.contains ?? {};
      const elements = Array.from({ length: wanted }, (_, index) => drawValue(counted !== undefined && index < min ? counted : node.prefix[index] ?? node.rest, name, random));
      return elements.every((element) => element !== undefined) ? elements : undefined;
    }
  }
}

/** Every member that must be there, and some of the others; those of `given` as they are. `inside` is the name of the object, which says more of what its members are. */
export function drawMembers({ members }: ObjectNode, random: Random, given: JsonObject = {}, inside: string = ''): JsonObject | undefined {
  const drawn: [string, JsonValue][] = [];
  for (const { name, required, node } of members) {
    const known = given[name];
    if (known === undefined && !required && !random.chance(OPTIONAL_SHARE)) continue;
    const value = known ?? drawValue(node, `${inside} ${name}`, random);
    if (value !== undefined) drawn.push([name, value]);
    else if (required) return undefined;
  }
  return Object.fromEntries(drawn);
}

/** Null says nothing that a request could ask for. */
function drawBranch(branches: readonly SchemaNode[], name: string, random: Random): JsonValue | undefined {
  const telling = branches.filter((branch) => branch.kind !== 'literals' || branch.values.some((value) => value !== null));
  const branch = random.pickAny(telling.length > 0 ? telling : branches);
  return branch === undefined ? undefined : drawValue(branch, name, random);
}

/** As wide as amounts and counts in requests are, where the schema sets no bound. */
const USUAL_SPAN = 100;

function drawNumber({ integer, lower, upper, multiplesOf = [], suggested = [] }: NumberNode, random: Random): number | undefined {
  if (suggested.length > 0 && random.chance(SUGGESTED_SHARE)) return random.pickAny(suggested);
  // decimals of a hundredth, where nothing asks for others
  const step = multiplesOf.length > 0 ? Math.max(...multiplesOf) : integer ? 1 : random.chance(0.5) ? 1 : 0.01;
  const from = lower?.value ?? Math.min(1, (upper?.value ?? USUAL_SPAN) - USUAL_SPAN);
  const to = upper?.value ?? from + Math.max(USUAL_SPAN, Math.abs(from));
  const [first, last] = [Math.ceil(from / step) + (lower?.exclusive === true ? 1 : 0), Math.floor(to / step) - (upper?.exclusive === true ? 1 : 0)];
  if (first > last) return from <= to && lower?.exclusive !== true ? from : undefined;
  // the digits that the step has, not those that multiplying adds
  return Number(((first + random.whole(last - first + 1)) * step).toPrecision(12));
}

function drawText({ minLength, maxLength = Infinity, content, suggested = [] }: StringNode, name: string, random: Random): string | undefined {
  if (suggested.length > 0 && random.chance(SUGGESTED_SHARE)) return random.pickAny(suggested);
  if (content !== undefined) {
    const [format] = content.patterns.length === 0 && content.excluded === undefined ? content.formats : [];
    const known = format === undefined ? undefined : textOfFormat(format, random);
    const automaton = known === undefined ? contentAutomaton(content, minLength) : undefined;
    return known ?? (automaton === undefined ? undefined : walk(automaton, minLength, maxLength, random));
  }
  let text = textByName(name, random);
  while ([...text].length < minLength) text += ` ${random.pick(THINGS)}`;
  return [...text].slice(0, Math.min(maxLength, Number.MAX_SAFE_INTEGER)).join('').trim();
}

/** Made-up texts of the kind that the name of the member tells. */
function textByName(name: string, random: Random): string {
  const words = name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/gu, ' ').toLowerCase();
  const person = `${random.pick(GIVEN_NAMES)} ${random.pick(FAMILY_NAMES)}`;
  if (/mail/u.test(words)) return mailAddress(random);
  if (/city|town|location|place|origin|destination|venue|region/u.test(words)) return random.pickAny(CITIES)![0];
  if (/street|address/u.test(words)) return `${String(1 + random.whole(200))} ${random.pick(STREETS)}`;
  if (/date|day/u.test(words)) return isoDay(random);
  if (/time|hour/u.test(words)) return clockTime(random);
  if (/\b(?:first|given)/u.test(words)) return random.pick(GIVEN_NAMES);
  if (/\b(?:last|family|sur)/u.test(words)) return random.pick(FAMILY_NAMES);
  if (/user|person|owner|author|customer|client|guest|recipient|sender|assignee|contact|patient|employee/u.test(words) && !/\bid\b|_id/u.test(words)) return person;
  if (/\bid\b|_id$|code|number|reference|sku|ticket/u.test(words)) return `${random.pick(['A', 'B', 'K', 'R', 'T'])}${String(1000 + random.whole(9000))}`;
  return `${random.pick(['blue', 'heavy', 'large', 'old', 'second', 'small', 'spare', 'striped', 'wooden'])} ${random.pick(THINGS)}`;
}

function textOfFormat(format: string, random: Random): string | undefined {
  const hex = (length: number): string => Array.from({ length }, () => random.whole(16).toString(16)).join('');
  switch (format) {
    case 'date': return isoDay(random);
    case 'time': return `${clockTime(random)}:00Z`;
    case 'date-time': return `${isoDay(random)}T${clockTime(random)}:00Z`;
    case 'email': return mailAddress(random);
    case 'uri': case 'url': return `https://example.org/${random.pick(THINGS)}/${String(1 + random.whole(400))}`;
    case 'hostname': return `${random.pick(THINGS)}.example.org`;
    case 'ipv4': return [10, 1 + random.whole(200), random.whole(250), 1 + random.whole(250)].join('.');
    case 'uuid': return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
    default: return undefined;
  }
}

function isoDay(random: Random): string {
  return `2026-${twoDigits(1 + random.whole(12))}-${twoDigits(1 + random.whole(28))}`;
}

function clockTime(random: Random): string {
  return `${twoDigits(7 + random.whole(14))}:${random.pick(['00', '15', '30', '45'])}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

function mailAddress(random: Random): string {
  return `${random.pick(GIVEN_NAMES).toLowerCase()}.${String(10 + random.whole(90))}@example.${random.pick(['com', 'net', 'org'])}`;
}

/** Walks longer than this found no end that the lengths allow. */
const MAX_WALK = 64;
const TYPABLE = /^[A-Za-z0-9]$/u;

/** A text of the automaton: letters and digits where it takes them, ended as soon as it may. */
function walk({ symbolCount, intervalStarts, intervalSymbols, next, isAccepting }: TextAutomaton, minLength: number, maxLength: number, random: Random): string | undefined {
  const characters = Array.from({ length: symbolCount }, (): string[] => []);
  for (const [index, symbol] of intervalSymbols.entries()) {
    const [start, end] = [intervalStarts[index]!, intervalStarts[index + 1] ?? 0];
    // what can be typed, and where a symbol has nothing of that the first of its characters
    for (let point = start; symbol >= 0 && point < end && point <= Math.max(start, 0x7e); point += 1) characters[symbol]!.push(String.fromCodePoint(point));
  }
  let text = '';
  let state = 0;
  for (let length = 0; length < Math.min(MAX_WALK, maxLength + 1); length += 1) {
    if (isAccepting[state] === 1 && length >= minLength) return text;
    const open = Array.from({ length: symbolCount }, (_, symbol) => symbol).filter((symbol) => next[state * symbolCount + symbol]! >= 0);
    // a step that leads on comes before one that waits where it is
    const onwards = open.filter((symbol) => next[state * symbolCount + symbol] !== state);
    const choices = (onwards.length > 0 ? onwards : open).flatMap((symbol) => characters[symbol]!.map((character) => ({ symbol, character })));
    const plain = choices.filter(({ character }) => TYPABLE.test(character));
    const chosen = random.pickAny(plain.length > 0 ? plain : choices);
    if (chosen === undefined) return undefined;
    text += chosen.character;
    state = next[state * symbolCount + chosen.symbol]!;
  }
  return undefined;
}
