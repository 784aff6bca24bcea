/** Names of the training graph's inputs and outputs: what the builder writes and the engine feeds. s positions, m steps, u head rows, rank r. */
import type { LinearName } from '@contractrl/runtime-webgpu';

/** `[s, hiddenSize]`: the embedding rows of all tokens of the batch. */
export const EMBEDDINGS = 'embeddings';
/** `[s, 1]`, int64: each token's position in its own sequence. */
export const POSITION_IDS = 'position_ids';
/** `[s, s]`: added to the scores, 0 where the row's token may see the column's and very low elsewhere. */
export const ATTENTION_BIAS = 'attention_bias';
/** `[m]`, int64: the position that predicts each step; several steps may share one. */
export const STEP_POSITIONS = 'step_positions';
/** `[u, hiddenSize]`: the rows of the head for every id that some step allows. */
export const HEAD_ROWS = 'head_rows';
/** `[m, u]`, uint8: 1 where the step allows the row's id. */
export const ALLOWED = 'allowed';
/** `[m, 1]`, int64: the row of the id that the step chose. */
export const TARGET_ROWS = 'target_rows';
/** `[m]`: what each step's −log probability counts in the loss. */
export const STEP_WEIGHTS = 'step_weights';
/** `[1]`: alpha / rank. */
export const LORA_SCALING = 'lora_scaling';

/** Scalar: `−Σ weight · log probability`. */
export const LOSS = 'loss';
/** `[m]`: natural logarithms of the probability of each step's id among the allowed ones. */
export const LOG_PROBABILITIES = 'log_probabilities';

/** `[r, inputSize]`, as PEFT keeps it. */
export const loraA = (layer: number, linear: LinearName): string => `lora_a.${layer}.${linear}`;
/** `[outputSize, r]`, as PEFT keeps it. */
export const loraB = (layer: number, linear: LinearName): string => `lora_b.${layer}.${linear}`;
/** The derivative of {@link LOSS} by an input, in its shape. */
export const gradientOf = (parameter: string): string => `gradient.${parameter}`;
