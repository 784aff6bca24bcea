/**
 * Faults in a value: another type, another literal, a broken format, pattern, range, length or list. Each form is what callers were seen to write
 * (bug reports, CHECKLIST A3); a form that the schema lets pass is no fault, and the caller of these sorts it out by asking the judge.
 */
import { childOf, isJsonArray, isJsonObject, type JsonArray, type JsonValue, type Operation, type ViolationCode } from '@contractrl/core';
import { withoutValueAt, withValueAt } from './edit.ts';
import type { Fault, SingleFamily } from './family.ts';
import type { Place } from './place.ts';

type Form = readonly [form: string, wrong: JsonValue];

const CODES = {
  wrong_type_lossless: 'wrong_type', wrong_type_lossy: 'wrong_type', enum: 'enum_mismatch', const: 'const_mismatch', format: 'format_mismatch',
  pattern: 'pattern_mismatch', range: 'range_violation', length: 'length_violation', union: 'union_no_match',
} as const satisfies Partial<Record<SingleFamily, ViolationCode>>;

const FORMS: Readonly<Record<keyof typeof CODES, (place: Place) => readonly Form[]>> = {
  wrong_type_lossless: ({ value }) => losslessForms(value),
  wrong_type_lossy: ({ value }) => lossyForms(value),
  enum: (place) => (isJsonArray(place.keyword('enum')) ? literalForms(place.value) : []),
  const: (place) => (place.keyword('const') === undefined ? [] : literalForms(place.value)),
  format: (place) => (typeof place.value === 'string' ? formatForms(place.value, place.keyword('format')) : []),
  pattern: (place) => (typeof place.value === 'string' && place.keyword('pattern') !== undefined ? patternForms(place.value) : []),
  range: rangeForms,
  length: lengthForms,
  union: (place) => (isUnion(place) ? [...losslessForms(place.value), ...lossyForms(place.value)] : []),
};

/** Every fault of the value at `place`. */
export function valueFaults(place: Place): readonly Fault[] {
  const { pointer, value } = place;
  const families = Object.keys(CODES) as (keyof typeof CODES)[];
  const replaced = families.flatMap((family) => FORMS[family](place).map(([form, wrong]): Fault => ({
    family, form, code: CODES[family], pointer, place: pointer,
    spoil: (document) => withValueAt(document, pointer, wrong), patch: [{ op: 'replace', path: pointer, value }],
  })));
  return [...replaced, ...(isJsonArray(value) ? itemFaults(place, value) : [])];
}

/** The value is still there, in the notation of another type. */
function losslessForms(value: JsonValue): readonly Form[] {
  if (value === null) return [];
  const wrapped: readonly Form[] = [['in-list', [value]], ['wrapped', { value }]];
  if (isJsonArray(value)) {
    const isPlain = value.length > 0 && value.every((item) => typeof item === 'string' && !item.includes(','));
    return [
      ['json-text', JSON.stringify(value)], ['wrapped', { items: value }], ...(value.length === 1 ? [['only-element', value[0]!] as const] : []),
      ...(isPlain ? [['comma-text', value.join(', ')] as const] : []),
    ];
  }
  if (isJsonObject(value)) return [['json-text', JSON.stringify(value)], ['in-list', [value]]];
  if (typeof value !== 'string') return [['text', JSON.stringify(value)], ...wrapped];
  return [...(String(Number(value)) === value ? [['number', Number(value)] as const] : []), ...wrapped];
}

/** Nothing of the value is left. */
function lossyForms(value: JsonValue): readonly Form[] {
  const forms: readonly Form[] = [['null', null], ['true', true], ['unknown', 'unknown'], ['empty-object', {}], ['empty-list', []], ['zero', 0]];
  return forms.filter(([, wrong]) => typeof wrong !== typeof value || wrong === null || isJsonArray(wrong) !== isJsonArray(value));
}

function literalForms(value: JsonValue): readonly Form[] {
  if (typeof value === 'number') return [['next', value + 1], ['negative', -value]];
  if (typeof value !== 'string') return [];
  return [
    ['upper-case', value.toUpperCase()], ['capitalised', value.slice(0, 1).toUpperCase() + value.slice(1)], ['lower-case', value.toLowerCase()],
    ['spaced', value.replaceAll(/[_-]/gu, ' ')], ['hyphenated', value.replaceAll(/[_ ]/gu, '-')], ['plural', `${value}s`],
    ['abbreviated', value.slice(0, 3)], ['letter-lost', value.slice(0, -1)], ['other', 'other'], ['default', 'default'],
  ];
}

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];

function formatForms(value: string, format: JsonValue | undefined): readonly Form[] {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d{2})-(\d{2})/u.exec(value) ?? [];
  switch (format) {
    case 'date': return year === '' ? [] : [
      ['day-first', `${day}/${month}/${year}`], ['month-first', `${month}/${day}/${year}`], ['slashes', `${year}/${month}/${day}`],
      ['in-words', `${MONTHS[Number(month) - 1] ?? ''} ${String(Number(day))}, ${year}`], ['without-zeros', `${year}-${String(Number(month))}-${String(Number(day))}`],
      ['year-lost', `${month}-${day}`],
    ];
    case 'date-time': return [['space', value.replace('T', ' at ')], ['zone-lost', value.replace(/(?:Z|[+-]\d{2}:\d{2})$/u, '')], ['date-only', value.slice(0, 10)]];
    case 'time': return [['hour-only', value.slice(0, 2)], ['dots', value.replaceAll(':', '.')]];
    case 'email': return [['at-in-words', value.replace('@', ' at ')], ['domain-lost', value.slice(0, value.indexOf('@'))], ['spaced', value.replace('@', ' @ ')]];
    case 'uri': case 'url': return [['scheme-lost', value.replace(/^\w+:\/\//u, '')], ['spaced', value.replace('://', ':// ')]];
    case 'uuid': return [['cut', value.slice(0, -1)], ['hyphen-lost', value.replace('-', '')]];
    case 'ipv4': return [['part-lost', value.slice(0, value.lastIndexOf('.'))], ['out-of-range', value.replace(/\d+$/u, '999')]];
    default: return typeof format === 'string' ? [['spaced', `${value} ?`]] : [];
  }
}

function patternForms(value: string): readonly Form[] {
  const middle = Math.floor(value.length / 2);
  return [
    ['lower-case', value.toLowerCase()], ['upper-case', value.toUpperCase()], ['cut', value.slice(0, -1)], ['marked', `#${value}`],
    ['spaced', `${value.slice(0, middle)} ${value.slice(middle)}`], ['separator-lost', value.replace(/[-_.:/]/u, '')], ['separator-changed', value.replaceAll(/[-:]/gu, '_')],
  ];
}

const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;

function rangeForms({ value, keyword }: Place): readonly Form[] {
  if (typeof value !== 'number') return [];
  const [minimum, maximum, above, below] = BOUNDS.map(keyword);
  const step = keyword('multipleOf');
  const forms: readonly (readonly [string, number | undefined])[] = [
    ['below-minimum', typeof minimum === 'number' ? minimum - 1 : undefined], ['above-maximum', typeof maximum === 'number' ? maximum + 1 : undefined],
    ['at-open-minimum', typeof above === 'number' ? above : undefined], ['at-open-maximum', typeof below === 'number' ? below : undefined],
    ['negative', -value], ['times-100', value * 100], ['off-step', typeof step === 'number' ? value + step / 2 : undefined],
  ];
  return forms.flatMap(([form, wrong]) => (wrong === undefined || !Number.isFinite(wrong) || Object.is(wrong, -0) ? [] : [[form, wrong] as const]));
}

/** Longest padding: a schema may allow megabytes. */
const MAX_PADDED_LENGTH = 400;

function lengthForms({ value, keyword }: Place): readonly Form[] {
  if (typeof value !== 'string') return [];
  const [minimum, maximum] = [keyword('minLength'), keyword('maxLength')];
  const characters = Array.from(value);
  return [
    ...(typeof minimum === 'number' && minimum > 0 ? [['cut', characters.slice(0, minimum - 1).join('')] as const] : []),
    ...(typeof maximum === 'number' && maximum < MAX_PADDED_LENGTH ? [['padded', `${value}${' and more'.repeat(1 + Math.floor(maximum / 9))}`.trim()] as const] : []),
  ];
}

function isUnion({ keyword }: Place): boolean {
  return isJsonArray(keyword('anyOf')) || isJsonArray(keyword('oneOf'));
}

/** One element too few or too many. */
function itemFaults({ pointer, keyword }: Place, list: JsonArray): readonly Fault[] {
  const end = childOf(pointer, String(list.length));
  const last = childOf(pointer, String(list.length - 1));
  // the mask has one spelling for the end of a list
  const append = childOf(pointer, '-');
  const fault = (form: string, spoil: Fault['spoil'], operation: Operation): Fault => ({
    family: 'items', form, code: 'items_violation', pointer, place: pointer, spoil, patch: [operation],
  });
  const [first] = list;
  if (first === undefined) return [];
  return [
    ...(keyword('minItems') === list.length
      ? [fault('element-lost', (document) => withoutValueAt(document, last), { op: 'add', path: append, value: list.at(-1)! })] : []),
    ...(keyword('maxItems') === list.length || keyword('uniqueItems') === true
      ? [fault('element-twice', (document) => withValueAt(document, end, first), { op: 'remove', path: end })] : []),
  ];
}
