/** The measures of a trajectory, beside those of the repair in it (CHECKLIST D4, D17, D18, I5): each with its own denominator. */
import type { Definition } from '../measures.ts';
import { bootstrapMean, passHatK, wilson, type Mean, type Rate } from '../statistics.ts';
import type { SheetRow } from './score.ts';

interface EpisodeRate extends Definition {
  /** Undefined outside the denominator. */
  readonly read: (row: SheetRow) => boolean | undefined;
}

interface EpisodeMean extends Definition {
  readonly read: (row: SheetRow) => number;
}

const ALL = 'all trajectories';

type EpisodeRateName = 'taskSuccess' | 'finished' | 'successful' | 'hollow' | 'toolError' | 'harmed';

export const EPISODE_RATES: Readonly<Record<EpisodeRateName, EpisodeRate>> = {
  taskSuccess: {
    name: 'executed rightly', family: 'task', of: ALL, read: ({ isCallSuccess }) => isCallSuccess,
    counts: 'for the spoilt call the tool got the expected object, gave the expected result, and had the expected side effects and no other',
  },
  finished: { name: 'finished', family: 'task', counts: 'every call was executed, whatever came of it', of: ALL, read: ({ isFinished }) => isFinished },
  successful: {
    name: 'successful', family: 'task', of: ALL, read: ({ isSuccess }) => isSuccess,
    counts: 'finished, each call executed rightly, and the shop left as the legal trajectory leaves it',
  },
  hollow: { name: 'finished without success', family: 'task', counts: 'not successful', of: 'trajectories that finished', read: ({ isFinished, isSuccess }) => (isFinished ? !isSuccess : undefined) },
  toolError: {
    name: 'tool error', family: 'effects', counts: 'the tool refused it or failed', of: 'trajectories whose spoilt call was sent', read: ({ wasSent, hasToolError }) => (wasSent ? hasToolError : undefined),
  },
  harmed: { name: 'with extra effects', family: 'effects', counts: 'a call had a side effect that it does not have in the legal trajectory', of: ALL, read: ({ extraEffects }) => extraEffects > 0 },
};

export const EPISODE_MEANS: Readonly<Record<'extraEffects' | 'missingEffects', EpisodeMean>> = {
  extraEffects: { name: 'extra effects', family: 'effects', counts: 'side effects of a call, leaf by leaf, that it does not have in the legal trajectory', of: ALL, read: ({ extraEffects }) => extraEffects },
  missingEffects: { name: 'missing effects', family: 'effects', counts: 'changes of the legal trajectory, leaf by leaf, that the shop is left without', of: ALL, read: ({ missingEffects }) => missingEffects },
};

export function episodeRate(rows: readonly SheetRow[], { read }: EpisodeRate): Rate | undefined {
  const hits = rows.map(read).filter((hit) => hit !== undefined);
  return hits.length === 0 ? undefined : wilson(hits.filter((hit) => hit).length, hits.length);
}

export function episodeMean(rows: readonly SheetRow[], { read }: EpisodeMean): Mean | undefined {
  return bootstrapMean(rows.map(read));
}

/** pass^k over tasks: the mean over tasks of the unbiased estimate from each one's trials, with its interval over tasks. Undefined where a task has fewer than `k`. */
export function passHat(rows: readonly SheetRow[], k: number): Mean | undefined {
  const tasks = [...new Set(rows.map(({ task }) => task))].map((task) => rows.filter((row) => row.task === task));
  if (tasks.some(({ length }) => length < k)) return undefined;
  return bootstrapMean(tasks.map((trials) => passHatK(trials.filter(({ isSuccess }) => isSuccess).length, trials.length, k)));
}
