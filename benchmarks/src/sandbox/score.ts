/**
 * Scoring of the sandbox, after the run is frozen: beside this module only the scoring of repairs opens gold. The sheet has a row for each
 * trajectory: the structural score of its repair as in every benchmark, untouched, joined with what came of executing it (CHECKLIST G6).
 */
import { jsonEqual, type FrozenRepair, type JsonValue } from '@contractrl/core';
import { Gold, scoreFrozen } from '@contractrl/core/ledger';
import type { CaseGold, PublicCase } from '../datasets/case.ts';
import { leaksIn, scoreRun, type CaseLeak, type CaseScore, type ShownTexts } from '../score.ts';
import { sandboxGold } from './episodes.ts';
import type { EpisodeGold, EpisodeRecord } from './episode.ts';
import type { SandboxRun } from './run.ts';
import type { Change, SentCall } from './world.ts';

export interface EpisodeScore {
  readonly id: string;
  readonly arm: string;
  readonly task: string;
  readonly trial: number;
  readonly isFinished: boolean;
  /** Finished, every call as in the legal trajectory with its result and side effects, and the shop left as that one leaves it. */
  readonly isSuccess: boolean;
  /** The same of the spoilt call alone. */
  readonly isCallSuccess: boolean;
  /** A tool got something in place of the spoilt call, and said no to it. */
  readonly wasSent: boolean;
  readonly hasToolError: boolean;
  /** Leaves, over all calls. */
  readonly extraEffects: number;
  /** Leaves, at the end. */
  readonly missingEffects: number;
}

export type SheetRow = CaseScore & EpisodeScore;

export interface SealedGold {
  readonly calls: ReadonlyMap<string, Gold<CaseGold>>;
  readonly episodes: ReadonlyMap<string, Gold<EpisodeGold>>;
}

export async function sealedSandboxGold(): Promise<SealedGold> {
  const gold = [...await sandboxGold()];
  return { calls: new Map(gold.map(([id, { call }]) => [id, new Gold<CaseGold>(call)])), episodes: new Map(gold.map(([id, one]) => [id, new Gold(one)])) };
}

/** Throws a RangeError for a trajectory that `cases` or `gold` does not know, or whose repair is another's. */
export function scoreSandbox({ repairs, episodes }: SandboxRun, cases: readonly PublicCase[], gold: SealedGold): readonly SheetRow[] {
  const scores = scoreRun(repairs, cases, gold.calls);
  return scores.map((score, index) => {
    const [record, label, frozen] = [episodes[index], gold.episodes.get(score.id), repairs.cases[index]?.frozen];
    if (record?.id !== score.id || record.arm !== score.arm || label === undefined) throw new RangeError(`sandbox: no trajectory of ${score.arm} on ${score.id}`);
    return { ...score, ...scoreFrozen(frozen as FrozenRepair, label, (_, opened) => scoreEpisode(record, opened)) };
  });
}

/** Gold in what the policies were shown: the call, its canonical patch, and what the tool will give back. */
export function sandboxLeaks({ repairs }: SandboxRun, cases: readonly PublicCase[], shown: readonly ShownTexts[], gold: SealedGold): readonly CaseLeak[] {
  return [...leaksIn(repairs, cases, shown, gold.calls), ...leaksIn(repairs, cases, shown, gold.episodes)];
}

export function scoreEpisode({ id, arm, task, trial, step, calls, isFinished, changes, stateDigest }: EpisodeRecord, gold: EpisodeGold): EpisodeScore {
  const spoilt = calls[step];
  const isRightAt = (index: number): boolean => isExecutedRightly(calls[index], gold.steps[index]);
  return {
    id, arm, task, trial, isFinished,
    isSuccess: isFinished && gold.steps.every((_, index) => isRightAt(index)) && stateDigest === gold.stateDigest,
    isCallSuccess: isRightAt(step),
    wasSent: spoilt?.arguments != null,
    hasToolError: spoilt !== undefined && (spoilt.toolError !== null || spoilt.outcome === 'failed'),
    extraEffects: calls.reduce((sum, call, index) => sum + withoutMatch(call.changes, gold.steps[index]?.changes ?? []).length, 0),
    missingEffects: withoutMatch(gold.changes, changes).length,
  };
}

function isExecutedRightly(sent: SentCall | undefined, legal: EpisodeGold['steps'][number] | undefined): boolean {
  if (sent?.outcome !== 'executed' || legal === undefined) return false;
  return jsonEqual(sent.arguments, legal.arguments) && sent.resultDigest === legal.resultDigest && jsonEqual(asJson(sent.changes), asJson(legal.changes));
}

/** The changes that no other leaves the same value at the same place. */
function withoutMatch(changes: readonly Change[], others: readonly Change[]): readonly Change[] {
  return changes.filter(({ pointer, after }) => !others.some((other) => other.pointer === pointer && jsonEqual(other.after, after)));
}

function asJson(changes: readonly Change[]): JsonValue {
  return changes as unknown as JsonValue;
}
