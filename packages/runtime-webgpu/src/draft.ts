/**
 * Guesses what an output says next, from the observation alone: the operation that a violation calls for, then a value that the candidate, the
 * schema or the request already spells. The engine reads a guess in one chunk with tokens that must run anyway, and mask and sampler decide every
 * token as ever: a wrong guess costs time and changes nothing. Reference: speculative decoding (Leviathan et al. 2023); a draft that is looked up
 * in the prompt (Saxena 2023, prompt lookup decoding).
 */
import {
  childOf, closestTool as closestName, isJsonArray, isJsonObject, isPrefix, lastTokenOf, parentOf, parseJson, resolvePointer, ROOT_POINTER, schemaAt,
  type JsonObject, type JsonPointer, type JsonValue, type Observation, type OperationKind,
} from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import type { Tokenizer } from './tokenizer.ts';

/** In the chunk of the prompt a token costs about 0.8 ms on Node, a pass 14: the opening, and most values whole. */
export const OPENING_LIMIT = 40;
/** In a decode chunk a token costs a sixth of a pass on Node, half of one on WASM; longer guesses saved no more passes. */
export const DRAFT_LIMIT = 8;
/** Characters of the request, from its end as the prompt shows it. */
const SOURCE_LENGTH = 1000;
/** A place has a few dozen texts; a call of many thousand values must not slow every guess. */
const TEXT_LIMIT = 1024;

export interface Drafter {
  /** Tokens that may follow the output `ids`, which spell `written`; empty where there is no guess. */
  after(ids: readonly TokenId[], written: string): readonly TokenId[];
}

/** Text that may come next; `isWhole` where the output ends with it. */
interface Guess {
  readonly text: string;
  readonly isWhole: boolean;
}

/** An operation that a violation calls for. */
interface PlannedOperation {
  readonly op: OperationKind;
  readonly at: JsonPointer;
  /** Its text, up to the value where one follows. */
  readonly head: string;
  readonly hasValue: boolean;
}

/** JSON texts that may stand at a place, the likeliest first; those before `salientCount` are worth a guess before anything of the value is written. */
interface ValueOptions {
  readonly texts: readonly string[];
  readonly salientCount: number;
  readonly types: readonly string[];
}

export function createDrafter(observation: Observation, tokenizer: Pick<Tokenizer, 'encodePlain'>): Drafter {
  const plan = planOf(observation);
  const known = new Map<JsonPointer, ValueOptions>();

  function optionsAt(pointer: JsonPointer): ValueOptions {
    const options = known.get(pointer) ?? valueOptions(observation, pointer);
    known.set(pointer, options);
    return options;
  }

  /** Of the planned operations from `index` on, and the end. */
  function remaining(index: number): Guess {
    const next = plan[index];
    if (next === undefined) return index === 0 ? NO_GUESS : { text: ']', isWhole: true };
    return join(`${index === 0 ? '[' : ','}${next.head}`, next.hasValue ? valueFrom(next.at, '', index) : remaining(index + 1));
  }

  /** Of the value of operation `index` behind `value`, what is written of it. */
  function valueFrom(pointer: JsonPointer, value: string, index: number): Guess {
    const options = optionsAt(pointer);
    const found = STRING.test(value) ? value : value === '' ? firstOption(options) : matching(options.texts, value);
    if (found !== undefined) return join(`${found.slice(value.length)}}`, remaining(index + 1));
    if (value === '') return { text: options.types.length === 1 && options.types[0] === 'string' ? '"' : '', isWhole: false };
    // inside an array or an object the leaf at hand is all that can be looked up
    const [leaf] = OPEN_LEAF.exec(value) ?? [''];
    return { text: leaf === '' ? '' : (matching(options.texts, leaf) ?? leaf).slice(leaf.length), isWhole: false };
  }

  function guessAfter(written: string): Guess {
    if (written !== '' && !written.startsWith('[')) return NO_GUESS;
    const { index, text } = lastOperation(written);
    if (text === '') return remaining(index);
    const valueHead = VALUE_HEAD.exec(text);
    const pointer = valueHead === null ? undefined : parseJson(valueHead[1]!);
    if (pointer?.ok === true) return valueFrom(pointer.value as JsonPointer, text.slice(valueHead![0].length), index);
    const rest = remaining(index);
    return rest.text.startsWith(text) ? { ...rest, text: rest.text.slice(text.length) } : NO_GUESS;
  }

  return {
    after(ids, written) {
      const { text, isWhole } = guessAfter(written);
      if (text === '') return [];
      const all = tokenizer.encodePlain(written + text);
      const next = ids.every((id, index) => id === all[index]) ? all.slice(ids.length) : tokenizer.encodePlain(text);
      // behind the last token nothing is decided any more: only the stop token can follow
      return next.slice(0, Math.min(isWhole ? next.length - 1 : next.length, ids.length === 0 ? OPENING_LIMIT : DRAFT_LIMIT));
    },
  };
}

const NO_GUESS: Guess = { text: '', isWhole: false };
const STRING = /^"(?:[^"\\]|\\.)*"$/su;
const OPEN_LEAF = /(?:"(?:[^"\\]|\\.)*|-?\d[\d.]*)$/su;
const VALUE_HEAD = /^[[,]\{"op":"(?:add|replace)","path":("(?:[^"\\]|\\.)*"),"value":/su;

function join(text: string, rest: Guess): Guess {
  return { text: text + rest.text, isWhole: rest.isWhole };
}

/** One operation for each place at fault, as long as operations are left; a member too many beside a missing one, or named nearly as one, is that one renamed. */
function planOf({ contract, state, violations }: Observation): readonly PlannedOperation[] {
  const { candidate, operationsLeft } = state;
  const extra = violations.flatMap(({ code, pointer }) => (code === 'additional_property' ? [pointer] : []));
  const plan: PlannedOperation[] = [];
  for (const { code, pointer } of violations) {
    if (plan.some(({ at }) => at === pointer)) continue;
    if (code === 'missing_required') {
      const renamed = extra.findIndex((other) => parentOf(other) === parentOf(pointer));
      plan.push(renamed === -1 ? writing('add', pointer) : moving(extra.splice(renamed, 1)[0]!, pointer));
    } else if (code !== 'additional_property') {
      plan.push(writing(resolvePointer(candidate, pointer) === undefined ? 'add' : 'replace', pointer));
    }
  }
  for (const pointer of extra) {
    const parent = parentOf(pointer)!;
    const declared = schemaAt(contract, candidate, parent).flatMap(({ schema: { properties } }) => (isJsonObject(properties) ? Object.keys(properties) : []));
    const absent = declared.filter((name) => resolvePointer(candidate, childOf(parent, name)) === undefined);
    const meant = closestName(lastTokenOf(pointer)!, absent);
    plan.push(meant === undefined ? { op: 'remove', at: pointer, head: `{"op":"remove","path":${JSON.stringify(pointer)}}`, hasValue: false } : moving(pointer, childOf(parent, meant)));
  }
  const isLocked = (at: JsonPointer): boolean => at === ROOT_POINTER || contract.immutablePaths.some((locked) => isPrefix(locked, at) || isPrefix(at, locked));
  const isAdmitted = ({ op, at }: PlannedOperation): boolean => contract.document.allowedOperations.includes(op) && !isLocked(at);
  return plan.every(isAdmitted) ? plan.slice(0, operationsLeft) : [];
}

function writing(op: 'add' | 'replace', at: JsonPointer): PlannedOperation {
  return { op, at, head: `{"op":"${op}","path":${JSON.stringify(at)},"value":`, hasValue: true };
}

function moving(from: JsonPointer, at: JsonPointer): PlannedOperation {
  return { op: 'move', at, head: `{"op":"move","from":${JSON.stringify(from)},"path":${JSON.stringify(at)}}`, hasValue: false };
}

/** How many operations are closed in `written`, and what is written behind them, separator included. */
function lastOperation(written: string): { readonly index: number; readonly text: string } {
  let [index, start, depth] = [0, 0, 0];
  for (const { 0: token, index: at } of written.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/gsu)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (token !== '}' || depth !== 1) continue;
    index += 1;
    start = at + 1;
  }
  return { index, text: written.slice(start) };
}

function firstOption({ texts, salientCount, types }: ValueOptions): string | undefined {
  return texts.slice(0, salientCount).find((text) => types.length === 0 || types.some((type) => isOfType(text, type)));
}

/** The first that begins as `written` does, in any case of letters. */
function matching(texts: readonly string[], written: string): string | undefined {
  const begins = (text: string): boolean => text.startsWith(written);
  const folded = written.toLowerCase();
  return texts.find(begins) ?? texts.find((text) => text.toLowerCase().startsWith(folded) && text.length >= written.length);
}

function isOfType(text: string, type: string): boolean {
  switch (type) {
    case 'string': return text.startsWith('"');
    case 'integer': return /^-?\d+$/u.test(text);
    case 'number': return /^-?\d/u.test(text);
    case 'array': return text.startsWith('[');
    case 'object': return text.startsWith('{');
    default: return /^[a-z]/u.test(text);
  }
}

function valueOptions({ contract, request, state: { candidate } }: Observation, pointer: JsonPointer): ValueOptions {
  const schemas = schemaAt(contract, candidate, pointer).map(({ schema }) => schema);
  const asked = request.map(({ content }) => content).join('\n').slice(-SOURCE_LENGTH);
  const present = resolvePointer(candidate, pointer);
  // what stands at the place is wrong as it is; what it holds, or reads as, may be meant
  const held = (present === undefined ? [] : leavesOf(present)).flatMap((leaf) => [JSON.stringify(leaf), ...(typeof leaf === 'string' ? numbersOf(leaf) : [])]);
  const literals = schemas.flatMap(literalsOf);
  const names = literals.filter((value) => typeof value === 'string');
  const meant = typeof present === 'string' ? closestName(present, names) : undefined;
  // the longest first: one may be part of another
  const asNamed = names.filter((name) => asked.toLowerCase().includes(name.toLowerCase())).sort((a, b) => b.length - a.length);
  const types = [...new Set(schemas.flatMap(typesOf))];
  const elsewhere = new Set(leavesOf(candidate).map((leaf) => JSON.stringify(leaf)));
  const spans = salientTexts(asked);
  const salient = [
    ...held.filter((text) => text !== JSON.stringify(present)), ...(meant === undefined ? [] : [meant]).concat(asNamed).map((name) => JSON.stringify(name)),
    ...spans.filter((text) => !elsewhere.has(text)), ...(types.includes('boolean') ? ['true'] : []),
  ];
  return {
    texts: [...salient, ...literals.map((value) => JSON.stringify(value)), ...spans, ...textsOf(asked, NAMES), ...textsOf(asked, WORDS), ...elsewhere].slice(0, TEXT_LIMIT),
    salientCount: salient.length,
    types,
  };
}

function typesOf({ type }: JsonObject): readonly string[] {
  return (isJsonArray(type) ? type : [type]).filter((name) => typeof name === 'string');
}

function literalsOf({ const: only, enum: several, default: fallback }: JsonObject): readonly JsonValue[] {
  return [...(only === undefined ? [] : [only]), ...(isJsonArray(several) ? several : []), ...(fallback === undefined ? [] : [fallback])];
}

const QUOTED = /"([^"\n]+)"|(?<![\p{L}\p{N}])'([^'\n]+)'(?![\p{L}\p{N}])/gu;
/** Words that begin with a capital, one behind the other. */
const NAMES = /\p{Lu}[\p{L}\p{N}'’-]*(?:,? [\p{Lu}\p{N}][\p{L}\p{N}'’-]*)*/gu;
const SENTENCE_START = /(?:^|[.!?]\s+)\p{Lu}/gu;
const NUMBERS = /-?\d+(?:[.,:/-]\d+)*/gu;
const WORDS = /[\p{L}\p{N}_](?:[\p{L}\p{N}_@./-]*[\p{L}\p{N}_])?/gu;
const CONTAINERS = /\[[^[\]{}]*\]|\{[^[\]{}]*\}/gu;

function salientTexts(text: string): readonly string[] {
  const containers = Array.from(text.matchAll(CONTAINERS), ([found]) => parseJson(found)).flatMap((read) => (read.ok ? [JSON.stringify(read.value)] : []));
  // a sentence begins with a capital whatever it says, and so is a single one no name yet
  const names = textsOf(text.replaceAll(SENTENCE_START, (start) => start.toLowerCase()), NAMES).filter((name) => name.length > '"I"'.length);
  return [...containers, ...textsOf(text, QUOTED), ...names, ...textsOf(text, NUMBERS), ...numbersOf(text)];
}

function textsOf(text: string, pattern: RegExp): readonly string[] {
  return Array.from(text.matchAll(pattern), ([whole, double, single]) => JSON.stringify(double ?? single ?? whole));
}

/** Those that are JSON numbers as they stand. */
function numbersOf(text: string): readonly string[] {
  return Array.from(text.matchAll(NUMBERS), ([found]) => found).filter((found) => /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/u.test(found));
}

function leavesOf(value: JsonValue): readonly JsonValue[] {
  if (isJsonArray(value) || isJsonObject(value)) return Object.values(value as Readonly<Record<string, JsonValue>>).flatMap(leavesOf);
  return value === null ? [] : [value];
}
