/** The command's side of group-relative optimisation: options in, lines out. */
import type { RunGrpoIssue } from './run-grpo.ts';
import type { RewardWeights } from './reward.ts';
import { ABLATIONS, ablate, DEFAULT_GRPO, MASK_MODES, type GrpoSettings } from './settings.ts';
import type { GrpoEvent } from './train.ts';

/** Options of `train --method grpo` beside those of every method; all take a value. */
export const GRPO_OPTIONS = ['from', 'steps', 'groups', 'samples', 'inner-steps', 'learning-rate', 'beta', 'loss', 'scale', 'reward', 'mask', 'ablate'] as const;
export type GrpoOptionName = (typeof GRPO_OPTIONS)[number];

export const GRPO_USAGE: string =
  `--from ADAPTER [--steps N] [--groups N] [--samples N] [--inner-steps N] [--learning-rate X] [--beta X] [--loss dapo|grpo|dr_grpo] [--scale none|group] ` +
  `[--reward collateral=X,retry=X,refused=X,token=X] [--mask ${MASK_MODES.join('|')}] [--ablate ${ABLATIONS.join(',')}]`;

/** Undefined where an option says nothing that there is. */
export function readGrpoSettings(values: Readonly<Partial<Record<GrpoOptionName, string>>>, seed: number): GrpoSettings | undefined {
  const { steps, groups, samples, 'inner-steps': inner, 'learning-rate': rate, beta, loss, scale, reward, mask, ablate: ablations = '' } = values;
  const counts = { steps, groups, samples, innerSteps: inner };
  const numbers = { learningRate: rate, beta };
  const rewards = readWeights(reward ?? '');
  const named = ablations.split(',').filter((name) => name !== '').map((name) => ABLATIONS.find((each) => each === name));
  const normalisation = (['dapo', 'grpo', 'dr_grpo'] as const).find((each) => each === (loss ?? DEFAULT_GRPO.normalisation));
  const scaling = (['none', 'group'] as const).find((each) => each === (scale ?? DEFAULT_GRPO.scale));
  const mode = MASK_MODES.find((each) => each === (mask ?? DEFAULT_GRPO.mask));
  const isWrong = Object.values(counts).some((text) => text !== undefined && !/^[1-9]\d*$/u.test(text)) || Object.values(numbers).some((text) => text !== undefined && !isNumber(text)) || samples === '1';
  if (isWrong || rewards === undefined || named.includes(undefined) || normalisation === undefined || scaling === undefined || mode === undefined) return undefined;
  const given = Object.fromEntries(Object.entries({ ...counts, ...numbers }).flatMap(([name, text]) => (text === undefined ? [] : [[name, Number(text)]])));
  const settings: GrpoSettings = { ...DEFAULT_GRPO, ...given, seed, rewards: { ...DEFAULT_GRPO.rewards, ...rewards }, normalisation, scale: scaling, mask: mode };
  const whole = { ...settings, maxGroups: Math.max(settings.maxGroups, settings.groups) };
  return named.reduce<GrpoSettings>((changed, name) => (name === undefined ? changed : ablate(changed, name)), whole);
}

function readWeights(text: string): Partial<RewardWeights> | undefined {
  const pairs = text.split(',').filter((pair) => pair !== '').map((pair) => pair.split('=') as [string, string?]);
  const isKnown = pairs.every(([name, value]) => Object.hasOwn(DEFAULT_GRPO.rewards, name) && value !== undefined && isNumber(value));
  return isKnown ? Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)])) : undefined;
}

function isNumber(text: string): boolean {
  return /^\d+(?:\.\d+)?(?:e-?\d+)?$/u.test(text);
}

/** Undefined for what is only logged. */
export function grpoLine(event: GrpoEvent): string | undefined {
  const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
  switch (event.kind) {
    case 'step': {
      const { step, reward, success, groups, flatShare, gradientNorm, rolloutSeconds, gradientSeconds, secondsLeft } = event;
      return `step ${step}: reward ${reward.toFixed(3)}, success ${percent(success)}, ${groups} groups, ${percent(flatShare)} of them flat, gradient ${gradientNorm.toFixed(3)}, `
        + `${rolloutSeconds.toFixed(1)} s of episodes and ${gradientSeconds.toFixed(1)} s of gradient, ${Math.ceil(secondsLeft / 60)} min left`;
    }
    case 'validation': {
      const { step, reward, success, abstainedWrongly, wrong } = event;
      return `step ${step}: validation reward ${reward.toFixed(4)}, success ${percent(success)}, declined wrongly ${percent(abstainedWrongly)}, accepted and wrong ${percent(wrong)}`;
    }
    case 'left-out': return `${event.code}: ${event.id} is left out`;
    case 'group': return undefined;
  }
}

export const GRPO_ADVICE: Readonly<Record<Extract<RunGrpoIssue['code'], `grpo/${string}` | `engine/${string}`>, string>> = {
  'grpo/too-few-examples': 'there are too few examples to ask about and to validate with: raise --examples',
  'grpo/nothing-to-learn': 'none of the examples can be asked of this model',
  'grpo/rollout-failed': 'the engine failed in an episode; --resume goes on from the last checkpoint',
  'grpo/unsafe-dispatch': 'a call would have been dispatched that the validator does not accept: this is a fault of the library, and nothing learnt so is kept',
  'grpo/rollout-disagrees': 'the training graph is not of the weights that wrote the answers',
  'grpo/replay-differs': 'the mask does not take an answer that was written under it: this is a fault of the library',
  'engine/load-failed': 'ONNX Runtime does not take the model, perhaps for lack of memory',
  'engine/wrong-graph': 'the graph is of another model',
  'engine/device-lost': 'the processor was lost; --resume goes on from the last checkpoint',
  'engine/out-of-memory': 'there is too little memory for the model and its training graph: some 6 GB',
};
