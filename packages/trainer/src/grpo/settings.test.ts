import { describe, expect, test } from 'vitest';
import { ablate, ABLATIONS, DEFAULT_GRPO, isOfCohort, type Ablation } from './settings.ts';
import { readGrpoSettings } from './command.ts';

test.each<{ ablation: Ablation; change: object }>([
  { ablation: 'mask', change: { mask: 'off' } },
  { ablation: 'history', change: { showsHistory: false } },
  { ablation: 'retry', change: { learnsRetry: false, rewards: { ...DEFAULT_GRPO.rewards, retry: 0 } } },
  { ablation: 'collateral', change: { rewards: { ...DEFAULT_GRPO.rewards, collateral: 0 } } },
  { ablation: 'costs', change: { rewards: { collateral: 0, retry: 0, refused: 0, token: 0 } } },
  { ablation: 'baseline', change: { baseline: false } },
])('the ablation $ablation changes this and nothing else', ({ ablation, change }) => {
  expect(ablate(DEFAULT_GRPO, ablation)).toEqual({ ...DEFAULT_GRPO, ...change });
});

test('every ablation is a change', () => {
  for (const ablation of ABLATIONS) expect(ablate(DEFAULT_GRPO, ablation)).not.toEqual(DEFAULT_GRPO);
});

describe('the policy is asked', () => {
  const example = { noise: null, difficulty: 'quoted', target: {} } as const;
  test.each([
    ['about a failed call', {}, {}, true], ['not about one that the step before it repairs', { difficulty: 'certain' }, {}, false],
    ['about that where there is no such step', { difficulty: 'certain' }, { deterministic: false }, true], ['not about a report that the loop would not give', { noise: { kind: 'stale', shown: [] } }, {}, false],
    ['about what it must decline', { target: null }, {}, true], ['not about that where declining is not learnt', { target: null }, { learnsRetry: false }, false],
  ] as const)('%s', (_, change, settings, expected) => {
    expect(isOfCohort({ ...example, ...change }, { ...DEFAULT_GRPO, ...settings })).toBe(expected);
  });
});

describe('options', () => {
  test('without any are the defaults', () => {
    expect(readGrpoSettings({}, 7)).toEqual({ ...DEFAULT_GRPO, seed: 7 });
  });

  test('change what they name', () => {
    expect(readGrpoSettings({ steps: '3', groups: '64', samples: '4', 'inner-steps': '2', 'learning-rate': '2e-5', beta: '0.04', loss: 'dr_grpo', scale: 'group', reward: 'collateral=1,token=0', mask: 'outside', ablate: 'history,baseline' }, 7)).toEqual({
      ...DEFAULT_GRPO, seed: 7, steps: 3, groups: 64, maxGroups: 64, samples: 4, innerSteps: 2, learningRate: 2e-5, beta: 0.04, normalisation: 'dr_grpo', scale: 'group',
      rewards: { ...DEFAULT_GRPO.rewards, collateral: 1, token: 0 }, mask: 'outside', showsHistory: false, baseline: false,
    });
  });

  test.each([
    { steps: '0' }, { samples: '1' }, { groups: '1.5' }, { beta: '-1' }, { 'learning-rate': 'fast' }, { loss: 'ppo' }, { scale: 'batch' }, { reward: 'success=1' }, { reward: 'token' }, { mask: 'on' }, { ablate: 'all' },
  ])('%j are wrong usage', (values) => {
    expect(readGrpoSettings(values, 7)).toBeUndefined();
  });
});
