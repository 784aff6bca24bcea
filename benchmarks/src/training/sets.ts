/**
 * What adapters are measured on, none of it ever trained on: 192 BFCL corruptions from each of five seeds, the 64 of the fixed file, the bug reports,
 * BFCL calls spoilt in every way that the trainer knows, and such as no patch may mend. The public half; ids are unique in a set.
 */
import type { RepairRequest } from '@contractrl/core';
import { bfclCases, BFCL_SEED } from '../datasets/bfcl-corruptions.ts';
import { familyRequests } from '../datasets/bfcl-families.ts';
import { bugCases } from '../datasets/bugcases.ts';

export const SET_NAMES = ['bfcl', 'j2', 'bugcases', 'families', 'unrepairable'] as const;
export type SetName = (typeof SET_NAMES)[number];

/** Of the corruptions; decoding is greedy and has none. */
export const SEEDS: readonly number[] = [1, 2, 3, 4, 5];
/** 192 a seed, half without a required argument, half with one of a wrong type. */
export const BFCL_CASES_PER_KIND = 96;

/** The public half. `seeds` matter for `bfcl` alone, where ids are `<seed>:<BFCL id>:<kind>`. */
export function requestsOf(set: SetName, seeds: readonly number[]): readonly RepairRequest[] {
  switch (set) {
    case 'bfcl': return seeds.flatMap((seed) => bfclCases(seed, BFCL_CASES_PER_KIND).map(({ request }) => ({ ...request, id: `${String(seed)}:${request.id}` })));
    case 'j2': return bfclCases(BFCL_SEED).map(({ request }) => request);
    case 'bugcases': return bugCases().map(({ request }) => request);
    case 'families': return familyRequests('repairable');
    case 'unrepairable': return familyRequests('unrepairable');
  }
}

/** Of the whole set, every seed included. */
export function sizeOf(set: SetName): number {
  return set === 'bfcl' ? SEEDS.length * 2 * BFCL_CASES_PER_KIND : requestsOf(set, SEEDS).length;
}
