/**
 * Closed values by listing them: every span of every text, character by character, in every case, and every numeral, digit by digit. Free leaves of a
 * schema node then become lists of literals, which the naive recogniser knows already. It shares no code with core's automaton and patterns.
 */
import { createJudge, type JsonValue } from '@contractrl/core';
import type { ProvenanceSources, SchemaNode } from '@contractrl/core/schema';
import { isNumberIn } from './naive-recognizer.ts';

export interface NaiveClosedSet {
  readonly strings: ReadonlySet<string>;
  readonly numbers: ReadonlySet<number>;
}

const isUnspaced = (character: string): boolean => ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar'].some((script) => new RegExp(`^\\p{Script=${script}}$`, 'u').test(character));
const isWord = (character: string | undefined): boolean => character !== undefined && /^[\p{L}\p{N}\p{RI}]$/u.test(character) && !isUnspaced(character);
const isMark = (character: string | undefined): boolean => character !== undefined && /^\p{M}$/u.test(character);
const isDigit = (character: string | undefined): boolean => character !== undefined && character >= '0' && character <= '9' && character.length === 1;
const JOINER = '\u200d';

/** Pairs of positions between the characters of an atom. */
function atomsOf(characters: readonly string[]): readonly (readonly [number, number])[] {
  const atoms: [number, number][] = [];
  for (let start = 0; start < characters.length;) {
    let end = start + 1;
    const inWord = isWord(characters[start]);
    for (let going = true; going;) {
      const next = characters[end];
      if (inWord ? isWord(next) || isMark(next) || next === JOINER : isMark(next) || (next !== undefined && /^\p{Emoji_Modifier}$/u.test(next))) end += 1;
      else if (!inWord && next === JOINER && end + 1 < characters.length) end += 2;
      else going = false;
    }
    atoms.push([start, end]);
    start = end;
  }
  return atoms.filter(([start]) => (characters[start] as string).trim() !== '');
}

function inCase(character: string, changed: string): string {
  return [...changed].length === 1 ? changed : character;
}
const lower = (character: string): string => inCase(character, character.toLowerCase());
const upper = (character: string): string => inCase(character, character.toUpperCase());

/** Every span of a text, in every case. */
function spansOf(text: string): readonly string[] {
  const characters = [...text];
  const atoms = atomsOf(characters);
  const found: string[] = [];
  for (const [first, [start]] of atoms.entries()) {
    for (const [, end] of atoms.slice(first)) {
      const span = characters.slice(start, end);
      const isFirst = (index: number): boolean => atoms.some(([at]) => at === start + index) && !/^['’]$/.test(characters[start + index - 1] ?? '');
      found.push(
        span.join(''), span.map(lower).join(''), span.map(upper).join(''), span.map((character, index) => (index === 0 ? upper(character) : character)).join(''),
        span.map((character, index) => (isFirst(index) ? upper(character) : lower(character))).join(''),
      );
    }
  }
  return found;
}

/** Numbers that are written in a text: each way of reading goes from left to right and over what it has read. */
function numeralsOf(text: string): readonly number[] {
  const characters = [...text];
  const found: number[] = [];
  const digitsFrom = (at: number): number => {
    let end = at;
    while (isDigit(characters[end])) end += 1;
    return end;
  };
  const fractionFrom = (at: number): number => (characters[at] === '.' && isDigit(characters[at + 1]) ? digitsFrom(at + 1) : at);
  const plain = (at: number): number => {
    const whole = digitsFrom(at);
    if (whole === at && characters[at - 1] === '.') return at;
    const end = fractionFrom(whole);
    if (end === at || !/^[eE]$/.test(characters[end] ?? '')) return end;
    const digits = /^[-+]$/.test(characters[end + 1] ?? '') ? end + 2 : end + 1;
    return isDigit(characters[digits]) ? digitsFrom(digits) : end;
  };
  const grouped = (at: number): number => {
    if (/^[.,]$/.test(characters[at - 1] ?? '')) return at;
    const head = digitsFrom(at);
    if (head === at || head > at + 3) return at;
    const ends = [head];
    while (characters[ends.at(-1) as number] === ',' && [1, 2, 3].every((step) => isDigit(characters[(ends.at(-1) as number) + step]))) ends.push((ends.at(-1) as number) + 4);
    const end = ends.slice(1).findLast((candidate) => !isDigit(characters[candidate]));
    return end === undefined ? at : fractionFrom(end);
  };
  for (const read of [plain, grouped]) {
    for (let at = 0; at < characters.length;) {
      const sign = /^[-−]$/.test(characters[at] as string) ? 1 : 0;
      const end = isWord(characters[at - 1]) ? at : read(at + sign);
      if (end <= at + sign) {
        at += 1;
        continue;
      }
      const digits = characters.slice(at + sign, end).join('').split(',').join('');
      const rest = characters.slice(end).join('').toLowerCase();
      const isPercent = ['%', 'percent'].some((word) => rest.startsWith(word) || (rest[0]?.trim() === '' && rest.slice(1).startsWith(word)));
      const read1 = Number(digits);
      found.push(read1, ...(sign === 1 ? [-read1] : []));
      if (isPercent && !/e/i.test(digits)) {
        const [whole = '', fraction = ''] = digits.split('.');
        const shifted = Number(`${whole.padStart(3, '0').slice(0, -2)}.${whole.padStart(3, '0').slice(-2)}${fraction}`);
        found.push(shifted, ...(sign === 1 ? [-shifted] : []));
      }
      at = end;
    }
  }
  return found.filter((value) => Number.isFinite(value)).map((value) => (value === 0 ? 0 : value));
}

export function naiveClosedSet({ texts, candidate }: ProvenanceSources): NaiveClosedSet {
  const strings = new Set(texts.flatMap(spansOf));
  const numbers = new Set(texts.flatMap(numeralsOf));
  const visit = (value: JsonValue): void => {
    if (typeof value === 'string') {
      for (const span of [value, ...spansOf(value)]) strings.add(span);
      for (const number of numeralsOf(value)) numbers.add(number);
    } else if (typeof value === 'number') {
      numbers.add(value);
    } else if (typeof value === 'boolean') {
      strings.add(String(value));
    } else if (value !== null) {
      Object.values(value as object).forEach(visit);
    }
  };
  visit(candidate);
  for (const number of numbers) strings.add(String(number));
  return { strings, numbers };
}

/** Free leaves as lists of literals. */
export function naivelyClosed(sources: ProvenanceSources, maxStringLength: number): (node: SchemaNode) => SchemaNode {
  const { strings, numbers } = naiveClosedSet(sources);
  const isLiteralOf = (value: JsonValue, node: SchemaNode): boolean => (
    node.kind === 'literals' ? node.values.includes(value) : node.kind === 'union' ? node.branches.some((branch) => isLiteralOf(value, branch)) : node.kind === 'number' && (numbers.has(value as number) || node.suggested?.some((suggested) => suggested === value) === true)
  );
  const close = (node: SchemaNode): SchemaNode => {
    switch (node.kind) {
      case 'literals': return node;
      case 'string': {
        const { minLength, maxLength = Math.max(maxStringLength, minLength), content, suggested = [] } = node;
        const fits = (text: JsonValue): text is string => typeof text === 'string' && [...text].length >= minLength && [...text].length <= maxLength
          && (content?.patterns ?? []).every((source) => new RegExp(source, 'u').test(text)) && !(content?.excluded ?? []).some((source) => new RegExp(source, 'u').test(text)) && (content?.formats ?? []).every((format) => isOfFormat(format, text));
        return { kind: 'literals', values: [...new Set([...strings, ...suggested].filter(fits))] };
      }
      case 'number': return { kind: 'literals', values: [...new Set([...numbers, ...(node.suggested ?? []) as number[]])].filter((value) => isNumberIn(JSON.stringify(value), node)) };
      case 'array': {
        const { prefix, rest, contains, listedFrom } = node;
        return {
          ...node, prefix: prefix.map(close),
          rest: listedFrom !== undefined && rest.kind === 'literals' ? { kind: 'literals', values: rest.values.filter((value) => isLiteralOf(value, listedFrom)) } : close(rest),
          contains: contains === undefined ? undefined : { ...contains, counted: close(contains.counted), other: close(contains.other) },
        };
      }
      case 'object': return { ...node, members: node.members.map((member) => ({ ...member, node: close(member.node) })), open: node.open?.map((member) => ({ ...member, node: close(member.node) })) };
      case 'union': return { ...node, branches: node.branches.map(close) };
    }
  };
  return close;
}

function isOfFormat(format: string, text: string): boolean {
  const judge = createJudge({ format }, '2020-12');
  return judge.ok && judge.value.judge(text).length === 0;
}
