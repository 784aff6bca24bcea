/**
 * Sealing a repair: after `freeze` its trace cannot change, and only a frozen repair can be scored. The digest binds the contract,
 * the call, the policy's identity, the seed and the ordered trace; measured figures stay outside it, so that it is the same on every machine.
 */
import type { Brand } from '../brand.ts';
import { digestOfText, type Digest } from '../json/digest.ts';
import type { AbstentionEntry, AttemptEntry, ClosedEntry, DeterministicEntry, LedgerEntry, OpenedEntry, ResourcesEntry } from './entry.ts';
import { entryText, sealEntry } from './entry-text.ts';

/** The entries of one repair in the order they were written. */
export interface RepairTrace {
  readonly opened: OpenedEntry;
  readonly deterministic: DeterministicEntry | undefined;
  readonly proposals: readonly (AttemptEntry | AbstentionEntry)[];
  readonly closed: ClosedEntry;
  readonly resources: ResourcesEntry | undefined;
  readonly entries: readonly LedgerEntry[];
}

export type FrozenRepair = Brand<RepairTrace & { readonly digest: Digest }, 'FrozenRepair'>;

/** Every repair sealed here: the check behind the brand, for callers without types. */
const frozenRepairs = new WeakSet<FrozenRepair>();

export function isFrozenRepair(value: unknown): value is FrozenRepair {
  return typeof value === 'object' && value !== null && frozenRepairs.has(value as FrozenRepair);
}

/**
 * Seals the entries of one repair: opened, perhaps deterministic, proposals, closed, and perhaps resources, all of one case.
 * Another order is a caller's bug: TypeError. The result is a deep-frozen copy.
 */
export function freeze(entries: readonly LedgerEntry[]): FrozenRepair {
  const trace = traceOf(Object.freeze(entries.map(sealEntry)));
  if (trace === undefined) throw new TypeError('entries must be opened, perhaps deterministic, attempts, closed and resources of one case, in this order');
  const deterministic = trace.entries.filter((entry) => entry.kind !== 'resources').map(entryText);
  const frozen = Object.freeze({ ...trace, digest: digestOfText(`[${deterministic.join()}]`) }) as FrozenRepair;
  frozenRepairs.add(frozen);
  return frozen;
}

/** The trace that entries make, or undefined where they are not one whole repair. */
export function traceOf(entries: readonly LedgerEntry[]): RepairTrace | undefined {
  const [opened, ...rest] = entries;
  const last = rest.at(-1);
  const resources = last?.kind === 'resources' ? last : undefined;
  const [next] = rest;
  const deterministic = next?.kind === 'deterministic' ? next : undefined;
  const middle = rest.slice(deterministic === undefined ? 0 : 1, resources === undefined ? undefined : -1);
  const closed = middle.at(-1);
  const proposals = Object.freeze(middle.slice(0, -1).filter((entry) => entry.kind === 'attempt' || entry.kind === 'abstention'));
  if (opened?.kind !== 'opened' || closed?.kind !== 'closed' || proposals.length !== middle.length - 1) return undefined;
  if (entries.some((entry) => entry.caseId !== opened.caseId)) return undefined;
  return { entries, opened, deterministic, proposals, closed, resources };
}
