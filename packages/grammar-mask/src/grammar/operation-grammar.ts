/**
 * The operations admissible on one live document, as a byte automaton: a prefix tree of `{"op":…,"path":…` skeletons whose leaves enter the
 * value automaton. Paths come from core's action mask, values from the sub-schema at the path. When an operation closes, core applies it
 * to a copy, and the grammar of the next operation is built on the result, so that it sees what came before it.
 * States: negative ones belong to this document's tree, positive ones to the value automaton that all documents of a contract share.
 */
import { isJsonArray, parentOf, parsePatch, resolvePointer, type Contract, type JsonPointer, type JsonValue, type OperationKind, type Patch, type TransferTargets } from '@contractrl/core';
import { fromUtf8, toUtf8 } from '../bytes.ts';
import { ByteTrie, NO_NODE } from './byte-trie.ts';
import { historyAfter } from './churn.ts';
import { walkOf } from './excluded-value.ts';
import { documentAfter, isGoal } from './goal.ts';
import { NO_PAST, OperationOffers, type Ban, type OutputPast, type PatchRules } from './operation-offers.ts';
import type { Spelling } from './spelling.ts';
import { CLOSED, DEAD, END, type StateId, type ValueAutomaton } from './value-automaton.ts';
import { ValueGuards, type GuardView } from './value-guards.ts';

/** What all documents of one contract share. */
export interface PatchLanguage {
  readonly contract: Contract;
  readonly spelling: Spelling;
  readonly automaton: ValueAutomaton;
  readonly abstainCodes: readonly string[];
  readonly rules: PatchRules;
  /** The start states of the values that may be written, by pointer, for one document; {@link DEAD} where the mask can offer none. */
  valueStatesIn(document: JsonValue): (pointer: JsonPointer) => StateId;
}

/** What an operation is read against. */
export interface Scene {
  readonly contract: Contract;
  readonly document: JsonValue;
  readonly operationsLeft: number;
}

/** Bytes as the matcher walks them. A grammar of bare values has the same face. */
export interface ByteGrammar {
  readonly start: StateId;
  /** What an operation stands in, for explanations; undefined where there are no operations. */
  readonly scene: Scene | undefined;
  /** Only for negative states. */
  next(state: StateId, byte: number): StateId;
  /** Only for negative states: the bytes that can follow. */
  bytesAt(state: StateId): readonly number[];
  /** Only for negative states: undefined unless the state lies inside a value of which some are excluded. */
  guardAt(state: StateId): GuardView | undefined;
  /** Only for negative states: the only byte that can follow, −1 where there is a choice. */
  forcedByte(state: StateId): number;
  /** An operation's bytes, led by the `[` or `,` in front of it: what may follow its closing brace. */
  close(operation: Uint8Array): ClosedOperation;
}

/**
 * Behind the closing brace of an operation: `]`, or `,` while an operation is left that the document admits. With a goal neither may be open:
 * the operation missed it, and only taking it back leads on.
 */
export interface ClosedOperation {
  /** What to take out of the language where the operation missed the goal. */
  readonly ban: Ban;
  /** Whether `]` may follow. */
  canEnd(): boolean;
  hasNext(): boolean;
  next(): ByteGrammar;
}

/** A grammar that no byte leads into; what follows the last operation. */
const NOTHING_MORE: ClosedOperation = {
  ban: { operations: [], anyValue: false },
  canEnd: () => true,
  hasNext: () => false,
  next: () => { throw new RangeError('No operation is left'); },
};

type Leaf = () => StateId;

export class OperationGrammar implements ByteGrammar {
  readonly start: StateId;
  readonly #language: PatchLanguage;
  readonly #document: JsonValue;
  readonly #operationsLeft: number;
  readonly #past: OutputPast;
  readonly #trie = new ByteTrie();
  readonly #leaves: Leaf[] = [];
  readonly #guards: ValueGuards;
  readonly #valueStateAt: (pointer: JsonPointer) => StateId;
  /** Start states of values, by operation and path. */
  readonly #valueStarts = new Map<string, StateId>();
  readonly #closed = new Map<string, ClosedOperation>();
  /** Under it the tree of operations grows when first asked for: that an operation exists is known for less. */
  readonly #operations: number;
  #hasOperations = false;
  #knownOffers: OperationOffers | undefined;
  #isOpen: boolean | undefined;

  /** `place`: the first operation follows `[` and stands beside ABSTAIN; a later one follows a comma that was already read. */
  constructor(language: PatchLanguage, document: JsonValue, operationsLeft: number, place: 'first' | 'later', past: OutputPast = NO_PAST) {
    this.#language = language;
    this.#document = document;
    this.#operationsLeft = operationsLeft;
    this.#past = past;
    this.#valueStateAt = language.valueStatesIn(document);
    this.#guards = new ValueGuards(language.automaton, () => stateOf(this.#trie.createNode()));
    const root = this.#trie.createNode();
    this.#operations = place === 'first' ? this.#trie.createNode() : root;
    if (place === 'first') {
      if (this.isOpen) this.#setLeaf(this.#insert(root, '['), () => stateOf(this.#operations));
      for (const code of language.abstainCodes) this.#setLeaf(this.#insert(root, `{"abstain":${JSON.stringify(code)}}`), () => CLOSED);
    }
    this.start = stateOf(root);
  }

  get scene(): Scene {
    return { contract: this.#language.contract, document: this.#document, operationsLeft: this.#operationsLeft };
  }

  /** Whether any operation is offered. */
  get isOpen(): boolean {
    return this.#isOpen ??= this.#operationsLeft > 0 && this.#offersAny();
  }

  next(state: StateId, byte: number): StateId {
    if (this.#guards.has(state)) return this.#guards.next(state, byte);
    const child = this.#trie.child(this.#nodeAt(state), byte);
    if (child === NO_NODE) return DEAD;
    const leaf = this.#trie.leafOf(child);
    return leaf === undefined ? stateOf(child) : (this.#leaves[leaf] as Leaf)();
  }

  bytesAt(state: StateId): readonly number[] {
    return this.#guards.has(state) ? this.#guards.bytesAt(state) : this.#trie.bytesOf(this.#nodeAt(state));
  }

  forcedByte(state: StateId): number {
    return this.#guards.has(state) ? this.#guards.forcedByte(state) : this.#trie.onlyByte(this.#nodeAt(state));
  }

  guardAt(state: StateId): GuardView | undefined {
    return this.#guards.viewOf(state);
  }

  close(operation: Uint8Array): ClosedOperation {
    if (this.#operationsLeft <= 1 && !this.#language.rules.goal) return NOTHING_MORE;
    const text = fromUtf8(operation).slice(1);
    let closed = this.#closed.get(text);
    if (closed === undefined) {
      closed = this.#closedBy(text);
      this.#closed.set(text, closed);
    }
    return closed;
  }

  #closedBy(text: string): ClosedOperation {
    const { contract, rules } = this.#language;
    const { history, bans } = this.#past;
    const operations = rules.goal ? [...this.#past.operations, text] : [];
    let document: JsonValue | undefined;
    const after = (): JsonValue => document ??= documentAfter(contract, this.#document, text, this.#operationsLeft);
    let canEnd = rules.goal ? undefined : true;
    let grammar: OperationGrammar | undefined;
    const next = (): OperationGrammar => {
      if (grammar !== undefined) return grammar;
      const [operation] = operationIn(text);
      grammar = new OperationGrammar(this.#language, after(), this.#operationsLeft - 1, 'later', {
        operations,
        history: rules.excludeNoOps && operation !== undefined ? historyAfter(history, this.#document, operation) : history,
        bans: bans.flatMap(({ operations: [first, ...rest], anyValue }) => (first === text && rest.length > 0 ? [{ operations: rest, anyValue }] : [])),
      });
      return grammar;
    };
    const isSurelyOpen = !rules.excludeNoOps && !rules.goal && this.#canWriteAgain(text, contract.document.allowedOperations);
    return {
      ban: { operations, anyValue: this.#operationsLeft > 1 },
      canEnd: () => canEnd ??= isGoal(contract, after()),
      hasNext: () => this.#operationsLeft > 1 && (isSurelyOpen || next().isOpen),
      next,
    };
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

  get #offers(): OperationOffers {
    const { contract, rules } = this.#language;
    return this.#knownOffers ??= new OperationOffers(contract, this.#document, this.#operationsLeft, rules, this.#past);
  }

  /** Values first: whether there is one is known without asking the judge. */
  #offersAny(): boolean {
    return (['replace', 'add'] as const).some((kind) => this.#offers.valuePaths(kind).some((path) => this.#valueStart(kind, path) !== DEAD))
      || this.#offers.removals().length > 0
      || (['move', 'copy'] as const).some((kind) => this.#offers.sources(kind).length > 0);
  }

  #valueStart(kind: 'add' | 'replace', pointer: JsonPointer): StateId {
    const key = `${kind}${pointer}`;
    let start = this.#valueStarts.get(key);
    if (start === undefined) {
      const walks = this.#offers.excludedValues(kind, pointer).map((value) => walkOf(value, this.#language.spelling));
      start = this.#guards.enter(this.#valueStateAt(pointer), walks);
      this.#valueStarts.set(key, start);
    }
    return start;
  }

  #nodeAt(state: StateId): number {
    const node = nodeOf(state);
    if (node === this.#operations && !this.#hasOperations) {
      this.#hasOperations = true;
      if (this.isOpen) this.#addOperations(node);
    }
    return node;
  }

  #addOperations(root: number): void {
    const offers = this.#offers;
    for (const kind of ['add', 'replace'] as const) {
      const paths = offers.valuePaths(kind).filter((pointer) => this.#valueStart(kind, pointer) !== DEAD);
      this.#addOperation(root, `{"op":"${kind}","path":"`, paths, '","value":', (pointer) => () => this.#valueStart(kind, pointer));
    }
    this.#addOperation(root, '{"op":"remove","path":"', offers.removals(), '"}', () => () => END);
    for (const kind of ['move', 'copy'] as const) {
      const transfers = new Map(offers.sources(kind).map((transfer) => [transfer.from, transfer]));
      this.#addOperation(root, `{"op":"${kind}","from":"`, [...transfers.keys()], '","path":"', (from) => this.#targetsOf(kind, transfers.get(from) as TransferTargets));
    }
  }

  /** Built when the source is chosen: all pairs would be quadratic in the document. */
  #targetsOf(kind: 'move' | 'copy', transfer: TransferTargets): Leaf {
    return this.#whenChosen((root) => { this.#addPaths(root, this.#offers.targets(kind, transfer), '"}', () => () => END); });
  }

  /** `before`, then one of `paths`, whose tree is built when its operation is chosen; then `after` and the leaf. */
  #addOperation(root: number, before: string, paths: readonly JsonPointer[], after: string, leafOf: (pointer: JsonPointer) => Leaf): void {
    if (paths.length > 0) this.#setLeaf(this.#insert(root, before), this.#whenChosen((tree) => { this.#addPaths(tree, paths, after, leafOf); }));
  }

  #addPaths(root: number, paths: readonly JsonPointer[], after: string, leafOf: (pointer: JsonPointer) => Leaf): void {
    for (const pointer of paths) this.#setLeaf(this.#insert(this.#trie.insert(root, this.#language.spelling.contentOf(pointer)), after), leafOf(pointer));
  }

  #whenChosen(build: (root: number) => void): Leaf {
    let root = NO_NODE;
    return () => {
      if (root === NO_NODE) {
        root = this.#trie.createNode();
        build(root);
      }
      return stateOf(root);
    };
  }

  #insert(node: number, text: string): number {
    return this.#trie.insert(node, toUtf8(text));
  }

  #setLeaf(node: number, leaf: Leaf): void {
    this.#trie.setLeaf(node, this.#leaves.push(leaf) - 1);
  }
}

function operationIn(text: string): Patch {
  const patch = parsePatch(`[${text}]`);
  return patch.ok ? patch.value : [];
}

/** Negative, below every id of the value automaton and its "unknown". */
function stateOf(node: number): StateId {
  return -node - 1;
}

function nodeOf(state: StateId): number {
  return -state - 1;
}
