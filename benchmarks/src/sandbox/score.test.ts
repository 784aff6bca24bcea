import type { Digest, JsonObject, JsonPointer, JsonValue } from '@contractrl/core';
import { describe, expect, test } from 'vitest';
import type { EpisodeGold, EpisodeRecord } from './episode.ts';
import { EPISODE_MEANS, EPISODE_RATES, episodeMean, episodeRate, passHat } from './measures.ts';
import { scoreEpisode, type EpisodeScore, type SheetRow } from './score.ts';
import type { Change, SentCall } from './world.ts';

const change = (pointer: string, after: JsonValue, before: JsonValue = null): Change => ({ pointer: pointer as JsonPointer, before, after });
const digest = (text: string): Digest => text.padEnd(64, '0') as Digest;
const sent = (args: JsonObject, result: string, changes: readonly Change[], more: Partial<SentCall> = {}): SentCall =>
  ({ name: 't', arguments: args, outcome: 'executed', reason: null, toolError: null, resultDigest: digest(result), changes, ...more });

const READ = sent({ id: 1 }, 'read', []);
const CANCEL = sent({ id: 1, reason: 'a' }, 'cancelled', [change('/o/status', 'cancelled'), change('/o/reason', 'a')]);
const MOVE = sent({ id: 2 }, 'moved', [change('/p/city', 'Oslo')]);
const DONE = [...CANCEL.changes, ...MOVE.changes];

/** Reads, cancels (the spoilt call), moves. */
const GOLD: EpisodeGold = {
  steps: [READ, CANCEL, MOVE], changes: DONE, stateDigest: digest('end'), result: 'cancelled',
  call: { kind: 'one-of', acceptable: [{ id: 1, reason: 'a' }], patches: [], abstainOk: false },
};
const RECORD: EpisodeRecord = {
  id: 'x#1', arm: 'arm', task: 'x', trial: 1, form: 'null', step: 1, tool: 't', calls: [READ, CANCEL, MOVE], isFinished: true,
  finalObject: { id: 1, reason: 'a' }, changes: DONE, stateDigest: digest('end'),
};

const OTHER_REASON = sent({ id: 1, reason: 'b' }, 'cancelled for b', [change('/o/status', 'cancelled'), change('/o/reason', 'b')]);
const WRONG = { calls: [READ, OTHER_REASON, MOVE], changes: [...OTHER_REASON.changes, ...MOVE.changes], stateDigest: digest('other end') };
const REFUSED: SentCall = { name: 't', arguments: null, outcome: 'not-accepted', reason: 'gate/not-read', toolError: null, resultDigest: null, changes: [] };
const BROKEN = sent({ id: 9, reason: 'a' }, 'error', [], { toolError: 'retail/order-unknown' });

// checklist: D4, D18
describe('what came of a trajectory', () => {
  const all = { isFinished: true, isSuccess: true, isCallSuccess: true, wasSent: true, hasToolError: false, extraEffects: 0, missingEffects: 0 };
  test.each<{ what: string; record: Partial<EpisodeRecord>; score: Partial<EpisodeScore> }>([
    { what: 'the legal one is a success', record: {}, score: {} },
    { what: 'a declined repair sends nothing, and ends it', record: { calls: [READ], isFinished: false, changes: [], stateDigest: digest('start') }, score: { isFinished: false, isSuccess: false, isCallSuccess: false, wasSent: false, missingEffects: 3 } },
    { what: 'so does one that a gate refuses', record: { calls: [READ, REFUSED], isFinished: false, changes: [], stateDigest: digest('start') }, score: { isFinished: false, isSuccess: false, isCallSuccess: false, wasSent: false, missingEffects: 3 } },
    { what: 'a wrong value is executed, and the trajectory finished without success', record: WRONG, score: { isSuccess: false, isCallSuccess: false, extraEffects: 1, missingEffects: 1 } },
    { what: 'a tool that says no changes nothing, and the rest goes on', record: { calls: [READ, BROKEN, MOVE], changes: MOVE.changes, stateDigest: digest('other end') }, score: { isSuccess: false, isCallSuccess: false, hasToolError: true, missingEffects: 2 } },
    { what: 'the right call of a trajectory that does not end', record: { calls: [READ, CANCEL], isFinished: false, changes: CANCEL.changes, stateDigest: digest('middle') }, score: { isFinished: false, isSuccess: false, missingEffects: 1 } },
    { what: 'the right object with another result is not executed rightly', record: { calls: [READ, { ...CANCEL, resultDigest: digest('busy') }, MOVE] }, score: { isSuccess: false, isCallSuccess: false } },
    { what: 'nor with one effect more', record: { calls: [READ, { ...CANCEL, changes: [...CANCEL.changes, change('/u/mail', 1)] }, MOVE] }, score: { isSuccess: false, isCallSuccess: false, extraEffects: 1 } },
    { what: 'another object that leaves the same state is no success', record: { calls: [READ, { ...CANCEL, arguments: { id: 1, reason: 'c' } }, MOVE] }, score: { isSuccess: false, isCallSuccess: false } },
    { what: 'an effect that is undone later was one', record: { calls: [READ, CANCEL, { ...MOVE, changes: [...MOVE.changes, change('/u/note', 1)] }] }, score: { isSuccess: false, extraEffects: 1 } },
    { what: 'another state at the end is no success', record: { stateDigest: digest('other end') }, score: { isSuccess: false } },
  ])('$what', ({ record, score }) => {
    expect(scoreEpisode({ ...RECORD, ...record }, GOLD)).toMatchObject({ ...all, ...score });
  });
});

const row = (task: string, score: Partial<EpisodeScore>): SheetRow =>
  ({ id: task, arm: 'arm', task, trial: 1, isFinished: true, isSuccess: true, isCallSuccess: true, wasSent: true, hasToolError: false, extraEffects: 0, missingEffects: 0, ...score }) as SheetRow;
const SUCCESS = { isSuccess: true };
const HOLLOW = { isSuccess: false, isCallSuccess: false, extraEffects: 2 };
const UNSENT = { isFinished: false, isSuccess: false, isCallSuccess: false, wasSent: false, missingEffects: 3 };
const ERROR = { isSuccess: false, isCallSuccess: false, hasToolError: true, missingEffects: 3 };

// checklist: D4, D16, D18, G8
test('every share of trajectories has its own denominator, and none of nothing', () => {
  const rows = [row('a', SUCCESS), row('b', HOLLOW), row('c', UNSENT), row('d', ERROR), row('e', { isSuccess: false })];
  const shares = Object.fromEntries(Object.entries(EPISODE_RATES).map(([name, one]) => [name, episodeRate(rows, one)]));
  expect(shares).toMatchObject({
    taskSuccess: { count: 2, n: 5 }, finished: { count: 4, n: 5 }, successful: { count: 1, n: 5 }, hollow: { count: 3, n: 4 }, toolError: { count: 1, n: 4 }, harmed: { count: 1, n: 5 },
  });
  expect(episodeMean(rows, EPISODE_MEANS.extraEffects)).toMatchObject({ mean: 0.4, n: 5 });
  expect(episodeMean(rows, EPISODE_MEANS.missingEffects)).toMatchObject({ mean: 1.2, n: 5 });
  expect(episodeRate([row('c', UNSENT)], EPISODE_RATES.toolError)).toBeUndefined();
  expect(episodeRate([row('c', UNSENT)], EPISODE_RATES.hollow)).toBeUndefined();
});

// checklist: D17
test('pass^k is the mean over tasks of the unbiased estimate, and has no value where a task has fewer trials', () => {
  const trials = (task: string, successes: number): readonly SheetRow[] => [1, 2, 3, 4].map((trial) => row(task, { trial, isSuccess: trial <= successes }));
  const rows = [...trials('a', 4), ...trials('b', 2), ...trials('c', 0)];
  // per task: k = 1: 1, 1/2, 0; k = 2: 1, 1/6, 0; k = 3 and 4: 1, 0, 0
  expect([1, 2, 3, 4].map((k) => passHat(rows, k)?.mean.toFixed(4))).toEqual(['0.5000', '0.3889', '0.3333', '0.3333']);
  expect(passHat(rows, 1)?.n).toBe(3);
  expect(passHat([...rows, row('d', {})], 2)).toBeUndefined();
});
