/**
 * A benchmark case in its two halves. `PublicCase` is all that an arm ever sees; `CaseGold` is what scoring alone opens,
 * after the run is frozen (CHECKLIST F3-F5). They are joined by the case id and never meet in one object on the online path.
 */
import type { JsonObject, JsonValue, Patch, RepairRequest } from '@contractrl/core';

export const COHORTS = ['bugcases', 'bfcl-missing-required', 'bfcl-wrong-type', 'sandbox'] as const;
export type Cohort = (typeof COHORTS)[number];

export interface PublicCase {
  readonly cohort: Cohort;
  readonly request: RepairRequest;
}

export type CaseGold =
  /** The final arguments must equal one of `acceptable`; where `abstainOk`, declining is right as well. `patches`: the canonical ones, in order of the acceptable. */
  | { readonly kind: 'one-of'; readonly acceptable: readonly JsonObject[]; readonly patches: readonly Patch[]; readonly abstainOk: boolean }
  /** No call can be right: declining is the only right answer. */
  | { readonly kind: 'abstain' }
  /** `answers` has the acceptable values of every parameter; members other than `corrupted` must still equal those of `original`. */
  | { readonly kind: 'answers'; readonly answers: Readonly<Record<string, readonly JsonValue[]>>; readonly original: JsonObject; readonly corrupted: string; readonly patches: readonly Patch[] };
