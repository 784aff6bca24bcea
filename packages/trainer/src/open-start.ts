/** The adapter that a run begins with, by the words that a repair takes for one: the name of one that ships, or the path of a folder. */
import type { Result } from '@contractrl/core';
import type { LoraAdapter } from '@contractrl/runtime-webgpu';
import { adapterFolder, readAdapterFolder, type AdapterFolderIssue, type UnknownAdapter } from '@contractrl/runtime-webgpu/node';

/** The word for no adapter. */
export const NO_START = 'none';

export type StartIssue = AdapterFolderIssue | UnknownAdapter;

/** Of the base and the prompt that are trained with now. Never of {@link NO_START}. */
export async function openStart(adapter: string, base: string): Promise<Result<LoraAdapter, StartIssue>> {
  const folder = adapterFolder(adapter);
  return folder.ok ? readAdapterFolder(folder.value ?? adapter, { base }) : folder;
}
