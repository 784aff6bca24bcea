/**
 * One value that must not be written, as a walk over its bytes: every canonical spelling of it and nothing else. A string has one spelling,
 * a number may end in fraction zeros, the members of an object may come in any order. The grammar of operations runs such a walk beside
 * the value automaton and drops it at the first byte that differs, so that the exclusion costs nothing from there on.
 * Reference: equality of RFC 6902 §4.6.
 */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@contractrl/core';
import { concatBytes, toUtf8 } from '../bytes.ts';
import type { Spelling } from './spelling.ts';

const POINT = 0x2e;
const ZERO = 0x30;
const COMMA = toUtf8(',');
const COLON = toUtf8(':');
const CLOSE_BRACKET = toUtf8(']');
const CLOSE_BRACE = 0x7d;

/** What is still to be read of the value; immutable. `rest` follows. */
export type ExcludedWalk =
  | { readonly kind: 'end' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly offset: number; readonly rest: ExcludedWalk }
  /** Behind the digits of a number: in front of a point, right behind it, or inside the fraction. */
  | { readonly kind: 'zeros'; readonly place: 'whole' | 'point' | 'fraction'; readonly rest: ExcludedWalk }
  | { readonly kind: 'value'; readonly value: JsonValue; readonly spelling: Spelling; readonly rest: ExcludedWalk }
  /** Behind `{` or behind a member. */
  | { readonly kind: 'members'; readonly isFirst: boolean; readonly left: Members; readonly rest: ExcludedWalk }
  /** `offset` bytes into the names `alive` among those `left`. */
  | { readonly kind: 'name'; readonly offset: number; readonly alive: readonly string[]; readonly left: Members; readonly rest: ExcludedWalk };

interface Members {
  readonly object: JsonObject;
  readonly names: readonly string[];
  readonly spelling: Spelling;
}

const END_OF_VALUE: ExcludedWalk = { kind: 'end' };

export function walkOf(value: JsonValue, spelling: Spelling): ExcludedWalk {
  return { kind: 'value', value, spelling, rest: END_OF_VALUE };
}

/** The walk after one more byte; undefined where no spelling of the value continues so. */
export function stepWalk(walk: ExcludedWalk, byte: number): ExcludedWalk | undefined {
  switch (walk.kind) {
    case 'end': return undefined;
    case 'bytes':
      if (walk.bytes[walk.offset] !== byte) return undefined;
      return walk.offset + 1 === walk.bytes.length ? walk.rest : { ...walk, offset: walk.offset + 1 };
    case 'zeros':
      if (walk.place === 'whole' && byte === POINT) return { ...walk, place: 'point' };
      if (walk.place === 'point') return byte === ZERO ? { ...walk, place: 'fraction' } : undefined;
      return walk.place === 'fraction' && byte === ZERO ? walk : stepWalk(walk.rest, byte);
    case 'value': return stepWalk(expand(walk), byte);
    case 'members':
      if (walk.left.names.length === 0) return byte === CLOSE_BRACE ? walk.rest : undefined;
      return walk.isFirst ? stepName(walk.left.names, 0, walk.left, walk.rest, byte) : byte === COMMA[0] ? nameOf(walk.left, walk.rest) : undefined;
    case 'name': return stepName(walk.alive, walk.offset, walk.left, walk.rest, byte);
  }
}

/** Whether the value may end here. */
export function isWalked(walk: ExcludedWalk): boolean {
  return walk.kind === 'end' || (walk.kind === 'zeros' && walk.place !== 'point' && walk.rest.kind === 'end');
}

function expand({ value, spelling, rest }: Extract<ExcludedWalk, { readonly kind: 'value' }>): ExcludedWalk {
  if (isJsonArray(value)) {
    let walk = bytesOf(CLOSE_BRACKET, rest);
    for (let index = value.length - 1; index >= 0; index -= 1) {
      walk = { kind: 'value', value: value[index] as JsonValue, spelling, rest: walk };
      if (index > 0) walk = bytesOf(COMMA, walk);
    }
    return bytesOf(toUtf8('['), walk);
  }
  if (isJsonObject(value)) return bytesOf(toUtf8('{'), { kind: 'members', isFirst: true, left: { object: value, names: Object.keys(value), spelling }, rest });
  const bytes = spelling.literalOf(value);
  if (typeof value !== 'number') return bytesOf(bytes, rest);
  const text = JSON.stringify(value);
  // an exponent is spelled by literals only, and in one way
  return bytesOf(bytes, text.includes('e') ? rest : { kind: 'zeros', place: text.includes('.') ? 'fraction' : 'whole', rest });
}

function bytesOf(bytes: Uint8Array, rest: ExcludedWalk): ExcludedWalk {
  return { kind: 'bytes', bytes, offset: 0, rest };
}

function nameOf(left: Members, rest: ExcludedWalk): ExcludedWalk {
  return { kind: 'name', offset: 0, alive: left.names, left, rest };
}

function stepName(alive: readonly string[], offset: number, left: Members, rest: ExcludedWalk, byte: number): ExcludedWalk | undefined {
  const { object, names, spelling } = left;
  const keyOf = (name: string): Uint8Array => concatBytes([spelling.literalOf(name), COLON]);
  const still = alive.filter((name) => keyOf(name)[offset] === byte);
  const [only] = still;
  if (only === undefined) return undefined;
  // a key ends in `":`, so that none is the beginning of another
  if (offset + 1 < keyOf(only).length) return { kind: 'name', offset: offset + 1, alive: still, left, rest };
  const others: ExcludedWalk = { kind: 'members', isFirst: false, left: { ...left, names: names.filter((name) => name !== only) }, rest };
  return { kind: 'value', value: object[only] as JsonValue, spelling, rest: others };
}
