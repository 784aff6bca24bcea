/**
 * The byte automaton of values: states are small integers, rows of 256 transitions are filled when a byte is first asked for, and equal
 * states are one state. A state is a set of positions (several where alternatives are still open); a position is a frame of five integers
 * that names its grammar node, its counters, and the position to return to. All of it is interned, so that stepping compares integers.
 * String and item counters live in the frames: only the counts actually reached exist, however large the bound.
 */
import { assertNever } from '@contractrl/core';
import { NO_NODE } from './byte-trie.ts';
import { BETWEEN, CharacterSpelling, codePointOf, NO_CHARACTER } from './character-spelling.ts';
import type { NumberMachine } from './decimal.ts';
import { InternTable } from './intern.ts';
import { EMPTY_SET, UsedSets } from './used-set.ts';
import { escapeUnit, type Spelling } from './spelling.ts';
import { NO_CONTENT, type StringContent } from './string-content.ts';
import { toUtf8 } from '../bytes.ts';
import { canFinishArray, EMPTY_NODE, type GrammarMember, type GrammarNode, type NodeId, type ObjectNode, type ValueGrammar } from './value-grammar.ts';

export type StateId = number;
/** No continuation. */
export const DEAD: StateId = 0;
/** The operation around the value is complete, its closing brace included. */
export const END: StateId = 1;
/** The whole output is complete: only a stop token can follow. */
export const CLOSED: StateId = 2;
const FIRST_STATE = 3;
const UNKNOWN = -1;

type ArrayNode = Extract<GrammarNode, { readonly kind: 'array' | 'unique-array' | 'counted-array' }>;
type PositionId = number;
const AT_END: PositionId = 0;
const AT_CLOSED: PositionId = 1;

const LAST = 0; // nothing follows
/** Kinds of positions; in parentheses what the three integers after the kind hold. The fifth is always the position to return to. */
const BYTE = 1; // (byte) expects this byte
const TRIE = 2; // (trie node, object node or −1, members counted) inside a literal, or inside a member name
const STRING_OPEN = 3; // (node)
const STRING = 4; // (node, code points so far, phase)
const NUMBER = 5; // (node, machine state)
const ARRAY_OPEN = 6; // (node)
const ARRAY_FIRST = 7; // (node) after `[`
const ARRAY_AFTER = 8; // (node, items so far, register: the set of literals used, or the items counted)
const OBJECT_OPEN = 9; // (node)
const OBJECT_FIRST = 10; // (node) after `{`
const OBJECT_AFTER = 11; // (node, members passed, members counted)
const UNIQUE_ITEM = 12; // (trie node, array node, set of literals used) inside a literal that is not among those
const CONTENT = 13; // (node, content register, partial character) inside a string whose content is constrained

/** Phases of a string: where inside a character. From ESCAPE on: a node of the tree of escapes. */
const BODY = 0;
const ONE_MORE = 1;
const TWO_MORE = 2;
const THREE_MORE = 3;
const AFTER_E0 = 4;
const AFTER_ED = 5;
const AFTER_F0 = 6;
const AFTER_F4 = 7;
/** Second half of a surrogate pair: `\`, `u`, `d`, `c`-`f`, two hexadecimal digits. */
const LOW_BACKSLASH = 8;
const LOW_LAST = 13;
const ESCAPE = 16;

/** Leaves of the tree of escapes. */
const COMPLETE = 0;
const HIGH_SURROGATE = 1;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const DELETE = 0x7f;
const NUMBER_CHARACTERS = toUtf8('-.0123456789');

export class ValueAutomaton {
  /** `rows[(state << 8) | byte]`: the next state, {@link DEAD}, or −1 where not yet computed. Replaced when it grows. */
  rows: Int32Array = new Int32Array(0);
  readonly #grammar: ValueGrammar;
  readonly #spelling: Spelling;
  readonly #escapes: number;
  readonly #characters: CharacterSpelling;
  /** By node, then by symbol and bytes to come. */
  readonly #alikePartials: Map<number, number>[] = [];
  readonly #positions: InternTable = new InternTable();
  readonly #usedSets = new UsedSets();
  /** Positions of a state, ascending. */
  readonly #members: (readonly PositionId[])[] = [];
  readonly #singletons: StateId[] = [];
  readonly #sets = new Map<string, StateId>();
  readonly #forcedByte: number[] = [];
  readonly #alikeWithin: StateId[] = [];
  readonly #firstBytes: (Uint8Array | undefined)[] = [];
  readonly #frameTable: InternTable = new InternTable();
  readonly #frames: number[] = [];

  constructor(grammar: ValueGrammar, spelling: Spelling) {
    this.#grammar = grammar;
    this.#spelling = spelling;
    this.#escapes = this.#buildEscapes();
    this.#characters = new CharacterSpelling(spelling);
    for (const last of [AT_END, AT_CLOSED]) this.#positions.intern(LAST, last, 0, 0, 0);
    this.#members.push([], [AT_END], [AT_CLOSED]);
    this.#singletons.push(END, CLOSED);
    this.#grow();
  }

  get stateCount(): number {
    return this.#members.length;
  }

  /** The state in which a value of `node` is expected: in an operation, whose brace leads to {@link END}, or as the whole output. */
  enter(node: NodeId, place: 'operation' | 'whole-output'): StateId {
    const rest = place === 'operation' ? this.#positions.intern(BYTE, CLOSE_BRACE, 0, 0, AT_END) : AT_CLOSED;
    const found: PositionId[] = [];
    this.#begin(node, rest, found);
    return this.#stateOf(found);
  }

  next(state: StateId, byte: number): StateId {
    const known = this.rows[(state << 8) | byte] as number;
    return known === UNKNOWN ? this.fill(state, byte) : known;
  }

  /** Computes one transition and stores it in {@link rows}. */
  fill(state: StateId, byte: number): StateId {
    const found: PositionId[] = [];
    for (const position of this.#members[state] as readonly PositionId[]) this.#step(position, byte, found);
    const next = this.#stateOf(found);
    this.rows[(state << 8) | byte] = next;
    return next;
  }

  /** Whether the output may stop here: at {@link CLOSED}, beside other positions or alone, and behind a complete bare number. */
  isAccepting(state: StateId): boolean {
    const { a, b, c, rest } = this.#positions;
    return (this.#members[state] as readonly PositionId[]).some((position) => position === AT_CLOSED
      || (a[position] === NUMBER && rest[position] === AT_CLOSED && this.#machineAt(b[position] as number).isComplete(c[position] as number)));
  }

  /** Whether no byte can follow. */
  isFinal(state: StateId): boolean {
    for (let byte = 0; byte < 256; byte += 1) if (this.next(state, byte) !== DEAD) return false;
    return true;
  }

  /** Bytes among which are all that can follow; undefined where they are many. */
  firstBytes(state: StateId): Uint8Array | undefined {
    return this.#firstBytes[state];
  }

  /** The only byte that can follow, −1 where there are several or none. */
  forcedByte(state: StateId): number {
    const known = this.#forcedByte[state];
    if (known !== undefined) return known;
    let only = -1;
    let liveCount = 0;
    for (let byte = 0; byte < 256 && liveCount < 2; byte += 1) {
      if (this.next(state, byte) === DEAD) continue;
      liveCount += 1;
      only = byte;
    }
    const forced = liveCount === 1 && !this.isAccepting(state) ? only : -1;
    this.#forcedByte[state] = forced;
    return forced;
  }

  /** Code points that may still follow where the state is inside strings only, between two characters; −1 elsewhere. */
  freeCodePoints(state: StateId): number {
    let most = -1;
    for (const position of this.#members[state] as readonly PositionId[]) {
      const { a, b, c, d } = this.#positions;
      if (a[position] !== STRING || d[position] !== BODY) return -1;
      most = Math.max(most, this.#stringAt(b[position] as number).maxLength - (c[position] as number));
    }
    return most;
  }

  /**
   * For a state inside strings only: one that stands for all that no text of at most `codePoints` code points tells apart, because no bound of a
   * length comes near. The caller keeps to one `codePoints`.
   */
  alikeWithin(state: StateId, codePoints: number): StateId {
    const known = this.#alikeWithin[state];
    if (known !== undefined) return known;
    const table = this.#positions;
    const alike = this.#stateOf((this.#members[state] as readonly PositionId[]).map((position) => {
      const [id, count, phase, rest] = [table.b[position] as number, table.c[position] as number, table.d[position] as number, table.rest[position] as number];
      const { minLength, maxLength } = this.#stringAt(id);
      if (maxLength - count < codePoints) return position;
      if (count >= minLength && maxLength - minLength >= codePoints) return table.intern(STRING, id, minLength, phase, rest);
      return minLength - count > codePoints ? table.intern(STRING, id, 0, phase, rest) : position;
    }));
    this.#alikeWithin[state] = alike;
    return alike;
  }

  positionsOf(state: StateId): readonly PositionId[] {
    return this.#members[state] as readonly PositionId[];
  }

  /** The position behind the value, name or byte that `position` is inside; undefined for the last ones. */
  returnOf(position: PositionId): PositionId | undefined {
    return this.#positions.a[position] === LAST ? undefined : this.#positions.rest[position] as PositionId;
  }

  /** Whether the value may end at `position` without a byte of its own: only numbers do. */
  mayReturn(position: PositionId): boolean {
    const { a, b, c } = this.#positions;
    return a[position] === NUMBER && this.#machineAt(b[position] as number).isComplete(c[position] as number);
  }

  /** A number that positions share which differ only in where they return to. */
  frameOf(position: PositionId): number {
    const { a, b, c, d } = this.#positions;
    return this.#frames[position] ??= this.#frameTable.intern(a[position] as number, b[position] as number, c[position] as number, d[position] as number, 0);
  }

  stepPosition(position: PositionId, byte: number): readonly PositionId[] {
    const found: PositionId[] = [];
    this.#step(position, byte, found);
    return found;
  }

  #stateOf(found: PositionId[]): StateId {
    if (found.length === 0) return DEAD;
    if (found.length === 1) {
      const position = found[0] as PositionId;
      return this.#singletons[position] ?? (this.#singletons[position] = this.#addState(found));
    }
    const distinct = [...new Set(found)].sort((left, right) => left - right);
    if (distinct.length === 1) return this.#stateOf(distinct);
    const key = distinct.join();
    const known = this.#sets.get(key);
    if (known !== undefined) return known;
    const state = this.#addState(distinct);
    this.#sets.set(key, state);
    return state;
  }

  #addState(positions: readonly PositionId[]): StateId {
    const state = this.#members.push(positions) - 1;
    if (this.rows.length < (state + 1) << 8) this.#grow();
    const bytes = new Set<number>();
    if (positions.every((position) => this.#addFirstBytes(position, bytes))) {
      this.#firstBytes[state] = Uint8Array.from(bytes);
      this.rows.fill(DEAD, state << 8, (state + 1) << 8);
      for (const byte of bytes) this.rows[(state << 8) | byte] = UNKNOWN;
    }
    return state;
  }

  /** Adds every byte that may follow a position, or answers false where they are many or not known at once. A byte that is dead may be among them. */
  #addFirstBytes(position: PositionId, bytes: Set<number>): boolean {
    const { a, b, c, d, rest } = this.#positions;
    switch (a[position]) {
      case BYTE: bytes.add(b[position] as number); return true;
      case TRIE: case UNIQUE_ITEM: for (const byte of this.#grammar.trie.bytesOf(b[position] as number)) bytes.add(byte); return true;
      case STRING_OPEN: bytes.add(QUOTE); return true;
      case CONTENT: {
        const characters = d[position] === BETWEEN ? this.#contentAt(b[position] as number).asciiAt(c[position] as number) : undefined;
        for (const character of characters ?? []) bytes.add(character);
        bytes.add(QUOTE).add(BACKSLASH);
        return characters !== undefined;
      }
      case ARRAY_OPEN: bytes.add(OPEN_BRACKET); return true;
      case ARRAY_AFTER: bytes.add(COMMA).add(CLOSE_BRACKET); return true;
      case OBJECT_OPEN: bytes.add(OPEN_BRACE); return true;
      case OBJECT_FIRST: bytes.add(QUOTE).add(CLOSE_BRACE); return true;
      case OBJECT_AFTER: bytes.add(COMMA).add(CLOSE_BRACE); return true;
      case NUMBER: for (const character of NUMBER_CHARACTERS) bytes.add(character); return this.#addFirstBytes(rest[position] as number, bytes);
      case LAST: return true;
      default: return false;
    }
  }

  #grow(): void {
    const larger = new Int32Array(Math.max(FIRST_STATE + 61, this.rows.length >> 7) << 8).fill(UNKNOWN);
    // DEAD, END and CLOSED lead nowhere
    larger.fill(DEAD, 0, FIRST_STATE << 8);
    larger.set(this.rows);
    this.rows = larger;
  }

  /** Adds the positions in which a value of `node` begins. */
  #begin(id: NodeId, rest: PositionId, found: PositionId[]): void {
    const node = this.#grammar.nodes[id] as GrammarNode;
    switch (node.kind) {
      case 'literals': found.push(this.#positions.intern(TRIE, node.root, -1, 0, rest)); break;
      case 'string': found.push(this.#positions.intern(STRING_OPEN, id, 0, 0, rest)); break;
      case 'number': found.push(this.#positions.intern(NUMBER, id, node.machine.start, 0, rest)); break;
      case 'array': case 'unique-array': case 'counted-array': found.push(this.#positions.intern(ARRAY_OPEN, id, 0, 0, rest)); break;
      case 'object': found.push(this.#positions.intern(OBJECT_OPEN, id, 0, 0, rest)); break;
      case 'union': for (const branch of node.branches) this.#begin(branch, rest, found); break;
      default: assertNever(node);
    }
  }

  /** Adds the positions that `byte` leads to from one position. */
  #step(position: PositionId, byte: number, found: PositionId[]): void {
    const table = this.#positions;
    const first = table.b[position] as number;
    const second = table.c[position] as number;
    const third = table.d[position] as number;
    const rest = table.rest[position] as number;
    switch (table.a[position]) {
      case BYTE:
        if (byte === first) found.push(rest);
        break;
      case TRIE:
        this.#stepTrie(first, second, third, rest, byte, found);
        break;
      case UNIQUE_ITEM:
        this.#stepUniqueItem(first, second, third, rest, byte, found);
        break;
      case STRING_OPEN:
        if (byte === QUOTE) found.push(this.#insideString(first, this.#stringAt(first).content?.start ?? NO_CONTENT, rest));
        break;
      case CONTENT:
        this.#stepContent(first, second, third, rest, byte, found);
        break;
      case STRING:
        this.#stepString(first, second, third, rest, byte, found);
        break;
      case NUMBER:
        this.#stepNumber(first, second, rest, byte, found);
        break;
      case ARRAY_OPEN:
        if (byte === OPEN_BRACKET) found.push(table.intern(ARRAY_FIRST, first, 0, 0, rest));
        break;
      case ARRAY_FIRST:
        this.#stepArray(first, 0, 0, rest, byte, found);
        break;
      case ARRAY_AFTER:
        this.#stepArray(first, second, third, rest, byte, found);
        break;
      case OBJECT_OPEN:
        if (byte === OPEN_BRACE) found.push(table.intern(OBJECT_FIRST, first, 0, 0, rest));
        break;
      case OBJECT_FIRST:
        this.#stepObject(first, 0, 0, true, rest, byte, found);
        break;
      case OBJECT_AFTER:
        this.#stepObject(first, second, third, false, rest, byte, found);
        break;
      // LAST
    }
  }

  #stepTrie(node: number, object: NodeId, count: number, rest: PositionId, byte: number, found: PositionId[]): void {
    const { trie } = this.#grammar;
    const child = trie.child(node, byte);
    if (child === NO_NODE) return;
    if (trie.hasChildren(child)) found.push(this.#positions.intern(TRIE, child, object, count, rest));
    const leaf = trie.leafOf(child);
    if (leaf === undefined) return;
    if (object === -1) {
      found.push(rest);
    } else {
      const { members, counts } = this.#objectAt(object);
      const member = members[leaf] as GrammarMember;
      this.#begin(member.value, this.#positions.intern(OBJECT_AFTER, object, leaf + 1, counts === undefined ? 0 : count + 1, rest), found);
    }
  }

  #stepUniqueItem(node: number, array: NodeId, used: number, rest: PositionId, byte: number, found: PositionId[]): void {
    const { trie } = this.#grammar;
    const child = trie.child(node, byte);
    if (child === NO_NODE) return;
    if (trie.bytesOf(child).some((next) => this.#leadsToUnused(trie.child(child, next), used))) found.push(this.#positions.intern(UNIQUE_ITEM, child, array, used, rest));
    const leaf = trie.leafOf(child);
    if (leaf === undefined || this.#usedSets.has(used, leaf)) return;
    const after = this.#usedSets.with(used, leaf);
    found.push(this.#positions.intern(ARRAY_AFTER, array, this.#usedSets.sizeOf(after), after, rest));
  }

  #leadsToUnused(node: number, used: number): boolean {
    const { trie } = this.#grammar;
    const leaf = trie.leafOf(node);
    return (leaf !== undefined && !this.#usedSets.has(used, leaf)) || trie.bytesOf(node).some((byte) => this.#leadsToUnused(trie.child(node, byte), used));
  }

  #stepNumber(id: NodeId, state: number, rest: PositionId, byte: number, found: PositionId[]): void {
    const machine = this.#machineAt(id);
    const next = machine.next(state, byte);
    if (next >= 0) found.push(this.#positions.intern(NUMBER, id, next, 0, rest));
    // a number has no closing byte of its own: whatever follows it ends it
    if (machine.isComplete(state)) this.#step(rest, byte, found);
  }

  #stepArray(id: NodeId, count: number, register: number, rest: PositionId, byte: number, found: PositionId[]): void {
    const node = this.#grammar.nodes[id] as ArrayNode;
    const isEnough = node.kind !== 'counted-array' || (register >= node.min && register <= node.max);
    if (byte === CLOSE_BRACKET && count >= node.minItems && isEnough) found.push(rest);
    if (count >= node.maxItems) return;
    if (count > 0) {
      if (byte === COMMA) this.#beginItem(id, node, count, register, rest, found);
      return;
    }
    const starts: PositionId[] = [];
    this.#beginItem(id, node, count, register, rest, starts);
    for (const start of starts) this.#step(start, byte, found);
  }

  #beginItem(id: NodeId, node: ArrayNode, count: number, register: number, rest: PositionId, found: PositionId[]): void {
    const beginWith = (item: NodeId, nextRegister: number): void => {
      if (item !== EMPTY_NODE) this.#begin(item, this.#positions.intern(ARRAY_AFTER, id, count + 1, nextRegister, rest), found);
    };
    switch (node.kind) {
      case 'array': beginWith(node.prefix[count] ?? node.rest, 0); break;
      case 'unique-array': found.push(this.#positions.intern(UNIQUE_ITEM, node.root, id, count === 0 ? EMPTY_SET : register, rest)); break;
      case 'counted-array':
        if (canFinishArray(node, count + 1, register + 1)) beginWith(node.counted, register + 1);
        if (canFinishArray(node, count + 1, register)) beginWith(node.other, register);
        break;
      default: assertNever(node);
    }
  }

  #stepObject(id: NodeId, passed: number, count: number, isFirst: boolean, rest: PositionId, byte: number, found: PositionId[]): void {
    const { members, counts } = this.#objectAt(id);
    const isEnough = count >= (counts?.min ?? 0);
    if (byte === CLOSE_BRACE && isEnough && !members.slice(passed).some((member) => member.required)) found.push(rest);
    if (passed >= members.length || (counts !== undefined && count >= counts.max)) return;
    const keys = this.#grammar.keysAfter(id, passed, count);
    if (isFirst) this.#stepTrie(keys, id, count, rest, byte, found);
    else if (byte === COMMA && this.#grammar.trie.hasChildren(keys)) found.push(this.#positions.intern(TRIE, keys, id, count, rest));
  }

  /** Between two characters. Where the content asks nothing more, as in any other string. */
  #insideString(id: NodeId, register: number, rest: PositionId): PositionId {
    const { content } = this.#stringAt(id);
    if (content === undefined) return this.#positions.intern(STRING, id, 0, BODY, rest);
    if (content.isFree(register)) return this.#positions.intern(STRING, id, content.codePointCount(register), BODY, rest);
    return this.#positions.intern(CONTENT, id, register, BETWEEN, rest);
  }

  #stepContent(id: NodeId, register: number, partial: number, rest: PositionId, byte: number, found: PositionId[]): void {
    const content = this.#contentAt(id);
    if (partial === BETWEEN && byte === QUOTE) {
      if (content.isAccepting(register)) found.push(rest);
      return;
    }
    const character = this.#characters.step(partial, byte);
    if (character === NO_CHARACTER) return;
    if (character > BETWEEN) {
      const isViable = this.#characters.isViable(character, (first, last) => content.admits(register, first, last));
      if (isViable) found.push(this.#positions.intern(CONTENT, id, register, this.#alikePartial(id, character), rest));
      return;
    }
    const next = content.next(register, codePointOf(character));
    if (next !== NO_CONTENT) found.push(this.#insideString(id, next, rest));
  }

  /** One partial character for all that lead to code points which the content does not tell apart: most of Unicode is one symbol. */
  #alikePartial(id: NodeId, partial: number): number {
    const range = this.#characters.range(partial);
    const symbol = range === undefined ? -1 : this.#contentAt(id).symbolOf(...range);
    if (symbol < 0) return partial;
    const alike = (this.#alikePartials[id] ??= new Map());
    const key = symbol << 4 | this.#characters.bytesToCome(partial);
    const known = alike.get(key) ?? partial;
    alike.set(key, known);
    return known;
  }

  #stepString(id: NodeId, count: number, phase: number, rest: PositionId, byte: number, found: PositionId[]): void {
    const { minLength, maxLength } = this.#stringAt(id);
    const moveTo = (nextCount: number, nextPhase: number): void => {
      found.push(this.#positions.intern(STRING, id, nextCount, nextPhase, rest));
    };
    if (phase !== BODY) {
      const nextPhase = this.#phaseAfter(phase, byte);
      if (nextPhase >= 0) moveTo(nextPhase === BODY ? count + 1 : count, nextPhase);
      return;
    }
    if (byte === QUOTE) {
      if (count >= minLength) found.push(rest);
      return;
    }
    if (count >= maxLength) return;
    if (byte === BACKSLASH) {
      moveTo(count, ESCAPE + this.#escapes);
    } else if (byte >= 0x20 && this.#spelling.isSpellable[byte] === 1) {
      if (byte <= DELETE) moveTo(count + 1, BODY);
      else if (byte >= 0xc2 && byte <= 0xf4) moveTo(count, phaseAfterLead(byte));
    }
  }

  /** The phase after `byte` inside a character, {@link BODY} where it is complete, −1 where `byte` is wrong. */
  #phaseAfter(phase: number, byte: number): number {
    if (phase >= ESCAPE) {
      const { trie } = this.#grammar;
      const child = trie.child(phase - ESCAPE, byte);
      if (child === NO_NODE) return -1;
      const leaf = trie.leafOf(child);
      return leaf === undefined ? ESCAPE + child : leaf === COMPLETE ? BODY : LOW_BACKSLASH;
    }
    if (phase >= LOW_BACKSLASH) return isLowSurrogateByte(phase, byte) ? phase === LOW_LAST ? BODY : phase + 1 : -1;
    if (byte < 0x80 || byte > 0xbf) return -1;
    switch (phase) {
      case ONE_MORE: return BODY;
      case TWO_MORE: return ONE_MORE;
      case THREE_MORE: return TWO_MORE;
      // overlong forms, surrogates and code points above U+10FFFF are no UTF-8 (RFC 3629 §4)
      case AFTER_E0: return byte >= 0xa0 ? ONE_MORE : -1;
      case AFTER_ED: return byte <= 0x9f ? ONE_MORE : -1;
      case AFTER_F0: return byte >= 0x90 ? TWO_MORE : -1;
      default: return byte <= 0x8f ? TWO_MORE : -1;
    }
  }

  /** The escapes after a backslash: the short ones, control characters, and code points that no token can spell. */
  #buildEscapes(): number {
    const { trie } = this.#grammar;
    const root = trie.createNode();
    const add = (text: string, leaf: number): void => { trie.setLeaf(trie.insert(root, toUtf8(text)), leaf); };
    for (let codePoint = 0; codePoint < 0x20; codePoint += 1) add(JSON.stringify(String.fromCharCode(codePoint)).slice(2, -1), COMPLETE);
    for (const character of '"\\') add(character, COMPLETE);
    for (let codeUnit = DELETE; codeUnit < 0x10000; codeUnit += 1) {
      const isHigh = codeUnit >= 0xd800 && codeUnit < 0xdc00;
      if (codeUnit >= 0xdc00 && codeUnit < 0xe000) continue;
      // a high surrogate stands for 1,024 code points, which share their first byte
      const codePoint = isHigh ? 0x10000 + ((codeUnit - 0xd800) << 10) : codeUnit;
      if (this.#spelling.mustEscape(codePoint)) add(escapeUnit(codeUnit).slice(1), isHigh ? HIGH_SURROGATE : COMPLETE);
    }
    return root;
  }

  #machineAt(id: NodeId): NumberMachine {
    return (this.#grammar.nodes[id] as Extract<GrammarNode, { readonly kind: 'number' }>).machine;
  }

  #contentAt(id: NodeId): StringContent {
    return this.#stringAt(id).content as StringContent;
  }

  #stringAt(id: NodeId): Extract<GrammarNode, { readonly kind: 'string' }> {
    return this.#grammar.nodes[id] as Extract<GrammarNode, { readonly kind: 'string' }>;
  }

  #objectAt(id: NodeId): ObjectNode {
    return this.#grammar.nodes[id] as ObjectNode;
  }
}

function phaseAfterLead(byte: number): number {
  if (byte < 0xe0) return ONE_MORE;
  if (byte < 0xf0) return byte === 0xe0 ? AFTER_E0 : byte === 0xed ? AFTER_ED : TWO_MORE;
  return byte === 0xf0 ? AFTER_F0 : byte === 0xf4 ? AFTER_F4 : THREE_MORE;
}

function isLowSurrogateByte(phase: number, byte: number): boolean {
  const isHex = (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66);
  switch (phase - LOW_BACKSLASH) {
    case 0: return byte === BACKSLASH;
    case 1: return byte === 0x75;
    case 2: return byte === 0x64;
    case 3: return byte >= 0x63 && byte <= 0x66;
    default: return isHex;
  }
}
