/**
 * The places of a live document as a tree: what stands there, what may stand there, and whether it may be written. Everything is found when
 * first asked for and depends on the place and its schema alone, so that the tree of the next document takes over each part that did not
 * change. Admission answers the same questions for one operation at a time (`patch/admit.ts`); the laws compare the two.
 */
import type { Contract } from '../contract/contract.ts';
import { isUnionFree } from '../contract/schema-at.ts';
import { rootPointOf, type SchemaPoint } from '../contract/schema-point.ts';
import { isJsonArray, isJsonObject, type JsonValue } from '../json/value.ts';
import { withoutValue } from '../patch/admit.ts';
import { lockBrokenIn, type WriteKind } from '../patch/locked.ts';
import { childOf, FORBIDDEN_TOKENS, isPrefix, parentOf, ROOT_POINTER, type JsonPointer } from '../pointer.ts';

export class LivePlace {
  readonly pointer: JsonPointer;
  /** The last reference token; empty for the root. */
  readonly token: string;
  /** Undefined where nothing stands yet: a declared name that is absent, or `-` of an array. */
  readonly value: JsonValue | undefined;
  /** What the schema says of this place. */
  readonly point: SchemaPoint;
  /** The length of the array around it; undefined in an object. */
  readonly arrayLength: number | undefined;
  readonly #contract: Contract;
  /** Whether a token on the way is forbidden. */
  readonly #isForbidden: boolean;
  /** The same place of an earlier document. */
  #earlier: LivePlace | undefined;
  #held: readonly LivePlace[] | undefined;
  #open: readonly LivePlace[] | undefined;
  #broken: Partial<Record<WriteKind, boolean>> | undefined;
  #isProhibited: boolean | undefined;

  constructor(
    contract: Contract, pointer: JsonPointer, token: string, value: JsonValue | undefined, point: SchemaPoint, arrayLength: number | undefined, isForbidden: boolean, earlier: LivePlace | undefined,
  ) {
    this.#contract = contract;
    this.pointer = pointer;
    this.token = token;
    this.value = value;
    this.point = point;
    this.arrayLength = arrayLength;
    this.#isForbidden = isForbidden;
    // what was never asked of the earlier one need not be looked for there
    this.#earlier = earlier !== undefined && earlier.#held === undefined ? earlier.#earlier : earlier;
  }

  /** The members or elements that stand here, in document order. */
  get held(): readonly LivePlace[] {
    if (this.#held !== undefined) return this.#held;
    const { value } = this;
    const earlier = this.#earlier === undefined ? [] : this.#earlier.held;
    let next = 0;
    const below = (token: string, item: JsonValue, arrayLength: number | undefined): LivePlace => {
      // names keep their order, apart from those that came or went
      const at = earlier[next]?.token === token ? next : earlier.findIndex((one) => one.token === token);
      if (at >= 0) next = at + 1;
      return this.#below(token, item, arrayLength, earlier[at]);
    };
    this.#held = isJsonArray(value) ? value.map((item, index) => below(String(index), item, value.length))
      : isJsonObject(value) ? Object.keys(value).map((name) => below(name, value[name] as JsonValue, undefined)) : [];
    this.#earlier = undefined;
    return this.#held;
  }

  /** Places here that hold nothing yet. */
  get open(): readonly LivePlace[] {
    const { value, point } = this;
    return this.#open ??= isJsonArray(value) ? [this.#below('-', undefined, value.length, undefined)]
      : isJsonObject(value) ? point.namesIn(value).filter((name) => !Object.hasOwn(value, name)).map((name) => this.#below(name, undefined, undefined, undefined)) : [];
  }

  /** For a place that holds a value. */
  get canRemove(): boolean {
    return !this.#isForbidden && !this.#breaksLock('remove');
  }

  /** For a place that holds a value. */
  get canReplace(): boolean {
    return !this.#isForbidden && !this.#breaksLock('replace') && !this.#prohibits();
  }

  /** Whether a value may be put here: an element in front of the present one, a member over it. */
  get canInsert(): boolean {
    return !this.#isForbidden && !this.#breaksLock('insert') && !this.#prohibits();
  }

  /** Whether its value may be the source of a move or copy. */
  canGive(kind: 'move' | 'copy'): boolean {
    return kind === 'copy' ? !this.#isForbidden : this.canRemove;
  }

  /** Everything that stands below, each container in front of what it holds. */
  * all(): Generator<LivePlace> {
    for (const place of this.held) {
      yield place;
      yield* place.all();
    }
  }

  /** All places here and below that hold nothing yet. */
  * allOpen(): Generator<LivePlace> {
    yield* this.open;
    for (const place of this.held) yield* place.allOpen();
  }

  #below(token: string, value: JsonValue | undefined, arrayLength: number | undefined, earlier: LivePlace | undefined): LivePlace {
    const point = this.point.below(this.value as JsonValue, token);
    const same = earlier?.point === point ? earlier : undefined;
    if (same !== undefined && same.value === value && same.arrayLength === arrayLength) return same;
    return new LivePlace(this.#contract, childOf(this.pointer, token), token, value, point, arrayLength, this.#isForbidden || FORBIDDEN_TOKENS.has(token), same);
  }

  #breaksLock(kind: WriteKind): boolean {
    const { immutablePaths } = this.#contract;
    return immutablePaths.length > 0 && ((this.#broken ??= {})[kind] ??= lockBrokenIn(immutablePaths, this.arrayLength, kind, this.pointer) !== undefined);
  }

  #prohibits(): boolean {
    return this.#isProhibited ??= this.point.prohibits(this.value);
  }
}

/** The tree of a document. Values must not change; it takes over what it can of the tree of an `earlier` document under the same contract. */
export function livePlacesOf(contract: Contract, document: JsonValue, earlier?: LivePlace): LivePlace {
  return new LivePlace(contract, ROOT_POINTER, '', document, rootPointOf(contract), undefined, false, earlier);
}

/** Where the value at `from` may go: the places of `root` for which `admits` holds. */
export interface TransferPlaces {
  /** For a move, the document without `from`, as RFC 6902 §4.4 applies it. */
  readonly root: LivePlace;
  admits(path: LivePlace): boolean;
}

/**
 * The targets of one source. Taking a member out shifts nothing, so without unions in the schema all other places stay as they are; after an
 * element, or where a branch may open, they are those of another document.
 */
export function transferPlaces(contract: Contract, root: LivePlace, kind: 'move' | 'copy', from: LivePlace): TransferPlaces {
  if (kind === 'copy') return { root, admits: (path) => path.canInsert && (path.pointer !== from.pointer || from.arrayLength !== undefined) };
  const isShifting = from.arrayLength !== undefined || !isUnionFree(contract);
  const base = isShifting ? livePlacesOf(contract, withoutValue(root.value as JsonValue, from.pointer), root) : root;
  return { root: base, admits: (path) => path.canInsert && !isPrefix(from.pointer, path.pointer) };
}

/** Whether a source has a target that passes `test`. */
export function hasTransfer(contract: Contract, root: LivePlace, kind: 'move' | 'copy', from: LivePlace, test: (path: LivePlace) => boolean): boolean {
  if (kind === 'move' && from.arrayLength !== undefined && isUnionFree(contract)) {
    // what lies outside the array stays as it is, and is far cheaper to ask
    const array = parentOf(from.pointer) as JsonPointer;
    if (somePlace(root, (path) => path.canInsert && !isPrefix(array, path.pointer) && test(path))) return true;
  }
  const { root: base, admits } = transferPlaces(contract, root, kind, from);
  return somePlace(base, (path) => admits(path) && test(path));
}

function somePlace(above: LivePlace, test: (place: LivePlace) => boolean): boolean {
  return above.held.some((place) => test(place) || somePlace(place, test)) || above.open.some(test);
}

/** Places of one document that a pointer may name. */
export interface PathSet {
  readonly root: LivePlace;
  /** Whether they may hold nothing yet. */
  readonly isOpen: boolean;
  admits(place: LivePlace): boolean;
  /** Whether something below a place is admitted, as far as it was asked. */
  readonly known: WeakMap<LivePlace, boolean>;
}

/** What a pointer of the set may name, or lead through, directly in `container`. */
export function placesIn({ isOpen }: PathSet, container: LivePlace): readonly LivePlace[] {
  return isOpen ? [...container.held, ...container.open] : container.held;
}

/** Whether a pointer of the set leads on through `place`. */
export function hasPathBelow(paths: PathSet, place: LivePlace): boolean {
  let has = paths.known.get(place);
  if (has === undefined) {
    has = placesIn(paths, place).some((below) => paths.admits(below) || hasPathBelow(paths, below));
    paths.known.set(place, has);
  }
  return has;
}
