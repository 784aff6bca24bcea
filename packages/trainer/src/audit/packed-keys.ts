/**
 * The keys of the evaluation sets without the sets: 48 bits of the SHA-256 of each, so that a data set can be audited where the sets themselves may not
 * be passed on. Two keys that differ agree in those bits once in 2^48: a few hundred thousand against a million give a false leak once in a thousand
 * data sets, and a false leak leaves an example out.
 *
 * A file is gzip of a line of JSON, {@link PackedHeader}, and the digests behind it: for each set and unit, ascending, the first byte of all, then the second
 * of all, and so on, because in that order the first two columns compress to nearly nothing.
 */
import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { err, isJsonArray, isJsonObject, ok, parseJson, type JsonObject, type Result } from '@contractrl/core';
import { LEAK_UNITS, type KeyOf, type LeakUnit } from './keys.ts';

const DIGEST_BYTES = 6;
const LINE_FEED = 0x0a;
const VERSION = 1;

/** An evaluation set, as far as its file says: how many rows of which bytes. */
export interface EvaluationSet {
  readonly set: string;
  readonly rows: number;
  /** SHA-256 of the file. */
  readonly sha256: string;
}

export interface PackedSet extends EvaluationSet {
  /** Of the distinct keys of each unit. */
  readonly digests: ReadonlyMap<LeakUnit, ReadonlySet<number>>;
}

export type PackedKeysIssue = { readonly code: 'audit/keys-unreadable'; readonly detail: string };

/** The first bits of a key's digest; exact, since a double holds 53. */
export function keyDigest([unit, key]: KeyOf): number {
  return createHash('sha256').update(`${unit} ${key}`).digest().readUIntBE(0, DIGEST_BYTES);
}

/** Equal sets give equal bytes. O(keys). */
export function packKeys(sets: readonly (EvaluationSet & { readonly keys: Iterable<KeyOf> })[]): Uint8Array {
  const grouped = sets.map(({ keys, ...set }) => ({ set, groups: LEAK_UNITS.map((unit) => ({ unit, digests: new Set<number>() })), keys }));
  for (const { groups, keys } of grouped) for (const key of keys) groups[LEAK_UNITS.indexOf(key[0])]!.digests.add(keyDigest(key));
  const header = {
    version: VERSION,
    sets: grouped.map(({ set: { set, rows, sha256 }, groups }) => ({ set, rows, sha256, units: Object.fromEntries(groups.map(({ unit, digests }) => [unit, digests.size])) })),
  };
  const columns = grouped.flatMap(({ groups }) => groups.flatMap(({ digests }) => columnsOf([...digests].sort((a, b) => a - b))));
  return gzipSync(Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...columns]), { level: 9 });
}

function columnsOf(sorted: readonly number[]): readonly Uint8Array[] {
  return Array.from({ length: DIGEST_BYTES }, (_, column) => Uint8Array.from(sorted, (digest) => Math.floor(digest / 256 ** (DIGEST_BYTES - 1 - column)) % 256));
}

/** Reads what {@link packKeys} wrote; anything else is `audit/keys-unreadable`, since half of the keys would audit nothing. */
export function readPackedKeys(file: Uint8Array): Result<readonly PackedSet[], PackedKeysIssue> {
  const bytes = unpacked(file);
  if (bytes === undefined) return unreadable('no gzip file');
  const end = bytes.indexOf(LINE_FEED);
  const header = parseJson(bytes.subarray(0, Math.max(end, 0)).toString('utf8'));
  const sets = header.ok && isJsonObject(header.value) && header.value['version'] === VERSION ? header.value['sets'] : undefined;
  if (!isJsonArray(sets)) return unreadable('no header of this version');
  let at = end + 1;
  const read: PackedSet[] = [];
  for (const each of sets) {
    if (!isSetHeader(each)) return unreadable('a set without its counts');
    const digests = new Map<LeakUnit, ReadonlySet<number>>();
    for (const unit of LEAK_UNITS) {
      const count = each.units[unit]!;
      if (at + count * DIGEST_BYTES > bytes.length) return unreadable('too short');
      const start = at;
      digests.set(unit, new Set(Array.from({ length: count }, (_, index) => {
        let digest = 0;
        for (let column = 0; column < DIGEST_BYTES; column += 1) digest = digest * 256 + bytes[start + column * count + index]!;
        return digest;
      })));
      at += count * DIGEST_BYTES;
    }
    read.push({ set: each.set, rows: each.rows, sha256: each.sha256, digests });
  }
  return at === bytes.length ? ok(read) : unreadable('too long');
}

interface SetHeader extends EvaluationSet {
  readonly units: Readonly<Record<string, number>>;
}

function isSetHeader(value: unknown): value is SetHeader {
  const { set, rows, sha256, units } = value as Partial<JsonObject>;
  const isCount = (count: unknown): boolean => Number.isSafeInteger(count) && (count as number) >= 0;
  return typeof set === 'string' && isCount(rows) && typeof sha256 === 'string' && isJsonObject(units) && LEAK_UNITS.every((unit) => isCount(units[unit]));
}

function unpacked(file: Uint8Array): Buffer | undefined {
  try {
    return gunzipSync(file);
  } catch {
    return undefined;
  }
}

function unreadable(detail: string): Result<never, PackedKeysIssue> {
  return err({ code: 'audit/keys-unreadable', detail });
}
