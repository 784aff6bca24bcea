/** The card of an adapter, whatever trained it: what it was trained on, under which licences, and what its own log says of it. No figure comes from anywhere else. */
import type { Digest, JsonObject } from '@contractrl/core';
import { PROMPT_VERSION } from '@contractrl/runtime-webgpu';

export interface TrainedAdapter {
  readonly base: string;
  /** Of the base model's file. */
  readonly baseDigest: Digest;
  readonly rank: number;
  readonly alpha: number;
  /** Of `adapter_model.safetensors`. */
  readonly digest: Digest;
  readonly manifest: JsonObject;
  readonly manifestDigest: Digest;
}

/** What training began with. The card of that adapter says what it was trained on before. */
export function startRow(from: Digest | undefined): readonly [string, string] {
  return ['began with', from === undefined ? 'an adapter that changes nothing' : `the adapter whose weights have SHA-256 \`${from}\``];
}

export interface CardText {
  /** What it learnt, and from what. */
  readonly about: string;
  /** How, name by name. */
  readonly rows: readonly (readonly [string, string])[];
  /** Examples that could not be used. */
  readonly leftOut: number;
  /** What was seen, from the heading on. */
  readonly figures: readonly string[];
}

export function cardText({ base, baseDigest, rank, alpha, digest, manifest, manifestDigest }: TrainedAdapter, { about, rows, leftOut, figures }: CardText): string {
  const sources = manifest['sources'] as unknown as readonly { readonly name: string; readonly licence: string; readonly attribution: string }[];
  const { split } = manifest['counts'] as { readonly split: Readonly<Record<string, number>> };
  const all: readonly (readonly [string, string])[] = [
    ['base model', `\`${base}\`, file with SHA-256 \`${baseDigest}\``],
    ['format', 'PEFT: `adapter_config.json`, `adapter_model.safetensors` (float16)'],
    ['rank, alpha, modules', `${rank}, ${alpha}, all seven linears of every layer; rows of q and k in half-split order`],
    ['digest', `SHA-256 of \`adapter_model.safetensors\`: \`${digest}\``],
    ['prompt version', `\`${PROMPT_VERSION}\`: it knows no other wording`],
    ['data', `${split['train'] ?? 0} examples to train on, digest of the manifest \`${manifestDigest}\``],
    ...rows,
  ];
  return [
    `# LoRA adapter of rank ${rank} for ${base}`, '', about, '',
    ...tableOf(['', ''], all), '',
    '## Data', '', ...tableOf(['source', 'licence', 'attribution'], sources.map(({ name, licence, attribution }) => [name, licence, attribution])), '',
    `Left out because the mask or the prompt has no room for them: ${leftOut}.`, '', ...figures, '',
  ].join('\n');
}

export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [head.every((cell) => cell === '') ? `|${' |'.repeat(head.length)}` : line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)];
}
