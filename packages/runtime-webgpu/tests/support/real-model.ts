/** The base model for tests, where this machine has it: `CONTRACTRL_MODEL`, else the file that `contractrl model fetch` keeps in the cache. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { readAdapter } from '../../src/lora/peft.ts';
import type { LoraAdapter } from '../../src/lora/adapter.ts';
import { readGguf, type GgufModel } from '../../src/model/gguf.ts';
import { modelPath } from '../../src/node/model-store.ts';

const path = process.env['CONTRACTRL_MODEL'] ?? modelPath();

export const hasRealModel: boolean = existsSync(path);

/** For the names of skipped tests. */
export const REAL_MODEL = hasRealModel ? 'SmolLM2-135M-Instruct' : 'SmolLM2-135M-Instruct (skipped: no model file; set CONTRACTRL_MODEL or run `contractrl model fetch`)';

export async function loadRealModel(): Promise<GgufModel> {
  const model = await readGguf(readFileSync(path));
  if (!model.ok) throw new Error(model.error.code);
  return model.value;
}

/** The adapter that the package ships. */
export async function loadShippedAdapter(): Promise<LoraAdapter> {
  const folder = new URL('../../adapters/r8/', import.meta.url);
  const adapter = await readAdapter(readFileSync(new URL('adapter_model.safetensors', folder)), readFileSync(new URL('adapter_config.json', folder), 'utf8'));
  if (!adapter.ok) throw new Error(adapter.error.code);
  return adapter.value;
}

/** Rows of a gzipped JSON Lines fixture. */
export function readRows(name: string): readonly unknown[] {
  const text = gunzipSync(readFileSync(fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url)))).toString('utf8');
  return text.split('\n').filter((line) => line !== '').map((line): unknown => JSON.parse(line));
}
