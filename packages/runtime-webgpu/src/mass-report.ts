/**
 * What the mask takes from the model, decision by decision: the probability that the unmasked model gives to the allowed tokens, and which clauses
 * forbid the rest. Decisions only: a run that the contract forces is not asked about, so nothing is known of it.
 */
import type { MaskClause, TokenId, Verdict } from '@contractrl/grammar-mask';
import type { IdList } from './mask-cursor.ts';
import { logSumExp } from './sampling.ts';

/** Logits further below the highest than this add at most 0.08 % to the mass, all 49,152 of them together. */
const MASS_CUT = 18;

/**
 * A forbidden token less probable than this is not asked for its clause; all of them together are `unclassified`. Above it stand 5 to 50 tokens at most
 * decisions and about 1,000 at the first of a value, and a clause takes 0.1 to 0.3 ms.
 */
const CLASS_CUT = 2 ** -18;

/**
 * The clause that forbids a token. Every spelling of legal bytes by tokens is allowed, so there is no class of a wrong split.
 */
export type MaskedClass = MaskClause['kind'];

export interface MassStep {
  /** Of the token in the output that was decided here. */
  readonly index: number;
  /** z, the probability of all allowed tokens together. Within 0.08 %. */
  readonly allowed: number;
  /** The most probable forbidden token, where it is above the cut. */
  readonly topRejected: { readonly id: TokenId; readonly class: MaskedClass; readonly probability: number } | null;
  /** Probability of the forbidden tokens above the cut, by class. */
  readonly rejected: Readonly<Partial<Record<MaskedClass, number>>>;
  /** That of the forbidden tokens below it, each at most 2^-18. */
  readonly unclassified: number;
}

export interface MassReport {
  /** The decision between a patch and an abstention: the probabilities of the allowed tokens that begin with `[` and with `{`. Null where it was none. */
  readonly opening: { readonly patch: number; readonly abstain: number } | null;
  readonly steps: readonly MassStep[];
  /** Σ log z: the logarithm of the probability that the unmasked model would have stayed inside the mask at these decisions. */
  readonly logAllowed: number;
}

export interface Masses {
  readonly step: MassStep;
  readonly logAllowed: number;
}

/** log z of a decision, z being the probability that the unmasked model gives to the allowed ids: from their log Σ exp(logit) and `all` logits. Within 0.08 %. */
export function logAllowedOf(logTotal: number, all: Float32Array): number {
  return Math.min(0, logTotal - logSumExp(all, all.length, MASS_CUT));
}

/**
 * The masses of one decision. `all` holds the logits of all ids, `logits[i]` that of `allowed.ids[i]`. `scratch` [logitWidth] is zero before and after.
 * O(logitWidth) and one `explain` for each forbidden token above the cut.
 */
export function massesOf(index: number, allowed: IdList, logits: Float32Array, all: Float32Array, scratch: Uint8Array, explain: (id: TokenId) => Verdict): Masses {
  const total = logSumExp(all, all.length, MASS_CUT);
  const logAllowed = logSumExp(logits, allowed.count, MASS_CUT) - total;
  const floor = total + Math.log(CLASS_CUT);
  for (let at = 0; at < allowed.count; at += 1) scratch[allowed.ids[at]!] = 1;
  const rejected: Partial<Record<MaskedClass, number>> = {};
  let topRejected: MassStep['topRejected'] = null;
  let classified = 0;
  for (let id = 0; id < all.length; id += 1) {
    if (scratch[id] === 1 || !(all[id]! > floor)) continue;
    const verdict = explain(id);
    if (verdict.isAllowed) continue;
    const probability = Math.exp(all[id]! - total);
    const { kind } = verdict.clause;
    rejected[kind] = (rejected[kind] ?? 0) + probability;
    classified += probability;
    if (topRejected === null || probability > topRejected.probability) topRejected = { id, class: kind, probability };
  }
  for (let at = 0; at < allowed.count; at += 1) scratch[allowed.ids[at]!] = 0;
  const mass = Math.min(1, Math.exp(logAllowed));
  return { logAllowed, step: { index, allowed: mass, topRejected, rejected, unclassified: Math.max(0, 1 - mass - classified) } };
}
