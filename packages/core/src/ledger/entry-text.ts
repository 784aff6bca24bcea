/**
 * The canonical text of an entry, written once. The digest of the trace, the digest of the row and the stored line all consist of it, and
 * writing it is half the cost of a row. An entry known here is deep-frozen JSON, so its text cannot become wrong.
 */
import { canonicalTextOfRead } from '../json/canonical.ts';
import { readJsonValue, type JsonValue } from '../json/value.ts';
import type { LedgerEntry } from './entry.ts';

/** A contract of full depth stands a few levels down in a row. */
export const MAX_ROW_DEPTH = 512;

const texts = new WeakMap<LedgerEntry, string>();

/** A deep-frozen copy of the entry whose text is known; the entry itself where it already is one. What is no JSON is a caller's bug: TypeError. */
export function sealEntry(entry: LedgerEntry): LedgerEntry {
  if (texts.has(entry)) return entry;
  const copy = readJsonValue(entry, MAX_ROW_DEPTH - 1);
  if (!copy.ok) throw new TypeError(`entry is not JSON: ${copy.error.code} at "${copy.error.pointer}"`);
  const sealed = copy.value as unknown as LedgerEntry;
  texts.set(sealed, canonicalTextOfRead(copy.value));
  return sealed;
}

/** Remembers the text that a deep-frozen entry was read from. */
export function rememberText(entry: LedgerEntry, text: string): void {
  texts.set(entry, text);
}

export function entryText(entry: LedgerEntry): string {
  return texts.get(entry) ?? canonicalTextOfRead(entry as unknown as JsonValue);
}
