/**
 * The operations admissible on one live document, as a byte automaton: a prefix tree of `{"op":…,"path":…` skeletons whose leaves enter the
 * value automaton. Paths come from core's places of the document, values from the sub-schema at the path; the names in a container become a
 * tree when a path leads there. When an operation closes, core applies it, and the grammar of the next operation goes by the places of the
 * result, of which all but those on the changed path are known.
 * States: negative ones belong to this document's tree, positive ones to the value automaton that all documents of a contract share.
 */
import {
  isJsonArray, OPERATION_KINDS, parentOf, resolvePointer, validateValue, type Contract, type JsonPointer, type JsonValue, type Operation, type OperationKind,
} from '@contractrl/core';
import {
  applyAdmitted, hasPathBelow, historyAfter, livePlacesOf, NO_HISTORY, OperationOffers, placesIn, type BannedOperation, type KnownPlaces, type LivePlace, type OutputHistory, type PatchRules, type PathSet, type ValueOperation,
} from '@contractrl/core/schema';
import { fromUtf8, toUtf8 } from '../bytes.ts';
import { ByteTrie, NO_NODE } from './byte-trie.ts';
import { walkOf } from './excluded-value.ts';
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
  /** Whether free values at a place, or some of those in it, must come from public texts or the candidate. */
  readonly isClosedAt: (pointer: JsonPointer) => boolean;
  /** Where the values that may be written at a place start; {@link DEAD} where the mask can offer none. */
  valueStateAt(place: LivePlace): StateId;
  /** Whether something below a place may be written or removed, by operation, where no rules bind. */
  readonly known: KnownPlaces;
  /** The last token of a pointer, as it is spelled. */
  segmentOf(place: LivePlace): Uint8Array;
}

/** What is not to be spelled again behind the operations it names. */
export interface Ban {
  /** Texts of an output's operations; the last one is meant. */
  readonly operations: readonly string[];
  /** Whether no other value may be written at its path either: nothing could follow it, which was not the value's fault. */
  readonly anyValue: boolean;
}

/** What an output did before the operation at hand. */
export interface OutputPast {
  /** Their texts, kept where a goal is set. */
  readonly operations: readonly string[];
  readonly history: OutputHistory;
  /** Bans that hold behind these operations. */
  readonly bans: readonly Ban[];
}

export const NO_PAST: OutputPast = { operations: [], history: NO_HISTORY, bans: [] };

/** What an operation is read against. */
export interface Scene {
  readonly contract: Contract;
  readonly document: JsonValue;
  readonly operationsLeft: number;
  readonly isClosedAt: PatchLanguage['isClosedAt'];
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
  /**
   * Where the same follows whatever value was written: the most bytes that another operation and the closing bracket need, 0 where there is no
   * other operation; undefined elsewhere.
   */
  readonly again: number | undefined;
  /** Whether `]` may follow. */
  canEnd(): boolean;
  hasNext(): boolean;
  next(): ByteGrammar;
}

/** Bytes of UTF-8 for each UTF-16 unit. */
const MAX_UNIT_BYTES = 3;

/** A grammar that no byte leads into; what follows the last operation. */
const NOTHING_MORE: ClosedOperation = {
  ban: { operations: [], anyValue: false },
  again: 0,
  canEnd: () => true,
  hasNext: () => false,
  next: () => { throw new RangeError('No operation is left'); },
};

/** A complete string leads on at once; behind a name in a path a quote or a slash is still to come. */
type Leaf = (() => StateId) | NameEnd;

interface NameEnd {
  readonly paths: PathSet;
  readonly place: LivePlace;
  /** What follows the quote behind a path. */
  readonly behind: (place: LivePlace) => StateId;
  quote: StateId | undefined;
  slash: StateId | undefined;
}

const QUOTE = 0x22;
const SLASH = 0x2f;
/** Before the root's names; every pointer below the root begins with a slash. */
const OPENINGS: ReadonlyMap<OperationKind, Uint8Array> = new Map(OPERATION_KINDS.map((kind) => [kind, toUtf8(`{"op":"${kind}","${kind === 'move' || kind === 'copy' ? 'from' : 'path'}":"/`)]));
const VALUE = toUtf8(',"value":');
const TARGET = toUtf8(',"path":"/');
const CLOSE_BRACE = toUtf8('}');
/** Values first: whether there is one is known without asking the judge. */
const EASIEST_FIRST: readonly OperationKind[] = ['replace', 'add', 'remove', 'move', 'copy'];

export class OperationGrammar implements ByteGrammar {
  readonly start: StateId;
  readonly #language: PatchLanguage;
  readonly #readRoot: () => LivePlace;
  readonly #operationsLeft: number;
  readonly #past: OutputPast;
  readonly #trie = new ByteTrie();
  readonly #leaves: Leaf[] = [];
  readonly #guards: ValueGuards;
  /** Start states of values, by operation and place. */
  readonly #valueStarts = { add: new Map<LivePlace, StateId>(), replace: new Map<LivePlace, StateId>() };
  readonly #closed = new Map<string, ClosedOperation>();
  /** Under it the tree of operations grows when first asked for: that an operation exists is known for less. */
  readonly #operations: number;
  #hasOperations = false;
  #knownOffers: OperationOffers | undefined;
  #knownRoot: LivePlace | undefined;
  #isOpen: boolean | undefined;

  /** `place`: the first operation follows `[` and stands beside ABSTAIN; a later one follows a comma that was already read. `readRoot` is asked when needed. */
  constructor(language: PatchLanguage, readRoot: () => LivePlace, operationsLeft: number, place: 'first' | 'later', past: OutputPast = NO_PAST) {
    this.#language = language;
    this.#readRoot = readRoot;
    this.#operationsLeft = operationsLeft;
    this.#past = past;
    this.#guards = new ValueGuards(language.automaton, () => stateOf(this.#trie.createNode()));
    const root = this.#trie.createNode();
    this.#operations = place === 'first' ? this.#trie.createNode() : root;
    if (place === 'first') {
      if (this.isOpen) this.#insert(root, toUtf8('['), () => stateOf(this.#operations));
      for (const code of language.abstainCodes) this.#insert(root, toUtf8(`{"abstain":${JSON.stringify(code)}}`), () => CLOSED);
    }
    this.start = stateOf(root);
  }

  get scene(): Scene {
    const { contract, isClosedAt } = this.#language;
    return { contract, document: this.#document, operationsLeft: this.#operationsLeft, isClosedAt };
  }

  /** Whether any operation is offered. */
  get isOpen(): boolean {
    return this.#isOpen ??= this.#operationsLeft > 0 && EASIEST_FIRST.some((kind) => this.#offers.offers(kind));
  }

  next(state: StateId, byte: number): StateId {
    if (this.#guards.has(state)) return this.#guards.next(state, byte);
    const node = this.#nodeAt(state);
    if (byte === QUOTE || byte === SLASH) {
      const end = this.#leafOf(node) as NameEnd | undefined;
      if (end !== undefined) return byte === QUOTE ? this.#behindPath(end) : this.#belowName(end);
    }
    const child = this.#trie.child(node, byte);
    if (child === NO_NODE) return DEAD;
    const leaf = this.#leafOf(child);
    return typeof leaf === 'function' ? leaf() : stateOf(child);
  }

  bytesAt(state: StateId): readonly number[] {
    if (this.#guards.has(state)) return this.#guards.bytesAt(state);
    const node = this.#nodeAt(state);
    const bytes = this.#trie.bytesOf(node);
    return this.#leafOf(node) === undefined ? bytes : [...bytes, ...[QUOTE, SLASH].filter((byte) => this.next(state, byte) !== DEAD)];
  }

  forcedByte(state: StateId): number {
    const bytes = this.bytesAt(state);
    return bytes.length === 1 ? bytes[0] as number : -1;
  }

  guardAt(state: StateId): GuardView | undefined {
    return this.#guards.viewOf(state);
  }

  /** Finds out now where values can be exchanged, which most outputs ask, so that their masks need not. */
  prepare(): void {
    let state = stateOf(this.#operations);
    for (const byte of OPENINGS.get('replace') ?? []) if (state !== DEAD) state = this.next(state, byte);
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
    let root: LivePlace | undefined;
    const after = (): LivePlace => root ??= livePlacesOf(contract, applyAdmitted(this.#document, operationIn(text)), this.#root);
    let canEnd = rules.goal ? undefined : true;
    let grammar: OperationGrammar | undefined;
    const next = (): OperationGrammar => {
      if (grammar !== undefined) return grammar;
      grammar = new OperationGrammar(this.#language, after, this.#operationsLeft - 1, 'later', {
        operations,
        history: rules.excludeNoOps ? historyAfter(history, this.#document, operationIn(text), after().value as JsonValue) : history,
        bans: bans.flatMap(({ operations: [first, ...rest], anyValue }) => (first === text && rest.length > 0 ? [{ operations: rest, anyValue }] : [])),
      });
      return grammar;
    };
    const again = rules.excludeNoOps || rules.goal || rules.nearer ? undefined : this.#bytesAgain(text, contract.document.allowedOperations);
    return {
      ban: { operations, anyValue: this.#operationsLeft > 1 },
      again,
      canEnd: () => canEnd ??= validateValue(contract, after().value as JsonValue).kind === 'valid',
      hasNext: () => this.#operationsLeft > 1 && (again !== undefined || next().isOpen),
      next,
    };
  }

  /**
   * A member just written can be removed, or written anew, by the same right: no need to build the next grammar to know it has one.
   * Elements of arrays are left to the full answer, since locks on later elements forbid removals that an insertion does not need.
   */
  #bytesAgain(text: string, allowed: readonly OperationKind[]): number | undefined {
    const { op, path } = operationIn(text);
    if ((op !== 'add' && op !== 'replace') || isJsonArray(resolvePointer(this.#document, parentOf(path) as JsonPointer))) return undefined;
    // the same operation as a replacement, and `]`
    return allowed.includes('remove') || allowed.includes('replace') ? MAX_UNIT_BYTES * text.length + 'replace'.length + 1 : undefined;
  }

  get #root(): LivePlace {
    return this.#knownRoot ??= this.#readRoot();
  }

  get #document(): JsonValue {
    return this.#root.value as JsonValue;
  }

  get #offers(): OperationOffers {
    const { contract, rules, known } = this.#language;
    return this.#knownOffers ??= new OperationOffers({
      contract, rules, known, root: this.#root, operationsLeft: this.#operationsLeft, history: this.#past.history, banned: bannedBy(this.#past),
      hasValue: (kind, place) => this.#valueStart(kind, place) !== DEAD,
    });
  }

  #valueStart(kind: ValueOperation, place: LivePlace): StateId {
    if (this.#offers.isPlain) return this.#language.valueStateAt(place);
    const starts = this.#valueStarts[kind];
    let start = starts.get(place);
    if (start === undefined) {
      const walks = this.#offers.excludedValues(kind, place).map((value) => walkOf(value, this.#language.spelling));
      start = this.#guards.enter(this.#language.valueStateAt(place), walks);
      starts.set(place, start);
    }
    return start;
  }

  #nodeAt(state: StateId): number {
    const node = nodeOf(state);
    if (node === this.#operations && !this.#hasOperations) {
      this.#hasOperations = true;
      for (const kind of OPERATION_KINDS) {
        if (this.#offers.offers(kind)) this.#insert(node, OPENINGS.get(kind) as Uint8Array, this.#whenChosen(this.#offers.paths(kind), (place) => this.#behind(kind, place)));
      }
    }
    return node;
  }

  /** What follows the quote behind the path of an operation, or behind the source of a move or copy. */
  #behind(kind: OperationKind, place: LivePlace): StateId {
    switch (kind) {
      case 'add':
      case 'replace': return this.#chain(VALUE, () => this.#valueStart(kind, place));
      case 'remove': return this.#chain(CLOSE_BRACE, () => END);
      case 'move':
      case 'copy': return this.#chain(TARGET, this.#whenChosen(this.#offers.targets(kind, place), () => this.#chain(CLOSE_BRACE, () => END)));
    }
  }

  #behindPath(end: NameEnd): StateId {
    return end.quote ??= end.paths.admits(end.place) ? end.behind(end.place) : DEAD;
  }

  #belowName(end: NameEnd): StateId {
    return end.slash ??= hasPathBelow(end.paths, end.place) ? this.#namesIn(end.place, end.paths, end.behind) : DEAD;
  }

  #whenChosen(paths: PathSet, behind: (place: LivePlace) => StateId): () => StateId {
    let state: StateId | undefined;
    return () => state ??= this.#namesIn(paths.root, paths, behind);
  }

  /** The tree of the names in `container` that paths lead through or to. */
  #namesIn(container: LivePlace, paths: PathSet, behind: (place: LivePlace) => StateId): StateId {
    const root = this.#trie.createNode();
    for (const place of placesIn(paths, container)) {
      if (!paths.admits(place) && !hasPathBelow(paths, place)) continue;
      this.#setLeaf(this.#trie.insert(root, this.#language.segmentOf(place)), { paths, place, behind, quote: undefined, slash: undefined });
    }
    return stateOf(root);
  }

  #chain(bytes: Uint8Array, leaf: () => StateId): StateId {
    const root = this.#trie.createNode();
    this.#insert(root, bytes, leaf);
    return stateOf(root);
  }

  #insert(node: number, bytes: Uint8Array, leaf: () => StateId): void {
    this.#setLeaf(this.#trie.insert(node, bytes), leaf);
  }

  #setLeaf(node: number, leaf: Leaf): void {
    this.#trie.setLeaf(node, this.#leaves.push(leaf) - 1);
  }

  #leafOf(node: number): Leaf | undefined {
    const leaf = this.#trie.leafOf(node);
    return leaf === undefined ? undefined : this.#leaves[leaf];
  }
}

/** The operation that a text of the mask's own spelling stands for. */
function operationIn(text: string): Operation {
  // the strict reader costs ten times as much, and answers for what is sent when the patch is judged
  return JSON.parse(text) as Operation;
}

function bannedBy({ bans }: OutputPast): readonly BannedOperation[] {
  return bans.flatMap(({ operations: [text, ...others], anyValue }) => (text !== undefined && others.length === 0 ? [{ operation: operationIn(text), anyValue }] : []));
}

/** Negative, below every id of the value automaton and its "unknown". */
function stateOf(node: number): StateId {
  return -node - 1;
}

function nodeOf(state: StateId): number {
  return -state - 1;
}
