/**
 * Regular expressions that cannot hang: ECMAScript `u` patterns run on a state set instead of by backtracking, so a test costs at most
 * text × program steps. Look-around and back-references have no such machine and are refused.
 * The host's own RegExp decides what is a pattern at all and what one character class contains (on a single code point, where it
 * cannot backtrack), so both agree by construction; only concatenation, alternation, repetition and assertions are ours.
 * Reference: ECMA-262 §22.2.1 (grammar with [UnicodeMode]); K. Thompson, Regular Expression Search Algorithm, CACM 11(6), 1968.
 */
import { err, ok, type Result } from '../result.ts';

/** Tests whether the pattern matches somewhere in the text. */
export interface Pattern {
  readonly source: string;
  /** Throws {@link PatternBudgetError} where text × program exceeds the step budget; the judge turns that into `undecided`. */
  test(text: string): boolean;
  /** What a test runs; `machineOf` steps through it one code point at a time. */
  readonly program: readonly Instruction[];
}

export type PatternIssue =
  /** Not a pattern under the `u` flag. */
  | { readonly code: 'pattern/invalid'; readonly source: string }
  | { readonly code: 'pattern/look-around' | 'pattern/back-reference'; readonly source: string; readonly offset: number }
  /** Counted repetitions unfold to more than {@link MAX_PROGRAM_LENGTH} instructions. */
  | { readonly code: 'pattern/too-large'; readonly source: string; readonly limit: number };

/** Largest program: a bounded repetition such as `.{0,4096}` still fits. */
export const MAX_PROGRAM_LENGTH = 20_000;
/** State visits of one test, about 0.3 s. A program that keeps 100 states alive reads 100,000 characters with it. */
const MAX_STEP_COUNT = 10_000_000;

export class PatternBudgetError extends Error {}

export type Assertion = '^' | '$' | '\\b' | '\\B';

type Node =
  | { readonly kind: 'character'; readonly codePoint: number }
  | { readonly kind: 'class'; readonly source: string; readonly accepts: (codePoint: number) => boolean }
  | { readonly kind: 'assertion'; readonly source: Assertion }
  | { readonly kind: 'sequence'; readonly items: readonly Node[] }
  | { readonly kind: 'choice'; readonly items: readonly Node[] }
  | { readonly kind: 'repeat'; readonly item: Node; readonly minimum: number; readonly maximum: number };

export type Instruction =
  | { readonly kind: 'consume'; readonly source: string | number; readonly accepts: (codePoint: number) => boolean }
  | { readonly kind: 'assertion'; readonly source: Assertion }
  | { readonly kind: 'split'; first: number; second: number }
  | { readonly kind: 'match' };

const compiled = new Map<string, Result<Pattern, PatternIssue>>();
/** Patterns come from contracts, a handful each; the bound only guards a process that loads contracts without end. */
const MAX_CACHED_PATTERNS = 1_000;

/** Compiles ECMAScript `u` pattern text. The result is kept, so asking again is cheap. */
export function compilePattern(source: string): Result<Pattern, PatternIssue> {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const result = compile(source);
  if (compiled.size >= MAX_CACHED_PATTERNS) compiled.clear();
  compiled.set(source, result);
  return result;
}

function compile(source: string): Result<Pattern, PatternIssue> {
  if (hostPattern(source) === undefined) return err({ code: 'pattern/invalid', source });
  const tree = new PatternParser(source).parse();
  if (!tree.ok) return tree;
  const program: Instruction[] = [];
  if (!emit(tree.value, program)) return err({ code: 'pattern/too-large', source, limit: MAX_PROGRAM_LENGTH });
  program.push({ kind: 'match' });
  return ok({ source, program, test: (text) => run(program, text), toString: () => source });
}

/** The host's RegExp, or `undefined` where the host refuses the text; its constructor can only say so by throwing. */
function hostPattern(source: string): RegExp | undefined {
  try {
    return new RegExp(source, 'u');
  } catch {
    return undefined;
  }
}

/** Reads the structure of text that is known to be a valid `u` pattern: that leaves few cases to check. */
class PatternParser {
  readonly #source: string;
  #offset = 0;
  #refusal: PatternIssue | undefined;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): Result<Node, PatternIssue> {
    const tree = this.#choice();
    return this.#refusal === undefined ? ok(tree) : err(this.#refusal);
  }

  #choice(): Node {
    const items: Node[] = [this.#sequence()];
    while (this.#take('|')) items.push(this.#sequence());
    return items.length === 1 ? items[0] as Node : { kind: 'choice', items };
  }

  #sequence(): Node {
    const items: Node[] = [];
    while (this.#refusal === undefined && this.#offset < this.#source.length && !/[|)]/.test(this.#source[this.#offset] as string)) {
      items.push(this.#quantified(this.#term()));
    }
    return { kind: 'sequence', items };
  }

  #term(): Node {
    const rest = this.#source.slice(this.#offset, this.#offset + 4);
    if (/^\((?:\?=|\?!|\?<=|\?<!)/.test(rest)) return this.#refuse('pattern/look-around');
    if (/^\\(?:[1-9]|k)/.test(rest)) return this.#refuse('pattern/back-reference');
    if (rest.startsWith('(')) return this.#group();
    if (rest.startsWith('^') || rest.startsWith('$')) return { kind: 'assertion', source: this.#advance(1) as '^' | '$' };
    if (rest.startsWith('\\b') || rest.startsWith('\\B')) return { kind: 'assertion', source: this.#advance(2) as '\\b' | '\\B' };
    if (rest.startsWith('.')) return classNode(this.#advance(1));
    if (rest.startsWith('[')) return classNode(this.#advance(this.#classLength()));
    if (rest.startsWith('\\')) return classNode(this.#advance(this.#escapeLength()));
    const codePoint = this.#source.codePointAt(this.#offset) as number;
    this.#offset += codePoint > 0xffff ? 2 : 1;
    return { kind: 'character', codePoint };
  }

  #group(): Node {
    // `(`, `(?:`, `(?<name>`, or inline modifiers, which newer hosts accept and which would change what classes mean
    const head = /\((?:\?:|\?<[^>]*>|(?!\?))/uy;
    head.lastIndex = this.#offset;
    const opening = head.exec(this.#source)?.[0];
    if (opening === undefined) return this.#refuse('pattern/look-around');
    this.#offset += opening.length;
    const body = this.#choice();
    this.#take(')');
    return body;
  }

  #quantified(item: Node): Node {
    const quantifier = /(?:([*+?])|\{([0-9]+)(,?)([0-9]*)\})\??/y;
    quantifier.lastIndex = this.#offset;
    const match = quantifier.exec(this.#source);
    if (match === null) return item;
    this.#offset += match[0].length;
    // lazy or greedy makes no difference to whether a match exists
    const [, symbol, minimum, comma, maximum] = match;
    if (symbol !== undefined) return { kind: 'repeat', item, minimum: symbol === '+' ? 1 : 0, maximum: symbol === '?' ? 1 : Infinity };
    const least = Number(minimum);
    return { kind: 'repeat', item, minimum: least, maximum: comma === '' ? least : maximum === '' ? Infinity : Number(maximum) };
  }

  #classLength(): number {
    let end = this.#offset + 1;
    while (this.#source[end] !== ']') end += this.#source[end] === '\\' ? 2 : 1;
    return end + 1 - this.#offset;
  }

  #escapeLength(): number {
    const escape = /\\(?:[pP]\{[^}]*\}|u\{[0-9a-fA-F]+\}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|.)/suy;
    escape.lastIndex = this.#offset;
    return escape.exec(this.#source)?.[0].length ?? 1;
  }

  #refuse(code: 'pattern/look-around' | 'pattern/back-reference'): Node {
    this.#refusal ??= { code, source: this.#source, offset: this.#offset };
    return { kind: 'sequence', items: [] };
  }

  #take(character: string): boolean {
    if (this.#source[this.#offset] !== character) return false;
    this.#offset += 1;
    return true;
  }

  #advance(length: number): string {
    this.#offset += length;
    return this.#source.slice(this.#offset - length, this.#offset);
  }
}

/** Its test is made once, however often a counted repetition repeats it. */
function classNode(source: string): Node {
  return { kind: 'class', source, accepts: classTest(source) };
}

/** Appends the node's instructions; `false` where the program grows too large. Each fragment falls through to the instruction after it. */
function emit(node: Node, program: Instruction[]): boolean {
  if (program.length > MAX_PROGRAM_LENGTH) return false;
  switch (node.kind) {
    case 'character':
      program.push({ kind: 'consume', source: node.codePoint, accepts: (codePoint) => codePoint === node.codePoint });
      return true;
    case 'class':
      program.push({ kind: 'consume', source: node.source, accepts: node.accepts });
      return true;
    case 'assertion':
      program.push({ kind: 'assertion', source: node.source });
      return true;
    case 'sequence':
      return node.items.every((item) => emit(item, program));
    case 'choice':
      return emitChoice(node.items, program);
    case 'repeat':
      return emitRepeat(node.item, node.minimum, node.maximum, program);
  }
}

function emitChoice(items: readonly Node[], program: Instruction[]): boolean {
  const exits: { kind: 'split'; first: number; second: number }[] = [];
  for (const [index, item] of items.entries()) {
    const isLast = index === items.length - 1;
    const entry = split(program.length + 1, -1);
    if (!isLast) program.push(entry);
    if (!emit(item, program)) return false;
    if (isLast) break;
    const exit = split(-1, -1);
    program.push(exit);
    exits.push(exit);
    entry.second = program.length;
  }
  for (const exit of exits) exit.first = exit.second = program.length;
  return true;
}

function emitRepeat(item: Node, minimum: number, maximum: number, program: Instruction[]): boolean {
  if (isEmpty(item)) return true;
  for (let count = 0; count < minimum; count += 1) if (!emit(item, program)) return false;
  if (maximum === Infinity) {
    const loop = split(program.length + 1, -1);
    program.push(loop);
    const start = program.length - 1;
    if (!emit(item, program)) return false;
    program.push(split(start, start));
    loop.second = program.length;
    return true;
  }
  const exits: { kind: 'split'; first: number; second: number }[] = [];
  for (let count = minimum; count < maximum; count += 1) {
    const exit = split(program.length + 1, -1);
    program.push(exit);
    exits.push(exit);
    if (!emit(item, program)) return false;
  }
  for (const exit of exits) exit.second = program.length;
  return true;
}

/** A node without instructions: repeating it a billion times must not take a billion steps. */
function isEmpty(node: Node): boolean {
  return (node.kind === 'sequence' && node.items.every(isEmpty)) || (node.kind === 'repeat' && (node.maximum === 0 || isEmpty(node.item)));
}

function split(first: number, second: number): { kind: 'split'; first: number; second: number } {
  return { kind: 'split', first, second };
}

/** Membership of one code point in a class, an escape or `.`, as the host decides it; remembered per code point. */
export function classTest(source: string): (codePoint: number) => boolean {
  const single = hostPattern(`^${source}$`) as RegExp;
  const known = new Map<number, boolean>();
  // 0 not asked yet, 1 outside, 2 inside: most text is ASCII, and a table is five times faster than the map
  const ascii = new Uint8Array(128);
  return (codePoint) => {
    const answer = ascii[codePoint];
    if (answer !== undefined && answer !== 0) return answer === 2;
    let accepted = known.get(codePoint);
    if (accepted === undefined) {
      accepted = single.test(String.fromCodePoint(codePoint));
      if (codePoint < ascii.length) ascii[codePoint] = accepted ? 2 : 1;
      else known.set(codePoint, accepted);
    }
    return accepted;
  };
}

/** Steps all states at once over the code points of `text`; a new attempt starts at every position (the match may lie anywhere). */
function run(program: readonly Instruction[], text: string): boolean {
  let stepCount = 0;
  let states: number[] = [];
  let next: number[] = [];
  const seenAt = new Int32Array(program.length).fill(-1);
  const stack: number[] = [];

  /** Follows splits and assertions from `start` at `offset`; returns whether the match instruction was reached. */
  const close = (start: number, offset: number, into: number[]): boolean => {
    stack.push(start);
    while (stack.length > 0) {
      const index = stack.pop() as number;
      if (seenAt[index] === offset) continue;
      seenAt[index] = offset;
      stepCount += 1;
      const instruction = program[index] as Instruction;
      if (instruction.kind === 'match') return true;
      if (instruction.kind === 'consume') into.push(index);
      else if (instruction.kind === 'split') stack.push(instruction.second, instruction.first);
      else if (holds(instruction.source, text, offset)) stack.push(index + 1);
    }
    return false;
  };

  let offset = 0;
  for (;;) {
    if (close(0, offset, states)) return true;
    if (offset >= text.length) return false;
    const codePoint = text.codePointAt(offset) as number;
    offset += codePoint > 0xffff ? 2 : 1;
    for (const index of states) {
      stepCount += 1;
      const instruction = program[index] as Extract<Instruction, { kind: 'consume' }>;
      if (instruction.accepts(codePoint) && close(index + 1, offset, next)) return true;
    }
    if (stepCount > MAX_STEP_COUNT) throw new PatternBudgetError('the pattern needs too many steps on this text');
    [states, next] = [next, states];
    next.length = 0;
  }
}

function holds(assertion: Assertion, text: string, offset: number): boolean {
  if (assertion === '^') return offset === 0;
  if (assertion === '$') return offset === text.length;
  const isBoundary = isWordUnit(text[offset - 1]) !== isWordUnit(text[offset]);
  return isBoundary === (assertion === '\\b');
}

export function isWordUnit(unit: string | undefined): boolean {
  return unit !== undefined && /\w/.test(unit);
}
