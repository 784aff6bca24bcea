/**
 * The language of the mask by direct definition, for comparison: a backtracking parser over the whole text that is asked, for every token
 * anew, whether the text can still become an admissible output. It shares no code with the engine: strings are matched by regular
 * expressions (their content by the host's RegExp and by Ajv, on whole texts), numbers by trying candidates next to the bounds, objects and arrays by recursion, and no state outlives a question.
 * From core it takes what defines the language: the action mask, `applyPatch`, and the schema nodes.
 */
import {
  ABSTAIN_CODES, applyPatch, checkCrossField, createJudge, jsonEqual, parsePatch,
  type Contract, type JsonObject, type JsonPointer, type JsonValue, type Judge, type Patch,
} from '@contractrl/core';
import { actionMask, readSchemaPlace, schemaPlacesIn, type SchemaNode } from '@contractrl/core/schema';
import { isNaiveChurn, isNaivelyStray, isNaivelyTooFar, naivelyRestoring, type NaiveRules } from './naive-rules.ts';

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

/** Code points that patterns and formats of random schemas tell apart, one of each kind; they are tried behind whatever stands. */
const TRIED = ['a', 'b', 'z', 'P', 'D', '0', '/', '"', '\\', '\n', '\u0001', ' ', 'é', '😀', '\u{40001}'];

type StringNode = Extract<SchemaNode, { kind: 'string' }>;

const formatJudges = new Map<string, Judge>();

/** Ajv's word. */
function isOfFormat(format: string, text: string): boolean {
  let judge = formatJudges.get(format);
  if (judge === undefined) {
    const created = createJudge({ format }, '2020-12');
    if (!created.ok) throw new Error(created.error.code);
    judge = created.value;
    formatJudges.set(format, judge);
  }
  return judge.judge(text).length === 0;
}

/** Above it, a last move or copy is offered unjudged. */
const MAX_JUDGED_SOURCES = 24;

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
  contract: Contract, document: JsonValue, operationsLeft: number, limits: NaiveLimits, escapesAstral: boolean, rules: NaiveRules = { excludeNoOps: false, goal: false, nearer: false },
  close: (node: SchemaNode) => SchemaNode = (node) => node,
): NaiveRecognizer {
  const values = createNaiveValues(limits, escapesAstral);
  const { literal, spell } = values;
  const isAdmissible = (found: JsonValue, left: number, done: readonly string[]): boolean => left > 0 && operationForms(found, left, done).length > 0;
  const forms = new Map<string, OperationForm[]>();
  const isGoal = (found: JsonValue): boolean => contract.judge.judge(found).length === 0 && checkCrossField(contract.document.crossField, found as JsonObject).length === 0;
  /** Bytes that values of this contract are made of, closing ones first, so that a search for another value ends soon. */
  const closed = close({ kind: 'string', minLength: 0, maxLength: undefined });
  const alphabet = [...new Set(`"]}${closed.kind === 'literals' ? spell(closed.values) : ''}${spell(contract.schema)}${spell(document)},:.-0123456789\\truefalsn\x80\x90\xa0\xbf`)];
  const results = new Map<string, JsonValue>();

  /** Each admissible operation as its opening text and, for a value, the node. */
  function operationForms(found: JsonValue, left: number, done: readonly string[]): OperationForm[] {
    const formsKey = done.join(',');
    const known = forms.get(formsKey);
    if (known !== undefined) return known;
    const isOffered = (text: string): boolean => {
      if (!rules.excludeNoOps) return true;
      const [operation] = patchOf([text]);
      return operation === undefined || !isNaiveChurn(contract, document, patchOf(done), operation);
    };
    const isNearer = (text: string): boolean => !rules.nearer || patchOf([text]).every((operation) => !isNaivelyStray(contract, found, operation));
    const isWorth = (text: string, isJudged: boolean): boolean => isOffered(text) && isNearer(text) && !(rules.goal && left === 1 && isJudged && !isGoal(after(found, text, left)));
    const actions = actionMask(contract, found, left);
    const placeAt = schemaPlacesIn(contract.schema, found);
    const nodeAt = (pointer: JsonPointer): SchemaNode | undefined => {
      const place = placeAt(pointer);
      const node = place.ok ? readSchemaPlace(contract.schema, place.value) : place;
      const closed = node.ok ? close(node.value) : undefined;
      return closed !== undefined && values.isSatisfiable(closed) ? closed : undefined;
    };
    const all: OperationForm[] = [];
    for (const op of ['add', 'replace'] as const) {
      for (const path of actions[op]) {
        const node = nodeAt(path);
        const opening = `{"op":"${op}","path":${spell(path)},"value":`;
        const excluded = rules.excludeNoOps ? naivelyRestoring(document, patchOf(done), op, path) : [];
        if (node !== undefined && !(rules.goal && isNaivelyTooFar(contract, found, path, left - 1)) && isOffered(`${opening}null}`) && isNearer(`${opening}null}`) && hasOther('', node, excluded)) all.push({ opening, node, excluded });
      }
    }
    const whole = actions.remove.map((path) => ({ opening: `{"op":"remove","path":${spell(path)}`, isJudged: true }));
    for (const op of ['move', 'copy'] as const) {
      for (const { from, paths } of actions[op]) for (const path of paths()) whole.push({ opening: `{"op":"${op}","from":${spell(from)},"path":${spell(path)}`, isJudged: actions[op].length <= MAX_JUDGED_SOURCES });
    }
    for (const { opening, isJudged } of whole) if (isWorth(`${opening}}`, isJudged)) all.push({ opening, node: undefined, excluded: [] });
    forms.set(formsKey, all);
    return all;
  }

  function patchOf(texts: readonly string[]): Patch {
    const patch = parsePatch(`[${Buffer.from(texts.join(','), 'latin1').toString('utf8')}]`);
    return patch.ok ? patch.value : [];
  }

  const others = new Map<string, boolean>();

  /** Whether `text` is or can become a value of the node that is not excluded: found by trying, depth first. */
  function hasOther(text: string, node: SchemaNode, excluded: readonly JsonValue[]): boolean {
    if (excluded.length === 0) return true;
    const key = `${JSON.stringify(excluded)} ${JSON.stringify(node)} ${text}`;
    const known = others.get(key);
    if (known !== undefined) return known;
    // a number in front of the end of the text is open; with a byte behind it that no number holds it must have ended
    const isEnd = values.value(`${text} `, 0, node).ends.includes(text.length);
    const isOther = isEnd && !isExcluded(text, excluded);
    const found = isOther || (values.value(text, 0, node).open && alphabet.some((byte) => {
      const longer = values.value(text + byte, 0, node);
      return (longer.open || longer.ends.includes(text.length + 1)) && hasOther(text + byte, node, excluded);
    }));
    others.set(key, found);
    return found;
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
    return operations(text, 1, document, operationsLeft, []);
  }

  function operations(text: string, start: number, found: JsonValue, left: number, done: readonly string[]): -1 | 0 | 1 {
    if (!isAdmissible(found, left, done)) return -1;
    if (start === text.length) return 0;
    let best: -1 | 0 | 1 = -1;
    for (const { opening, node, excluded } of operationForms(found, left, done)) {
      const opened = literal(text, start, opening);
      if (opened.open) return 0;
      for (const position of opened.ends) {
        const valued = node === undefined ? { ends: [position], open: false } : values.value(text, position, node);
        const isOpen = valued.open || valued.ends.includes(text.length);
        if (isOpen && (node === undefined || hasOther(text.slice(position), node, excluded))) return 0;
        for (const closing of valued.ends) {
          if (text[closing] !== '}') continue;
          if (isExcluded(text.slice(position, closing), excluded)) continue;
          const end = closing + 1;
          if (end === text.length) return 0;
          if (text[end] === ']') {
            if (end + 1 === text.length && (!rules.goal || isGoal(after(found, text.slice(start, end), left)))) best = 1;
          } else if (text[end] === ',' && left > 1) {
            const operation = text.slice(start, end);
            const further = operations(text, end + 1, after(found, operation, left), left - 1, [...done, operation]);
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
  readonly excluded: readonly JsonValue[];
}

function isExcluded(text: string, excluded: readonly JsonValue[]): boolean {
  const value = excluded.length === 0 ? null : JSON.parse(Buffer.from(text, 'latin1').toString('utf8')) as JsonValue;
  return excluded.some((one) => jsonEqual(one, value));
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
  const tried = TRIED.map((tryOne) => spell(tryOne).slice(1, -1));
  /** Whether content can be completed: by node, then by content. */
  const contents = new Map<SchemaNode, Map<string, boolean>>();
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
      case 'string': return string(text, start, node);
      case 'number': return number(text, start, node);
      case 'array': return text[start] === '[' ? items(text, start + 1, node, [], 0) : { ends: [], open: false };
      case 'object': return text[start] === '{' ? members(text, start + 1, node, 0, 0) : { ends: [], open: false };
    }
  }

  function string(text: string, start: number, node: StringNode): Found {
    const maxLength = maxLengthOf(node);
    if (text[start] !== '"') return { ends: [], open: false };
    let position = start + 1;
    for (let count = 0; ; count += 1) {
      const content = text.slice(start + 1, position);
      if (position === text.length) return { ends: [], open: canComplete(content, count, node) };
      if (text[position] === '"') return count >= node.minLength && hasContent(content, node) ? { ends: [position + 1], open: false } : { ends: [], open: false };
      if (count === maxLength) return { ends: [], open: false };
      character.lastIndex = position;
      const matched = character.exec(text);
      if (matched === null) {
        const rest = text.slice(position);
        const completed = rest.length >= 12 ? [] : [...ENDINGS.map((ending) => rest + ending).filter((whole) => wholeCharacter.test(whole)), ...tried.filter((whole) => whole.startsWith(rest))];
        return { ends: [], open: completed.some((whole) => canComplete(content + whole, count + 1, node)) };
      }
      position += matched[0].length;
    }
  }

  function maxLengthOf(node: StringNode): number {
    return node.maxLength ?? Math.max(limits.maxStringLength, node.minLength);
  }

  /** Whether content of `count` code points can be completed: by trying every short text over the code points tried. */
  function canComplete(content: string, count: number, node: StringNode): boolean {
    const maxLength = maxLengthOf(node);
    if (node.content === undefined || count > maxLength) return count <= maxLength;
    const answers = contents.get(node) ?? new Map<string, boolean>();
    contents.set(node, answers);
    const known = answers.get(content);
    if (known !== undefined) return known;
    const answer = (count >= node.minLength && hasContent(content, node)) || tried.some((more) => canComplete(content + more, count + 1, node));
    answers.set(content, answer);
    return answer;
  }

  function hasContent(content: string, { content: asked }: StringNode): boolean {
    if (asked === undefined) return true;
    const decoded = JSON.parse(`"${Buffer.from(content, 'latin1').toString('utf8')}"`) as string;
    if (asked.excluded?.some((source) => new RegExp(source, 'u').test(decoded)) === true) return false;
    return asked.patterns.every((source) => new RegExp(source, 'u').test(decoded)) && asked.formats.every((format) => isOfFormat(format, decoded));
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

  /** `taken`: the texts of the elements before; `counted`: how many of them count for `contains`. */
  function items(text: string, start: number, node: ArrayNode, taken: readonly string[], counted: number): Found {
    if (start === text.length) return { ends: [], open: true };
    const count = taken.length;
    const { contains } = node;
    const mayEnd = count >= node.minItems && (contains === undefined || (counted >= contains.min && counted <= (contains.max ?? Infinity)));
    const found: Found[] = text[start] === ']' && mayEnd ? [{ ends: [start + 1], open: false }] : [];
    if (count > 0 && text[start] !== ',') return union(found);
    const from = count > 0 ? start + 1 : start;
    const choices = contains === undefined ? [{ item: node.prefix[count] ?? node.rest, step: 0 }] : [{ item: contains.counted, step: 1 }, { item: contains.other, step: 0 }];
    for (const { item, step } of choices) {
      const left: SchemaNode = node.uniqueItems === true && item.kind === 'literals' ? { kind: 'literals', values: item.values.filter((literalValue) => !taken.includes(spell(literalValue))) } : item;
      if (!isSatisfiable(left) || !canEnd(node, count + 1, counted + step)) continue;
      const first = value(text, from, left);
      found.push({ ends: [], open: first.open }, ...first.ends.map((end) => items(text, end, node, [...taken, text.slice(from, end)], counted + step)));
    }
    return union(found);
  }

  function maxItemsOf(node: ArrayNode): number {
    const stated = node.maxItems ?? Math.max(limits.maxItems, node.minItems, node.contains?.min ?? 0);
    return node.uniqueItems === true && node.rest.kind === 'literals' ? Math.min(stated, node.rest.values.length) : stated;
  }

  /** Whether some number of further elements, some of them counting, ends the array: by trying all. */
  function canEnd(node: ArrayNode, count: number, counted: number): boolean {
    const room = maxItemsOf(node) - count;
    if (node.contains === undefined) return room >= 0;
    const { counted: countedNode, other, min, max = Infinity } = node.contains;
    for (let more = 0; more <= room; more += 1) {
      for (let step = 0; step <= more; step += 1) {
        const isPossible = (step === 0 || isSatisfiable(countedNode)) && (step === more || isSatisfiable(other));
        if (isPossible && count + more >= node.minItems && counted + step >= min && counted + step <= max) return true;
      }
    }
    return false;
  }

  /** Member `index` is next to be decided, `written` are; required ones are taken, others may be left out. */
  function members(text: string, start: number, node: ObjectNode, index: number, written: number): Found {
    if (!countFits(node, index, written)) return { ends: [], open: false };
    const member = node.members[index];
    if (member === undefined) return literal(text, start, '}');
    const skipped = member.required ? { ends: [], open: false } : members(text, start, node, index + 1, written);
    if (!isSatisfiable(member.node) || !countFits(node, index + 1, written + 1)) return skipped;
    const key = literal(text, start, `${written === 0 ? '' : ','}${spell(member.name)}:`);
    const taken = key.ends.map((end) => {
      const found = value(text, end, member.node);
      return union([{ ends: [], open: found.open }, ...found.ends.map((after) => members(text, after, node, index + 1, written + 1))]);
    });
    return union([skipped, { ends: [], open: key.open }, ...taken]);
  }

  /** Whether some choice of the members from `index` on brings the number of members into the bounds. */
  function countFits({ members: all, minProperties = 0, maxProperties = Infinity }: ObjectNode, index: number, written: number): boolean {
    const left = all.slice(index).filter((member) => isSatisfiable(member.node));
    const required = left.filter((member) => member.required).length;
    return Array.from({ length: left.length - required + 1 }, (_, optional) => written + required + optional).some((count) => count >= minProperties && count <= maxProperties);
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
      case 'string': return node.minLength <= maxLengthOf(node) && canComplete('', 0, node);
      case 'number': return canBecomeNumber('', node);
      case 'array': {
        if (node.minItems > maxItemsOf(node) || !canEnd(node, 0, 0)) return false;
        if (node.contains !== undefined) return true;
        return Array.from({ length: Math.min(node.minItems, node.prefix.length + 1) }, (_, index) => node.prefix[index] ?? node.rest).every(isSatisfiable);
      }
      case 'object': return node.members.every((member) => !member.required || isSatisfiable(member.node)) && countFits(node, 0, 0);
      case 'union': return node.branches.some(isSatisfiable);
    }
  }

  return { literal, value, isSatisfiable, spell };
}

function union(all: readonly Found[]): Found {
  return { ends: [...new Set(all.flatMap(({ ends }) => ends))], open: all.some(({ open }) => open) };
}

type NumberNode = Extract<SchemaNode, { kind: 'number' }>;
type ArrayNode = Extract<SchemaNode, { kind: 'array' }>;
type ObjectNode = Extract<SchemaNode, { kind: 'object' }>;

/** Places behind the point that every divisor and number of these tests fits into. */
const EXACT_DIGITS = 40;

/** A number as an integer of 10^−40, through the text of its double. */
function exact(value: number): bigint {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = whole + fraction;
  const shift = EXACT_DIGITS - fraction.length + Number(exponent);
  return shift >= 0 ? BigInt(digits + '0'.repeat(shift)) : BigInt(digits.slice(0, shift));
}

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
  const { lower, upper, multiplesOf = [], notMultiplesOf = [], excluded = [] } = node;
  const isMultiple = (divisor: number): boolean => exact(number) % exact(divisor) === 0n;
  if (!multiplesOf.every(isMultiple) || notMultiplesOf.some(isMultiple) || excluded.includes(number)) return false;
  return (lower === undefined || (lower.exclusive ? number > lower.value : number >= lower.value))
    && (upper === undefined || (upper.exclusive ? number < upper.value : number <= upper.value));
}

/** Whether a canonical number in range begins with `text`: looks at the candidates nearest to the bounds, and at the shortest and longest ones. */
export function canBecomeNumber(text: string, node: NumberNode): boolean {
  if (!/^-?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?$/.test(text) || /^-?\./.test(text)) return false;
  return candidates(text, node).some((candidate) => candidate.startsWith(text) && isNumberIn(candidate, node));
}

function candidates(text: string, node: NumberNode): readonly string[] {
  const { lower, upper } = node;
  const found = new Set<string>(multiplesFrom(text, node));
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

/** Where divisors bind: the first multiples from the start of every range of numbers that begin with `text`, and from the lower bound in it. */
function multiplesFrom(text: string, node: NumberNode): readonly string[] {
  const { lower, upper, multiplesOf = [], notMultiplesOf = [], excluded = [] } = node;
  if (multiplesOf.length + notMultiplesOf.length + excluded.length === 0) return [];
  if (!/[0-9]/.test(text)) return ['', ...(text === '' ? ['-'] : [])].flatMap((sign) => [...'0123456789'].flatMap((digit) => multiplesFrom(text + sign + digit, node)));
  const one = 10n ** BigInt(EXACT_DIGITS);
  const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? a : gcd(b, a % b));
  const step = multiplesOf.map(exact).reduce((a, b) => (a / gcd(a, b)) * b, 1n);
  const sign = text.startsWith('-') ? -1n : 1n;
  const [whole, fraction] = text.replace('-', '').split('.') as [string, string?];
  const found: string[] = [];
  for (let more = 0; more <= (fraction === undefined ? 16 - whole.length : 0); more += 1) {
    const base = BigInt(whole + (fraction ?? '')) * 10n ** BigInt(more);
    const width = one / 10n ** BigInt(fraction?.length ?? 0);
    const bounds = (sign < 0n ? [upper, lower] : [lower, upper]).map((bound) => (bound === undefined ? undefined : sign * exact(bound.value)));
    for (let places = fraction?.length ?? 0; places <= 15; places += 1) {
      const unit = one / 10n ** BigInt(places);
      const grid = (step / gcd(step, unit)) * unit;
      const from = bounds[0] !== undefined && bounds[0] > base * width ? bounds[0] : base * width;
      let value = ((from + grid - 1n) / grid) * grid;
      for (let tries = 0; tries < 6 + excluded.length && value < (base + 10n ** BigInt(more)) * width; tries += 1, value += grid) found.push(...decimalTexts(sign * (value / unit), places));
    }
  }
  return found;
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
