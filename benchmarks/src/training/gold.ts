/** The offline half of the sets: what scoring, and the scan of what a policy was shown, open when the rows are sealed. */
import { Gold } from '@contractrl/core/ledger';
import { bfclGold, BFCL_SEED } from '../datasets/bfcl-corruptions.ts';
import { familyGold } from '../datasets/bfcl-families.ts';
import { bugCaseGold } from '../datasets/bugcases.ts';
import type { CaseGold } from '../datasets/case.ts';
import { BFCL_CASES_PER_KIND, type SetName } from './sets.ts';

/** By the ids of `requestsOf`. */
export function goldOf(set: SetName, seeds: readonly number[]): ReadonlyMap<string, CaseGold> {
  switch (set) {
    case 'bfcl': return new Map(seeds.flatMap((seed) => [...bfclGold(seed, BFCL_CASES_PER_KIND)].map(([id, gold]) => [`${String(seed)}:${id}`, gold] as const)));
    case 'j2': return bfclGold(BFCL_SEED);
    case 'bugcases': return bugCaseGold();
    case 'families': return familyGold('repairable');
    case 'unrepairable': return familyGold('unrepairable');
  }
}

export function sealedGoldOf(set: SetName, seeds: readonly number[]): ReadonlyMap<string, Gold<CaseGold>> {
  return new Map([...goldOf(set, seeds)].map(([id, gold]) => [id, new Gold(gold)]));
}
