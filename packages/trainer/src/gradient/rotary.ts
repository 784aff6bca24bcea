/**
 * Rotary position embedding and its derivative: each pair of dimensions is turned by an angle and stretched by a factor, so the derivative is turned
 * back by the same angle and stretched alike, which is the same operator with the sines negated. Both read tables of the names given here.
 * Reference: Su et al. 2021, "RoFormer", §3.2.2; ONNX Runtime contrib operators, RotaryEmbedding.
 */
import type { ModelConfig } from '@contractrl/runtime-webgpu';
import { MS_DOMAIN, rotaryTables, type GraphBuilder } from '@contractrl/runtime-webgpu/onnx';
import { POSITION_IDS } from './names.ts';
import { reshape } from './operators.ts';

const COSINES = 'rotary.cos';
const SINES = 'rotary.sin';
const NEGATED_SINES = 'rotary.negated_sin';

/** Tables for positions from 0 to `contextLength` − 1. */
export function addRotaryTables(graph: GraphBuilder, config: ModelConfig, contextLength: number, frequencyDivisors: Float32Array | undefined): void {
  const { cos, sin } = rotaryTables(contextLength, { ...config, ...(frequencyDivisors === undefined ? {} : { frequencyDivisors }) });
  const shape = [contextLength, config.ropeSize / 2];
  graph.weight(COSINES, 'float32', shape, cos);
  graph.weight(SINES, 'float32', shape, sin);
  graph.weight(NEGATED_SINES, 'float32', shape, sin.map((value) => -value));
}

/** x `[s, headCount · h]`, turned by {@link POSITION_IDS}. */
export function addRotary(graph: GraphBuilder, config: ModelConfig, headCount: number, x: string, name: string): string {
  return turn(graph, config, headCount, x, SINES, name);
}

/** `dy` to `dx`, in the shape of {@link addRotary}. */
export function addRotaryBackward(graph: GraphBuilder, config: ModelConfig, headCount: number, dy: string, name: string): string {
  return turn(graph, config, headCount, dy, NEGATED_SINES, name);
}

function turn(graph: GraphBuilder, { headSize, ropeSize }: ModelConfig, headCount: number, x: string, sines: string, name: string): string {
  const part = ropeSize === headSize ? {} : { num_heads: { int: headCount }, rotary_embedding_dim: { int: ropeSize } };
  // each token as a sequence of its own: the operator takes none that is longer than its tables, which a packed row may be
  const sequence = graph.node('Unsqueeze', [x, graph.integers(1)], `${name}.sequence`);
  const attributes = { interleaved: { int: 0 }, ...part };
  const turned = graph.node('RotaryEmbedding', [sequence, POSITION_IDS, COSINES, sines], `${name}.turned`, { attributes, domain: MS_DOMAIN });
  return reshape(graph, turned, [-1, headCount * headSize], name);
}
