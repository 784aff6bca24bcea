import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LINEAR_NAMES, matrixForm, type LoraAdapter, type LoraMatrix } from './adapter.ts';
import { readAdapter, writeAdapter } from './peft.ts';

const CONFIG = {
  peft_type: 'LORA', r: 2, lora_alpha: 4, bias: 'none', fan_in_fan_out: false, base_model_name_or_path: 'test/base',
  target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
};
const MODULES = ['self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj', 'self_attn.o_proj', 'mlp.gate_proj', 'mlp.up_proj', 'mlp.down_proj'];

interface Entry { readonly dtype: string; readonly shape: readonly number[]; readonly bytes: Uint8Array }

function floats(shape: readonly number[], first = 1): Entry {
  const values = Float32Array.from({ length: shape.reduce((product, size) => product * size, 1) }, (_, i) => first + i);
  return { dtype: 'F32', shape, bytes: new Uint8Array(values.buffer) };
}

/** Both matrices of every linear, from 3 to 5, for one layer or more. */
function allTensors(layerCount = 1): Record<string, Entry> {
  const tensors: Record<string, Entry> = {};
  for (let layer = 0; layer < layerCount; layer++) {
    for (const module of MODULES) {
      tensors[`base_model.model.model.layers.${layer}.${module}.lora_A.weight`] = floats([2, 3], layer);
      tensors[`base_model.model.model.layers.${layer}.${module}.lora_B.weight`] = floats([5, 2], 10 + layer);
    }
  }
  return tensors;
}

function safetensors(tensors: Readonly<Record<string, Entry>>): Uint8Array {
  let offset = 0;
  const entries = Object.entries(tensors).map(([name, { dtype, shape, bytes }]) => {
    const start = offset;
    offset += bytes.length;
    return [name, { dtype, shape, data_offsets: [start, offset] }];
  });
  const header = new TextEncoder().encode(JSON.stringify({ __metadata__: { format: 'pt' }, ...Object.fromEntries(entries) }));
  return withHeader(header, Object.values(tensors).map(({ bytes }) => bytes));
}

function withHeader(header: Uint8Array, data: readonly Uint8Array[] = []): Uint8Array {
  return Buffer.concat([new Uint8Array(BigUint64Array.of(BigInt(header.length)).buffer), header, ...data]);
}

async function issueOf(weights: Uint8Array, config: unknown = CONFIG, base?: string): Promise<unknown> {
  const read = await readAdapter(weights, typeof config === 'string' ? config : JSON.stringify(config), base === undefined ? {} : { base });
  return read.ok ? undefined : read.error;
}

const GOOD = safetensors(allTensors(2));
const FIRST = 'base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight';

test('an adapter is read whole: rank, alpha, layers, matrices, digest', async () => {
  const read = await readAdapter(GOOD, JSON.stringify(CONFIG), { base: 'test/base' });
  if (!read.ok) throw new Error(read.error.code);
  expect(read.value).toMatchObject({ rank: 2, alpha: 4 });
  expect(read.value.digest).toMatch(/^[0-9a-f]{64}$/u);
  expect(read.value.layers).toHaveLength(2);
  for (const linear of LINEAR_NAMES) {
    expect(read.value.layers[1]![linear]).toEqual({
      inputSize: 3, outputSize: 5, a: Float32Array.of(1, 2, 3, 4, 5, 6), b: Float32Array.of(11, 12, 13, 14, 15, 16, 17, 18, 19, 20),
    });
  }
});

test.each([
  ['F16', Uint16Array.of(0x3c00, 0xc000, 0x3800, 0, 0x3c00, 0x3c00)],
  ['BF16', Uint16Array.of(0x3f80, 0xc000, 0x3f00, 0, 0x3f80, 0x3f80)],
])('%s values become float32', async (dtype, values) => {
  const read = await readAdapter(safetensors({ ...allTensors(), [FIRST]: { dtype, shape: [2, 3], bytes: new Uint8Array(values.buffer) } }), JSON.stringify(CONFIG));
  if (!read.ok) throw new Error(read.error.code);
  expect(Array.from(read.value.layers[0]!.q!.a)).toEqual([1, -2, 0.5, 0, 1, 1]);
});

describe('a damaged weights file is refused', () => {
  const header = (text: string): Uint8Array => withHeader(new TextEncoder().encode(text));

  test.each([
    { what: 'empty', file: new Uint8Array(0), issue: { code: 'adapter/truncated', neededBytes: 8, actualBytes: 0 } },
    { what: 'cut in the header', file: GOOD.subarray(0, 100), issue: { code: 'adapter/truncated' } },
    { what: 'cut in the data', file: GOOD.subarray(0, GOOD.length - 1), issue: { code: 'adapter/truncated' } },
    { what: 'a web page', file: new TextEncoder().encode('<!doctype html>'), issue: { code: 'adapter/bad-header' } },
    { what: 'a header that is not JSON', file: header('{"a":'), issue: { code: 'adapter/bad-header', detail: 'json/truncated' } },
    { what: 'a header with a name twice', file: header('{"a":{},"a":{}}'), issue: { code: 'adapter/bad-header', detail: 'json/duplicate-name' } },
    { what: 'a header that is a list', file: header('[]'), issue: { code: 'adapter/bad-header' } },
    { what: 'a negative size', file: header('{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}'), issue: { code: 'adapter/bad-header' } },
    { what: 'offsets that do not fit the shape', file: header('{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,0]}}'), issue: { code: 'adapter/bad-header' } },
    { what: 'integers', file: header('{"a":{"dtype":"I64","shape":[0],"data_offsets":[0,0]}}'), issue: { code: 'adapter/unsupported-dtype', dtype: 'I64' } },
  ])('$what', async ({ file, issue }) => {
    expect(await issueOf(file)).toMatchObject(issue);
  });

  const withTensor = (name: string, entry: Entry): Uint8Array => safetensors({ ...allTensors(), [name]: entry });

  test.each([
    { what: 'NaN', file: withTensor(FIRST, { ...floats([2, 3]), bytes: new Uint8Array(new Float32Array(6).fill(NaN).buffer) }), issue: { code: 'adapter/not-finite', tensor: FIRST } },
    { what: 'another rank', file: withTensor(FIRST, floats([3, 3])), issue: { code: 'adapter/bad-shape', tensor: FIRST, shape: [3, 3], expected: [2, 3] } },
    { what: 'a vector', file: withTensor(FIRST, floats([2])), issue: { code: 'adapter/bad-shape', tensor: FIRST } },
    { what: 'an embedding', file: withTensor('base_model.model.model.embed_tokens.weight', floats([2])), issue: { code: 'adapter/unexpected-tensor' } },
    { what: 'another module', file: withTensor(FIRST.replace('q_proj', 'qkv_proj'), floats([2, 3])), issue: { code: 'adapter/unexpected-tensor' } },
    { what: 'half a layer more', file: withTensor(FIRST.replace('.0.', '.1.'), floats([2, 3])), issue: { code: 'adapter/missing-tensor' } },
  ])('$what', async ({ file, issue }) => {
    expect(await issueOf(file)).toMatchObject(issue);
  });

  test('a missing matrix', async () => {
    const { [FIRST]: _, ...rest } = allTensors();
    expect(await issueOf(safetensors(rest))).toEqual({ code: 'adapter/missing-tensor', tensor: FIRST });
  });
});

describe('a configuration that would be applied wrongly is refused by its key', () => {
  test.each([
    ['peft_type', 'IA3'], ['r', 0], ['r', 2.5], ['r', '8'], ['lora_alpha', 0], ['target_modules', 'all-linear'], ['target_modules', []], ['target_modules', ['q_proj', 'lm_head']],
    ['target_modules', ['q_proj', 'q_proj']], ['bias', 'all'], ['fan_in_fan_out', true], ['use_rslora', 'yes'], ['use_dora', true], ['lora_bias', true], ['modules_to_save', ['lm_head']],
    ['layers_to_transform', [1]], ['exclude_modules', ['q_proj']], ['rank_pattern', []], ['rank_pattern', { q_proj: 0 }], ['rank_pattern', { 'layers.[01].q_proj': 4 }], ['alpha_pattern', { q_proj: '4' }],
    ['init_lora_weights', 'pissa'], ['init_lora_weights', 'olora'], ['use_qalora', true], ['trainable_token_indices', [5]], ['layer_replication', [[0, 1]]],
  ])('%s = %j', async (key, value) => {
    expect(await issueOf(GOOD, { ...CONFIG, [key]: value })).toMatchObject({ code: 'adapter/bad-config', key });
  });

  test('options that are off, and notes about training, change nothing', async () => {
    const more = {
      use_rslora: false, use_dora: false, rank_pattern: {}, modules_to_save: null, lora_dropout: 0.1, task_type: 'CAUSAL_LM', inference_mode: true, init_lora_weights: 'gaussian',
      megatron_core: 'megatron.core', qalora_group_size: 16, use_qalora: false,
    };
    expect(await issueOf(GOOD, { ...CONFIG, ...more })).toBeUndefined();
  });

  test('a rank that a pattern says and the tensors do not have', async () => {
    expect(await issueOf(GOOD, { ...CONFIG, rank_pattern: { 'layers.1.self_attn.q_proj': 4 } })).toEqual({
      code: 'adapter/bad-shape', tensor: FIRST.replace('.0.', '.1.'), shape: [2, 3], expected: [4, 3],
    });
  });

  test('linears that have tensors and are not announced, or are announced and have none', async () => {
    expect(await issueOf(GOOD, { ...CONFIG, target_modules: ['k_proj'] })).toEqual({ code: 'adapter/unexpected-tensor', tensor: FIRST });
    const some = Object.fromEntries(Object.entries(allTensors()).filter(([name]) => !name.includes('up_proj')));
    expect(await issueOf(safetensors(some))).toMatchObject({ code: 'adapter/missing-tensor' });
    expect(await issueOf(safetensors(some), { ...CONFIG, target_modules: CONFIG.target_modules.filter((name) => name !== 'up_proj') })).toBeUndefined();
  });

  test('not JSON, and not an object', async () => {
    expect(await issueOf(GOOD, '{"r": 2')).toMatchObject({ code: 'adapter/bad-config', detail: 'json/truncated' });
    expect(await issueOf(GOOD, '[]')).toMatchObject({ code: 'adapter/bad-config' });
  });

  test('another base model than the one asked for', async () => {
    expect(await issueOf(GOOD, CONFIG, 'other/base')).toEqual({ code: 'adapter/wrong-base', base: 'test/base', expected: 'other/base' });
  });
});

describe('the version of the prompts that an adapter was trained for', () => {
  const read = async (config: object, promptVersion?: string): Promise<unknown> => readAdapter(GOOD, JSON.stringify({ ...CONFIG, ...config }), promptVersion === undefined ? {} : { promptVersion });

  test.each([
    { what: 'the same', config: { contractrl: { prompt_version: '2' } }, expected: '2' },
    { what: 'any, where none is asked for', config: { contractrl: { prompt_version: '1' } }, expected: undefined },
    { what: 'none, where none is asked for', config: {}, expected: undefined },
  ])('$what is taken', async ({ config, expected }) => {
    expect(await read(config, expected)).toMatchObject({ ok: true });
  });

  test.each([
    { what: 'another', config: { contractrl: { prompt_version: '1' } }, error: { code: 'adapter/other-prompt', promptVersion: '1', expected: '2' } },
    { what: 'none', config: {}, error: { code: 'adapter/other-prompt', promptVersion: undefined, expected: '2' } },
    { what: 'one that is not text', config: { contractrl: { prompt_version: 2 } }, error: { code: 'adapter/bad-config', key: 'contractrl' } },
    { what: 'a member that is no object', config: { contractrl: '2' }, error: { code: 'adapter/bad-config', key: 'contractrl' } },
  ])('$what is refused', async ({ config, error }) => {
    expect(await read(config, '2')).toMatchObject({ ok: false, error });
  });

  test('is written with the adapter', async () => {
    const adapter = await readAdapter(GOOD, JSON.stringify(CONFIG));
    if (!adapter.ok) throw new Error(adapter.error.code);
    const { weights, configText } = writeAdapter(adapter.value, 'test/base', { promptVersion: '7' });
    expect(await readAdapter(weights, configText, { promptVersion: '7' })).toMatchObject({ ok: true });
  });
});

test('written with 16 bits an adapter takes half the room and keeps what those bits can say', async () => {
  const adapter = await readAdapter(GOOD, JSON.stringify(CONFIG));
  if (!adapter.ok) throw new Error(adapter.error.code);
  const [whole, half] = (['F32', 'F16'] as const).map((type) => writeAdapter(adapter.value, 'test/base', { type }));
  const read = await readAdapter(half!.weights, half!.configText);
  expect(read.ok && read.value.layers).toEqual(adapter.value.layers);
  const valueCount = adapter.value.layers.flatMap((layer) => Object.values(layer)).reduce((sum, { a, b }) => sum + a.length + b.length, 0);
  // a header's numbers may have a digit less, and it is padded to whole 8 bytes
  expect(Math.abs(whole!.weights.length - half!.weights.length - 2 * valueCount)).toBeLessThan(0.1 * whole!.weights.length);
});

describe('an adapter for some linears', () => {
  test.each([
    { what: 'plain', change: {}, form: { rank: 2, scaling: 2 } },
    { what: 'rank-stabilised', change: { use_rslora: true }, form: { rank: 2, scaling: 4 / Math.SQRT2 } },
    { what: 'with a factor of its own by module name', change: { alpha_pattern: { q_proj: 5 } }, form: { rank: 2, scaling: 2.5 } },
    { what: 'with a factor by the end of a path, the first that fits', change: { alpha_pattern: { 'layers.0.self_attn.q_proj': 6, q_proj: 5 } }, form: { rank: 2, scaling: 3 } },
    { what: 'with a factor for another whose name ends alike', change: { alpha_pattern: { proj: 5, 'elf_attn.q_proj': 5, 'layers.1.self_attn.q_proj': 5 } }, form: { rank: 2, scaling: 2 } },
  ])('$what has the factor $form.scaling', async ({ change, form }) => {
    const read = await readAdapter(GOOD, JSON.stringify({ ...CONFIG, ...change }));
    if (!read.ok) throw new Error(read.error.code);
    expect(matrixForm(read.value, read.value.layers[0]!.q!)).toEqual(form);
  });

  test('that some layers lack cannot be written', async () => {
    const read = await readAdapter(GOOD, JSON.stringify(CONFIG));
    if (!read.ok) throw new Error(read.error.code);
    const [first, second] = read.value.layers;
    const { q: _, ...rest } = second!;
    expect(() => writeAdapter({ ...read.value, layers: [first!, rest] }, 'test/base')).toThrow(RangeError);
  });
});

test('what is written is read again, whatever the numbers', async () => {
  const matrix = fc.record({ rank: fc.integer({ min: 1, max: 3 }), scaling: fc.constantFrom(0.5, 1, 2, 3) }).chain(({ rank, scaling }) =>
    fc.tuple(fc.float32Array({ minLength: 4 * rank, maxLength: 4 * rank, noNaN: true, noDefaultInfinity: true }), fc.float32Array({ minLength: 5 * rank, maxLength: 5 * rank, noNaN: true, noDefaultInfinity: true }))
      .map(([a, b]): LoraMatrix => ({ a, b, inputSize: 4, outputSize: 5, rank, scaling })));
  const adapters = fc.subarray([...LINEAR_NAMES], { minLength: 1 }).chain((names) => fc.array(fc.record(Object.fromEntries(names.map((name) => [name, matrix]))), { minLength: 1, maxLength: 3 }));
  await fc.assert(fc.asyncProperty(adapters, async (layers) => {
    const adapter: LoraAdapter = { rank: 2, alpha: 4, digest: '' as LoraAdapter['digest'], layers };
    const { weights, configText } = writeAdapter(adapter, 'test/base');
    const read = await readAdapter(weights, configText, { base: 'test/base' });
    if (!read.ok) throw new Error(read.error.code);
    const plain = (given: LoraAdapter): unknown => given.layers.map((layer) => Object.entries(layer).map(([name, matrix]) => [name, { ...matrix, ...matrixForm(given, matrix) }]));
    expect(plain(read.value)).toEqual(plain(adapter));
    expect(read.value).toMatchObject({ rank: 2, alpha: 4 });
  }), { numRuns: 60 });
});
