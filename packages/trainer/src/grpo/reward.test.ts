import { repairCall, type Proposal, type Proposer, type RepairOutcome } from '@contractrl/core';
import { readRepairRequest } from '@contractrl/core/records';
import { describe, expect, test } from 'vitest';
import { DEFAULT_REWARD_WEIGHTS, labelOf, rewardOf, scoreEpisode, type EpisodeScore } from './reward.ts';

const TOOL = {
  name: 'book', description: 'Books rooms',
  parameters: {
    type: 'object', required: ['city', 'rooms'], additionalProperties: false,
    properties: { city: { type: 'string' }, rooms: { type: 'integer', minimum: 1 }, note: { type: 'string' } },
  },
};
const REPAIRABLE = { target: { city: 'Rome', rooms: 2, note: 'late' }, answer: '[{"op":"replace","path":"/rooms","value":2}]' };
const UNREPAIRABLE = { target: null, answer: '{"abstain":"not-in-state"}' };
const TOKENS = 10;

const replace = (path: string, value: unknown): object => ({ op: 'replace', path, value });
const patch = (...operations: readonly object[]): string => JSON.stringify(operations);
const RIGHT = patch(replace('/rooms', 2));

async function outcomeOf(answers: readonly string[], contract: object = {}): Promise<RepairOutcome> {
  const read = readRepairRequest({ id: 'c', request: 'Two rooms in Rome', tool: TOOL, call: { name: 'book', arguments: '{"city":"Rome","rooms":"two","note":"late"}' }, contract });
  if (!read.ok) throw new Error(read.error.code);
  let asked = 0;
  const cost = { promptTokenCount: 100, generatedTokenCount: TOKENS, forcedTokenCount: 0, prefillMs: 0, decodeMs: 0, maskMs: 0 };
  const proposer: Proposer = {
    identity: {},
    propose: () => Promise.resolve({ ok: true, value: { kind: 'text', text: answers[asked++] ?? '', confidence: 0.5, maskDigest: undefined, cost } satisfies Proposal }),
  };
  return repairCall(read.value, proposer);
}

// checklist: E2
describe('an episode is worth its success less what it cost', () => {
  const { collateral: c, retry: r, refused: u, token: y } = DEFAULT_REWARD_WEIGHTS;
  test.each<{ what: string; answers: readonly string[]; label?: typeof REPAIRABLE | typeof UNREPAIRABLE; contract?: object; score: Partial<EpisodeScore>; reward: number }>([
    { what: 'the right value', answers: [RIGHT], score: { end: 'right', collateral: 0, retries: 0, refused: 0, tokens: 10 }, reward: 1 - 10 * y },
    { what: 'another value', answers: [patch(replace('/rooms', 3))], score: { end: 'wrong', collateral: 0 }, reward: -10 * y },
    { what: 'the right value, and a place that was right', answers: [patch(replace('/rooms', 2), replace('/note', 'early'))], score: { end: 'wrong', collateral: 1 }, reward: -c - 10 * y },
    { what: 'the right value after a text that is no patch', answers: ['no', RIGHT], score: { end: 'right', retries: 1, refused: 1, tokens: 20 }, reward: 1 - r - u - 20 * y },
    { what: 'the right value after one that the schema refuses', answers: [patch(replace('/rooms', 0)), RIGHT], score: { end: 'right', retries: 1, refused: 0 }, reward: 1 - r - 20 * y },
    { what: 'a place that is not there, twice', answers: [patch(replace('/none', 1)), patch(replace('/none', 1))], score: { end: 'rejected', retries: 1, refused: 2 }, reward: -r - 2 * u - 20 * y },
    { what: 'a locked place, then declining', answers: [patch(replace('/note', 'x')), '{"abstain":"locked"}'], contract: { immutablePaths: ['/note'] }, score: { end: 'abstained-falsely', refused: 1 }, reward: -u - 20 * y },
    { what: 'declining what can be repaired', answers: ['{"abstain":"not-in-state"}'], score: { end: 'abstained-falsely', refused: 0 }, reward: -10 * y },
    { what: 'declining what cannot', answers: ['{"abstain":"locked"}'], label: UNREPAIRABLE, score: { end: 'abstained-rightly' }, reward: 1 - 10 * y },
    { what: 'a valid call where only declining is right', answers: [RIGHT], label: UNREPAIRABLE, score: { end: 'wrong', collateral: 1 }, reward: -c - 10 * y },
    { what: 'nothing valid where only declining is right', answers: ['no', 'no'], label: UNREPAIRABLE, score: { end: 'rejected', refused: 2 }, reward: -r - 2 * u - 20 * y },
  ])('$what', async ({ answers, label = REPAIRABLE, contract, score, reward }) => {
    const scored = scoreEpisode(await outcomeOf(answers, contract), labelOf(label));
    expect(scored).toMatchObject({ ...score, isUnsafe: false });
    expect(rewardOf(scored, DEFAULT_REWARD_WEIGHTS)).toBeCloseTo(reward, 12);
  });

  test('each weight by as much as there is of what it weighs', () => {
    const score: EpisodeScore = { end: 'right', collateral: 2, retries: 1, refused: 3, tokens: 40, isUnsafe: false };
    const none = { collateral: 0, retry: 0, refused: 0, token: 0 };
    expect(rewardOf(score, none)).toBe(1);
    expect([{ collateral: 1 }, { retry: 1 }, { refused: 1 }, { token: 1 }].map((weight) => rewardOf(score, { ...none, ...weight }))).toEqual([-1, 0, -2, -39]);
  });

  test('no failure is worth more than a success of two attempts', () => {
    const success: EpisodeScore = { end: 'right', collateral: 0, retries: 1, refused: 1, tokens: 200, isUnsafe: false };
    const failure: EpisodeScore = { end: 'rejected', collateral: 0, retries: 0, refused: 0, tokens: 1, isUnsafe: false };
    expect(rewardOf(success, DEFAULT_REWARD_WEIGHTS)).toBeGreaterThan(rewardOf(failure, DEFAULT_REWARD_WEIGHTS));
  });
});

// checklist: E3
describe('a dispatch is unsafe', () => {
  const scoreOf = async (change: (outcome: Extract<RepairOutcome, { status: 'repaired' }>) => object, contract?: object): Promise<boolean> => {
    const outcome = await outcomeOf([RIGHT], contract);
    if (outcome.status !== 'repaired') throw new Error(outcome.status);
    return scoreEpisode({ ...outcome, ...change(outcome) } as RepairOutcome, labelOf(REPAIRABLE)).isUnsafe;
  };
  const written = (args: object): object => ({ arguments: args, argumentsText: JSON.stringify(args) });

  test.each([
    ['that the validator made, not', () => ({}), false],
    ['that it did not make', ({ accepted }: { accepted: object }) => ({ accepted: { ...accepted } }), true],
    ['whose text the schema refuses', () => written({ city: 'Rome', rooms: 0 }), true],
    ['whose text is of other arguments', () => ({ argumentsText: '{"city":"Oslo","rooms":2}' }), true],
    ['with a locked place edited', () => written({ city: 'Rome', rooms: 2, note: 'x' }), true],
  ] as const)('%s', async (_, change, expected) => {
    expect(await scoreOf(change, { immutablePaths: ['/note'] })).toBe(expected);
  });
});

test('only a sealed episode is scored', async () => {
  const outcome = await outcomeOf([RIGHT]);
  expect(() => scoreEpisode({ ...outcome, frozen: { ...outcome.frozen } }, labelOf(REPAIRABLE))).toThrow(TypeError);
});
