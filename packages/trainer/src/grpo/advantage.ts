/**
 * What an episode was worth beside the others of its group: its reward less their mean, in parts of their spread where that is asked for. A group whose
 * rewards hardly differ says nothing of which episode to prefer, and is known as flat.
 * Reference: Shao et al. 2024, "DeepSeekMath", §4.1 (`group`); Liu et al. 2025, "Understanding R1-Zero-like training", §3 (`none`).
 */
export interface AdvantageSettings {
  /** By the standard deviation of the group, or not at all. */
  readonly scale: 'group' | 'none';
  /** Whether the group's mean is taken off; off, the reward itself is the advantage (ablation). */
  readonly baseline: boolean;
  /** A group whose largest and smallest reward lie no further apart is flat: by tokens alone they always differ a little. */
  readonly minSpread: number;
}

/** Added to a standard deviation before it divides, as TRL does. */
const SCALE_FLOOR = 1e-4;

export function isFlat(rewards: readonly number[], minSpread: number): boolean {
  return Math.max(...rewards) - Math.min(...rewards) <= minSpread;
}

/** By episode; undefined where the group teaches nothing. A group of fewer than two with a baseline is a RangeError. */
export function advantagesOf(rewards: readonly number[], { scale, baseline, minSpread }: AdvantageSettings): readonly number[] | undefined {
  if (!baseline) return rewards.every((reward) => reward === 0) ? undefined : rewards;
  if (rewards.length < 2) throw new RangeError('rewards: a group of two at least');
  if (isFlat(rewards, minSpread)) return undefined;
  const mean = meanOf(rewards);
  const centred = rewards.map((reward) => reward - mean);
  if (scale === 'none') return centred;
  const deviation = Math.sqrt(centred.reduce((sum, value) => sum + value * value, 0) / (rewards.length - 1));
  return centred.map((value) => value / (deviation + SCALE_FLOOR));
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
