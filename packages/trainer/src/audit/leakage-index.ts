/**
 * What the evaluation sets hold, by unit, and the audit of training data against it. The data set is built with the same index, so that what overlaps is left
 * out; the audit then looks at what was written, and must find nothing.
 */
import { LEAK_UNITS, type KeyOf, type LeakUnit } from './keys.ts';
import { keyDigest } from './packed-keys.ts';

export interface Leak {
  readonly unit: LeakUnit;
  /** What both sides have. */
  readonly key: string;
  /** The training side's identifier. */
  readonly id: string;
  /** The evaluation sets that have it. */
  readonly sets: readonly string[];
}

export interface LeakageIndex {
  /** Distinct keys by unit: a zero found in an empty unit would say nothing. */
  readonly sizes: Readonly<Record<LeakUnit, number>>;
  /** What `keys` have in common with the evaluation sets. */
  leaks(id: string, keys: readonly KeyOf[]): readonly Leak[];
}

/** Keys of one set: those of a row as they are, or those of a whole set by their digests. */
export type EvaluationKeys =
  | { readonly set: string; readonly keys: readonly KeyOf[] }
  | { readonly set: string; readonly digests: ReadonlyMap<LeakUnit, ReadonlySet<number>> };

/** O(keys). Where a set is known by digests alone, so is every key looked for. */
export function indexEvaluation(evaluation: readonly EvaluationKeys[]): LeakageIndex {
  const isPacked = evaluation.some((each) => 'digests' in each);
  const markOf = (key: KeyOf): string | number => (isPacked ? keyDigest(key) : key[1]);
  const byUnit = new Map<LeakUnit, Map<string | number, Set<string>>>(LEAK_UNITS.map((unit) => [unit, new Map()]));
  const add = (unit: LeakUnit, mark: string | number, set: string): void => {
    const known = byUnit.get(unit)!;
    known.set(mark, (known.get(mark) ?? new Set()).add(set));
  };
  for (const each of evaluation) {
    if ('keys' in each) for (const key of each.keys) add(key[0], markOf(key), each.set);
    else for (const [unit, digests] of each.digests) for (const digest of digests) add(unit, digest, each.set);
  }
  return {
    sizes: Object.fromEntries(LEAK_UNITS.map((unit) => [unit, byUnit.get(unit)!.size])) as Record<LeakUnit, number>,
    leaks: (id, keys) => keys.flatMap((each) => {
      const [unit, key] = each;
      const sets = byUnit.get(unit)!.get(markOf(each));
      return sets === undefined ? [] : [{ unit, key, id, sets: [...sets] }];
    }),
  };
}

export interface AuditReport {
  /** The first of each unit, {@link MAX_SHOWN} at most. */
  readonly leaks: readonly Leak[];
  /** Per unit: distinct keys of the evaluation side and of the training side, and those in common. */
  readonly units: Readonly<Record<LeakUnit, { readonly evaluation: number; readonly training: number; readonly shared: number }>>;
  readonly isClean: boolean;
}

const MAX_SHOWN = 5;

/** Audits whole training data; `isClean` where nothing is shared in any unit. An evaluation side without keys is never clean: it was not read. */
export function auditTraining(index: LeakageIndex, training: Iterable<{ readonly id: string; readonly keys: readonly KeyOf[] }>): AuditReport {
  const seen = new Map<LeakUnit, Set<string>>(LEAK_UNITS.map((unit) => [unit, new Set()]));
  const shared = new Map<LeakUnit, Map<string, Leak>>(LEAK_UNITS.map((unit) => [unit, new Map()]));
  for (const { id, keys } of training) {
    for (const [unit, key] of keys) seen.get(unit)!.add(key);
    for (const leak of index.leaks(id, keys)) shared.get(leak.unit)!.set(leak.key, leak);
  }
  const units = Object.fromEntries(LEAK_UNITS.map((unit) => [unit, { evaluation: index.sizes[unit], training: seen.get(unit)!.size, shared: shared.get(unit)!.size }]));
  return {
    leaks: LEAK_UNITS.flatMap((unit) => [...shared.get(unit)!.values()].slice(0, MAX_SHOWN)), units: units as AuditReport['units'],
    isClean: LEAK_UNITS.every((unit) => shared.get(unit)!.size === 0) && index.sizes['tool-name'] > 0 && index.sizes.request > 0,
  };
}
