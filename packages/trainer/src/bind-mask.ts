/**
 * The mask that the production proposer decodes under, bound anew to what an attempt saw: for right answers, for replays, and for answers that were written
 * without it.
 */
import type { Observation, Result } from '@contractrl/core';
import type { MaskMatcher } from '@contractrl/grammar-mask';
import { DEFAULT_MAX_ANSWER_TOKENS, DEFAULT_RULES, type MaskParts, type MaskRules } from '@contractrl/runtime-webgpu';

/** Fails with the mask's own code. Contracts that ask for the origin of a value have another mask, and are not of the training data. */
export function bindMask({ memory, vocabulary, logitWidth }: MaskParts, { contract, state }: Pick<Observation, 'contract' | 'state'>, rules: MaskRules = DEFAULT_RULES): Result<MaskMatcher, { readonly code: string }> {
  const kept = memory.maskFor(contract, vocabulary, { ...rules, unmaskable: 'refuse' });
  return kept.ok ? kept.value.mask.bind(state, { tokenBudget: DEFAULT_MAX_ANSWER_TOKENS, model: { logitWidth } }) : kept;
}
