/**
 * The shape of a decoder, from the metadata of its GGUF file. Three architectures are read: `llama`, `qwen2` (biases on q, k, v)
 * and `qwen3` (a norm on each head of q and k). A setting that would change the arithmetic and is not known here is refused by
 * its key: a model that runs slightly wrong is worse than one that does not load.
 * Reference: ggml docs/gguf.md, "Standardized key-value pairs".
 */
import { err, ok, type Result } from '@contractrl/core';
import type { ModelIssue } from './issue.ts';
import { readCount, readPositive, readText, type Metadata } from './metadata.ts';
import { readRopeScaling, type RopeScaling } from './rope-scaling.ts';

const ARCHITECTURES = ['llama', 'qwen2', 'qwen3'] as const;
type Architecture = (typeof ARCHITECTURES)[number];

export interface ModelConfig {
  readonly architecture: Architecture;
  readonly layerCount: number;
  readonly hiddenSize: number;
  readonly feedForwardSize: number;
  readonly headCount: number;
  readonly kvHeadCount: number;
  readonly headSize: number;
  readonly contextLength: number;
  readonly ropeBase: number;
  /** Leading dimensions of each head that are turned; the others pass unchanged. */
  readonly ropeSize: number;
  readonly ropeScaling: RopeScaling;
  readonly rmsEpsilon: number;
}

/** ggml's default where a file has no `rope.freq_base`. */
const DEFAULT_ROPE_BASE = 10_000;

/** Keys under `<architecture>.` that are read here or in rope-scaling.ts, or that do not touch the arithmetic. */
const KNOWN_SETTINGS = new Set([
  'block_count', 'context_length', 'embedding_length', 'feed_forward_length', 'vocab_size',
  'attention.head_count', 'attention.head_count_kv', 'attention.key_length', 'attention.value_length', 'attention.layer_norm_rms_epsilon',
  'rope.freq_base', 'rope.dimension_count', 'rope.scaling.type', 'rope.scaling.factor', 'rope.scaling.original_context_length', 'rope.scaling.finetuned',
]);

/** Settings that change nothing at one value, and are not known at any other. */
const OFF_VALUES: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['expert_count', 0], ['expert_used_count', 0], ['attention.sliding_window', 0], ['attention.causal', true], ['rope.scaling.attn_factor', 1],
]);

/** The attention operator takes rotary tables in steps of 8 pairs. */
const ROPE_STEP = 16;

/** Reads and cross-checks the architecture's fields. */
export function readConfig(metadata: Metadata): Result<ModelConfig, ModelIssue> {
  const name = readText(metadata, 'general.architecture');
  if (!name.ok) return name;
  const architecture = ARCHITECTURES.find((known) => known === name.value);
  if (architecture === undefined) return err({ code: 'model/unsupported-architecture', architecture: name.value });
  const unknown = unknownSetting(metadata, architecture);
  if (unknown !== undefined) return err(unknown);

  const key = (setting: string): string => `${architecture}.${setting}`;
  const layerCount = readCount(metadata, key('block_count'));
  if (!layerCount.ok) return layerCount;
  const hiddenSize = readCount(metadata, key('embedding_length'));
  if (!hiddenSize.ok) return hiddenSize;
  const feedForwardSize = readCount(metadata, key('feed_forward_length'));
  if (!feedForwardSize.ok) return feedForwardSize;
  const headCount = readCount(metadata, key('attention.head_count'));
  if (!headCount.ok) return headCount;
  const kvHeadCount = readCount(metadata, key('attention.head_count_kv'), headCount.value);
  if (!kvHeadCount.ok) return kvHeadCount;
  const headSize = readCount(metadata, key('attention.key_length'), hiddenSize.value / headCount.value);
  if (!headSize.ok) return headSize;
  const valueSize = readCount(metadata, key('attention.value_length'), headSize.value);
  if (!valueSize.ok) return valueSize;
  const ropeSize = readCount(metadata, key('rope.dimension_count'), headSize.value);
  if (!ropeSize.ok) return ropeSize;
  const contextLength = readCount(metadata, key('context_length'));
  if (!contextLength.ok) return contextLength;
  const ropeBase = readPositive(metadata, key('rope.freq_base'), DEFAULT_ROPE_BASE);
  if (!ropeBase.ok) return ropeBase;
  const ropeScaling = readRopeScaling(metadata, architecture, contextLength.value);
  if (!ropeScaling.ok) return ropeScaling;
  const rmsEpsilon = readPositive(metadata, key('attention.layer_norm_rms_epsilon'));
  if (!rmsEpsilon.ok) return rmsEpsilon;

  if (headCount.value % kvHeadCount.value !== 0) {
    return err({ code: 'model/bad-field', key: key('attention.head_count_kv'), detail: 'does not divide the number of heads' });
  }
  if (valueSize.value !== headSize.value) return unsupported(key('attention.value_length'), valueSize.value);
  if (ropeSize.value > headSize.value) return err({ code: 'model/bad-field', key: key('rope.dimension_count'), detail: 'more than the head has' });
  if (ropeSize.value % ROPE_STEP !== 0) return unsupported(key('rope.dimension_count'), ropeSize.value);
  return ok({
    architecture,
    layerCount: layerCount.value,
    hiddenSize: hiddenSize.value,
    feedForwardSize: feedForwardSize.value,
    headCount: headCount.value,
    kvHeadCount: kvHeadCount.value,
    headSize: headSize.value,
    contextLength: contextLength.value,
    ropeBase: ropeBase.value,
    ropeSize: ropeSize.value,
    ropeScaling: ropeScaling.value,
    rmsEpsilon: rmsEpsilon.value,
  });
}

function unknownSetting(metadata: Metadata, architecture: Architecture): ModelIssue | undefined {
  const prefix = `${architecture}.`;
  for (const [key, value] of Object.entries(metadata)) {
    if (!key.startsWith(prefix)) continue;
    const setting = key.slice(prefix.length);
    if (KNOWN_SETTINGS.has(setting) || (OFF_VALUES.has(setting) && OFF_VALUES.get(setting) === value)) continue;
    return { code: 'model/unsupported-setting', key, value: String(value) };
  }
  return undefined;
}

function unsupported(key: string, value: number): Result<never, ModelIssue> {
  return err({ code: 'model/unsupported-setting', key, value: String(value) });
}
