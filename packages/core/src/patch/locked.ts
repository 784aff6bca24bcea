/**
 * Immutable paths. A locked pointer L forbids every write at L, at an ancestor, at a descendant, and every array shift on the way to L:
 * an insert or a removal at an index not after L's would move the locked element. A locked member that is absent stays absent.
 */
import { isJsonArray, type JsonValue } from '../json/value.ts';
import { arrayIndexOf, parentOf, resolvePointer, tokensOf, type JsonPointer } from '../pointer.ts';

/** How a write changes its place: an element or member put in, taken out, or exchanged where it stands. */
export type WriteKind = 'insert' | 'remove' | 'replace';

/** The first locked pointer that a write at `path` in `document` would break, or `undefined`. */
export function lockBrokenBy(
  locked: readonly JsonPointer[], document: JsonValue, kind: WriteKind, path: JsonPointer,
): JsonPointer | undefined {
  if (locked.length === 0) return undefined;
  const parent = parentOf(path);
  const container = parent === undefined ? undefined : resolvePointer(document, parent);
  return lockBrokenIn(locked, isJsonArray(container) ? container.length : undefined, kind, path);
}

/** As {@link lockBrokenBy}, where the container is known: the length of the array that holds `path`, undefined in an object. */
export function lockBrokenIn(
  locked: readonly JsonPointer[], arrayLength: number | undefined, kind: WriteKind, path: JsonPointer,
): JsonPointer | undefined {
  return locked.find((lock) => breaks(lock, arrayLength, kind, path));
}

function breaks(lock: JsonPointer, arrayLength: number | undefined, kind: WriteKind, path: JsonPointer): boolean {
  const lockTokens = tokensOf(lock);
  const pathTokens = tokensOf(path);
  const depth = pathTokens.length - 1;
  const onTheWay = lockTokens.length > depth && pathTokens.slice(0, depth).every((token, index) => token === lockTokens[index]);

  if (arrayLength !== undefined && onTheWay) {
    const lockIndex = elementIndex(lockTokens[depth], arrayLength);
    const pathIndex = elementIndex(pathTokens[depth], arrayLength);
    if (lockIndex === undefined || pathIndex === undefined) return false;
    return kind === 'replace' ? pathIndex === lockIndex : pathIndex <= lockIndex;
  }
  const shared = Math.min(lockTokens.length, pathTokens.length);
  return lockTokens.slice(0, shared).every((token, index) => token === pathTokens[index]);
}

/** `-` is the element after the last one (RFC 6901 §4). */
function elementIndex(token: string | undefined, length: number): number | undefined {
  if (token === undefined) return undefined;
  return token === '-' ? length : arrayIndexOf(token);
}
