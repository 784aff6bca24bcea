/**
 * Positions of the byte automaton of values: frames of five integers, interned. What a step from one kind of position needs of the automaton is the
 * {@link StepContext}, so that the steps of arrays and of objects stand in files of their own.
 */
import type { InternTable } from './intern.ts';
import type { NodeId, ValueGrammar } from './value-grammar.ts';

export type PositionId = number;

export const LAST = 0; // nothing follows
/** Kinds of positions; in parentheses what the three integers after the kind hold. The fifth is always the position to return to. */
export const BYTE = 1; // (byte) expects this byte
export const TRIE = 2; // (trie node, object node or −1, members counted) inside a literal, or inside a member name
export const STRING_OPEN = 3; // (node)
export const STRING = 4; // (node, content register, partial character) inside a string
export const NUMBER = 5; // (node, machine state)
export const ARRAY_OPEN = 6; // (node)
export const ARRAY_FIRST = 7; // (node) after `[`
export const ARRAY_AFTER = 8; // (node, items so far, register: the set of literals used, or the items counted)
export const OBJECT_OPEN = 9; // (node)
export const OBJECT_FIRST = 10; // (node) after `{`
export const OBJECT_AFTER = 11; // (node, members passed, members counted)
export const UNIQUE_ITEM = 12; // (trie node, array node, set of literals used) inside a literal that is not among those
export const OPEN_NAME = 14; // (object node, place) inside a member name that the schema leaves open, or behind it

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const CLOSE_BRACKET = 0x5d;
export const CLOSE_BRACE = 0x7d;

export interface StepContext {
  readonly grammar: ValueGrammar;
  readonly positions: InternTable;
  /** Adds the positions in which a value of `node` begins. */
  begin(node: NodeId, rest: PositionId, found: PositionId[]): void;
  /** Adds the positions that `byte` leads to from one position. */
  step(position: PositionId, byte: number, found: PositionId[]): void;
}
