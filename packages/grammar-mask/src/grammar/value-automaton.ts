/**
 * The byte automaton of values: states are small integers, rows of 256 transitions are filled when a byte is first asked for, and equal
 * states are one state. A state is a set of positions (several where alternatives are still open); a position is a frame of five integers
 * that names its grammar node, its counters, and the position to return to. All of it is interned, so that stepping compares integers.
 * String and item counters live in the frames: only the counts actually reached exist, however large the bound.
 */
import { assertNever } from '@contractrl/core';
import { ArraySteps } from './array-steps.ts';
import { BEFORE_QUOTE, BETWEEN, CharacterSpelling, codePointOf, NO_CHARACTER, type CharacterStep } from './character-spelling.ts';
import type { NumberMachine } from './decimal.ts';
import { InternTable } from './intern.ts';
import { ObjectSteps } from './object-steps.ts';
import type { NewNames } from './open-names.ts';
import {
  ARRAY_AFTER, ARRAY_FIRST, ARRAY_OPEN, BYTE, CLOSE_BRACE, CLOSE_BRACKET, COMMA, LAST, NUMBER, OBJECT_AFTER, OBJECT_FIRST, OBJECT_OPEN, OPEN_NAME, QUOTE, STRING, STRING_OPEN,
  TRIE, UNIQUE_ITEM, type PositionId,
} from './position.ts';
import type { Spelling } from './spelling.ts';
import { NO_CONTENT, type ContentRegister, type StringContent } from './string-content.ts';
import { toUtf8 } from '../bytes.ts';
import type { GrammarNode, NodeId, ValueGrammar } from './value-grammar.ts';

export type StateId = number;
/** No continuation. */
export const DEAD: StateId = 0;
/** The operation around the value is complete, its closing brace included. */
export const END: StateId = 1;
/** The whole output is complete: only a stop token can follow. */
export const CLOSED: StateId = 2;
const UNKNOWN = -1;
const NO_ROW = -1;
const FIRST_ROWS = 32;
/** Stands for every byte where many can follow. */
const MANY = new Uint8Array(0);

const AT_END: PositionId = 0;
const AT_CLOSED: PositionId = 1;

const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const NUMBER_CHARACTERS = toUtf8('-.0123456789');
/** What ends values comes first, since searches stop at the first end that they cannot better. */
export const BYTES: Uint8Array = Uint8Array.from(new Set([...toUtf8('"}],0'), ...Array.from({ length: 256 }, (_, byte) => byte)]));

/** Inside a string, behind some of its text, or in front of it. */
export interface TextPlace {
  readonly id: NodeId;
  readonly content: StringContent;
  readonly register: ContentRegister;
  /** Between two characters, inside one, or in front of the opening quote. */
  readonly entry: CharacterStep;
  /** The state behind the closing quote. */
  readonly closed: StateId;
  /** The state at another register of the same string, between two characters. */
  at(register: ContentRegister): StateId;
}

export class ValueAutomaton {
  /** `rows[base | byte]`: the next state, {@link DEAD}, or −1 where not yet computed; bases from {@link baseOf}. Replaced when it grows. */
  rows: Int32Array = new Int32Array(FIRST_ROWS << 8);
  readonly #grammar: ValueGrammar;
  readonly #characters: CharacterSpelling;
  readonly #positions: InternTable = new InternTable();
  readonly #arrays: ArraySteps;
  readonly #objects: ObjectSteps;
  /** Positions of a state, ascending. */
  readonly #members: (readonly PositionId[])[] = [];
  readonly #singletons: StateId[] = [];
  readonly #sets = new Map<string, StateId>();
  readonly #forcedByte: number[] = [];
  readonly #firstBytes: Uint8Array[] = [];
  /** By state: a row has 256 transitions, and most states are passed once or never left. */
  readonly #bases: number[] = [];
  /** By row. */
  readonly #rowStates: StateId[] = [];
  readonly #frameTable: InternTable = new InternTable();
  readonly #frames: number[] = [];

  constructor(grammar: ValueGrammar, spelling: Spelling) {
    this.#grammar = grammar;
    const context = {
      grammar, positions: this.#positions,
      begin: (node: NodeId, rest: PositionId, found: PositionId[]): void => this.#begin(node, rest, found),
      step: (position: PositionId, byte: number, found: PositionId[]): void => this.#step(position, byte, found),
    };
    this.#arrays = new ArraySteps(context);
    this.#objects = new ObjectSteps(context);
    this.#characters = new CharacterSpelling(spelling);
    for (const last of [AT_END, AT_CLOSED]) this.#positions.intern(LAST, last, 0, 0, 0);
    this.#members.push([], [AT_END], [AT_CLOSED]);
    this.#singletons.push(END, CLOSED);
  }

  /** The state in which a value of `node` is expected: in an operation, whose brace leads to {@link END}, or as the whole output. */
  enter(node: NodeId, place: 'operation' | 'whole-output'): StateId {
    const rest = place === 'operation' ? this.#positions.intern(BYTE, CLOSE_BRACE, 0, 0, AT_END) : AT_CLOSED;
    const found: PositionId[] = [];
    this.#begin(node, rest, found);
    return this.#stateOf(found);
  }

  next(state: StateId, byte: number): StateId {
    const base = this.#bases[state] ?? NO_ROW;
    if (base === NO_ROW) return this.#compute(state, byte);
    const known = this.rows[base | byte] as number;
    return known === UNKNOWN ? this.fill(base, byte) : known;
  }

  /** As {@link next}, on the way of an output: names that the schema leaves open are kept there. */
  advance(state: StateId, byte: number): StateId {
    return this.#isInOpenName(state) ? this.#compute(state, byte, true) : this.next(state, byte);
  }

  get hasOpenNames(): boolean {
    return this.#grammar.hasOpenNames;
  }

  #isInOpenName(state: StateId): boolean {
    return this.hasOpenNames && (this.#members[state] as readonly PositionId[]).some((position) => this.#positions.a[position] === OPEN_NAME);
  }

  /** Where the row of a state begins in {@link rows}; the row is made when first asked for. */
  baseOf(state: StateId): number {
    const known = this.#bases[state];
    if (known !== undefined) return known;
    const base = (this.#rowStates.push(state) - 1) << 8;
    if (this.rows.length === base) {
      const larger = new Int32Array(base * 2);
      larger.set(this.rows);
      this.rows = larger;
    }
    const bytes = this.firstBytes(state);
    if (bytes === undefined) this.rows.fill(UNKNOWN, base, base + 256);
    else for (const byte of bytes) this.rows[base | byte] = UNKNOWN;
    this.#bases[state] = base;
    return base;
  }

  /** Computes one transition and stores it in {@link rows}. */
  fill(base: number, byte: number): StateId {
    const next = this.#compute(this.#rowStates[base >> 8] as StateId, byte);
    this.rows[base | byte] = next;
    return next;
  }

  #compute(state: StateId, byte: number, isExact = false): StateId {
    const found: PositionId[] = [];
    for (const position of this.#members[state] as readonly PositionId[]) this.#step(position, byte, found, isExact ? 'kept' : 'forgotten');
    return this.#stateOf(found);
  }

  /** Whether the output may stop here: at {@link CLOSED}, beside other positions or alone, and behind a complete bare number. */
  isAccepting(state: StateId): boolean {
    const { a, b, c, rest } = this.#positions;
    return (this.#members[state] as readonly PositionId[]).some((position) => position === AT_CLOSED
      || (a[position] === NUMBER && rest[position] === AT_CLOSED && this.#machineAt(b[position] as number).isComplete(c[position] as number)));
  }

  /** Whether no byte can follow. */
  isFinal(state: StateId): boolean {
    return (this.firstBytes(state) ?? BYTES).every((byte) => this.next(state, byte) === DEAD);
  }

  /** Bytes among which are all that can follow; undefined where they are many. */
  firstBytes(state: StateId): Uint8Array | undefined {
    let known = this.#firstBytes[state];
    if (known === undefined) {
      const bytes = new Set<number>();
      known = (this.#members[state] as readonly PositionId[]).every((position) => this.#addFirstBytes(position, bytes)) ? Uint8Array.from(bytes) : MANY;
      this.#firstBytes[state] = known;
    }
    return known === MANY ? undefined : known;
  }

  /** The only byte that can follow, −1 where there are several or none. */
  forcedByte(state: StateId): number {
    const known = this.#forcedByte[state];
    if (known !== undefined) return known;
    let only = -1;
    let liveCount = 0;
    for (const byte of this.firstBytes(state) ?? BYTES) {
      if (this.next(state, byte) === DEAD) continue;
      liveCount += 1;
      only = byte;
      if (liveCount === 2) break;
    }
    const forced = liveCount === 1 && !this.isAccepting(state) && !this.#isInOpenName(state) ? only : -1;
    this.#forcedByte[state] = forced;
    return forced;
  }

  /** Where the state is at one string. */
  textAt(state: StateId): TextPlace | undefined {
    const [position = AT_END, other] = this.#members[state] as readonly PositionId[];
    const { a, b, c, d, rest } = this.#positions;
    const isInside = a[position] === STRING;
    if (other !== undefined || !(isInside || a[position] === STRING_OPEN)) return undefined;
    const id = b[position] as NodeId;
    const content = this.#contentAt(id);
    const after = rest[position] as PositionId;
    return {
      id, content, register: isInside ? c[position] as number : content.start, entry: isInside ? d[position] as number : BEFORE_QUOTE, closed: this.#stateOf([after]),
      at: (register) => this.#stateOf([this.#positions.intern(STRING, id, register, BETWEEN, after)]),
    };
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

  /** Where a byte leads from a position, on ways that the output can take whichever names it has passed. */
  stepPosition(position: PositionId, byte: number): readonly PositionId[] {
    const found: PositionId[] = [];
    this.#step(position, byte, found, 'refused');
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
    return this.#members.push(positions) - 1;
  }

  /** Adds every byte that may follow a position, or answers false where they are many or not known at once. A byte that is dead may be among them. */
  #addFirstBytes(position: PositionId, bytes: Set<number>): boolean {
    const { a, b, d, rest } = this.#positions;
    switch (a[position]) {
      case BYTE: bytes.add(b[position] as number); return true;
      case TRIE: case UNIQUE_ITEM: for (const byte of this.#grammar.trie.bytesOf(b[position] as number)) bytes.add(byte); return true;
      case STRING_OPEN: bytes.add(QUOTE); return true;
      case STRING: {
        const partial = d[position] as CharacterStep;
        if (partial !== BETWEEN) for (const byte of this.#characters.bytesAfter(partial)) bytes.add(byte);
        return partial !== BETWEEN;
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
  #step(position: PositionId, byte: number, found: PositionId[], newNames: NewNames = 'forgotten'): void {
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
        this.#objects.stepTrie(first, second, third, rest, byte, found);
        break;
      case UNIQUE_ITEM:
        this.#arrays.stepUniqueItem(first, second, third, rest, byte, found);
        break;
      case STRING_OPEN:
        if (byte === QUOTE) found.push(table.intern(STRING, first, this.#contentAt(first).start, BETWEEN, rest));
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
        this.#arrays.stepArray(first, 0, 0, rest, byte, found);
        break;
      case ARRAY_AFTER:
        this.#arrays.stepArray(first, second, third, rest, byte, found);
        break;
      case OBJECT_OPEN:
        if (byte === OPEN_BRACE) found.push(table.intern(OBJECT_FIRST, first, 0, 0, rest));
        break;
      case OBJECT_FIRST:
        this.#objects.stepObject(first, 0, 0, true, rest, byte, found);
        break;
      case OBJECT_AFTER:
        this.#objects.stepObject(first, second, third, false, rest, byte, found);
        break;
      case OPEN_NAME:
        this.#objects.openNames.step(first, second, rest, byte, newNames, found);
        break;
      // LAST
    }
  }

  #stepNumber(id: NodeId, state: number, rest: PositionId, byte: number, found: PositionId[]): void {
    const machine = this.#machineAt(id);
    const next = machine.next(state, byte);
    if (next >= 0) found.push(this.#positions.intern(NUMBER, id, next, 0, rest));
    // a number has no closing byte of its own: whatever follows it ends it
    if (machine.isComplete(state)) this.#step(rest, byte, found);
  }

  #stepString(id: NodeId, register: number, partial: number, rest: PositionId, byte: number, found: PositionId[]): void {
    const content = this.#contentAt(id);
    if (partial === BETWEEN && byte === QUOTE) {
      if (content.isAccepting(register)) found.push(rest);
      return;
    }
    const character = this.#characters.step(partial, byte);
    if (character === NO_CHARACTER) return;
    if (character > BETWEEN) {
      if (!this.#characters.isViable(character, (from, to) => content.admits(register, from, to))) return;
      const alike = this.#characters.alike(character, (from, to) => content.alphabet.onlySymbol(from, to), content.alphabet.partials);
      found.push(this.#positions.intern(STRING, id, register, alike, rest));
      return;
    }
    const next = content.next(register, codePointOf(character));
    if (next !== NO_CONTENT) found.push(this.#positions.intern(STRING, id, next, BETWEEN, rest));
  }

  #machineAt(id: NodeId): NumberMachine {
    return (this.#grammar.nodes[id] as Extract<GrammarNode, { readonly kind: 'number' }>).machine;
  }

  #contentAt(id: NodeId): StringContent {
    return (this.#grammar.nodes[id] as Extract<GrammarNode, { readonly kind: 'string' }>).content;
  }
}
