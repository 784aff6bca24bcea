/** A failed call with the episodes that it was asked for, and what each was worth: what a step counts, and what it learns from. */
import type { Example } from '../data/example.ts';
import { isSuccess } from '../verdict.ts';
import { advantagesOf, meanOf, type AdvantageSettings } from './advantage.ts';
import { labelOf, rewardOf, scoreEpisode, type EpisodeScore, type RewardWeights } from './reward.ts';
import type { Episode } from './rollout.ts';

export interface Group {
  readonly example: Example;
  readonly episodes: readonly Episode[];
  readonly scores: readonly EpisodeScore[];
  readonly rewards: readonly number[];
  /** Undefined where the group teaches nothing. */
  readonly advantages: readonly number[] | undefined;
}

/** Scores the episodes of one example, all of them over. */
export function scoreGroup(example: Example, episodes: readonly Episode[], settings: AdvantageSettings & { readonly rewards: RewardWeights }): Group {
  const label = labelOf(example);
  const scores = episodes.map(({ outcome }) => scoreEpisode(outcome, label));
  const rewards = scores.map((score) => rewardOf(score, settings.rewards));
  return { example, episodes, scores, rewards, advantages: advantagesOf(rewards, settings) };
}

/** Means over episodes, however many examples they are of. */
export interface EpisodeFigures {
  readonly reward: number;
  /** Shares of the episodes. */
  readonly success: number;
  readonly abstainedRightly: number;
  readonly abstainedWrongly: number;
  readonly wrong: number;
  readonly failed: number;
  readonly collateral: number;
  readonly retries: number;
  readonly refused: number;
  readonly tokens: number;
}

export function figuresOf(scores: readonly EpisodeScore[], weights: RewardWeights): EpisodeFigures {
  const mean = (of: (score: EpisodeScore) => number): number => meanOf(scores.map(of));
  const share = (end: EpisodeScore['end']): number => mean((score) => Number(score.end === end));
  return {
    reward: mean((score) => rewardOf(score, weights)), success: mean(({ end }) => Number(isSuccess(end))), abstainedRightly: share('abstained-rightly'), abstainedWrongly: share('abstained-falsely'),
    wrong: share('wrong'), failed: share('rejected'), collateral: mean(({ collateral }) => collateral), retries: mean(({ retries }) => retries), refused: mean(({ refused }) => refused), tokens: mean(({ tokens }) => tokens),
  };
}
