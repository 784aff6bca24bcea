/**
 * A LoRA adapter in the format of the PEFT library, in and out: `adapter_model.safetensors` beside `adapter_config.json`. The tensors must be
 * exactly those that the configuration announces, each in its rank.
 * Reference: huggingface/peft `src/peft/utils/save_and_load.py`, `src/peft/tuners/lora/layer.py` (scaling).
 */
import { err, ok, type Result } from '@contractrl/core';
import { sha256 } from '../model/sha256.ts';
import { LINEAR_NAMES, matrixForm, type LinearName, type LoraAdapter, type LoraMatrix } from './adapter.ts';
import type { AdapterIssue } from './issue.ts';
import { moduleName, MODULES, OWN_KEY, patternValue, readPeftConfig, type PeftConfig, type PeftExpectations } from './peft-config.ts';
import { readSafetensors, writeSafetensors, type FloatTensor, type WrittenType } from './safetensors.ts';

/**
 * Reads an adapter. `weights` is the safetensors file, `configText` the text of its configuration. That the shapes fit a model is checked
 * when an engine takes the adapter.
 */
export async function readAdapter(weights: Uint8Array, configText: string, expected: PeftExpectations = {}): Promise<Result<LoraAdapter, AdapterIssue>> {
  const config = readPeftConfig(configText, expected);
  if (!config.ok) return config;
  const tensors = readSafetensors(weights);
  if (!tensors.ok) return tensors;
  const layers = readLayers(tensors.value, config.value);
  if (!layers.ok) return layers;
  const { rank, alpha } = config.value;
  return ok({ rank, alpha, digest: await sha256(weights), layers: layers.value });
}

type LayerMatrices = LoraAdapter['layers'][number];

const TENSOR_NAME = /^base_model\.model\.model\.layers\.(\d+)\.(\w+\.\w+)\.lora_[AB]\.weight$/u;

/** Of a module within the base model, as patterns name it. */
function modulePath(layer: number, linear: LinearName): string {
  return `model.layers.${layer}.${MODULES[linear]}`;
}

function tensorName(layer: number, linear: LinearName, matrix: 'A' | 'B'): string {
  return `base_model.model.${modulePath(layer, linear)}.lora_${matrix}.weight`;
}

function readLayers(tensors: ReadonlyMap<string, FloatTensor>, config: PeftConfig): Result<readonly LayerMatrices[], AdapterIssue> {
  const modules = new Set(config.linears.map((linear) => MODULES[linear]));
  let layerCount = 1;
  for (const name of tensors.keys()) {
    const [, layer, module] = TENSOR_NAME.exec(name) ?? [];
    if (layer === undefined || module === undefined || !modules.has(module)) return err({ code: 'adapter/unexpected-tensor', tensor: name });
    layerCount = Math.max(layerCount, Number(layer) + 1);
  }
  const layers: LayerMatrices[] = [];
  for (let layer = 0; layer < layerCount; layer++) {
    const matrices: Partial<Record<LinearName, LoraMatrix>> = {};
    for (const linear of config.linears) {
      const matrix = readMatrix(tensors, layer, linear, config);
      if (!matrix.ok) return matrix;
      matrices[linear] = matrix.value;
    }
    layers.push(matrices);
  }
  return ok(layers);
}

/** A is `[rank, inputSize]`, B `[outputSize, rank]`. */
function readMatrix(tensors: ReadonlyMap<string, FloatTensor>, layer: number, linear: LinearName, config: PeftConfig): Result<LoraMatrix, AdapterIssue> {
  const [nameA, nameB] = [tensorName(layer, linear, 'A'), tensorName(layer, linear, 'B')];
  const a = tensors.get(nameA);
  if (a === undefined) return err({ code: 'adapter/missing-tensor', tensor: nameA });
  const b = tensors.get(nameB);
  if (b === undefined) return err({ code: 'adapter/missing-tensor', tensor: nameB });
  const path = modulePath(layer, linear);
  const rank = patternValue(config.rankPattern, path) ?? config.rank;
  const alpha = patternValue(config.alphaPattern, path) ?? config.alpha;
  const scaling = alpha / (config.isRankStabilised ? Math.sqrt(rank) : rank);
  const [rankA, inputSize = 0] = a.shape;
  const [outputSize = 0, rankB] = b.shape;
  if (a.shape.length !== 2 || rankA !== rank) return err({ code: 'adapter/bad-shape', tensor: nameA, shape: a.shape, expected: [rank, inputSize] });
  if (b.shape.length !== 2 || rankB !== rank) return err({ code: 'adapter/bad-shape', tensor: nameB, shape: b.shape, expected: [outputSize, rank] });
  return ok({
    a: a.data, b: b.data, inputSize, outputSize,
    ...(rank === config.rank ? {} : { rank }),
    ...(scaling === config.alpha / config.rank ? {} : { scaling }),
  });
}

export interface WriteAdapterOptions {
  /** Of the prompts that it was trained on; the openers of this package take no adapter that names another, or none. */
  readonly promptVersion?: string;
  /** Default `F32`, which is exact; `F16` rounds to the nearest and is half as large. */
  readonly type?: WrittenType;
}

export interface PeftFiles {
  /** `adapter_model.safetensors`. */
  readonly weights: Uint8Array<ArrayBuffer>;
  /** `adapter_config.json`. */
  readonly configText: string;
}

/**
 * An adapter as the two files that PEFT and {@link readAdapter} load; `base` is the base model's name on the hub. Linears that some layers lack
 * cannot be said in that format and are a RangeError. The digest of what was written is that of the weights file, not the adapter's own.
 */
export function writeAdapter(adapter: LoraAdapter, base: string, { promptVersion, type = 'F32' }: WriteAdapterOptions = {}): PeftFiles {
  const linears = LINEAR_NAMES.filter((linear) => adapter.layers.some((layer) => layer[linear] !== undefined));
  const tensors = new Map<string, FloatTensor>();
  const rankPattern: Record<string, number> = {};
  const alphaPattern: Record<string, number> = {};
  for (const [layer, matrices] of adapter.layers.entries()) {
    for (const linear of linears) {
      const matrix = matrices[linear];
      if (matrix === undefined) throw new RangeError(`adapter: layer ${layer} has no ${linear}, which other layers have`);
      const { rank, scaling } = matrixForm(adapter, matrix);
      tensors.set(tensorName(layer, linear, 'A'), { shape: [rank, matrix.inputSize], data: matrix.a });
      tensors.set(tensorName(layer, linear, 'B'), { shape: [matrix.outputSize, rank], data: matrix.b });
      if (matrix.rank !== undefined) rankPattern[modulePath(layer, linear)] = rank;
      if (matrix.rank !== undefined || matrix.scaling !== undefined) alphaPattern[modulePath(layer, linear)] = scaling * rank;
    }
  }
  const config = {
    peft_type: 'LORA', task_type: 'CAUSAL_LM', base_model_name_or_path: base, r: adapter.rank, lora_alpha: adapter.alpha, lora_dropout: 0, bias: 'none',
    fan_in_fan_out: false, inference_mode: true, target_modules: linears.map(moduleName), rank_pattern: rankPattern, alpha_pattern: alphaPattern,
    ...(promptVersion === undefined ? {} : { [OWN_KEY]: { prompt_version: promptVersion } }),
  };
  return { weights: writeSafetensors(tensors, type), configText: `${JSON.stringify(config, null, 2)}\n` };
}
