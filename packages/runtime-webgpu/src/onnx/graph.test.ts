import * as ort from 'onnxruntime-node';
import { describe, expect, test } from 'vitest';
import { TINY_CONFIGS, tinyModel } from '../../tests/support/tiny-model.ts';
import { readGguf } from '../model/gguf.ts';
import { concatBytes, encodeModel, type OnnxGraph } from './encoder.ts';
import { buildGraph, graphCacheKey, type GraphOptions } from './graph.ts';
import { repackQ4 } from './linear.ts';
import { rotaryTables } from './rotary.ts';

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
    { format: 'q41x' }, { format: 'q41x', lora: false }, { format: 'f32' }, { format: 'f32', lora: false }, { format: 'q41x', contextLength: 32 },
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

test('Q4_1 nibbles are re-paired as neighbours, m + 8d goes into the corrections', () => {
  const nibbles = Array.from({ length: 16 }, (_, i) => i | ((15 - i) << 4));
  const { nibbles: packed, scales, corrections } = repackQ4(Uint8Array.from([0x00, 0x38, 0x00, 0xc0, ...nibbles]), 1, 1);
  const weights = Array.from(packed).flatMap((pair) => [pair & 15, pair >> 4]);
  expect(weights).toEqual([...Array.from({ length: 16 }, (_, i) => i), ...Array.from({ length: 16 }, (_, i) => 15 - i)]);
  expect([scales[0], corrections[0]]).toEqual([0.5, -2 + 8 * 0.5]);
});

test('rotary tables turn pair i of position p by p · base^(−2i / size)', () => {
  const { cos, sin } = rotaryTables(3, 4, 100);
  expect(Array.from(cos)).toEqual([1, 1, Math.cos(1), Math.cos(0.1), Math.cos(2), Math.cos(0.2)].map((value) => expect.closeTo(value, 6) as number));
  expect(Array.from(sin)).toEqual([0, 0, Math.sin(1), Math.sin(0.1), Math.sin(2), Math.sin(0.2)].map((value) => expect.closeTo(value, 6) as number));
});
