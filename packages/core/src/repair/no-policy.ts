/** The proposer of a repair without a model: what reading and the deterministic step do not repair is declined. */
import { ok } from '../result.ts';
import { NO_COST } from './close.ts';
import type { Proposer } from './proposer.ts';

/** Abstains with `abstain/no-policy`, whatever it is shown. */
export const NO_POLICY: Proposer = Object.freeze({
  identity: Object.freeze({ policy: 'none' }),
  propose: () => Promise.resolve(ok({ kind: 'text' as const, text: '{"abstain":"no-policy"}', confidence: undefined, maskDigest: undefined, cost: NO_COST })),
});
