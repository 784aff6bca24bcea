/**
 * The language of the mask by direct definition, for comparison: a backtracking parser over the whole text that is asked, for every token
 * anew, whether the text can still become an admissible output. It shares no code with the engine: strings are matched by regular
 * expressions, numbers by trying candidates next to the bounds, objects and arrays by recursion, and no state outlives a question.
 * From core it takes what defines the language: the action mask, `applyPatch`, and the schema nodes.
 */
import {
  ABSTAIN_CODES, actionMask, applyPatch, parsePatch, readSchemaPlace, schemaPlacesIn,
  type Contract, type JsonPointer, type JsonValue, type SchemaNode,
} from '@contractrl/core';

export interface NaiveLimits {
  readonly maxStringLength: number;
  readonly maxItems: number;
}

/** One code point of a canonical string, as bytes in a binary string. F1 and F2 stand only in escapes where `escapesAstral`. */
const RAW = '[\\x20\\x21\\x23-\\x5b\\x5d-\\x7f]|[\\xc2-\\xdf][\\x80-\\xbf]|\\xe0[\\xa0-\\xbf][\\x80-\\xbf]|[\\xe1-\\xec\\xee\\xef][\\x80-\\xbf]{2}|\\xed[\\x80-\\x9f][\\x80-\\xbf]'
  + '|\\xf0[\\x90-\\xbf][\\x80-\\xbf]{2}|\\xf3[\\x80-\\xbf]{3}|\\xf4[\\x80-\\x8f][\\x80-\\xbf]{2}';
const ESCAPED = '\\\\["\\\\bfnrt]|\\\\u00(?:0[0-7be-f]|1[0-9a-f])';
const ASTRAL_RAW = '|[\\xf1\\xf2][\\x80-\\xbf]{3}';
const ASTRAL_ESCAPED = '|\\\\ud(?:8[c-f]|9[0-9a-f]|a[0-9ab])[0-9a-f]\\\\ud[c-f][0-9a-f]{2}';
/** Endings that complete every kind of unfinished character. */
const ENDINGS = [
  '\x80', '\xa0', '\xbf', '\x80\x80', '\x90\x80', '\xa0\x80', '\x80\x80\x80', '\x90\x80\x80',
  'n', 'u0000', '0000', '000', '00', '0', 'ud8c0\\udc00', 'd8c0\\udc00', '8c0\\udc00', 'c0\\udc00', '00\\udc00', '0\\udc00', '\\udc00', 'udc00', 'dc00', 'c00',
];

export interface NaiveRecognizer {
  /** `text` is a binary string: one character a byte. Whether some admissible output begins with it. */
  isViable(text: string): boolean;
  /** Whether it is an admissible output. */
  isComplete(text: string): boolean;
}

/** Positions after a construct; `open`: the text ended inside it and can be completed. */
interface Found {
  ends: number[];
  open: boolean;
}

export function createNaiveRecognizer(
  contract: Contract, document: JsonValue, operationsLeft: number, limits: NaiveLimits, escapesAstral: boolean,
): NaiveRecognizer {
  const values = createNaiveValues(limits, escapesAstral);
  const { literal, spell } = values;
  const isAdmissible = (found: JsonValue, left: number): boolean => left > 0 && operationForms(found, left).length > 0;
  const forms = new Map<JsonValue, OperationForm[]>();
  const results = new Map<string, JsonValue>();

  /** Each admissible operation as its opening text and, for a value, the node. */
  function operationForms(found: JsonValue, left: number): OperationForm[] {
    const known = forms.get(found);
    if (known !== undefined) return known;
    const actions = actionMask(contract, found, left);
    const placeAt = schemaPlacesIn(contract.document.tool.parameters, found);
    const nodeAt = (pointer: JsonPointer): SchemaNode | undefined => {
      const place = placeAt(pointer);
      const node = place.ok ? readSchemaPlace(contract.document.tool.parameters, place.value) : place;
      return node.ok && values.isSatisfiable(node.value) ? node.value : undefined;
    };
    const all: OperationForm[] = [];
    for (const op of ['add', 'replace'] as const) {
      for (const path of actions[op]) {
        const node = nodeAt(path);
        if (node !== undefined) all.push({ opening: `{"op":"${op}","path":${spell(path)},"value":`, node });
      }
    }
    for (const path of actions.remove) all.push({ opening: `{"op":"remove","path":${spell(path)}`, node: undefined });
    for (const op of ['move', 'copy'] as const) {
      for (const { from, paths } of actions[op]) for (const path of paths()) all.push({ opening: `{"op":"${op}","from":${spell(from)},"path":${spell(path)}`, node: undefined });
    }
    forms.set(found, all);
    return all;
  }

  function after(found: JsonValue, operation: string, left: number): JsonValue {
    const key = `${left} ${JSON.stringify(found)} ${operation}`;
    const known = results.get(key);
    if (known !== undefined) return known;
    const patch = parsePatch(`[${Buffer.from(operation, 'latin1').toString('utf8')}]`);
    const applied = patch.ok ? applyPatch(contract, found, patch.value, left) : patch;
    if (!applied.ok) throw new Error(`core refuses ${operation}: ${applied.error.code}`);
    results.set(key, applied.value);
    return applied.value;
  }

  /** 1: complete, 0: can become an output, −1: neither. */
  function judge(text: string): -1 | 0 | 1 {
    for (const code of ABSTAIN_CODES) {
      const output = `{"abstain":"${code}"}`;
      if (text === output) return 1;
      if (output.startsWith(text)) return 0;
    }
    if (!text.startsWith('[')) return -1;
    return operations(text, 1, document, operationsLeft);
  }

  function operations(text: string, start: number, found: JsonValue, left: number): -1 | 0 | 1 {
    if (!isAdmissible(found, left)) return -1;
    if (start === text.length) return 0;
    let best: -1 | 0 | 1 = -1;
    for (const { opening, node } of operationForms(found, left)) {
      const opened = literal(text, start, opening);
      if (opened.open) return 0;
      for (const position of opened.ends) {
        const valued = node === undefined ? { ends: [position], open: false } : values.value(text, position, node);
        if (valued.open) return 0;
        for (const closing of valued.ends) {
          if (closing === text.length) return 0;
          if (text[closing] !== '}') continue;
          const end = closing + 1;
          if (end === text.length) return 0;
          if (text[end] === ']') {
            if (end + 1 === text.length) best = 1;
          } else if (text[end] === ',' && left > 1) {
            const further = operations(text, end + 1, after(found, text.slice(start, end), left), left - 1);
            if (further >= 0) return further;
          }
        }
      }
    }
    return best;
  }

  return { isViable: (text) => judge(text) >= 0, isComplete: (text) => judge(text) === 1 };
}

interface OperationForm {
  readonly opening: string;
  readonly node: SchemaNode | undefined;
}

export interface NaiveValues {
  literal(text: string, start: number, expected: string): Found;
  value(text: string, start: number, node: SchemaNode): Found;
  isSatisfiable(node: SchemaNode): boolean;
  spell(value: JsonValue): string;
}

export function createNaiveValues(limits: NaiveLimits, escapesAstral: boolean): NaiveValues {
  const character = new RegExp(`(?:${RAW}${escapesAstral ? '' : ASTRAL_RAW}|${ESCAPED}${escapesAstral ? ASTRAL_ESCAPED : ''})`, 'y');
  const wholeCharacter = new RegExp(`^${character.source}$`);
  /** Answers on numbers, which are costly and repeat: by node, then by text. */
  const numbers = new Map<SchemaNode, Map<string, boolean>>();

  /** JSON text as a binary string of its UTF-8 bytes, unspellable code points escaped. */
  function spell(value: JsonValue): string {
    const text = escapesAstral ? JSON.stringify(value).replace(/[\u{40000}-\u{bffff}]/gu, (pair) => `\\u${pair.charCodeAt(0).toString(16)}\\u${pair.charCodeAt(1).toString(16)}`) : JSON.stringify(value);
    return Buffer.from(text, 'utf8').toString('latin1');
  }

  function literal(text: string, start: number, expected: string): Found {
    const present = text.slice(start, start + expected.length);
    if (present === expected) return { ends: [start + expected.length], open: false };
    return { ends: [], open: start + present.length === text.length && expected.startsWith(present) };
  }

  function value(text: string, start: number, node: SchemaNode): Found {
    if (!isSatisfiable(node)) return { ends: [], open: false };
    if (start === text.length) return { ends: [], open: true };
    switch (node.kind) {
      case 'literals': return union(node.values.map((item) => literal(text, start, spell(item))));
      case 'union': return union(node.branches.map((branch) => value(text, start, branch)));
      case 'string': return string(text, start, node.minLength, node.maxLength ?? Math.max(limits.maxStringLength, node.minLength));
      case 'number': return number(text, start, node);
      case 'array': return text[start] === '[' ? items(text, start + 1, node, 0) : { ends: [], open: false };
      case 'object': return text[start] === '{' ? members(text, start + 1, node, 0, true) : { ends: [], open: false };
    }
  }

  function string(text: string, start: number, minLength: number, maxLength: number): Found {
    if (text[start] !== '"') return { ends: [], open: false };
    let position = start + 1;
    for (let count = 0; ; count += 1) {
      if (position === text.length) return { ends: [], open: true };
      if (text[position] === '"') return count >= minLength ? { ends: [position + 1], open: false } : { ends: [], open: false };
      if (count === maxLength) return { ends: [], open: false };
      character.lastIndex = position;
      const matched = character.exec(text);
      if (matched === null) {
        const rest = text.slice(position);
        return { ends: [], open: rest.length < 12 && ENDINGS.some((ending) => wholeCharacter.test(rest + ending)) };
      }
      position += matched[0].length;
    }
  }

  function number(text: string, start: number, node: Extract<SchemaNode, { kind: 'number' }>): Found {
    const matched = /^[-0-9.]*/.exec(text.slice(start)) as RegExpExecArray;
    const end = start + matched[0].length;
    if (end < text.length) return { ends: isNumberIn(matched[0], node) ? [end] : [], open: false };
    const answers = numbers.get(node) ?? new Map<string, boolean>();
    numbers.set(node, answers);
    const open = answers.get(matched[0]) ?? canBecomeNumber(matched[0], node);
    answers.set(matched[0], open);
    return { ends: [], open };
  }

  function items(text: string, start: number, node: Extract<SchemaNode, { kind: 'array' }>, count: number): Found {
    const found: Found = { ends: [], open: false };
    if (start === text.length) return { ends: [], open: true };
    if (text[start] === ']' && count >= node.minItems) found.ends.push(start + 1);
    const maxItems = node.maxItems ?? Math.max(limits.maxItems, node.minItems);
    const item = node.prefix[count] ?? node.rest;
    if (count >= maxItems || !isSatisfiable(item)) return found;
    if (count > 0 && text[start] !== ',') return found;
    const first = value(text, count > 0 ? start + 1 : start, item);
    return union([found, { ends: [], open: first.open }, ...first.ends.map((end) => items(text, end, node, count + 1))]);
  }

  /** Member `index` is next to be decided; required ones are taken, others may be left out. */
  function members(text: string, start: number, node: Extract<SchemaNode, { kind: 'object' }>, index: number, isFirst: boolean): Found {
    const member = node.members[index];
    if (member === undefined) return literal(text, start, '}');
    const skipped = member.required ? { ends: [], open: false } : members(text, start, node, index + 1, isFirst);
    if (!isSatisfiable(member.node)) return skipped;
    const key = literal(text, start, `${isFirst ? '' : ','}${spell(member.name)}:`);
    const taken = key.ends.map((end) => {
      const found = value(text, end, member.node);
      return union([{ ends: [], open: found.open }, ...found.ends.map((after) => members(text, after, node, index + 1, false))]);
    });
    return union([skipped, { ends: [], open: key.open }, ...taken]);
  }

  /** Remembered: it does not depend on the text. */
  const satisfiable = new Map<SchemaNode, boolean>();

  function isSatisfiable(node: SchemaNode): boolean {
    const known = satisfiable.get(node) ?? decideSatisfiable(node);
    satisfiable.set(node, known);
    return known;
  }

  function decideSatisfiable(node: SchemaNode): boolean {
    switch (node.kind) {
      case 'literals': return node.values.length > 0;
      case 'string': return node.maxLength === undefined || node.minLength <= node.maxLength;
      case 'number': return canBecomeNumber('', node);
      case 'array': {
        if (node.maxItems !== undefined && node.minItems > node.maxItems) return false;
        return Array.from({ length: Math.min(node.minItems, node.prefix.length + 1) }, (_, index) => node.prefix[index] ?? node.rest).every(isSatisfiable);
      }
      case 'object': return node.members.every((member) => !member.required || isSatisfiable(member.node));
      case 'union': return node.branches.some(isSatisfiable);
    }
  }

  return { literal, value, isSatisfiable, spell };
}

function union(all: readonly Found[]): Found {
  return { ends: [...new Set(all.flatMap(({ ends }) => ends))], open: all.some(({ open }) => open) };
}

type NumberNode = Extract<SchemaNode, { kind: 'number' }>;

/** Whether `text` is a number in range as the mask spells them: `JSON.stringify`'s text, and zeros that end a fraction. */
export function isNumberIn(text: string, node: NumberNode): boolean {
  if (!/^-?[0-9]+(?:\.[0-9]+)?$/.test(text)) return false;
  const number = Number(text);
  if (JSON.stringify(number) !== (text.includes('.') ? text.replace(/\.?0+$/, '') : text)) return false;
  if (text.includes('.')) {
    if (node.integer || /^0\.0{6,}$/.test(text) || text.replace(/^-?0?\.?0*/, '').replace('.', '').length > 15) return false;
  } else if (Math.abs(number) >= 2 ** 53) {
    return false;
  }
  const { lower, upper } = node;
  return (lower === undefined || (lower.exclusive ? number > lower.value : number >= lower.value))
    && (upper === undefined || (upper.exclusive ? number < upper.value : number <= upper.value));
}

/** Whether a canonical number in range begins with `text`: looks at the candidates nearest to the bounds, and at the shortest and longest ones. */
export function canBecomeNumber(text: string, node: NumberNode): boolean {
  if (!/^-?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?$/.test(text) || /^-?\./.test(text)) return false;
  return candidates(text, node).some((candidate) => candidate.startsWith(text) && isNumberIn(candidate, node));
}

function candidates(text: string, { lower, upper }: NumberNode): readonly string[] {
  const found = new Set<string>();
  for (let more = 0; more <= 24; more += 1) {
    for (const filler of ['0', '9']) {
      for (const last of ['', '1', '5', '9']) {
        found.add(text + filler.repeat(more) + last);
        for (let fraction = 0; fraction <= 16 && !text.includes('.'); fraction += 1) found.add(`${text}${filler.repeat(more)}.${'0'.repeat(fraction)}${last}`);
      }
      for (let nines = 1; nines <= 15 && !text.includes('.'); nines += 1) found.add(`${text}${filler.repeat(more)}.${'9'.repeat(nines)}`);
    }
  }
  const signs = [-1n, 0n, 1n];
  for (const bound of [lower?.value, upper?.value, 2 ** 53, -(2 ** 53), 0, 1e-6, -1e-6]) {
    if (bound === undefined || Math.abs(bound) > 1e17) continue;
    for (let digits = 0; digits <= 20; digits += 1) {
      const scaled = scaledOf(bound, digits);
      for (const step of signs) for (const spelled of decimalTexts(scaled + step, digits)) found.add(spelled);
    }
  }
  return [...found];
}

/** bound × 10^digits, rounded down. */
function scaledOf(bound: number, digits: number): bigint {
  const [whole, fraction] = bound.toFixed(30).split('.') as [string, string];
  const exact = String(bound).includes('e') || Math.abs(bound) < 1e-3 ? fraction : `${String(bound).split('.')[1] ?? ''}${'0'.repeat(30)}`.slice(0, 30);
  const magnitude = BigInt(whole.replace('-', '') + exact.slice(0, digits));
  return bound < 0 ? -magnitude : magnitude;
}

/** With and without the zeros that end the fraction. */
function decimalTexts(scaled: bigint, digits: number): readonly string[] {
  const sign = scaled < 0n ? '-' : '';
  const text = String(scaled < 0n ? -scaled : scaled).padStart(digits + 1, '0');
  const whole = sign + text.slice(0, text.length - digits);
  const fraction = text.slice(text.length - digits);
  return [fraction, fraction.replace(/0+$/, '')].map((shown) => whole + (shown === '' ? '' : `.${shown}`));
}
