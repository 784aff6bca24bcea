/** One point of an output: where the decoder stands after each accepted token. Steps never change, so fork and rollback hold on to one: O(1). */
import { concatBytes } from '../bytes.ts';
import type { ByteGrammar, ClosedOperation } from '../grammar/operation-grammar.ts';
import { CLOSE_BRACKET, COMMA } from '../grammar/position.ts';
import { CLOSED, DEAD, END, type StateId, type ValueAutomaton } from '../grammar/value-automaton.ts';

/** After the opening bytes and after each accepted token: inside an operation, or (with `closed`, in state {@link END}) just behind one. */
export interface Step {
  readonly parent: Step | undefined;
  readonly grammar: ByteGrammar;
  readonly state: StateId;
  readonly closed: ClosedOperation | undefined;
  /** Inside the value of an operation: one object for all places in it. */
  readonly value: object | undefined;
  readonly bytes: Uint8Array;
  /** Bytes of the whole output up to here. */
  readonly length: number;
  /** Offset of the separator in front of the open operation. */
  readonly operationStart: number;
  readonly isTerminated: boolean;
  /** Tokens accepted so far. */
  readonly tokenCount: number;
  /** Hash of this step's mask, once it was asked for: two words. */
  maskHash: readonly [high: number, low: number] | undefined;
}

export const NO_BYTES: Uint8Array = new Uint8Array(0);

export function firstStep(grammar: ByteGrammar): Step {
  return {
    parent: undefined, grammar, state: grammar.start, closed: undefined, value: undefined, bytes: NO_BYTES, length: 0, operationStart: 0, isTerminated: false, tokenCount: 0, maskHash: undefined,
  };
}

export function mayStop({ state }: Step, automaton: ValueAutomaton): boolean {
  return state > 0 && automaton.isAccepting(state);
}

/** A bare number may stop and may also go on. */
export function canStopOnly(step: Step, automaton: ValueAutomaton): boolean {
  return step.state === CLOSED || (mayStop(step, automaton) && automaton.isFinal(step.state));
}

/** Walks `bytes` from a step. What follows an operation depends on the document it leaves, so its bytes are gathered there. */
export function stepAfter(from: Step, bytes: Uint8Array, automaton: ValueAutomaton): Step | undefined {
  let { grammar, state, closed, value, operationStart } = from;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] as number;
    if (state > 0 && state !== END) {
      state = automaton.advance(state, byte);
    } else if (state !== END) {
      state = grammar.next(state, byte);
    } else if (byte === CLOSE_BRACKET && (closed as ClosedOperation).canEnd()) {
      state = CLOSED;
    } else if (byte === COMMA && (closed as ClosedOperation).hasNext()) {
      grammar = (closed as ClosedOperation).next();
      state = grammar.start;
      operationStart = from.length + index;
    } else {
      return undefined;
    }
    if (state === DEAD) return undefined;
    // END is entered by a closing brace only, never kept
    if (state === END) value = undefined;
    closed = state === END ? grammar.close(operationBytes(from, operationStart, bytes.subarray(0, index + 1))) : undefined;
  }
  if (state > END) value ??= {};
  return { parent: from, grammar, state, closed, value, bytes, length: from.length + bytes.length, operationStart, isTerminated: false, tokenCount: from.tokenCount + 1, maskHash: undefined };
}

/** Bytes of the operation that starts at offset `start` and ends with the last of `added`, which follow `step`. */
function operationBytes(step: Step, start: number, added: Uint8Array): Uint8Array {
  return start >= step.length ? added.subarray(start - step.length) : concatBytes([bytesBetween(step, start), added]);
}

/** The output's bytes from offset `start` up to `step`. O(bytes). */
export function bytesBetween(step: Step, start: number): Uint8Array {
  const parts: Uint8Array[] = [];
  let current = step;
  while (current.length > start && current.parent !== undefined) {
    parts.push(current.bytes);
    current = current.parent;
  }
  return concatBytes(parts.reverse()).subarray(start - current.length);
}
