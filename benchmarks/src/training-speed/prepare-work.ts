/**
 * What every engine is given: the base's weights in float32 under the names of transformers, an adapter to begin with, and token ids of examples with what the
 * mask allowed at each decision. Examples are synthetic ones of the trainer, by its own prompt and mask; a step is a batch as training deals it, several faults of a
 * call in one, the longest example first.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Digest } from '@contractrl/core';
import { writeAdapter, type GgufModel, type LinearName } from '@contractrl/runtime-webgpu';
import { ADAPTER_FILES } from '@contractrl/runtime-webgpu/node';
import { dequantise, EMBEDDING, groupMatrices, HEAD, LINEAR_GROUPS, linearShape, OUTPUT_NORM, ROPE_DIVISORS, vectorTensor, writeSafetensors, type FloatTensor, type GroupName } from '@contractrl/runtime-webgpu/onnx';
import { buildDataset, encodeExample, indexEvaluation, openBatches, openModel, openSource, syntheticSource, type OpenedModel } from '@contractrl/trainer';
import { adapterOf, initialParameters } from '@contractrl/trainer/gradient';

export interface StepExample {
  readonly promptIds: readonly number[];
  readonly answerIds: readonly number[];
  /** `index` counts the answer's tokens. */
  readonly decisions: readonly { readonly index: number; readonly choice: Choice }[];
}

/** What the mask allowed, or what it did not, whichever is shorter: lists of the whole vocabulary would weigh on the readers' memory. */
export interface Choice {
  readonly areAllowed: boolean;
  /** Ascending. */
  readonly ids: readonly number[];
}

export interface Work {
  readonly base: string;
  /** Keywords of transformers' LlamaConfig. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Path of the model file; null for the base model of the cache. */
  readonly model: string | null;
  readonly weightsFile: string;
  /** PEFT. */
  readonly adapterFolder: string;
  readonly lora: { readonly rank: number; readonly alpha: number; readonly seed: number };
  readonly settings: { readonly learningRate: number; readonly maxNorm: number };
  readonly contextLength: number;
  readonly steps: readonly (readonly StepExample[])[];
}

export interface WorkOptions {
  /** Where the files go. */
  readonly folder: string;
  readonly model?: string;
  readonly rank: number;
  readonly stepCount: number;
  readonly batchSize: number;
}

const SEED = 13;
const EXAMPLES_A_TOOL = 2;
/** Examples drawn for one that is read. */
const SPARE = 1.3;

/** Writes the files, some 4 bytes a weight, and gives the path of `work.json`; a text says why there is none. */
export async function prepareWork({ folder, model: path, rank, stepCount, batchSize }: WorkOptions): Promise<{ readonly workFile: string; readonly work: Work } | string> {
  const opened = await openModel(path, undefined);
  if (typeof opened === 'string') return opened;
  const { model, base, contextLength } = opened;
  if (model.config.architecture !== 'llama' || model.config.ropeScaling.kind !== 'none' || [HEAD, ROPE_DIVISORS].some((name) => model.tensors.has(name))) {
    return 'the PyTorch side is written for bases like SmolLM2: llama, a tied head, no stretched frequencies';
  }
  mkdirSync(folder, { recursive: true });
  const lora = { rank, alpha: 2 * rank, seed: SEED };
  const adapterFolder = join(folder, 'adapter');
  mkdirSync(adapterFolder, { recursive: true });
  const { weights, configText } = writeAdapter(adapterOf(model.config, initialParameters(model.config, lora), '0'.repeat(64) as Digest), base);
  writeFileSync(join(adapterFolder, ADAPTER_FILES.weights), weights);
  writeFileSync(join(adapterFolder, ADAPTER_FILES.config), configText);
  const weightsFile = join(folder, 'base.safetensors');
  writeFileSync(weightsFile, writeSafetensors(weightsOf(model)));
  const steps = stepsOf(opened, stepCount, batchSize);
  if (steps === undefined) return `fewer than ${String(stepCount * batchSize)} examples could be made`;
  const { config, vocabularySize } = model;
  const work: Work = {
    base,
    config: {
      vocab_size: vocabularySize, hidden_size: config.hiddenSize, intermediate_size: config.feedForwardSize, num_hidden_layers: config.layerCount, num_attention_heads: config.headCount,
      num_key_value_heads: config.kvHeadCount, head_dim: config.headSize, max_position_embeddings: config.contextLength, rms_norm_eps: config.rmsEpsilon, tie_word_embeddings: true,
      rope_parameters: { rope_type: 'default', rope_theta: config.ropeBase },
    },
    model: path ?? null, weightsFile, adapterFolder, lora, settings: { learningRate: 1e-3, maxNorm: 1 }, contextLength, steps,
  };
  const workFile = join(folder, 'work.json');
  writeFileSync(workFile, JSON.stringify(work));
  return { workFile, work };
}

export function lengthOf({ promptIds, answerIds }: StepExample): number {
  return promptIds.length + answerIds.length;
}

/** The batches of an epoch that has no more, each in the order that suits the PyTorch side; undefined where there are too few examples. */
function stepsOf({ tokenizer, vocabulary, contextLength }: OpenedModel, stepCount: number, batchSize: number): Work['steps'] | undefined {
  const count = stepCount * batchSize;
  // some are of the validation side, some have no decision or no mask
  const spare = Math.ceil(SPARE * count) + 4;
  const { calls } = openSource(syntheticSource(SEED, Math.ceil(spare / EXAMPLES_A_TOOL)));
  const { examples } = buildDataset(calls, { seed: SEED, count: spare, index: indexEvaluation([]) });
  const encoded = new Map(examples.flatMap((example): readonly (readonly [string, StepExample])[] => {
    const one = example.split === 'train' ? encodeExample(example, { tokenizer, vocabulary, contextLength }) : undefined;
    if (one?.ok !== true) return [];
    const { promptIds, answerIds, decisions } = one.value;
    return [[example.id, { promptIds, answerIds, decisions: decisions.map(({ index, allowed }) => ({ index, choice: choiceOf(allowed, vocabulary.logitWidth) })) }]];
  }));
  const train = examples.filter(({ id }) => encoded.has(id)).slice(0, count);
  if (train.length < count) return undefined;
  const batchAt = openBatches(train, { seed: SEED, batchSize });
  return Array.from({ length: stepCount }, (_, step) => batchAt(step).map(({ id }) => encoded.get(id)!).sort((a, b) => lengthOf(b) - lengthOf(a)));
}

export function choiceOf(allowed: ArrayLike<number>, width: number): Choice {
  const ids = Array.from(allowed);
  return ids.length <= width / 2 ? { areAllowed: true, ids } : { areAllowed: false, ids: without(ids, width) };
}

export function allowedOf({ areAllowed, ids }: Choice, width: number): readonly number[] {
  return areAllowed ? ids : without(ids, width);
}

function without(ids: readonly number[], width: number): readonly number[] {
  const left = new Set(ids);
  return Array.from({ length: width }, (_, id) => id).filter((id) => !left.has(id));
}

const MODULES: Readonly<Record<LinearName, string>> = {
  q: 'self_attn.q_proj', k: 'self_attn.k_proj', v: 'self_attn.v_proj', o: 'self_attn.o_proj', gate: 'mlp.gate_proj', up: 'mlp.up_proj', down: 'mlp.down_proj',
};

/** Rows of q and k in half-split order, as transformers keeps them. The head is the embedding. */
function weightsOf(model: GgufModel): ReadonlyMap<string, FloatTensor> {
  const { config, tensors } = model;
  const out = new Map<string, FloatTensor>();
  const put = (name: string, tensor: string): void => {
    const stored = tensors.get(tensor)!;
    out.set(name, { shape: stored.shape, data: dequantise(stored) });
  };
  put('model.embed_tokens.weight', EMBEDDING);
  put('model.norm.weight', OUTPUT_NORM);
  for (let layer = 0; layer < config.layerCount; layer++) {
    const prefix = `model.layers.${String(layer)}.`;
    put(`${prefix}input_layernorm.weight`, vectorTensor(layer, 'attn_norm.weight'));
    put(`${prefix}post_attention_layernorm.weight`, vectorTensor(layer, 'ffn_norm.weight'));
    for (const [group, members] of Object.entries(LINEAR_GROUPS) as [GroupName, readonly LinearName[]][]) {
      const rows = groupMatrices(model, layer, group).map(dequantise);
      for (const linear of members) {
        const { inputSize, outputSize } = linearShape(config, linear);
        // of one storage type they are one matrix, else one each
        const first = rows[0]!;
        const size = outputSize * inputSize;
        out.set(`${prefix}${MODULES[linear]}.weight`, { shape: [outputSize, inputSize], data: first.subarray(0, size) });
        if (first.length === size) rows.shift();
        else rows[0] = first.subarray(size);
      }
    }
  }
  return out;
}
