/** Faults in the members of an object: one left out, one too many, one under another name or on another level, one whose value stands elsewhere in the call. */
import {
  childOf, isPrefix, jsonEqual, lastTokenOf, resolvePointer, ROOT_POINTER, type JsonObject, type JsonPointer, type JsonValue,
} from '@contractrl/core';
import { withNameAt, withoutValueAt, withValueAt } from './edit.ts';
import type { Fault } from './family.ts';
import type { Place } from './place.ts';

/** Every fault of the member at `place`; `places` are all of the call. */
export function memberFaults(place: Place, places: readonly Place[]): readonly Fault[] {
  return place.isElement ? [] : [...missing(place), ...misplaced(place, places), ...renamed(place), ...hoisted(place)];
}

/** Members that callers add of their own, and a declared one written twice. */
export function extraFaults(document: JsonObject, container: JsonPointer): readonly Fault[] {
  const object = resolvePointer(document, container) as JsonObject;
  const repeated = Object.entries(object).slice(0, 2).map(([name, value]): readonly [string, string, JsonValue] => ['repeated', `${name}_value`, value]);
  return [...EXTRAS, ...repeated].flatMap(([form, name, value]): readonly Fault[] => {
    if (Object.hasOwn(object, name)) return [];
    const pointer = childOf(container, name);
    return [{
      family: 'additional_property', form, code: 'additional_property', pointer, place: pointer,
      spoil: (spoilt) => withValueAt(spoilt, pointer, value), patch: [{ op: 'remove', path: pointer }],
    }];
  });
}

const EXTRAS: readonly (readonly [string, string, JsonValue])[] = [
  ['explanation', 'reason', 'as the user asked'], ['explanation', 'explanation', 'taken from the request'], ['note', 'note', ''], ['confidence', 'confidence', 0.9],
  ['flag', 'verbose', true], ['flag', 'dry_run', false], ['metadata', 'metadata', {}], ['format', 'output_format', 'json'], ['limit', 'max_results', 10], ['tool', 'tool_name', 'call'],
];

function missing({ pointer, value, isRequired }: Place): readonly Fault[] {
  if (!isRequired) return [];
  return [{
    family: 'missing_required', form: 'absent', code: 'missing_required', pointer, place: pointer,
    spoil: (document) => withoutValueAt(document, pointer), patch: [{ op: 'add', path: pointer, value }],
  }];
}

/** The value stands at another place too: a copy says so, and spells no value. */
function misplaced({ pointer, value, isRequired, keyword }: Place, places: readonly Place[]): readonly Fault[] {
  const from = places.find((other) => !isPrefix(other.pointer, pointer) && !isPrefix(pointer, other.pointer) && jsonEqual(other.value, value))?.pointer;
  // two choices of a list agree by chance
  if (from === undefined || !isSubstantial(value) || keyword('enum') !== undefined || keyword('const') !== undefined) return [];
  const fault = { family: 'misplaced_value', pointer, place: pointer, patch: [{ op: 'copy', from, path: pointer }] } as const;
  return [
    ...(isRequired ? [{ ...fault, form: 'absent', code: 'missing_required', spoil: (document: JsonValue) => withoutValueAt(document, pointer) } as const] : []),
    { ...fault, form: 'null', code: 'wrong_type', spoil: (document) => withValueAt(document, pointer, null) },
  ];
}

/** Two small numbers, booleans or short words are equal by chance. */
const MIN_COPIED_LENGTH = 5;

function isSubstantial(value: JsonValue): boolean {
  return typeof value === 'string' ? value.length > MIN_COPIED_LENGTH : typeof value === 'object' ? value !== null && Object.keys(value).length > 0 : false;
}

function renamed({ pointer, parent, token, value }: Place): readonly Fault[] {
  if (value === null) return [];
  return otherNames(token).map(([form, name]): Fault => {
    const from = childOf(parent, name);
    return {
      family: 'renamed_property', form, code: 'additional_property', pointer: from, place: parent,
      spoil: (document) => withNameAt(document, pointer, name), patch: [{ op: 'move', from, path: pointer }],
    };
  });
}

/** A member of an object inside the call, written beside that object. */
function hoisted({ pointer, parent, token, value }: Place): readonly Fault[] {
  const from = childOf(ROOT_POINTER, token);
  if (parent === ROOT_POINTER || lastTokenOf(parent) === token) return [];
  return [{
    family: 'renamed_property', form: 'level', code: 'additional_property', pointer: from, place: ROOT_POINTER,
    spoil: (document) => withValueAt(withoutValueAt(document, pointer), from, value), patch: [{ op: 'move', from, path: pointer }],
  }];
}

/** Names that say the same, by word. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  address: ['location'], amount: ['sum', 'total'], category: ['type', 'kind'], city: ['town', 'location'], comment: ['note'], count: ['number', 'quantity'], country: ['nation'],
  currency: ['currency_code'], date: ['day', 'when'], description: ['details', 'text'], destination: ['to', 'target'], duration: ['length', 'minutes'], email: ['mail', 'email_address'],
  end: ['to', 'finish', 'until'], file: ['path', 'filename'], id: ['identifier', 'key'], items: ['list', 'entries'], keyword: ['query', 'term'], language: ['lang', 'locale'],
  limit: ['max', 'count'], location: ['place', 'city'], message: ['text', 'body'], name: ['title', 'label'], path: ['file', 'filepath'], phone: ['telephone', 'phone_number'], price: ['cost', 'amount'],
  quantity: ['qty', 'count'], query: ['q', 'search', 'text'], recipient: ['to', 'receiver'], size: ['dimension'], start: ['from', 'begin', 'since'], status: ['state'], subject: ['title', 'topic'],
  text: ['content', 'message'], time: ['hour', 'at'], title: ['name', 'heading'], type: ['kind', 'category'], unit: ['units', 'measure'], url: ['link', 'uri'], user: ['account', 'customer'], year: ['yr'],
};

function otherNames(name: string): readonly (readonly [string, string])[] {
  const camel = name.replaceAll(/[_-](\w)/gu, (_, letter: string) => letter.toUpperCase());
  const snake = name.replaceAll(/(?<=[a-z0-9])[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
  const words = snake.split(/[_-]/u);
  const synonyms = words.flatMap((word, index) => (SYNONYMS[word.toLowerCase()] ?? []).map((other) => ['synonym', words.with(index, other).join('_')] as const));
  const all: readonly (readonly [string, string])[] = [
    ['camel-case', camel], ['snake-case', snake], ['hyphens', name.replaceAll('_', '-')], ['upper-case', name.toUpperCase()], ['plural', name.endsWith('s') ? name.slice(0, -1) : `${name}s`],
    ['letter-lost', name.length > 4 ? name.slice(0, -1) : name], ['first-word', words[0]!], ['last-word', words.at(-1)!], ['prefixed', `input_${name}`], ...synonyms,
  ];
  return all.filter(([, other]) => other !== name && other !== '');
}
