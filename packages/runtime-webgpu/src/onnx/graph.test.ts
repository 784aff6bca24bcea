import * as ort from 'onnxruntime-node';
import { describe, expect, test } from 'vitest';
import { TINY_CONFIGS, tinyModel } from '../../tests/support/tiny-model.ts';
import { readRows } from '../../tests/support/real-model.ts';
import { LINEAR_NAMES } from '../lora/adapter.ts';
import { dequantise } from '../model/dequantise.ts';
import { readGguf } from '../model/gguf.ts';
import { linearTensor } from '../model/layout.ts';
import type { RopeScaling } from '../model/rope-scaling.ts';
import type { GgufTensor } from '../model/tensor.ts';
import { GraphBuilder } from './builder.ts';
import { concatBytes, encodeModel, type OnnxGraph } from './encoder.ts';
import { buildGraph, graphCacheKey, type GraphOptions } from './graph.ts';
import { GROUP_NAMES, groupMatrices, groupShape, LINEAR_GROUPS } from './linear-groups.ts';
import { addLinear, carriageOf, packNibbles } from './linear.ts';
import { weightReport } from './weight-report.ts';
import { rotaryFrequencies, rotaryMagnitude, rotaryTables } from './rotary.ts';

const read = await readGguf(tinyModel(TINY_CONFIGS.llama).file);
if (!read.ok) throw new Error(read.error.code);
const model = read.value;

describe('encoder', () => {
  const graph: OnnxGraph = {
    inputs: [{ name: 'x', type: 'float32', dimensions: [1, 'n'] }],
    outputs: [{ name: 'y', type: 'float32', dimensions: [1, 'n'] }],
    nodes: [{ operator: 'LeakyRelu', inputs: ['x'], outputs: ['r'], attributes: { alpha: { float: 0.5 } } }, { operator: 'Mul', inputs: ['r', 'c'], outputs: ['y'] }],
    initializers: [{ name: 'c', type: 'float32', dimensions: [1], data: Float32Array.of(3) }],
  };

  test('writes a model that ONNX Runtime loads and runs', async () => {
    const session = await ort.InferenceSession.create(concatBytes(encodeModel(graph)));
    const { y } = await session.run({ x: new ort.Tensor('float32', Float32Array.of(2, -4), [1, 2]) });
    expect(Array.from(y!.data as Float32Array)).toEqual([6, -6]);
    await session.release();
  });

  test('writes a node byte by byte as protobuf says', () => {
    const bytes = concatBytes(encodeModel({ inputs: [], outputs: [], initializers: [], nodes: [{ operator: 'Neg', inputs: ['a'], outputs: ['b'] }] }));
    // NodeProto: input "a", output "b", name "b:Neg", op_type "Neg", as field 1 of the graph.
    const node = [0x0a, 0x01, 0x61, 0x12, 0x01, 0x62, 0x1a, 0x05, 0x62, 0x3a, 0x4e, 0x65, 0x67, 0x22, 0x03, 0x4e, 0x65, 0x67];
    expect(Buffer.from(bytes).includes(Buffer.from([0x0a, node.length, ...node]))).toBe(true);
  });

  test('passes weights on without copying them', () => {
    const data = new Float32Array(4096);
    const parts = encodeModel({ inputs: [], outputs: [], nodes: [], initializers: [{ name: 'w', type: 'float32', dimensions: [4096], data }] });
    expect(parts.some((part) => part.buffer === data.buffer)).toBe(true);
  });
});

describe('graph', () => {
  const variants: readonly GraphOptions[] = [
    { format: 'q41x' }, { format: 'q41x', lora: false }, { format: 'f32' }, { format: 'f32', lora: false }, { format: 'q41x', contextLength: 32 }, { format: 'q41x', batched: true },
  ];

  test('the same options give the same bytes, others give others and another cache key', () => {
    const texts = variants.map((options) => Buffer.from(concatBytes(buildGraph(model, options).parts)).toString('latin1'));
    expect(texts).toEqual(variants.map((options) => Buffer.from(concatBytes(buildGraph(model, options).parts)).toString('latin1')));
    expect(new Set(texts).size).toBe(variants.length);
    expect(new Set(variants.map((options) => graphCacheKey(model, options))).size).toBe(variants.length);
    for (const options of variants) expect(graphCacheKey(model, options)).toMatch(/^[\w-]+$/u);
  });

  test('defaults spelled out are the same graph', () => {
    expect(graphCacheKey(model, { format: 'q41x', lora: true, contextLength: 64 })).toBe(graphCacheKey(model, { format: 'q41x' }));
  });

  test('sizeBytes counts model and external data', () => {
    const inline = buildGraph(model, { format: 'f32' });
    expect(inline.sizeBytes).toBe(concatBytes(inline.parts).length);
    expect(inline.externalData).toEqual([]);
  });

  test.each([0, 65, 1.5])('a context of %d positions is the caller’s mistake', (contextLength) => {
    expect(() => buildGraph(model, { format: 'f32', contextLength })).toThrow(RangeError);
  });
});

describe('groups of linears', () => {
  test('hold every linear once', () => {
    expect(GROUP_NAMES.flatMap((group) => LINEAR_GROUPS[group])).toEqual(LINEAR_NAMES);
  });

  test.each([
    { what: 'one type', storage: 'Q4_1', counts: { qkv: 1, o: 1, gate_up: 1, down: 1 } },
    { what: 'v and down in more bits', storage: { linears: 'Q4_K', wideLinears: 'Q6_K', embedding: 'Q8_0', head: 'F16' }, counts: { qkv: 2, o: 1, gate_up: 1, down: 1 } },
  ] as const)('$what: as few matrices as that allows, with all rows in order', async ({ storage, counts }) => {
    const tiny = tinyModel({ ...TINY_CONFIGS.llama, hiddenSize: 256, feedForwardSize: 256, headSize: 64 }, storage);
    const gguf = await readGguf(tiny.file);
    if (!gguf.ok) throw new Error(gguf.error.code);
    for (const group of GROUP_NAMES) {
      const matrices = groupMatrices(gguf.value, 1, group);
      expect(matrices).toHaveLength(counts[group]);
      const rows = LINEAR_GROUPS[group].flatMap((linear) => Array.from(tiny.weights.get(linearTensor(1, linear))!));
      expect(matrices.flatMap((matrix) => Array.from(dequantise(matrix)))).toEqual(rows);
      expect(matrices.reduce((sum, { shape }) => sum + shape[0]!, 0)).toBe(groupShape(gguf.value.config, group).outputSize);
    }
  });
});

describe('linears', () => {
  test.each([1024, 1056])('sums of blocks over %d inputs, by a matrix or by an operator', async (inputSize) => {
    const bytes = Uint8Array.from({ length: (3 * inputSize * 20) / 32 }, (_, i) => (i % 20 === 1 || i % 20 === 3 ? 0x28 + (i % 7) : (i * 37) % 256));
    const weight: GgufTensor<'Q4_1'> = { name: 'w', type: 'Q4_1', shape: [3, inputSize], bytes };
    const graph = new GraphBuilder('model');
    graph.output(addLinear(graph, 'q41x', graph.input('x', 'float32', ['s', inputSize]), 'y', weight), 'float32', ['s', 3]);
    const session = await ort.InferenceSession.create(concatBytes(encodeModel(graph)));
    const x = Float32Array.from({ length: 2 * inputSize }, (_, i) => Math.sin(i));
    const { y } = await session.run({ x: new ort.Tensor('float32', x, [2, inputSize]) });
    const values = dequantise(weight);
    const expected = [0, 1].flatMap((row) => [0, 1, 2].map((column) =>
      Array.from({ length: inputSize }, (_, i) => x[row * inputSize + i]! * values[column * inputSize + i]!).reduce((sum, product) => sum + product)));
    for (const [i, value] of expected.entries()) expect(y!.data[i]).toBeCloseTo(value, 3);
    await session.release();
  });

  test('neighbours share a byte, and what 4 bits around 8 leave goes into the corrections', () => {
    const integers = Int8Array.from({ length: 32 }, (_, i) => (i < 16 ? i : 31 - i));
    const packed = packNibbles({ blockLength: 32, integers, scales: Float32Array.of(0.5), minima: Float32Array.of(-2) }, { bias: 0, halves: 1 }, 1);
    expect(Array.from(packed.low).flatMap((pair) => [pair & 15, pair >> 4])).toEqual(Array.from(integers));
    expect(packed.high).toBeUndefined();
    expect(Array.from(packed.corrections!)).toEqual([-2 + 8 * 0.5]);
  });

  test.each([{ bias: 136, lowest: -136, highest: 119 }, { bias: 128, lowest: -128, highest: 127 }])('8 bits in two halves add up again, bias $bias', ({ bias, lowest, highest }) => {
    const integers = Int8Array.from({ length: 256 }, (_, i) => Math.max(-128, lowest) + i).filter((q) => q <= highest && q >= lowest);
    const even = integers.subarray(0, 2 * Math.floor(integers.length / 2));
    const { low, high, corrections } = packNibbles({ blockLength: even.length, integers: even, scales: Float32Array.of(1) }, { bias, halves: 2 }, 1);
    const nibbles = (bytes: Uint8Array): number[] => Array.from(bytes).flatMap((pair) => [pair & 15, pair >> 4]);
    const highs = nibbles(high!);
    expect(nibbles(low).map((u, i) => 16 * (highs[i]! - 8) + (u - 8) + (corrections?.[0] ?? 0))).toEqual(Array.from(even));
  });

  test('what each storage type is carried as', () => {
    const types = ['F32', 'F16', 'BF16', 'Q8_0', 'Q4_0', 'Q4_1', 'Q5_0', 'Q5_1', 'Q4_K', 'Q5_K', 'Q6_K'] as const;
    expect(Object.fromEntries(types.map((type) => [type, carriageOf('q41x', type)]))).toEqual({
      F32: 'f32', F16: 'f16', BF16: 'bf16', Q8_0: 'q4-pair+correction', Q4_0: 'q4', Q4_1: 'q4+correction',
      Q5_0: 'q4-pair', Q5_1: 'q4-pair+correction', Q4_K: 'q4+correction', Q5_K: 'q4-pair+correction', Q6_K: 'q4-pair',
    });
    for (const type of types) expect(carriageOf('f32', type)).toBe('f32');
  });
});

test('the weight report counts every weight once, by what it is stored and carried as', async () => {
  const mixed = await readGguf(tinyModel({ ...TINY_CONFIGS.qwen3, hiddenSize: 256, feedForwardSize: 256, headSize: 64 }, { linears: 'Q4_K', wideLinears: 'Q6_K', embedding: 'Q6_K', head: 'Q8_0' }).file);
  if (!mixed.ok) throw new Error(mixed.error.code);
  const [keySize, querySize] = [2 * 64, 4 * 64];
  const kept = [
    { storedAs: 'Q4_K', tensorCount: 10, weightCount: 2 * (2 * querySize + keySize + 2 * 256) * 256, exact: true },
    { storedAs: 'Q6_K', tensorCount: 4, weightCount: 2 * (keySize + 256) * 256, exact: true },
    { storedAs: 'Q6_K', carriedAs: 'rows', tensorCount: 1, weightCount: 50 * 256, exact: true },
    { storedAs: 'Q8_0', carriedAs: 'rows', tensorCount: 1, weightCount: 50 * 256, exact: true },
    { storedAs: 'F32', carriedAs: 'f32', tensorCount: 9, weightCount: 5 * 256 + 4 * 64, exact: true },
  ];
  expect(weightReport(mixed.value, 'q41x')).toEqual(kept.map((row, i) => ({ ...row, carriedAs: row.carriedAs ?? ['q4+correction', 'q4-pair'][i] })));
  expect(weightReport(mixed.value, 'f32')).toEqual(kept.map((row) => ({ ...row, carriedAs: row.carriedAs ?? 'f32' })));
});

interface RotaryRow {
  readonly name: string;
  readonly headSize: number;
  readonly parameters: { readonly rope_type: string; readonly rope_theta: number; readonly factor?: number; readonly original_max_position_embeddings?: number };
  readonly frequencies: readonly number[];
  readonly magnitude: number;
  readonly divisors?: readonly number[];
}

describe('rotary tables', () => {
  const rows = readRows('rotary.jsonl.gz') as readonly RotaryRow[];

  test.each(rows)('$name: frequencies and magnitude of the reference', ({ headSize, parameters, frequencies, magnitude, divisors }) => {
    const { rope_type: type, factor = 1, original_max_position_embeddings: originalContextLength = 0 } = parameters;
    const ropeScaling: RopeScaling =
      type === 'yarn' ? { kind: 'yarn', factor, originalContextLength } : type === 'linear' ? { kind: 'linear', factor } : { kind: 'none' };
    const frequencyDivisors = divisors === undefined ? {} : { frequencyDivisors: Float32Array.from(divisors) };
    const made = rotaryFrequencies({ ropeSize: headSize, ropeBase: parameters.rope_theta, ropeScaling, ...frequencyDivisors });
    expect(made).toHaveLength(headSize / 2);
    for (const [i, frequency] of frequencies.entries()) expect(Math.abs(made[i]! / frequency - 1)).toBeLessThan(4e-7);
    expect(rotaryMagnitude(ropeScaling)).toBeCloseTo(magnitude, 12);
  });

  test('pair i of position p is turned by p · base^(−2i / size)', () => {
    const { cos, sin } = rotaryTables(3, { ropeSize: 4, ropeBase: 100, ropeScaling: { kind: 'none' } });
    expect(Array.from(cos)).toEqual([1, 1, Math.cos(1), Math.cos(0.1), Math.cos(2), Math.cos(0.2)].map((value) => expect.closeTo(value, 6) as number));
    expect(Array.from(sin)).toEqual([0, 0, Math.sin(1), Math.sin(0.1), Math.sin(2), Math.sin(0.2)].map((value) => expect.closeTo(value, 6) as number));
  });
});
