import type { Digest } from '@contractrl/core';
import { LINEAR_NAMES, readAdapter, writeAdapter, type LoraAdapter } from '@contractrl/runtime-webgpu';
import { describe, expect, test } from 'vitest';
import { tinyDecoder, tinyParameters } from '../../tests/support/tiny-decoder.ts';
import { adapterOf, initialParameters, parametersOf } from './parameters.ts';

const { config } = tinyDecoder('llama');
const DIGEST = '1'.repeat(64) as Digest;

describe('initial parameters', () => {
  const { tensors } = initialParameters(config, { rank: 4, alpha: 8, seed: 1 });

  test('are A and B of every linear of every layer', () => {
    expect(tensors).toHaveLength(2 * LINEAR_NAMES.length * config.layerCount);
    expect(tensors.slice(0, 2).map(({ name, shape }) => ({ name, shape }))).toEqual([{ name: 'lora_a.0.q', shape: [4, 24] }, { name: 'lora_b.0.q', shape: [64, 4] }]);
    for (const { shape, data } of tensors) expect(data).toHaveLength(shape[0] * shape[1]);
  });

  test('A is normal with variance 1 / inputSize, B is zero', () => {
    const scaled = tensors.filter(({ name }) => name.startsWith('lora_a')).flatMap(({ shape, data }) => [...data].map((value) => value * Math.sqrt(shape[1])));
    const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    // of some 1,900 numbers: three standard errors
    expect(Math.abs(mean(scaled))).toBeLessThan(3 / Math.sqrt(scaled.length));
    expect(Math.abs(mean(scaled.map((value) => value * value)) - 1)).toBeLessThan(3 * Math.sqrt(2 / scaled.length));
    expect(mean(scaled.map((value) => Number(Math.abs(value) < 1)))).toBeCloseTo(0.683, 1);
    expect(tensors.filter(({ name }) => name.startsWith('lora_b')).every(({ data }) => data.every((value) => value === 0))).toBe(true);
  });

  test('follow from the seed', () => {
    expect(initialParameters(config, { rank: 4, alpha: 8, seed: 1 }).tensors).toEqual(tensors);
    expect(initialParameters(config, { rank: 4, alpha: 8, seed: 2 }).tensors[0]).not.toEqual(tensors[0]);
  });

  test.each([{ rank: 0, alpha: 1 }, { rank: 1.5, alpha: 1 }, { rank: 1, alpha: 0 }, { rank: 1, alpha: Number.NaN }])('rank $rank with alpha $alpha is the caller’s mistake', (options) => {
    expect(() => initialParameters(config, { ...options, seed: 0 })).toThrow(RangeError);
  });
});

describe('parameters as an adapter', () => {
  const parameters = tinyParameters(config, 3);

  test('come back from PEFT’s files with the same numbers', async () => {
    const files = writeAdapter(adapterOf(config, parameters, DIGEST), 'base');
    const read = await readAdapter(files.weights, files.configText);
    if (!read.ok) throw new Error(read.error.code);
    expect(parametersOf(config, read.value)).toEqual({ ok: true, value: parameters });
  });

  test('are copies', () => {
    const adapter = adapterOf(config, parameters, DIGEST);
    const again = parametersOf(config, adapter);
    expect(adapter.layers[0]!.q!.a).not.toBe(parameters.tensors[0]!.data);
    expect(again.ok && again.value.tensors[0]!.data).not.toBe(adapter.layers[0]!.q!.a);
  });

  const adapter = adapterOf(config, parameters, DIGEST);
  const [first, second] = adapter.layers;
  const withMatrix = (change: Readonly<Record<string, number>>): LoraAdapter => ({ ...adapter, layers: [first!, { ...second, up: { ...second!.up!, ...change } }] });
  test.each([
    { what: 'a layer too few', of: { ...adapter, layers: adapter.layers.slice(1) }, detail: '1 layers, the model has 2' },
    { what: 'no matrix for a linear', of: { ...adapter, layers: [{}, {}] }, detail: 'layer 0 has no q' },
    { what: 'another size', of: withMatrix({ outputSize: 41 }), detail: 'layer 1, up: not the model’s size' },
    { what: 'a rank of its own', of: withMatrix({ rank: 2 }), detail: 'layer 1, up: a rank or factor of its own' },
    { what: 'a factor of its own', of: withMatrix({ scaling: 3 }), detail: 'layer 1, up: a rank or factor of its own' },
  ])('an adapter with $what is refused', ({ of, detail }) => {
    expect(parametersOf(config, of)).toEqual({ ok: false, error: { code: 'gradient/adapter-mismatch', detail } });
  });
});
