/** A small Llama as Hugging Face's libraries read and write it, with the tokenizer of a GGUF file; and what they wrote as a model of our engine. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Digest } from '@contractrl/core';
import { LINEAR_NAMES, type GgufModel, type ModelConfig } from '@contractrl/runtime-webgpu';
import { EMBEDDING, HEAD, OUTPUT_NORM, readSafetensors, vectorTensor } from '@contractrl/runtime-webgpu/onnx';
import { interleaveHeads, linearTensor, type Tensors } from './tiny-decoder.ts';

export const SMALL_LLAMA: ModelConfig = {
  architecture: 'llama', layerCount: 2, hiddenSize: 64, feedForwardSize: 96, headCount: 4, kvHeadCount: 2, headSize: 16, contextLength: 2048,
  ropeBase: 10_000, ropeSize: 16, ropeScaling: { kind: 'none' }, rmsEpsilon: 1e-5,
};

/** Of a token that stands for text; all others are special. */
const NORMAL = 1;
const MODULES = { q: 'self_attn.q_proj', k: 'self_attn.k_proj', v: 'self_attn.v_proj', o: 'self_attn.o_proj', gate: 'mlp.gate_proj', up: 'mlp.up_proj', down: 'mlp.down_proj' } as const;

/** Writes `config.json` and `tokenizer.json`. The file's pre-tokenizer must be SmolLM's: digits one by one, then GPT-2's. */
export function writeHuggingFaceFolder(folder: string, { metadata, vocabularySize }: Pick<GgufModel, 'metadata' | 'vocabularySize'>): void {
  const [tokens, types, merges] = ['tokens', 'token_type', 'merges'].map((name) => metadata[`tokenizer.ggml.${name}`]) as [readonly string[], readonly number[], readonly string[]];
  const isNormal = (id: number): boolean => Number(types[id]) === NORMAL;
  const { layerCount, hiddenSize, feedForwardSize, headCount, kvHeadCount, headSize, contextLength, ropeBase, rmsEpsilon } = SMALL_LLAMA;
  writeFileSync(join(folder, 'config.json'), JSON.stringify({
    vocab_size: vocabularySize, hidden_size: hiddenSize, intermediate_size: feedForwardSize, num_hidden_layers: layerCount, num_attention_heads: headCount, num_key_value_heads: kvHeadCount,
    head_dim: headSize, max_position_embeddings: contextLength, rope_parameters: { rope_type: 'default', rope_theta: ropeBase }, rms_norm_eps: rmsEpsilon, tie_word_embeddings: false, initializer_range: 0.1,
  }));
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify({
    version: '1.0', truncation: null, padding: null, normalizer: null, post_processor: null,
    added_tokens: tokens.flatMap((content, id) => (isNormal(id) ? [] : [{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true }])),
    pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true }] },
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null, fuse_unk: false, byte_fallback: false, ignore_merges: false,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])), merges,
    },
  }));
}

/** The weights that `save_pretrained` wrote; metadata are those of the tokenizer's file. */
export function readHuggingFaceWeights(path: string, { metadata, vocabularySize }: Pick<GgufModel, 'metadata' | 'vocabularySize'>): GgufModel {
  const bytes = readFileSync(path);
  const read = readSafetensors(bytes);
  if (!read.ok) throw new Error(read.error.code);
  const tensors: Tensors = new Map();
  const take = (name: string, from: string): void => {
    const { shape, data } = read.value.get(from)!;
    tensors.set(name, { name, shape, type: 'F32', bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) });
  };
  take(EMBEDDING, 'model.embed_tokens.weight');
  take(HEAD, 'lm_head.weight');
  take(OUTPUT_NORM, 'model.norm.weight');
  for (let layer = 0; layer < SMALL_LLAMA.layerCount; layer++) {
    for (const linear of LINEAR_NAMES) take(linearTensor(layer, linear), `model.layers.${layer}.${MODULES[linear]}.weight`);
    take(vectorTensor(layer, 'attn_norm.weight'), `model.layers.${layer}.input_layernorm.weight`);
    take(vectorTensor(layer, 'ffn_norm.weight'), `model.layers.${layer}.post_attention_layernorm.weight`);
  }
  interleaveHeads(tensors, SMALL_LLAMA);
  return { digest: createHash('sha256').update(bytes).digest('hex') as Digest, config: SMALL_LLAMA, vocabularySize, tensors, metadata };
}
