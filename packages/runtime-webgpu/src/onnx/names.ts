/** Names of the graph's inputs and outputs: what the builder writes and the engine feeds. */
import type { GroupName } from './linear-groups.ts';

/** `[1, s, hiddenSize]`: the rows of the s new tokens. */
export const EMBEDDINGS = 'embeddings';
/** `[1]`, int32: positions in the cache after this run, minus one. */
export const SEQUENCE_LENGTHS = 'seqlens_k';
/** Scalar, int32: positions in the cache after this run. */
export const TOTAL_LENGTH = 'total_sequence_length';
/** `[k]`, int32: which of the s new positions give their hidden state, counted from 0. */
export const KEPT_POSITIONS = 'kept_positions';
/** `[k, hiddenSize]`: final states of the kept positions, after the output norm. */
export const HIDDEN = 'hidden';

export const pastKey = (layer: number): string => `past_key.${layer}`;
export const pastValue = (layer: number): string => `past_value.${layer}`;
export const presentKey = (layer: number): string => `present_key.${layer}`;
export const presentValue = (layer: number): string => `present_value.${layer}`;
/** `[inputSize, rank]`, the members' matrices side by side: `rank` is the sum of theirs. */
export const loraA = (layer: number, group: GroupName): string => `lora_a.${layer}.${group}`;
/** `[rank, outputSize]`, the members' matrices from corner to corner, with alpha / rank multiplied in. */
export const loraB = (layer: number, group: GroupName): string => `lora_b.${layer}.${group}`;

// Of a graph that serves several rows (see batched-attention.ts): s new tokens of b rows, at most w of one row, after p places of past.

/** `[1, s]`, int64: position of each new token in its own row. */
export const POSITION_IDS = 'position_ids';
/** `[b, w]`, int32: which of the new tokens is at each place of a row; any of the row's where it has fewer. */
export const ROW_TOKENS = 'row_tokens';
/** `[s]`, int32: the place of each new token, counted over all rows. */
export const TOKEN_PLACES = 'token_places';
/** `[1, b, 1, w, p + w]`: added to the scores, 0 for what a place may see and very low for all else. */
export const ATTENTION_BIAS = 'attention_bias';
/** `[p, w]`, int64. */
export const ATTENTION_PARTS = 'attention_parts';
