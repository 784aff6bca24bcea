/**
 * The clipped objective, as the weights that the training graph takes. The graph's loss is `−Σ weight · log p`; that of the objective has the same
 * derivative where each decision weighs `scale · (ratio · advantage, or 0 where it is clipped, − β · (1 − reference / p))`. With one step an update the
 * ratio is 1 and the weight the advantage.
 * Reference: Schulman et al. 2017, "PPO", eq. 7; DeepSeekMath eq. 3 and 4 (k3 estimate of the divergence); Yu et al. 2025, "DAPO", §3.1 and §3.3;
 * huggingface/trl `trl/trainer/grpo_trainer.py` (loss_type).
 */
export interface ObjectiveSettings {
  /** A decision whose probability fell below 1 − this, and should fall, counts no more. */
  readonly epsilonLow: number;
  /** The same above 1 + this. */
  readonly epsilonHigh: number;
  /** Of the divergence from the start; 0 leaves it out. */
  readonly beta: number;
  /**
   * `dapo`: every decision of a step counts the same. `grpo`: every episode does, and in it every decision. `dr_grpo`: every decision does, and what a step
   * counts in all does not depend on their number.
   */
  readonly normalisation: 'dapo' | 'grpo' | 'dr_grpo';
}

/** Of one decision, natural logarithms. */
export interface DecisionLogs {
  /** Now. */
  readonly current: number;
  /** When it was taken. */
  readonly old: number;
  /** Of the parameters that training began with; what `current` is where β is 0. */
  readonly reference: number;
}

export interface DecisionTerm {
  /** What it counts in the step's objective. */
  readonly scale: number;
  readonly advantage: number;
}

export interface DecisionWeight {
  readonly weight: number;
  readonly isClipped: boolean;
}

export function decisionWeight({ scale, advantage }: DecisionTerm, { current, old, reference }: DecisionLogs, { epsilonLow, epsilonHigh, beta }: ObjectiveSettings): DecisionWeight {
  const ratio = Math.exp(current - old);
  const isClipped = advantage > 0 ? ratio > 1 + epsilonHigh : advantage < 0 && ratio < 1 - epsilonLow;
  const pull = beta === 0 ? 0 : beta * (1 - Math.exp(reference - current));
  return { weight: scale * ((isClipped ? 0 : ratio * advantage) - pull), isClipped };
}

/** k3: without bias, and never below 0. */
export function divergenceOf({ current, reference }: Pick<DecisionLogs, 'current' | 'reference'>): number {
  return Math.exp(reference - current) - (reference - current) - 1;
}

/** By episode, what each of its decisions counts; `decisionCounts` are those of all episodes of a step, and `longest` the most decisions one could have. */
export function scalesOf(decisionCounts: readonly number[], longest: number, normalisation: ObjectiveSettings['normalisation']): readonly number[] {
  const total = decisionCounts.reduce((sum, count) => sum + count, 0);
  const episodeCount = decisionCounts.length;
  switch (normalisation) {
    case 'dapo': return decisionCounts.map(() => 1 / total);
    case 'grpo': return decisionCounts.map((count) => 1 / (episodeCount * count));
    case 'dr_grpo': return decisionCounts.map(() => 1 / (episodeCount * longest));
  }
}
