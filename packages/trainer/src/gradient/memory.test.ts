import type { ModelConfig } from '@contractrl/runtime-webgpu';
import { HEAD } from '@contractrl/runtime-webgpu/onnx';
import { expect, test } from 'vitest';
import { tinyDecoder } from '../../tests/support/tiny-decoder.ts';
import { trainingMemoryBytes } from './memory.ts';

type Shape = Pick<ModelConfig, 'layerCount' | 'hiddenSize' | 'feedForwardSize' | 'headCount' | 'kvHeadCount'>;

function gigabytes(shape: Shape, contextLength: number, vocabularySize: number): number {
  const { config, tensors } = tinyDecoder('llama');
  return trainingMemoryBytes({ config: { ...config, ...shape, headSize: 64 }, vocabularySize, tensors }, contextLength) / 1e9;
}

const SMOL_135M: Shape = { layerCount: 30, hiddenSize: 576, feedForwardSize: 1536, headCount: 9, kvHeadCount: 3 };
const SMOL_360M: Shape = { layerCount: 32, hiddenSize: 960, feedForwardSize: 2560, headCount: 15, kvHeadCount: 5 };
const SMOL_1_7B: Shape = { layerCount: 24, hiddenSize: 2048, feedForwardSize: 8192, headCount: 32, kvHeadCount: 32 };

test.each([
  { base: 'SmolLM2-135M with 1,024 positions, where 3.4 were measured', shape: SMOL_135M, contextLength: 1024, least: 3.3, most: 3.6 },
  { base: 'the same with 512, where 1.9 were measured: loading takes most', shape: SMOL_135M, contextLength: 512, least: 1.8, most: 2 },
  { base: 'SmolLM2-360M with 1,024', shape: SMOL_360M, contextLength: 1024, least: 6, most: 8 },
  { base: 'SmolLM2-1.7B, too much for a laptop', shape: SMOL_1_7B, contextLength: 1024, least: 24, most: 30 },
])('$base: $least to $most GB', ({ shape, contextLength, least, most }) => {
  const needed = gigabytes(shape, contextLength, 49_152);
  expect(needed).toBeGreaterThan(least);
  expect(needed).toBeLessThan(most);
});

test('a head of its own is one more table, and a longer path takes more', () => {
  const tied = tinyDecoder('qwen3 with a tied head');
  const untied = tinyDecoder('qwen3');
  expect(untied.tensors.has(HEAD)).toBe(true);
  expect(trainingMemoryBytes(untied, 32) - trainingMemoryBytes(tied, 32)).toBe(4 * untied.vocabularySize * untied.config.hiddenSize);
  expect(trainingMemoryBytes(tied, 32)).toBeGreaterThan(trainingMemoryBytes(tied, 16));
});
