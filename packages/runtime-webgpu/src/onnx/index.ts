/** What the trainer emits its own graph with, over the same base model: graph builder, layout of a model file's weights, tensor files. */
export { GraphBuilder } from './builder.ts';
export { concatBytes, encodeModel, MS_DOMAIN, type DataType } from './encoder.ts';
export { groupMatrices, groupShape, LINEAR_GROUPS, type GroupName } from './linear-groups.ts';
export { rotaryTables } from './rotary.ts';
export { dequantise } from '../model/dequantise.ts';
export { EMBEDDING, HEAD, linearShape, OUTPUT_NORM, ROPE_DIVISORS, vectorTensor } from '../model/layout.ts';
export { readSafetensors, writeSafetensors, type FloatTensor } from '../lora/safetensors.ts';
