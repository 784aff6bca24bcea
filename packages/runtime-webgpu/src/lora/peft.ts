/**
 * A LoRA adapter in the format of the PEFT library: `adapter_config.json` and `adapter_model.safetensors`. Only plain LoRA on all seven
 * linears of every layer is read; each option that would change the arithmetic (rsLoRA, DoRA, per-layer ranks, biases) is refused by its key.
 * Reference: huggingface/peft `src/peft/tuners/lora/config.py`.
 */
import { err, isJsonObject, ok, parseJson, type JsonObject, type JsonValue, type Result } from '@contractrl/core';
import { sha256 } from '../model/sha256.ts';
import { LINEAR_NAMES, type LinearName, type LoraAdapter, type LoraMatrix } from './adapter.ts';
import type { AdapterIssue } from './issue.ts';
import { readSafetensors, type FloatTensor } from './safetensors.ts';

const MODULES: Readonly<Record<LinearName, string>> = {
  q: 'self_attn.q_proj', k: 'self_attn.k_proj', v: 'self_attn.v_proj', o: 'self_attn.o_proj', gate: 'mlp.gate_proj', up: 'mlp.up_proj', down: 'mlp.down_proj',
};

/** Options that are read below or say nothing about the arithmetic at inference. */
const NEUTRAL_KEYS = new Set([
  'peft_type', 'task_type', 'base_model_name_or_path', 'r', 'lora_alpha', 'lora_dropout', 'inference_mode', 'target_modules', 'auto_mapping', 'revision',
  'init_lora_weights', 'peft_version', 'eva_config', 'corda_config', 'loftq_config', 'runtime_config',
]);

/** No other rank has been useful; a larger one is more likely a damaged file. */
const MAX_RANK = 1024;

export interface ReadAdapterOptions {
  /** Name of the base model that the adapter must have been trained on, as its `base_model_name_or_path`. */
  readonly base?: string;
}

/**
 * Reads an adapter. `weights` is the safetensors file, `configText` the text of its configuration. That the shapes fit a model is checked
 * when an engine takes the adapter.
 */
export async function readAdapter(weights: Uint8Array, configText: string, options: ReadAdapterOptions = {}): Promise<Result<LoraAdapter, AdapterIssue>> {
  const config = readConfig(configText, options.base);
  if (!config.ok) return config;
  const tensors = readSafetensors(weights);
  if (!tensors.ok) return tensors;
  const layers = readLayers(tensors.value, config.value.rank);
  if (!layers.ok) return layers;
  return ok({ ...config.value, digest: await sha256(weights), layers: layers.value });
}

function readConfig(text: string, base: string | undefined): Result<{ readonly rank: number; readonly alpha: number }, AdapterIssue> {
  const parsed = parseJson(text);
  if (!parsed.ok) return bad('', parsed.error.code);
  const config = parsed.value;
  if (!isJsonObject(config)) return bad('', 'not an object');
  const { peft_type: type, r: rank, lora_alpha: alpha, target_modules: modules, base_model_name_or_path: trainedOn } = config;
  if (type !== 'LORA') return bad('peft_type', 'not LORA');
  if (typeof rank !== 'number' || !Number.isInteger(rank) || rank < 1 || rank > MAX_RANK) return bad('r', `not an integer from 1 to ${MAX_RANK}`);
  if (typeof alpha !== 'number' || alpha <= 0) return bad('lora_alpha', 'not a positive number');
  if (!isAllModules(modules)) return bad('target_modules', 'not the seven linear layers');
  const active = activeOption(config);
  if (active !== undefined) return bad(active, 'not supported');
  if (base !== undefined && trainedOn !== base) return err({ code: 'adapter/wrong-base', base: String(trainedOn), expected: base });
  return ok({ rank, alpha });
}

function bad(key: string, detail: string): Result<never, AdapterIssue> {
  return err({ code: 'adapter/bad-config', key, detail });
}

function isAllModules(modules: JsonValue | undefined): boolean {
  const expected = LINEAR_NAMES.map((linear) => MODULES[linear].slice(MODULES[linear].indexOf('.') + 1));
  return Array.isArray(modules) && modules.length === expected.length && expected.every((name) => modules.includes(name));
}

/** An option that is switched on and not known to be harmless. PEFT writes all its options out, most of them off. */
function activeOption(config: JsonObject): string | undefined {
  const isOff = (value: JsonValue): boolean =>
    value === null || value === false || value === 'none' || (typeof value === 'object' && Object.keys(value).length === 0);
  return Object.keys(config).find((key) => !NEUTRAL_KEYS.has(key) && !isOff(config[key] ?? null));
}

type LayerMatrices = Readonly<Record<LinearName, LoraMatrix>>;

const TENSOR_NAME = /^base_model\.model\.model\.layers\.(\d+)\.(\w+\.\w+)\.lora_[AB]\.weight$/u;

function tensorName(layer: number, linear: LinearName, matrix: 'A' | 'B'): string {
  return `base_model.model.model.layers.${layer}.${MODULES[linear]}.lora_${matrix}.weight`;
}

function readLayers(tensors: ReadonlyMap<string, FloatTensor>, rank: number): Result<readonly LayerMatrices[], AdapterIssue> {
  const modules = new Set(Object.values(MODULES));
  let layerCount = 1;
  for (const name of tensors.keys()) {
    const [, layer, module] = TENSOR_NAME.exec(name) ?? [];
    if (layer === undefined || module === undefined || !modules.has(module)) return err({ code: 'adapter/unexpected-tensor', tensor: name });
    layerCount = Math.max(layerCount, Number(layer) + 1);
  }
  const layers: LayerMatrices[] = [];
  for (let layer = 0; layer < layerCount; layer++) {
    const matrices: Partial<Record<LinearName, LoraMatrix>> = {};
    for (const linear of LINEAR_NAMES) {
      const matrix = readMatrix(tensors, tensorName(layer, linear, 'A'), tensorName(layer, linear, 'B'), rank);
      if (!matrix.ok) return matrix;
      matrices[linear] = matrix.value;
    }
    layers.push(matrices as LayerMatrices);
  }
  return ok(layers);
}

/** A is `[rank, inputSize]`, B `[outputSize, rank]`. */
function readMatrix(tensors: ReadonlyMap<string, FloatTensor>, nameA: string, nameB: string, rank: number): Result<LoraMatrix, AdapterIssue> {
  const a = tensors.get(nameA);
  if (a === undefined) return err({ code: 'adapter/missing-tensor', tensor: nameA });
  const b = tensors.get(nameB);
  if (b === undefined) return err({ code: 'adapter/missing-tensor', tensor: nameB });
  const [rankA, inputSize = 0] = a.shape;
  const [outputSize = 0, rankB] = b.shape;
  if (a.shape.length !== 2 || rankA !== rank) return err({ code: 'adapter/bad-shape', tensor: nameA, shape: a.shape, expected: [rank, inputSize] });
  if (b.shape.length !== 2 || rankB !== rank) return err({ code: 'adapter/bad-shape', tensor: nameB, shape: b.shape, expected: [outputSize, rank] });
  return ok({ a: a.data, b: b.data, inputSize, outputSize });
}
