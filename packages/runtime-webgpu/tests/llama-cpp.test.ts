/**
 * The same files in llama.cpp: small random models of each architecture and rotary scaling, in float32 so that both sides compute exactly. Set
 * CONTRACTRL_WRITE_GGUF to a folder to have the files written there, for make_llama_cpp_logits.py.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRows } from './support/real-model.ts';
import { largestDifference, logitsAfter, startTiny } from './support/tiny-engine.ts';
import { TINY_CONFIGS, tinyModel, type TinyConfig } from './support/tiny-model.ts';

/** Logits are of size 100; seen were 2e-5. */
const TOLERANCE = 1e-4;
const SHAPE = { hiddenSize: 128, feedForwardSize: 192, headCount: 4, kvHeadCount: 2, headSize: 32, contextLength: 512, ropeBase: 10_000 };

const CASES: readonly { readonly name: string; readonly config: TinyConfig }[] = [
  { name: 'llama', config: { ...TINY_CONFIGS.llama, ...SHAPE } },
  { name: 'qwen2', config: { ...TINY_CONFIGS.qwen2, ...SHAPE } },
  { name: 'qwen3', config: { ...TINY_CONFIGS.qwen3, ...SHAPE, headSize: 64 } },
  { name: 'linear', config: { ...TINY_CONFIGS.llama, ...SHAPE, ropeScaling: { kind: 'linear', factor: 4 } } },
  { name: 'yarn', config: { ...TINY_CONFIGS.qwen2, ...SHAPE, ropeScaling: { kind: 'yarn', factor: 4, originalContextLength: 128 } } },
  { name: 'divisors', config: { ...TINY_CONFIGS.llama, ...SHAPE, ropeDivisors: Array.from({ length: 16 }, (_, i) => 1 + i * i) } },
  { name: 'divisors-yarn', config: { ...TINY_CONFIGS.llama, ...SHAPE, ropeScaling: { kind: 'yarn', factor: 2, originalContextLength: 64 }, ropeDivisors: Array.from({ length: 16 }, (_, i) => 1 + i / 4) } },
];

interface Row { readonly name: string; readonly tokens: readonly number[]; readonly logits: readonly number[] }

const ROWS = new Map((readRows('llama-cpp-logits.jsonl.gz') as readonly Row[]).map((row) => [row.name, row]));

test.each(CASES)('$name gives llama.cpp’s logits', async ({ name, config }) => {
  const model = tinyModel(config, { linears: 'F32', embedding: 'F32', head: 'F32' });
  const folder = process.env['CONTRACTRL_WRITE_GGUF'];
  if (folder !== undefined) writeFileSync(join(folder, `${name}.gguf`), model.file);
  const { tokens, logits } = ROWS.get(name)!;
  const engine = await startTiny(model, 'q41x', false);
  expect(largestDifference(await logitsAfter(engine, [tokens.slice(0, 20), tokens.slice(20)]), logits)).toBeLessThan(TOLERANCE);
  await engine.dispose();
});
