/** Adapters as PEFT saves them, on a small model whose logits torch computed with each: read, run, written, read again. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { matrixForm, type LinearName, type LoraAdapter } from '../src/lora/adapter.ts';
import { readAdapter, writeAdapter } from '../src/lora/peft.ts';
import { readSafetensors } from '../src/lora/safetensors.ts';
import { writeGguf, type GgufTensorSource } from './support/gguf-writer.ts';
import { largestDifference, logitsAfter, startTiny } from './support/tiny-engine.ts';
import { halfValue, interleaveRows, TINY_CONFIGS, tinyFields, type TinyConfig, type TinyModel } from './support/tiny-model.ts';

interface PeftFixture {
  readonly tokens: readonly number[];
  readonly base: Readonly<Record<string, { readonly shape: readonly number[]; readonly halves: string }>>;
  readonly logits: readonly number[];
  readonly adapters: readonly { readonly name: string; readonly config: string; readonly weights: string; readonly logits: readonly number[] }[];
}

const FOLDER = new URL('./fixtures/', import.meta.url);
const FIXTURE = JSON.parse(gunzipSync(readFileSync(new URL('peft.json.gz', FOLDER))).toString()) as PeftFixture;
/** Logits are of size 10 to 20; float32 on both sides. */
const TOLERANCE = 1e-4;

const CONFIG: TinyConfig = { ...TINY_CONFIGS.llama, vocabularySize: 48, ropeBase: 10_000, isHeadTied: false };

/** GGUF names of the model's tensors; layers are `blk.…`. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/^model\.embed_tokens/u, 'token_embd'], [/^lm_head/u, 'output'], [/^model\.norm/u, 'output_norm'], [/^model\.layers/u, 'blk'], [/input_layernorm/u, 'attn_norm'],
  [/post_attention_layernorm/u, 'ffn_norm'], [/self_attn\.([qkv])_proj/u, 'attn_$1'], [/self_attn\.o_proj/u, 'attn_output'], [/mlp\.(gate|up|down)_proj/u, 'ffn_$1'],
];

function toModel(): TinyModel {
  const tensors = Object.entries(FIXTURE.base).map(([name, { shape, halves }]): GgufTensorSource => {
    const bits = new Uint16Array(Uint8Array.from(Buffer.from(halves, 'base64')).buffer);
    const bytes = new Uint8Array(Float32Array.from(bits, halfValue).buffer);
    const isInterleaved = /[qk]_proj/u.test(name);
    return {
      name: NAMES.reduce((text, [from, to]) => text.replace(from, to), name), shape, type: 'F32',
      bytes: isInterleaved ? interleaveRows(bytes, shape[0]!, CONFIG.headSize, CONFIG.headSize) : bytes,
    };
  });
  return { config: CONFIG, weights: new Map(), tensors, file: writeGguf(tinyFields(CONFIG), tensors) };
}

async function read(files: { readonly weights: Uint8Array; readonly configText: string }): Promise<LoraAdapter> {
  const adapter = await readAdapter(files.weights, files.configText);
  if (!adapter.ok) throw new Error(adapter.error.code, { cause: adapter.error });
  return adapter.value;
}

let engine: Engine;
beforeAll(async () => {
  engine = await startTiny(toModel(), 'f32');
});
afterAll(() => engine.dispose());

test('the base model gives torch’s logits', async () => {
  expect(largestDifference(await logitsAfter(engine, [FIXTURE.tokens]), FIXTURE.logits)).toBeLessThan(TOLERANCE);
});

describe.each(FIXTURE.adapters)('an adapter that is $name', ({ config, weights, logits }) => {
  const files = { weights: Uint8Array.from(Buffer.from(weights, 'base64')), configText: config };

  test('gives torch’s logits, and the base’s again once it is out', async () => {
    expect(largestDifference(logits, FIXTURE.logits)).toBeGreaterThan(1000 * TOLERANCE);
    expect(engine.useAdapter(await read(files)).ok).toBe(true);
    expect(largestDifference(await logitsAfter(engine, [FIXTURE.tokens.slice(0, 5), FIXTURE.tokens.slice(5)]), logits)).toBeLessThan(TOLERANCE);
    expect(engine.useAdapter(undefined).ok).toBe(true);
    expect(largestDifference(await logitsAfter(engine, [FIXTURE.tokens]), FIXTURE.logits)).toBeLessThan(TOLERANCE);
  });

  test('is written with PEFT’s tensors and read again as it was', async () => {
    const adapter = await read(files);
    const written = writeAdapter(adapter, 'test/tiny-llama');
    const tensors = [readSafetensors(written.weights), readSafetensors(files.weights)].map((tensors) => tensors.ok && new Map([...tensors.value].sort()));
    expect(tensors[0]).toEqual(tensors[1]);
    expect(JSON.parse(written.configText)).toMatchObject({ base_model_name_or_path: 'test/tiny-llama', peft_type: 'LORA' });
    const again = await read(written);
    expect({ rank: again.rank, alpha: again.alpha }).toEqual({ rank: adapter.rank, alpha: adapter.alpha });
    for (const [layer, matrices] of adapter.layers.entries()) {
      expect(Object.keys(again.layers[layer]!)).toEqual(Object.keys(matrices));
      for (const [linear, matrix] of Object.entries(matrices)) {
        const other = again.layers[layer]![linear as LinearName]!;
        expect([other.a, other.b]).toEqual([matrix.a, matrix.b]);
        expect(matrixForm(again, other).rank).toBe(matrixForm(adapter, matrix).rank);
        expect(matrixForm(again, other).scaling).toBeCloseTo(matrixForm(adapter, matrix).scaling, 14);
      }
    }
  });

  const python = process.env['CONTRACTRL_PEFT_PYTHON'];
  test.skipIf(python === undefined)(`is loaded by PEFT from what was written${python === undefined ? ' (skipped: set CONTRACTRL_PEFT_PYTHON to a Python with peft)' : ''}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'contractrl-peft-'));
    const written = writeAdapter(await read(files), 'test/tiny-llama');
    writeFileSync(join(folder, 'adapter_model.safetensors'), written.weights);
    writeFileSync(join(folder, 'adapter_config.json'), written.configText);
    const run = spawnSync(python!, [fileURLToPath(new URL('make_peft.py', FOLDER)), folder], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect(run.status, run.stderr).toBe(0);
    expect(largestDifference(JSON.parse(run.stdout.trim().split('\n').at(-1)!) as number[], logits)).toBeLessThan(TOLERANCE);
  }, 300_000);
});
