/**
 * Members whose names the schema leaves open: a name is a string of its own grammar, and none that the object declares or already has. Which those
 * are is a register, a set of texts. While tokens are looked at, a name that is on the way to none of them is not kept, so that texts number the
 * states on one output's way, not those of a walk. Where a token ends such a name and goes on in the same object, it is asked about byte by byte.
 */
import { ByteTrie, NO_NODE } from './byte-trie.ts';
import { InternTable } from './intern.ts';
import { OBJECT_AFTER, OPEN_NAME, STRING_OPEN, type PositionId, type StepContext } from './position.ts';
import type { NodeId, ObjectNode, OpenNode } from './value-grammar.ts';

/** What becomes of a name that is on the way to none of the set: kept, or not, and then any other may follow, or none can be closed. */
export type NewNames = 'kept' | 'forgotten' | 'refused';

/** A text that was not kept. */
const UNKNOWN_TEXT = NO_NODE;
/** Where a name returns to: the first position, from which no byte leads on. */
const NAME_END: PositionId = 0;
const COLON = 0x3a;

interface NameSet {
  readonly texts: ReadonlySet<number>;
  readonly beginnings: ReadonlySet<number>;
}

/** Sets of texts, quotes included; each set and each text is known by a number. */
export class NameSets {
  readonly #trie: ByteTrie = new ByteTrie();
  readonly empty: number = this.#trie.createNode();
  readonly #parents: number[] = [];
  readonly #sets: NameSet[] = [];
  readonly #known = new Map<string, number>();

  of(texts: readonly Uint8Array[]): number {
    return this.#numberOf(texts.map((text) => text.reduce((node, byte) => this.longer(node, byte), this.empty)));
  }

  with(set: number, text: number): number {
    return this.#numberOf([...this.#setAt(set).texts, text]);
  }

  /** A text that was not kept is in none. */
  has(set: number, text: number): boolean {
    return text !== UNKNOWN_TEXT && this.#setAt(set).texts.has(text);
  }

  /** Whether one of its texts was not kept. */
  hasUnknown(set: number): boolean {
    return this.#setAt(set).texts.has(UNKNOWN_TEXT);
  }

  /** Whether `text` is the beginning of one in the set, or one. */
  leadsTo(set: number, text: number): boolean {
    return this.#setAt(set).beginnings.has(text);
  }

  longer(text: number, byte: number): number {
    const longer = this.#trie.insert(text, Uint8Array.of(byte));
    this.#parents[longer] = text;
    return longer;
  }

  /** As {@link longer}, {@link UNKNOWN_TEXT} where no such text is known. */
  known(text: number, byte: number): number {
    return this.#trie.child(text, byte);
  }

  #setAt(set: number): NameSet {
    return this.#sets[set] as NameSet;
  }

  #numberOf(texts: readonly number[]): number {
    const distinct = new Set([...texts].sort((left, right) => left - right));
    const key = [...distinct].join();
    let number = this.#known.get(key);
    if (number === undefined) {
      const beginnings = new Set<number>();
      for (const text of distinct) for (let node: number | undefined = text; node !== undefined && node !== UNKNOWN_TEXT; node = this.#parents[node]) beginnings.add(node);
      number = this.#sets.push({ texts: distinct, beginnings }) - 1;
      this.#known.set(key, number);
    }
    return number;
  }
}

export class OpenNameSteps {
  readonly #context: StepContext;
  /** (which of the open members, set of names used, members counted, text so far, position inside the name). */
  readonly #places: InternTable = new InternTable();

  constructor(context: StepContext) {
    this.#context = context;
  }

  /** Adds the positions in which a name is expected, behind `{` or `,`. `passed`: how many declared members are decided, or beyond them the names used. */
  begin(object: NodeId, passed: number, count: number, rest: PositionId, found: PositionId[]): void {
    const { grammar: { names, nodes }, positions } = this.#context;
    const { open, members } = nodes[object] as ObjectNode;
    const { classes, declared } = open as OpenNode;
    const used = passed > members.length ? passed - members.length - 1 : declared;
    for (const [index, { name }] of classes.entries()) {
      const inner = positions.intern(STRING_OPEN, name, 0, 0, NAME_END);
      if (this.#isViable(inner, used, names.empty)) found.push(this.#at(object, index, used, count, names.empty, inner, rest));
    }
  }

  step(object: NodeId, place: number, rest: PositionId, byte: number, newNames: NewNames, found: PositionId[]): void {
    const { grammar: { names, nodes }, positions } = this.#context;
    const { a, b, c, d, rest: inners } = this.#places;
    const [index, used, count, text, inner] = [a[place] as number, b[place] as number, c[place] as number, d[place] as number, inners[place] as PositionId];
    if (inner === NAME_END) {
      const { open, members } = nodes[object] as ObjectNode;
      const { value } = (open as OpenNode).classes[index] as OpenNode['classes'][number];
      if (byte === COLON) this.#context.begin(value, positions.intern(OBJECT_AFTER, object, members.length + 1 + used, count + 1, rest), found);
      return;
    }
    const isKept = newNames === 'kept';
    const known = isKept ? names.longer(text, byte) : names.known(text, byte);
    const kept = isKept || names.leadsTo(used, known) ? known : UNKNOWN_TEXT;
    for (const next of this.#after(inner, byte)) {
      if (next !== NAME_END) {
        if (this.#isViable(next, used, kept)) found.push(this.#at(object, index, used, count, kept, next, rest));
      } else if (!names.has(used, kept) && !(newNames === 'refused' && names.hasUnknown(used))) {
        found.push(this.#at(object, index, names.with(used, kept), count, UNKNOWN_TEXT, NAME_END, rest));
      }
    }
  }

  /** Whether a name that is not used can still be closed. */
  #isViable(inner: PositionId, used: number, text: number): boolean {
    const { names } = this.#context.grammar;
    if (!names.leadsTo(used, text)) return true;
    for (let byte = 0; byte < 256; byte += 1) {
      const longer = names.known(text, byte);
      for (const next of this.#after(inner, byte)) if (next === NAME_END ? !names.has(used, longer) : this.#isViable(next, used, longer)) return true;
    }
    return false;
  }

  #after(inner: PositionId, byte: number): readonly PositionId[] {
    const found: PositionId[] = [];
    this.#context.step(inner, byte, found);
    return found;
  }

  #at(object: NodeId, index: number, used: number, count: number, text: number, inner: PositionId, rest: PositionId): PositionId {
    return this.#context.positions.intern(OPEN_NAME, object, this.#places.intern(index, used, count, text, inner), 0, rest);
  }
}
