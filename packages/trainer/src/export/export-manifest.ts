/** What the reward server needs to know of an exported data set: that the policy still sees the same prompts here, and the weights of the reward. */
import { err, isJsonObject, ok, parseJson, type JsonValue, type Result } from '@contractrl/core';
import { PROMPT_VERSION } from '@contractrl/runtime-webgpu';
import type { RewardWeights } from '../grpo/reward.ts';

export type ManifestIssue =
  | { readonly code: 'manifest/not-json'; readonly reason: string }
  | { readonly code: 'manifest/bad-field'; readonly field: string }
  /** The prompts of the rows are not what this runtime writes: what is learnt from them would be of no use. */
  | { readonly code: 'manifest/other-prompt-version'; readonly promptVersion: string; readonly known: string };

const WEIGHTS: readonly (keyof RewardWeights)[] = ['collateral', 'retry', 'refused', 'token'];

/** A weight, from 0 up. */
export function isWeight(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

export function readWeightsOfManifest(text: string): Result<RewardWeights, ManifestIssue> {
  const parsed = parseJson(text);
  if (!parsed.ok) return err({ code: 'manifest/not-json', reason: parsed.error.code });
  const manifest = isJsonObject(parsed.value) ? parsed.value : {};
  const { promptVersion, reward } = manifest;
  if (typeof promptVersion !== 'string') return err({ code: 'manifest/bad-field', field: 'promptVersion' });
  if (promptVersion !== PROMPT_VERSION) return err({ code: 'manifest/other-prompt-version', promptVersion, known: PROMPT_VERSION });
  const weights = isJsonObject(reward) ? reward['weights'] : undefined;
  if (!isJsonObject(weights)) return err({ code: 'manifest/bad-field', field: 'reward.weights' });
  const wrong = WEIGHTS.find((name) => !isWeight(weights[name]));
  if (wrong !== undefined) return err({ code: 'manifest/bad-field', field: `reward.weights.${wrong}` });
  return ok(weights as unknown as RewardWeights);
}
