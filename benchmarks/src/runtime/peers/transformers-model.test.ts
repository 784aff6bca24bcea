import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrtEngine, type GgufModel, type OrtRuntime } from '@contractrl/runtime-webgpu';
import { createCheckModel } from '@contractrl/runtime-webgpu/web';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { importOrt, taken } from '../wasm-runtime.ts';
import { fieldsOf, writeTransformersModel } from './transformers-model.ts';
import { withoutAlternatives } from './transformers-js.ts';

type Tensor = InstanceType<OrtRuntime['Tensor']>;

const CONTEXT_LENGTH = 64;
const check = createCheckModel();
const model: GgufModel = {
  ...check,
  metadata: {
    'tokenizer.ggml.tokens': ['a', 'b', 'ab', '<|im_end|>'], 'tokenizer.ggml.token_type': [1, 1, 1, 3], 'tokenizer.ggml.merges': ['a b'], 'tokenizer.ggml.eos_token_id': 3,
  } as GgufModel['metadata'],
};
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'contractrl-transformers-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('the rewritten graph gives the engine’s logits, of a prompt and of a token after it', async () => {
  await writeTransformersModel(folder, model, CONTEXT_LENGTH);
  const ort = await importOrt('node', 1);
  const { kvHeadCount, headSize, layerCount } = model.config;
  const session = await ort.InferenceSession.create(join(folder, 'onnx', 'model.onnx'), { intraOpNumThreads: 1 });
  const engine = taken(await createOrtEngine({ ort, model, graph: { format: 'f32', contextLength: CONTEXT_LENGTH }, executionProvider: 'cpu', threadCount: 1 }));
  const names = Array.from({ length: layerCount }, (_, layer) => [`${String(layer)}.key`, `${String(layer)}.value`]).flat();
  let past: Readonly<Record<string, Tensor>> = Object.fromEntries(names.map((name) => [`past_key_values.${name}`, new ort.Tensor('float32', new Float32Array(0), [1, kvHeadCount, 0, headSize])]));
  let cache = engine.emptyCache;
  for (const ids of [[5, 6, 7, 250], [9], [11, 12]]) {
    const int64 = (values: readonly number[]): Tensor => new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
    const outputs = await session.run({ input_ids: int64(ids), attention_mask: int64(Array<number>(cache.length + ids.length).fill(1)), ...past });
    const step = taken(await engine.extend(cache, ids));
    const expected = new Float32Array(engine.logitWidth);
    engine.allLogits(step.hidden, expected);
    expect(outputs['logits']!.dims).toEqual([1, 1, engine.logitWidth]);
    const logits = outputs['logits']!.data as Float32Array;
    expect(Math.max(...expected.map((value, id) => Math.abs(value - logits[id]!)))).toBeLessThan(2e-3);
    ({ cache } = step);
    past = Object.fromEntries(names.map((name) => [`past_key_values.${name}`, outputs[`present.${name}`]!]));
  }
  await engine.dispose();
  await session.release();
});

test('special tokens are kept apart from those that spell text', async () => {
  await writeTransformersModel(folder, model, CONTEXT_LENGTH);
  const tokenizer = JSON.parse(await readFile(join(folder, 'tokenizer.json'), 'utf8')) as object;
  expect(tokenizer).toMatchObject({ model: { vocab: { a: 0, ab: 2 }, merges: ['a b'] }, added_tokens: [{ id: 3, content: '<|im_end|>', special: true }] });
});

test('a model with a head of its own is refused', async () => {
  const tensors = new Map([...model.tensors, ['output.weight', model.tensors.get('token_embd.weight')!] as const]);
  await expect(writeTransformersModel(folder, { ...model, tensors }, CONTEXT_LENGTH)).rejects.toThrow(TypeError);
});

test('a message is read field by field, and one that was cut is noticed', () => {
  const bytes = Uint8Array.of(0x08, 0x96, 0x01, 0x12, 0x02, 0x68, 0x69, 0x1d, 0, 0, 0, 0);
  expect(fieldsOf(bytes).map(({ number, whole, contents }) => [number, whole.length, new TextDecoder().decode(contents)])).toEqual([[1, 3, ''], [2, 4, 'hi'], [3, 5, '']]);
  expect(() => fieldsOf(Uint8Array.of(0x08, 0x96))).toThrow(RangeError);
});

test('of a union of operations an array of objects is left, with what the first operation may name', () => {
  const operation = (op: string, members: object): object => ({ type: 'object', properties: { op: { const: op }, ...members }, required: ['op'], additionalProperties: false });
  const first = { anyOf: [
    operation('add', { path: { const: '/a' }, value: { type: 'string' } }), operation('replace', { path: { enum: ['/b', '/c'] }, value: { type: 'integer' } }),
    operation('move', { from: { const: '/b' }, path: { const: '/a' } }),
  ] };
  const schema = { anyOf: [{ type: 'array', prefixItems: [first], items: {}, minItems: 1, maxItems: 2 }, { type: 'object' }] } as never;
  expect(withoutAlternatives(schema)).toEqual({
    type: 'array', minItems: 1, maxItems: 2,
    items: {
      type: 'object', required: ['op', 'path'], additionalProperties: false,
      properties: { op: { enum: ['add', 'replace', 'move'] }, path: { enum: ['/a', '/b', '/c'] }, value: { type: ['string', 'integer'] }, from: { enum: ['/b'] } },
    },
  });
  expect(withoutAlternatives({ anyOf: [] })).toEqual({ anyOf: [] });
});
