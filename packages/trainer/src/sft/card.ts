/** The card of a supervised adapter. */
import type { Digest } from '@contractrl/core';
import { cardText, startRow, tableOf, type TrainedAdapter } from '../card.ts';
import { bestOf, type SftEvent, type SftSettings, type StepEntry, type ValidationEntry } from './train.ts';

export interface CardParts extends TrainedAdapter {
  /** The adapter that training began with, where there was one. */
  readonly from: Digest | undefined;
  readonly settings: SftSettings;
  readonly entries: readonly SftEvent[];
}

export function cardOf({ from, settings, entries, ...adapter }: CardParts): string {
  const steps = entries.filter((entry): entry is StepEntry => entry.kind === 'step');
  const validations = entries.filter((entry): entry is ValidationEntry => entry.kind === 'validation');
  return cardText(adapter, {
    about: 'Supervised only: the right patch or abstention of failed tool calls whose fault is known. The loss is that of the decisions which the mask leaves open. It was not measured on any evaluation set.',
    rows: [
      startRow(from),
      ['seed', `${settings.seed}`],
      ['steps', `${bestOf(validations)?.step ?? 0}, of ${steps.at(-1)?.step ?? 0} taken, with ${settings.batchSize} examples each: where the validation loss was lowest`],
      ['optimiser', `AdamW, learning rate ${settings.learningRate}, ${settings.warmUpSteps} steps of warm-up, cosine to ${settings.floor * 100} %, norm at most ${settings.maxNorm}`],
    ],
    leftOut: new Set(entries.flatMap((entry) => (entry.kind === 'left-out' ? [entry.id] : []))).size,
    figures: [
      '## Loss', '', 'Mean −log probability of a decision among what the mask allows, on the validation side.', '',
      ...tableOf(['step', 'validation'], validations.map(({ step, loss }) => [`${step}`, loss.toFixed(4)])),
    ],
  });
}
