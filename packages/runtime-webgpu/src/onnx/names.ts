/** Names of the graph's inputs and outputs: what the builder writes and the engine feeds. */
import type { LinearName } from '../lora/adapter.ts';

/** `[1, s, hiddenSize]`: the rows of the s new tokens. */
export const EMBEDDINGS = 'embeddings';
/** `[1]`, int32: positions in the cache after this run, minus one. */
export const SEQUENCE_LENGTHS = 'seqlens_k';
/** Scalar, int32: positions in the cache after this run. */
export const TOTAL_LENGTH = 'total_sequence_length';
/** `[1, 1, hiddenSize]`: final state of the last position, after the output norm. */
export const HIDDEN = 'hidden';

export const pastKey = (layer: number): string => `past_key.${layer}`;
export const pastValue = (layer: number): string => `past_value.${layer}`;
export const presentKey = (layer: number): string => `present_key.${layer}`;
export const presentValue = (layer: number): string => `present_value.${layer}`;
/** `[inputSize, rank]`. */
export const loraA = (layer: number, linear: LinearName): string => `lora_a.${layer}.${linear}`;
/** `[rank, outputSize]`, with alpha / rank multiplied in. */
export const loraB = (layer: number, linear: LinearName): string => `lora_b.${layer}.${linear}`;
