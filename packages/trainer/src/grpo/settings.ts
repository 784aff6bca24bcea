/** What a run of group-relative optimisation is told: defaults with their reasons, and the ablations of CHECKLIST M-ABL as changes of them. */
import type { Example } from '../data/example.ts';
import type { AdvantageSettings } from './advantage.ts';
import type { ObjectiveSettings } from './objective.ts';
import { DEFAULT_REWARD_WEIGHTS, type RewardWeights } from './reward.ts';

/**
 * Where the mask stands. `decoding`: what it forbids cannot be sampled, and probabilities are those among what it allows. `outside`: the policy writes
 * freely, and what the mask refuses is a failed attempt (CHECKLIST E6). `off`: there is none, and the gate alone refuses (M-ABL1).
 */
export const MASK_MODES = ['decoding', 'outside', 'off'] as const;
export type MaskMode = (typeof MASK_MODES)[number];

export interface GrpoSettings extends ObjectiveSettings, AdvantageSettings {
  readonly seed: number;
  readonly steps: number;
  /** Groups that a step learns from; flat ones are replaced. */
  readonly groups: number;
  /** Groups drawn for them at most. */
  readonly maxGroups: number;
  /** Episodes of a group. */
  readonly samples: number;
  /** Steps of the optimiser on the episodes of one step. */
  readonly innerSteps: number;
  readonly learningRate: number;
  readonly warmUpSteps: number;
  /** Of the learning rate, left at the end. */
  readonly floor: number;
  /** Of all derivatives of a step together. */
  readonly maxNorm: number;
  readonly rewards: RewardWeights;
  readonly mask: MaskMode;
  /** Whether the step before the policy is on, as in production. */
  readonly deterministic: boolean;
  /** Whether the policy sees in a later attempt that there were earlier ones. */
  readonly showsHistory: boolean;
  /** Whether later attempts and declining are learnt. */
  readonly learnsRetry: boolean;
  /** Steps between two looks at the validation side. */
  readonly validateEvery: number;
}

/**
 * Group size, clipping and no divergence as TRL and DAPO have them; learning rate and no division by the spread as in the laboratory's first try
 * (TRAINING § Group-relative optimisation). What answers of different length cost in tokens alone does not make a group worth a run: up to 25 of them.
 */
export const DEFAULT_GRPO: GrpoSettings = {
  seed: 13, steps: 200, groups: 8, maxGroups: 48, samples: 8, innerSteps: 1, learningRate: 1e-4, warmUpSteps: 5, floor: 0.1, maxNorm: 1,
  epsilonLow: 0.2, epsilonHigh: 0.28, beta: 0, normalisation: 'dapo', scale: 'none', baseline: true, minSpread: 0.05, rewards: DEFAULT_REWARD_WEIGHTS,
  mask: 'decoding', deterministic: true, showsHistory: true, learnsRetry: true, validateEvery: 20,
};

/** CHECKLIST M-ABL1 to 5, and the group's baseline. What is left with none of the objective is the supervised method alone. */
export const ABLATIONS = ['mask', 'history', 'retry', 'collateral', 'costs', 'baseline'] as const;
export type Ablation = (typeof ABLATIONS)[number];

export function ablate(settings: GrpoSettings, ablation: Ablation): GrpoSettings {
  const { rewards } = settings;
  switch (ablation) {
    case 'mask': return { ...settings, mask: 'off' };
    case 'history': return { ...settings, showsHistory: false };
    case 'retry': return { ...settings, learnsRetry: false, rewards: { ...rewards, retry: 0 } };
    case 'collateral': return { ...settings, rewards: { ...rewards, collateral: 0 } };
    case 'costs': return { ...settings, rewards: { collateral: 0, retry: 0, refused: 0, token: 0 } };
    case 'baseline': return { ...settings, baseline: false };
  }
}

/** Examples that the policy is asked about as they are: what the step before it repairs never reaches it, and the loop's own verifier speaks rightly. */
export function isOfCohort({ noise, difficulty, target }: Pick<Example, 'noise' | 'difficulty' | 'target'>, { deterministic, learnsRetry }: Pick<GrpoSettings, 'deterministic' | 'learnsRetry'>): boolean {
  return noise === null && !(deterministic && difficulty === 'certain') && (learnsRetry || target !== null);
}
