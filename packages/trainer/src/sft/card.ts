/** The card of an adapter: what it was trained on, under which licences, and what its own log says of it. No figure comes from anywhere else. */
import type { Digest, JsonObject } from '@contractrl/core';
import { PROMPT_VERSION } from '@contractrl/runtime-webgpu';
import { bestOf, type SftEvent, type SftSettings, type StepEntry, type ValidationEntry } from './train.ts';

export interface CardParts {
  readonly base: string;
  /** Of the base model's file. */
  readonly baseDigest: Digest;
  readonly rank: number;
  readonly alpha: number;
  /** Of `adapter_model.safetensors`. */
  readonly digest: Digest;
  readonly manifest: JsonObject;
  readonly manifestDigest: Digest;
  readonly settings: SftSettings;
  readonly entries: readonly SftEvent[];
}

export function cardOf({ base, baseDigest, rank, alpha, digest, manifest, manifestDigest, settings, entries }: CardParts): string {
  const steps = entries.filter((entry): entry is StepEntry => entry.kind === 'step');
  const validations = entries.filter((entry): entry is ValidationEntry => entry.kind === 'validation');
  const leftOut = new Set(entries.flatMap((entry) => (entry.kind === 'left-out' ? [entry.id] : [])));
  const best = bestOf(validations);
  const sources = manifest['sources'] as unknown as readonly { readonly name: string; readonly licence: string; readonly attribution: string }[];
  const { split } = manifest['counts'] as { readonly split: Readonly<Record<string, number>> };
  const rows = [
    ['base model', `\`${base}\`, file with SHA-256 \`${baseDigest}\``],
    ['format', 'PEFT: `adapter_config.json`, `adapter_model.safetensors` (float32)'],
    ['rank, alpha, modules', `${rank}, ${alpha}, all seven linears of every layer; rows of q and k in half-split order`],
    ['digest', `SHA-256 of \`adapter_model.safetensors\`: \`${digest}\``],
    ['prompt version', `\`${PROMPT_VERSION}\`: it knows no other wording`],
    ['data', `${split['train'] ?? 0} examples to train on, digest of the manifest \`${manifestDigest}\``],
    ['seed', `${settings.seed}`],
    ['steps', `${best?.step ?? 0}, of ${steps.at(-1)?.step ?? 0} taken, with ${settings.batchSize} examples each: where the validation loss was lowest`],
    ['optimiser', `AdamW, learning rate ${settings.learningRate}, ${settings.warmUpSteps} steps of warm-up, cosine to ${settings.floor * 100} %, norm at most ${settings.maxNorm}`],
  ];
  return [
    `# LoRA adapter of rank ${rank} for ${base}`, '',
    'Supervised only: the right patch or abstention of failed tool calls whose fault is known. The loss is that of the decisions which the mask leaves open. It was not measured on any evaluation set.', '',
    '| | |', '|---|---|', ...rows.map(([name, value]) => `| ${name} | ${value} |`), '',
    '## Data', '', '| source | licence | attribution |', '|---|---|---|', ...sources.map(({ name, licence, attribution }) => `| ${name} | ${licence} | ${attribution} |`), '',
    `Left out because the mask or the prompt has no room for them: ${leftOut.size}.`, '',
    '## Loss', '', 'Mean −log probability of a decision among what the mask allows, on the validation side.', '',
    '| step | validation |', '|---|---|', ...validations.map(({ step, loss }) => `| ${step} | ${loss.toFixed(4)} |`), '',
  ].join('\n');
}
