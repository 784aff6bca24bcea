/**
 * Where an adapter lies that a user names. What a word means follows from its letters and never from which files there are: one with a slash, or with a dot in
 * front, is the path of a folder, and any other must be `none` or the name of an adapter that ships. So `r8` is never a folder of the user's; `./r8` is.
 */
import { fileURLToPath } from 'node:url';
import { err, ok, type Result } from '@contractrl/core';
import { DEFAULT_ADAPTER_NAME, SHIPPED_ADAPTER_NAMES, type ShippedAdapterName } from '../lora/shipped-adapters.ts';

export interface UnknownAdapter {
  readonly code: 'adapter/unknown-name';
  readonly name: string;
  readonly known: readonly ShippedAdapterName[];
}

const FOLDER = /^\.|[/\\]/u;

/** The adapter that is taken where none is named. */
export const DEFAULT_ADAPTER_FOLDER: string = shippedFolder(DEFAULT_ADAPTER_NAME);

/** The folder of an adapter that ships, by its name, or a path as it is; undefined for `none`, the bare model. Whether files are there is not looked at. */
export function adapterFolder(adapter: string): Result<string | undefined, UnknownAdapter> {
  if (adapter === 'none') return ok(undefined);
  if (FOLDER.test(adapter)) return ok(adapter);
  const name = SHIPPED_ADAPTER_NAMES.find((each) => each === adapter);
  return name === undefined ? err({ code: 'adapter/unknown-name', name: adapter, known: SHIPPED_ADAPTER_NAMES }) : ok(shippedFolder(name));
}

/** One plain sentence that ends with what to do. */
export function formatUnknownAdapter({ name, known }: UnknownAdapter): string {
  return `No adapter named ${JSON.stringify(name)} ships: give one that does (${known.join(', ')}), a folder with a slash (./${name}), or none for the bare model.`;
}

function shippedFolder(name: ShippedAdapterName): string {
  return fileURLToPath(new URL(`../../adapters/${name}`, import.meta.url));
}
