/** The card of an adapter that learnt from its own attempts. */
import type { Digest } from '@contractrl/core';
import { cardText, startRow, tableOf, type TrainedAdapter } from '../card.ts';
import type { GrpoSettings, MaskMode } from './settings.ts';
import { bestLook, type GrpoEvent, type GrpoStepEntry, type GrpoValidationEntry } from './train.ts';

export interface GrpoCardParts extends TrainedAdapter {
  /** The adapter that training began with. */
  readonly from: Digest;
  readonly settings: GrpoSettings;
  readonly entries: readonly GrpoEvent[];
}

const MASKS: Readonly<Record<MaskMode, string>> = {
  decoding: 'in decoding: probabilities are those among what it allows',
  outside: 'outside of the policy: it wrote freely, and what the mask refused was a failed attempt',
  off: 'none: it wrote freely, and the gate alone refused',
};

export function grpoCard({ from, settings, entries, ...adapter }: GrpoCardParts): string {
  const steps = entries.filter((entry): entry is GrpoStepEntry => entry.kind === 'step');
  const looks = entries.filter((entry): entry is GrpoValidationEntry => entry.kind === 'validation');
  const { rewards, deterministic, showsHistory, learnsRetry, baseline } = settings;
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  return cardText(adapter, {
    about: 'Group-relative optimisation of whole repair episodes, from a supervised start. It was not measured on any evaluation set.',
    rows: [
      startRow(from),
      ['seed', `${settings.seed}`],
      ['steps', `${bestLook(looks)?.step ?? 0}, of ${steps.at(-1)?.step ?? 0} taken, with ${settings.groups} groups of ${settings.samples} episodes that differ: where the mean reward on the validation side was highest`],
      ['reward', `success − ${rewards.collateral} · collateral places − ${rewards.retry} · retries − ${rewards.refused} · refused actions − ${rewards.token} · tokens`],
      ['objective', `clip ${settings.epsilonLow} and ${settings.epsilonHigh}, β ${settings.beta}, normalised as \`${settings.normalisation}\`, rewards scaled by \`${settings.scale}\`, ${settings.innerSteps} inner steps`],
      ['mask', MASKS[settings.mask]],
      ['left out of the method', [
        ...(baseline ? [] : ['the baseline of the group']), ...(showsHistory ? [] : ['the history of the repair']), ...(learnsRetry ? [] : ['retries and declining']),
        ...(deterministic ? [] : ['the deterministic step before the policy']),
      ].join(', ') || 'nothing'],
      ['optimiser', `AdamW, learning rate ${settings.learningRate}, ${settings.warmUpSteps} steps of warm-up, cosine to ${settings.floor * 100} %, norm at most ${settings.maxNorm}`],
    ],
    leftOut: new Set(entries.flatMap((entry) => (entry.kind === 'left-out' ? [entry.id] : []))).size,
    figures: [
      '## Validation', '', `Greedy episodes of ${looks.at(-1)?.episodes ?? 0} examples of the validation side; step 0 is the adapter that training began with.`, '',
      ...tableOf(
        ['step', 'reward', 'success', 'declined rightly', 'declined wrongly', 'accepted and wrong', 'collateral', 'retries', 'refused', 'tokens'],
        looks.map((look) => [
          `${look.step}`, look.reward.toFixed(4), percent(look.success), percent(look.abstainedRightly), percent(look.abstainedWrongly), percent(look.wrong),
          look.collateral.toFixed(3), look.retries.toFixed(3), look.refused.toFixed(3), look.tokens.toFixed(1),
        ]),
      ),
    ],
  });
}
