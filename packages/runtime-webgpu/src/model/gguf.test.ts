import { err, ok, type Digest } from '@contractrl/core';
import { describe, expect, test } from 'vitest';
import { writeGguf, type GgufField } from '../../tests/support/gguf-writer.ts';
import { TINY_CONFIGS, tinyFields, tinyModel } from '../../tests/support/tiny-model.ts';
import type { ModelIssue } from './issue.ts';
import { readGguf, readGgufFile, readGgufTables, type FileRanges } from './gguf.ts';
import { readRopeScaling } from './rope-scaling.ts';
import { createRowTable } from './row-table.ts';

const model = tinyModel(TINY_CONFIGS.llama);

async function issueOf(file: Uint8Array | Blob): Promise<ModelIssue | undefined> {
  const read = await readGguf(file);
  return read.ok ? undefined : read.error;
}

/** A file with the given fields and no tensors: enough for whatever is refused by its metadata. */
function header(fields: Readonly<Record<string, GgufField>>): Uint8Array<ArrayBuffer> {
  return writeGguf(fields, []);
}

describe('a whole file', () => {
  test('is read from bytes, from a Buffer and from a Blob alike', async () => {
    const sources = [model.file, Buffer.from(model.file), new Blob([model.file])];
    for (const source of sources) {
      const read = await readGguf(source);
      if (!read.ok) throw new Error(read.error.code);
      expect(read.value.config).toEqual({
        architecture: 'llama', layerCount: 2, hiddenSize: 64, feedForwardSize: 96, headCount: 4, kvHeadCount: 2, headSize: 16, contextLength: 64,
        ropeBase: 100_000, ropeSize: 16, ropeScaling: { kind: 'none' }, rmsEpsilon: Math.fround(1e-5),
      });
      expect(read.value.vocabularySize).toBe(50);
      expect(read.value.tensors.get('blk.1.ffn_down.weight')).toMatchObject({ shape: [64, 96], type: 'Q4_1' });
      expect(read.value.digest).toMatch(/^[0-9a-f]{64}$/u);
    }
  });

  test('keeps a digest that the caller has verified', async () => {
    const read = await readGguf(model.file, { digest: 'f'.repeat(64) as never });
    expect(read).toMatchObject({ ok: true, value: { digest: 'f'.repeat(64) } });
  });
});

describe('a file that is read by parts', () => {
  const digest = 'f'.repeat(64) as Digest;
  const reads: (readonly [start: number, end: number])[] = [];
  const ranges = (file: Uint8Array<ArrayBuffer>): FileRanges => ({
    sizeBytes: file.length,
    read(start, end, scratch = new Uint8Array(end - start)) {
      reads.push([start, end]);
      const bytes = scratch.subarray(0, end - start);
      bytes.set(file.subarray(start, end));
      return Promise.resolve(ok(bytes));
    },
  });

  test('gives the same model as the whole file', async () => {
    const [whole, parts] = [await readGguf(model.file, { digest }), await readGgufFile(ranges(model.file), digest)];
    expect(parts).toEqual(whole);
  });

  test.each([
    { what: 'one table for both', tiny: tinyModel(TINY_CONFIGS.llama), names: ['token_embd.weight'] },
    { what: 'a head of its own', tiny: tinyModel(TINY_CONFIGS.qwen3, { linears: 'Q4_1', embedding: 'Q8_0', head: 'Q8_0' }), names: ['token_embd.weight', 'output.weight'] },
  ])('gives $what without the weights of the layers', async ({ tiny, names }) => {
    const whole = await readGguf(tiny.file, { digest });
    reads.length = 0;
    const tables = await readGgufTables(ranges(tiny.file), digest);
    if (!whole.ok || !tables.ok) throw new Error('a tiny model is read');
    const { config, metadata, vocabularySize, tensors, rowTables } = tables.value;
    expect({ config, metadata, vocabularySize }).toEqual({ config: whole.value.config, metadata: whole.value.metadata, vocabularySize: whole.value.vocabularySize });
    expect([...rowTables!.keys()]).toEqual(names);
    const hidden = Float32Array.from({ length: config.hiddenSize }, (_, i) => Math.sin(i));
    for (const name of names) {
      const [logits, expected] = [new Float32Array(vocabularySize), new Float32Array(vocabularySize)];
      rowTables!.get(name)!.multiply(hidden, logits);
      createRowTable(whole.value.tensors.get(name)!).multiply(hidden, expected);
      expect(logits).toEqual(expected);
    }
    expect(() => tensors.get('blk.1.ffn_down.weight')!.bytes).toThrow(TypeError);
    expect(tensors.get('blk.1.ffn_down.weight')).toMatchObject({ shape: whole.value.tensors.get('blk.1.ffn_down.weight')!.shape, type: whole.value.tensors.get('blk.1.ffn_down.weight')!.type });
  });

  test('is refused as the whole file is, and when it cannot be read', async () => {
    expect(await readGgufTables(ranges(model.file.slice(0, -1)), digest)).toMatchObject({ ok: false, error: { code: 'model/truncated' } });
    for (const failingFrom of [0, 1, 2]) {
      let count = 0;
      const { sizeBytes, read } = ranges(model.file);
      const failing: FileRanges = { sizeBytes, read: (...range) => (count++ < failingFrom ? read(...range) : Promise.resolve(err({ code: 'model/unreadable', detail: 'EIO' }))) };
      expect(await readGgufTables(failing, digest)).toMatchObject({ ok: false, error: { code: 'model/unreadable' } });
    }
  });
});

describe('a damaged file is refused', () => {
  test.each([
    { what: 'empty', file: new Uint8Array(0) },
    { what: 'three bytes', file: new TextEncoder().encode('GGU') },
    { what: 'a web page', file: new TextEncoder().encode('<!doctype html><title>Not found</title>') },
    { what: 'another container', file: new TextEncoder().encode('ggml then something') },
  ])('as not GGUF: $what', async ({ file }) => {
    expect(await issueOf(file)).toEqual({ code: 'model/not-gguf' });
  });

  test.each([
    { what: 'an unknown version', edit: (file: Uint8Array) => (file[4] = 9) },
    { what: 'a metadata count beyond reason', edit: (file: Uint8Array) => file.fill(0xff, 16, 24) },
    { what: 'a tensor count beyond reason', edit: (file: Uint8Array) => file.fill(0xff, 8, 16) },
    { what: 'a key of four gigabytes', edit: (file: Uint8Array) => file.fill(0xff, 24, 32) },
    { what: 'big-endian numbers', edit: (file: Uint8Array) => file.set([0, 0, 0, 3], 4) },
  ])('as unreadable: $what', async ({ edit }) => {
    const file = model.file.slice();
    edit(file);
    expect(await issueOf(file)).toMatchObject({ code: 'model/unreadable' });
  });

  test('at every length short of the whole, as a half-downloaded file has', async () => {
    const { length } = model.file;
    const lengths = [8, 24, 25, 100, 400, 1000, 1500, 2000, 4000, Math.floor(length / 2), length - 1000, length - 1];
    for (const short of lengths) {
      expect((await issueOf(model.file.subarray(0, short)))?.code, `${short} of ${length} bytes`).toBe('model/truncated');
    }
  });

  test('where tensor data would lie past its end, with both sizes', async () => {
    expect(await issueOf(model.file.subarray(0, model.file.length - 1))).toEqual({
      code: 'model/truncated', neededBytes: model.file.length, actualBytes: model.file.length - 1,
    });
  });
});

describe('a model that this library would run wrongly is refused', () => {
  const fields = tinyFields(TINY_CONFIGS.llama);

  test.each([
    { what: 'another architecture', change: { 'general.architecture': { type: 'string', value: 'gemma3' } }, issue: { code: 'model/unsupported-architecture', architecture: 'gemma3' } },
    ...['longrope', 'dynamic', ''].map((type) => ({
      what: `positions stretched by "${type}"`, change: { 'llama.rope.scaling.type': { type: 'string', value: type } },
      issue: { code: 'model/unsupported-setting', key: 'llama.rope.scaling.type', value: type },
    } as const)),
    {
      what: 'YaRN without its factor', change: { 'llama.rope.scaling.type': { type: 'string', value: 'yarn' } },
      issue: { code: 'model/missing-field', key: 'llama.rope.scaling.factor' },
    },
    {
      what: 'a factor of nothing', change: { 'llama.rope.scaling.factor': { type: 'float32', value: 0 } },
      issue: { code: 'model/bad-field', key: 'llama.rope.scaling.factor' },
    },
    {
      what: 'YaRN at another sharpness', change: { 'llama.rope.scaling.attn_factor': { type: 'float32', value: 0.5 } },
      issue: { code: 'model/unsupported-setting', key: 'llama.rope.scaling.attn_factor', value: '0.5' },
    },
    {
      what: 'YaRN with a ramp of its own', change: { 'llama.rope.scaling.yarn_beta_fast': { type: 'float32', value: 16 } },
      issue: { code: 'model/unsupported-setting', key: 'llama.rope.scaling.yarn_beta_fast', value: '16' },
    },
    {
      what: 'experts', change: { 'llama.expert_count': { type: 'uint32', value: 8 } },
      issue: { code: 'model/unsupported-setting', key: 'llama.expert_count', value: '8' },
    },
    {
      what: 'a sliding window', change: { 'llama.attention.sliding_window': { type: 'uint32', value: 4096 } },
      issue: { code: 'model/unsupported-setting', key: 'llama.attention.sliding_window', value: '4096' },
    },
    {
      what: 'attention to what comes later', change: { 'llama.attention.causal': { type: 'bool', value: false } },
      issue: { code: 'model/unsupported-setting', key: 'llama.attention.causal', value: 'false' },
    },
    {
      what: 'scaled logits', change: { 'llama.logit_scale': { type: 'float32', value: 8 } },
      issue: { code: 'model/unsupported-setting', key: 'llama.logit_scale', value: '8' },
    },
    {
      what: 'rotary embedding of fewer pairs than the operator takes', change: { 'llama.rope.dimension_count': { type: 'uint32', value: 8 } },
      issue: { code: 'model/unsupported-setting', key: 'llama.rope.dimension_count', value: '8' },
    },
    {
      what: 'rotary embedding of more than a head', change: { 'llama.rope.dimension_count': { type: 'uint32', value: 32 } },
      issue: { code: 'model/bad-field', key: 'llama.rope.dimension_count' },
    },
    {
      what: 'values of another size than keys', change: { 'llama.attention.value_length': { type: 'uint32', value: 8 } },
      issue: { code: 'model/unsupported-setting', key: 'llama.attention.value_length', value: '8' },
    },
    {
      what: 'heads that do not divide', change: { 'llama.attention.head_count_kv': { type: 'uint32', value: 3 } },
      issue: { code: 'model/bad-field', key: 'llama.attention.head_count_kv' },
    },
    { what: 'no layers', change: { 'llama.block_count': { type: 'uint32', value: 0 } }, issue: { code: 'model/bad-field', key: 'llama.block_count' } },
    { what: 'a count as text', change: { 'llama.block_count': { type: 'string', value: '2' } }, issue: { code: 'model/bad-field', key: 'llama.block_count' } },
    { what: 'an epsilon that is no number', change: { 'llama.attention.layer_norm_rms_epsilon': { type: 'float32', value: NaN } }, issue: { code: 'model/bad-field' } },
    { what: 'no embedding', change: {}, issue: { code: 'model/missing-tensor', tensor: 'token_embd.weight' } },
  ] as const)('$what', async ({ change, issue }) => {
    expect(await issueOf(header({ ...fields, ...change }))).toMatchObject(issue);
  });

  test.each(['general.architecture', 'llama.block_count', 'llama.embedding_length', 'llama.context_length', 'llama.attention.layer_norm_rms_epsilon'])('%s is missing', async (key) => {
    const { [key]: _, ...rest } = fields;
    expect(await issueOf(header(rest))).toEqual({ code: 'model/missing-field', key });
  });

  test('settings that change nothing are read', async () => {
    const issue = await issueOf(header({
      ...fields, 'llama.rope.scaling.type': { type: 'string', value: 'none' }, 'llama.rope.scaling.finetuned': { type: 'bool', value: true },
      'llama.expert_count': { type: 'uint32', value: 0 }, 'llama.attention.sliding_window': { type: 'uint32', value: 0 },
      'llama.attention.causal': { type: 'bool', value: true }, 'llama.rope.scaling.attn_factor': { type: 'float32', value: 1 },
    }));
    expect(issue).toEqual({ code: 'model/missing-tensor', tensor: 'token_embd.weight' });
  });
});

describe('rotary scaling is read as', () => {
  const scaling = (type: string, factor?: number, original?: number): Record<string, unknown> => ({
    ...(type === '' ? {} : { 'a.rope.scaling.type': type }), ...(factor === undefined ? {} : { 'a.rope.scaling.factor': factor }),
    ...(original === undefined ? {} : { 'a.rope.scaling.original_context_length': original }),
  });

  test.each([
    { what: 'none where nothing is said', metadata: scaling(''), expected: { kind: 'none' } },
    { what: 'none where it is said, whatever the factor', metadata: scaling('none', 4), expected: { kind: 'none' } },
    { what: 'linear where only a factor is said', metadata: scaling('', 4), expected: { kind: 'linear', factor: 4 } },
    { what: 'linear', metadata: scaling('linear', 2), expected: { kind: 'linear', factor: 2 } },
    { what: 'YaRN', metadata: scaling('yarn', 4, 512), expected: { kind: 'yarn', factor: 4, originalContextLength: 512 } },
    { what: 'YaRN of the whole context where no original is said', metadata: scaling('yarn', 4), expected: { kind: 'yarn', factor: 4, originalContextLength: 2048 } },
  ])('$what', ({ metadata, expected }) => {
    expect(readRopeScaling(metadata, 'a', 2048)).toEqual({ ok: true, value: expected });
  });
});

describe('tensors are held to the layout of the architecture', () => {
  test.each([
    { what: 'a bias that nobody would add', tensor: { name: 'blk.0.attn_q.bias', shape: [64], type: 'F32', bytes: new Uint8Array(256) }, issue: { code: 'model/unexpected-tensor', tensor: 'blk.0.attn_q.bias' } },
    { what: 'divisors of other frequencies', tensor: { name: 'rope_freqs.weight', shape: [7], type: 'F32', bytes: new Uint8Array(28) }, issue: { code: 'model/bad-shape', tensor: 'rope_freqs.weight', shape: [7], expected: [8] } },
    { what: 'a divisor of nothing', tensor: { name: 'rope_freqs.weight', shape: [8], type: 'F32', bytes: new Uint8Array(32) }, issue: { code: 'model/bad-field', key: 'rope_freqs.weight' } },
    { what: 'long and short factors', tensor: { name: 'rope_factors_long.weight', shape: [8], type: 'F32', bytes: new Uint8Array(32) }, issue: { code: 'model/unexpected-tensor', tensor: 'rope_factors_long.weight' } },
    { what: 'a router', tensor: { name: 'blk.0.ffn_gate_inp.weight', shape: [64], type: 'F32', bytes: new Uint8Array(256) }, issue: { code: 'model/unexpected-tensor', tensor: 'blk.0.ffn_gate_inp.weight' } },
    {
      what: 'a storage type that is not read', tensor: { name: 'extra', shape: [256], type: 'Q2_K', bytes: new Uint8Array(84) },
      issue: { code: 'model/unsupported-tensor-type', tensor: 'extra', type: 'Q2_K' },
    },
    { what: 'a K block for rows of 32', tensor: { name: 'extra', shape: [8, 32], type: 'Q4_K', bytes: new Uint8Array(144) }, issue: { code: 'model/unreadable' } },
    {
      what: 'a norm of another length', tensor: { name: 'output_norm.weight', shape: [32], type: 'F32', bytes: new Uint8Array(128) },
      issue: { code: 'model/bad-shape', tensor: 'output_norm.weight', shape: [32], expected: [64] },
    },
    { what: 'rows that are not whole blocks', tensor: { name: 'extra', shape: [4, 8], type: 'Q8_0', bytes: new Uint8Array(34) }, issue: { code: 'model/unreadable' } },
  ] as const)('$what', async ({ tensor, issue }) => {
    const file = writeGguf(tinyFields(TINY_CONFIGS.llama), [...model.tensors.filter(({ name }) => name !== tensor.name), tensor]);
    expect(await issueOf(file)).toMatchObject(issue);
  });

  test('a missing layer norm', async () => {
    const file = writeGguf(tinyFields(TINY_CONFIGS.llama), model.tensors.filter(({ name }) => name !== 'blk.1.ffn_norm.weight'));
    expect(await issueOf(file)).toEqual({ code: 'model/missing-tensor', tensor: 'blk.1.ffn_norm.weight' });
  });

  test('qwen2 without its biases', async () => {
    const { tensors } = tinyModel(TINY_CONFIGS.qwen2);
    const file = writeGguf(tinyFields(TINY_CONFIGS.qwen2), tensors.filter(({ name }) => !name.endsWith('attn_k.bias')));
    expect(await issueOf(file)).toEqual({ code: 'model/missing-tensor', tensor: 'blk.0.attn_k.bias' });
  });
});
