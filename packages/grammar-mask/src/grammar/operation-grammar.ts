/**
 * The operations admissible on one live document, as a byte automaton: a prefix tree of `{"op":…,"path":…` skeletons whose leaves enter the
 * value automaton. Paths come from core's action mask, values from the sub-schema at the path. When an operation closes, core applies it
 * to a copy, and the grammar of the next operation is built on the result, so that it sees what came before it.
 * States: negative ones belong to this document's tree, positive ones to the value automaton that all documents of a contract share.
 */
import {
  actionMask, applyPatch, isJsonArray, parentOf, parsePatch, resolvePointer,
  type Contract, type JsonPointer, type JsonValue, type OperationKind, type TransferTargets,
} from '@contractrl/core';
import { fromUtf8, toUtf8 } from '../bytes.ts';
import { ByteTrie, NO_NODE } from './byte-trie.ts';
import type { Spelling } from './spelling.ts';
import { CLOSED, DEAD, END, type StateId, type ValueAutomaton } from './value-automaton.ts';

/** What all documents of one contract share. */
export interface PatchLanguage {
  readonly contract: Contract;
  readonly spelling: Spelling;
  readonly automaton: ValueAutomaton;
  readonly abstainCodes: readonly string[];
  /** The start states of the values that may be written, by pointer, for one document; {@link DEAD} where the mask can offer none. */
  valueStatesIn(document: JsonValue): (pointer: JsonPointer) => StateId;
}

/** Bytes as the matcher walks them. A grammar of bare values has the same face. */
export interface ByteGrammar {
  readonly start: StateId;
  /** Only for negative states. */
  next(state: StateId, byte: number): StateId;
  /** Only for negative states: the only byte that can follow, −1 where there is a choice. */
  forcedByte(state: StateId): number;
  /** An operation's bytes, led by the `[` or `,` in front of it: what may follow its closing brace. */
  close(operation: Uint8Array): ClosedOperation;
}

/** Behind the closing brace of an operation: `]`, or `,` while an operation is left that the document admits. */
export interface ClosedOperation {
  hasNext(): boolean;
  next(): ByteGrammar;
}

/** A grammar that no byte leads into; what follows the last operation. */
const NOTHING_MORE: ClosedOperation = {
  hasNext: () => false,
  next: () => { throw new RangeError('No operation is left'); },
};

type Leaf = () => StateId;

export class OperationGrammar implements ByteGrammar {
  readonly start: StateId;
  /** Whether any operation is admissible. */
  readonly isOpen: boolean;
  readonly #language: PatchLanguage;
  readonly #document: JsonValue;
  readonly #operationsLeft: number;
  readonly #trie = new ByteTrie();
  readonly #leaves: Leaf[] = [];
  readonly #valueStateAt: (pointer: JsonPointer) => StateId;
  readonly #closed = new Map<string, ClosedOperation>();

  /** `place`: the first operation follows `[` and stands beside ABSTAIN; a later one follows a comma that was already read. */
  constructor(language: PatchLanguage, document: JsonValue, operationsLeft: number, place: 'first' | 'later') {
    this.#language = language;
    this.#document = document;
    this.#operationsLeft = operationsLeft;
    this.#valueStateAt = language.valueStatesIn(document);
    const root = this.#trie.createNode();
    const operations = place === 'first' ? this.#trie.createNode() : root;
    this.isOpen = operationsLeft > 0 && this.#addOperations(operations);
    if (place === 'first') {
      if (this.isOpen) this.#setLeaf(this.#insert(root, '['), () => stateOf(operations));
      for (const code of language.abstainCodes) this.#setLeaf(this.#insert(root, `{"abstain":${JSON.stringify(code)}}`), () => CLOSED);
    }
    this.start = stateOf(root);
  }

  next(state: StateId, byte: number): StateId {
    const child = this.#trie.child(nodeOf(state), byte);
    if (child === NO_NODE) return DEAD;
    const leaf = this.#trie.leafOf(child);
    return leaf === undefined ? stateOf(child) : (this.#leaves[leaf] as Leaf)();
  }

  forcedByte(state: StateId): number {
    return this.#trie.onlyByte(nodeOf(state));
  }

  close(operation: Uint8Array): ClosedOperation {
    if (this.#operationsLeft <= 1) return NOTHING_MORE;
    const text = fromUtf8(operation).slice(1);
    let closed = this.#closed.get(text);
    if (closed === undefined) {
      closed = this.#closedBy(text);
      this.#closed.set(text, closed);
    }
    return closed;
  }

  #closedBy(text: string): ClosedOperation {
    const { contract } = this.#language;
    let grammar: OperationGrammar | undefined;
    const next = (): OperationGrammar => {
      grammar ??= new OperationGrammar(this.#language, this.#documentAfter(text), this.#operationsLeft - 1, 'later');
      return grammar;
    };
    const isSurelyOpen = this.#canWriteAgain(text, contract.document.allowedOperations);
    return { hasNext: () => isSurelyOpen || next().isOpen, next };
  }

  /**
   * A member just written can be removed, or written anew, by the same right: no need to build the next grammar to know it has one.
   * Elements of arrays are left to the full answer, since locks on later elements forbid removals that an insertion does not need.
   */
  #canWriteAgain(text: string, allowed: readonly OperationKind[]): boolean {
    const [, op, path] = /^\{"op":"(add|replace)","path":("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
    if (op === undefined || path === undefined) return false;
    const parent = parentOf(JSON.parse(path) as JsonPointer);
    if (parent === undefined || isJsonArray(resolvePointer(this.#document, parent))) return false;
    return allowed.includes('remove') || allowed.includes('replace');
  }

  /** Core admits and applies; an operation it refuses, against the mask's own view, leaves the document as it was and the gate refuses it. */
  #documentAfter(text: string): JsonValue {
    const patch = parsePatch(`[${text}]`);
    const applied = patch.ok ? applyPatch(this.#language.contract, this.#document, patch.value, this.#operationsLeft) : patch;
    return applied.ok ? applied.value : this.#document;
  }

  /** Returns whether there is any. */
  #addOperations(root: number): boolean {
    const admissible = actionMask(this.#language.contract, this.#document, this.#operationsLeft);
    let count = 0;
    for (const kind of ['add', 'replace'] as const) {
      const paths = admissible[kind].filter((pointer) => this.#valueStateAt(pointer) !== DEAD);
      count += this.#addPaths(root, `{"op":"${kind}","path":"`, paths, '","value":', (pointer) => () => this.#valueStateAt(pointer));
    }
    count += this.#addPaths(root, '{"op":"remove","path":"', admissible.remove, '"}', () => () => END);
    for (const kind of ['move', 'copy'] as const) {
      const transfers = new Map(admissible[kind].map((transfer) => [transfer.from, transfer]));
      count += this.#addPaths(root, `{"op":"${kind}","from":"`, [...transfers.keys()], '","path":"', (from) => this.#targetsOf(transfers.get(from) as TransferTargets));
    }
    return count > 0;
  }

  /** The tree of one source's targets, built when the source is chosen: all pairs would be quadratic in the document. */
  #targetsOf({ paths }: TransferTargets): Leaf {
    let root = NO_NODE;
    return () => {
      if (root === NO_NODE) {
        root = this.#trie.createNode();
        this.#addPaths(root, '', paths(), '"}', () => () => END);
      }
      return stateOf(root);
    };
  }

  #addPaths(root: number, before: string, paths: readonly JsonPointer[], after: string, leafOf: (pointer: JsonPointer) => Leaf): number {
    if (paths.length === 0) return 0;
    const base = this.#insert(root, before);
    for (const pointer of paths) this.#setLeaf(this.#insert(this.#trie.insert(base, this.#language.spelling.contentOf(pointer)), after), leafOf(pointer));
    return paths.length;
  }

  #insert(node: number, text: string): number {
    return this.#trie.insert(node, toUtf8(text));
  }

  #setLeaf(node: number, leaf: Leaf): void {
    this.#trie.setLeaf(node, this.#leaves.push(leaf) - 1);
  }
}

/** Negative, below every id of the value automaton and its "unknown". */
function stateOf(node: number): StateId {
  return -node - 1;
}

function nodeOf(state: StateId): number {
  return -state - 1;
}
