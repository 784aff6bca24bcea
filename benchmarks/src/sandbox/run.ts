/**
 * The online part of the sandbox: every trajectory to every arm in a fresh world. All calls but one arrive as they should and go through the
 * same validator, gates and executor; the spoilt one goes to the arm. A call that is not executed ends its trajectory. No gold is within reach
 * of this module.
 */
import { digestOf, type AbortSignalLike } from '@contractrl/core';
import type { Arm } from '../arms/arm.ts';
import type { PublicCase } from '../datasets/case.ts';
import { freezeRun, type FrozenRun, type RunCase } from '../record.ts';
import type { RunProgress } from '../run.ts';
import { dialogueOf, type Episode, type EpisodeRecord, type Shop } from './episode.ts';
import { changesOf, openWorld, type SentCall, type World } from './world.ts';

export interface SandboxRun {
  /** The repairs, sealed, and what came of them, in the same order. */
  readonly repairs: FrozenRun;
  readonly episodes: readonly EpisodeRecord[];
}

/** Undefined where `signal` is aborted: half a run is no run. */
export async function runSandbox(
  shop: Shop, episodes: readonly Episode[], arms: readonly Arm[], signal: AbortSignalLike, onProgress: (progress: RunProgress) => void,
): Promise<SandboxRun | undefined> {
  const repairs: RunCase[] = [];
  const records: EpisodeRecord[] = [];
  for (const arm of arms) {
    for (const episode of episodes) {
      if (signal.aborted) return undefined;
      const { repair, record } = await playEpisode(shop, episode, arm, signal);
      repairs.push(repair);
      records.push(record);
      onProgress({ done: records.length, total: arms.length * episodes.length, arm: arm.name, id: episode.id, status: repair.record.status });
    }
  }
  return signal.aborted ? undefined : { repairs: freezeRun(repairs), episodes: records };
}

/** What each arm sees of each episode, the same bytes for all of them (CHECKLIST I1): it follows from shop and episode alone. */
export async function sandboxCases(shop: Shop, episodes: readonly Episode[]): Promise<readonly PublicCase[]> {
  const cases: PublicCase[] = [];
  for (const episode of episodes) cases.push({ cohort: 'sandbox', request: requestOf(shop, episode, (await playToSpoilt(shop, episode)).world) });
  return cases;
}

async function playEpisode(shop: Shop, episode: Episode, arm: Arm, signal: AbortSignalLike): Promise<{ readonly repair: RunCase; readonly record: EpisodeRecord }> {
  const { id, task, trial, form, step, calls } = episode;
  const { world, sent } = await playToSpoilt(shop, episode);
  const request = requestOf(shop, episode, world);
  const answer = await arm.answer(request, signal);
  const { name } = request.call;
  const repair: RunCase = { frozen: answer.frozen, record: { ...answer.record, cohort: 'sandbox', arm: arm.name } };
  const { arguments: repaired } = answer.record;
  const rest = repaired === undefined ? [] : [{ name, argumentsText: JSON.stringify(repaired) }, ...calls.slice(step + 1)];
  for (const call of rest) {
    const done = await world.send(`${id}/${String(sent.length)}`, call);
    sent.push(done);
    if (done.outcome !== 'executed') break;
  }
  const isFinished = sent.length === calls.length && sent.at(-1)?.outcome === 'executed';
  const record: EpisodeRecord = {
    id, arm: arm.name, task, trial, form, step, tool: name, calls: sent, isFinished, finalObject: sent[step]?.arguments ?? null,
    changes: changesOf(shop.tables, world.tables), stateDigest: digestOf(world.tables),
  };
  return { repair, record };
}

/** Throws a RangeError where a call before the spoilt one is not executed: such an episode is none. */
async function playToSpoilt({ tables, contracts }: Shop, { id, step, calls }: Episode): Promise<{ readonly world: World; readonly sent: SentCall[] }> {
  const world = openWorld(tables, contracts);
  const sent: SentCall[] = [];
  for (const call of calls.slice(0, step)) {
    const done = await world.send(`${id}/${String(sent.length)}`, call);
    if (done.outcome !== 'executed') throw new RangeError(`${id}: its call ${String(sent.length)} is not executed`);
    sent.push(done);
  }
  return { world, sent };
}

/** All that an arm sees. */
function requestOf({ contracts }: Shop, { id, brief, calls, step }: Episode, world: World): PublicCase['request'] {
  const call = calls[step];
  const contract = call === undefined ? undefined : contracts.get(call.name);
  if (call === undefined || contract === undefined) throw new RangeError(`${id}: no contract of its call ${String(step)}`);
  return { id, request: dialogueOf(brief, world.results), contract: contract.document, toolNames: [...contracts.keys()], call, finishReason: undefined, context: world.context };
}
