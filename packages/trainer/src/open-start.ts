/** The adapter that a run begins with, by the words that a repair takes for one: the name of one that ships, or the path of a folder. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { err, type Result } from '@contractrl/core';
import { PROMPT_VERSION, readAdapter, type AdapterIssue, type LoraAdapter } from '@contractrl/runtime-webgpu';
import { adapterFolder, type UnknownAdapter } from '@contractrl/runtime-webgpu/node';

/** The word for no adapter. */
export const NO_START = 'none';

export type StartIssue = AdapterIssue | UnknownAdapter
  /** There is no adapter in that folder. */
  | { readonly code: 'train/no-start'; readonly folder: string };

/** Of the base and the prompt that are trained with now. Never of {@link NO_START}. */
export async function openStart(adapter: string, base: string): Promise<Result<LoraAdapter, StartIssue>> {
  const folder = adapterFolder(adapter);
  if (!folder.ok) return folder;
  const { value: path = adapter } = folder;
  const [weights, config] = [join(path, 'adapter_model.safetensors'), join(path, 'adapter_config.json')];
  if (!existsSync(weights) || !existsSync(config)) return err({ code: 'train/no-start', folder: path });
  return readAdapter(readFileSync(weights), readFileSync(config, 'utf8'), { base, promptVersion: PROMPT_VERSION });
}
