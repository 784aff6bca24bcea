/** The folder of a PEFT adapter → the adapter, for repairs and for training alike: of the prompt that this package writes, or none. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { err, type Result } from '@contractrl/core';
import { ADAPTER_FILES } from '../lora/adapter-files.ts';
import type { LoraAdapter } from '../lora/adapter.ts';
import type { AdapterIssue } from '../lora/issue.ts';
import { readAdapter } from '../lora/peft.ts';
import type { PeftExpectations } from '../lora/peft-config.ts';
import { PROMPT_VERSION } from '../prompt.ts';
import { toFileFailure } from './failure.ts';

export type AdapterFolderIssue = AdapterIssue
  /** One of the two files, or the folder itself, is not there or cannot be read. */
  | { readonly code: 'adapter/file-missing' | 'adapter/file-access'; readonly folder: string };

/** Card and calibration are not looked at. */
export async function readAdapterFolder(folder: string, expected: Pick<PeftExpectations, 'base'> = {}): Promise<Result<LoraAdapter, AdapterFolderIssue>> {
  let files: readonly [Uint8Array, string];
  try {
    files = await Promise.all([readFile(join(folder, ADAPTER_FILES.weights)), readFile(join(folder, ADAPTER_FILES.config), 'utf8')]);
  } catch (cause) {
    return err({ code: toFileFailure(cause, folder).code === 'model/file-missing' ? 'adapter/file-missing' : 'adapter/file-access', folder });
  }
  return readAdapter(...files, { ...expected, promptVersion: PROMPT_VERSION });
}
