/**
 * How a file stretches rotary positions beyond the context it was trained on. Three ways are known: all frequencies divided (`linear`), low ones
 * only (`yarn`), and a divisor for each frequency in a tensor of the file (`rope_freqs.weight`, how Llama 3.1 and later are stored; see layout.ts).
 * Reference: ggml docs/gguf.md ("rope.scaling"); Peng et al. 2023, "YaRN", §3; llama.cpp `src/llama-model.cpp` (a factor without a type is linear).
 */
import { err, ok, type Result } from '@contractrl/core';
import type { ModelIssue } from './issue.ts';
import { readCount, readPositive, readText, type Metadata } from './metadata.ts';

export type RopeScaling =
  | { readonly kind: 'none' }
  | { readonly kind: 'linear'; readonly factor: number }
  | { readonly kind: 'yarn'; readonly factor: number; readonly originalContextLength: number };

/** Reads `<architecture>.rope.scaling.…`. A type that is not known is `model/unsupported-setting`. */
export function readRopeScaling(metadata: Metadata, architecture: string, contextLength: number): Result<RopeScaling, ModelIssue> {
  const key = (setting: string): string => `${architecture}.rope.scaling.${setting}`;
  const hasFactor = metadata[key('factor')] !== undefined;
  const type = metadata[key('type')] === undefined ? ok(hasFactor ? 'linear' : 'none') : readText(metadata, key('type'));
  if (!type.ok) return type;
  if (type.value === 'none') return ok({ kind: 'none' });
  if (type.value !== 'linear' && type.value !== 'yarn') return err({ code: 'model/unsupported-setting', key: key('type'), value: type.value });
  const factor = readPositive(metadata, key('factor'));
  if (!factor.ok) return factor;
  if (type.value === 'linear') return ok({ kind: 'linear', factor: factor.value });
  const original = readCount(metadata, key('original_context_length'), contextLength);
  return original.ok ? ok({ kind: 'yarn', factor: factor.value, originalContextLength: original.value }) : original;
}
