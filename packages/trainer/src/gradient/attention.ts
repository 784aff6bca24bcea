/**
 * Attention of all positions over all, with what may not be seen taken out by an added bias, and its derivatives by queries, keys and values. The heads
 * that share keys are rows of one matrix, so that a product sums over them by itself. With shares `P = softmax(S)` and `O = P · V`:
 * `dV = Pᵀ · dO`, `dS = P · (dO · Vᵀ − D)`, where D, by row `Σ dO · O`, equals `Σ P · dP` and is cheaper.
 * Reference: Vaswani et al. 2017, "Attention Is All You Need", §3.2; Dao et al. 2022, "FlashAttention", appendix B.
 */
import type { ModelConfig } from '@contractrl/runtime-webgpu';
import type { GraphBuilder } from '@contractrl/runtime-webgpu/onnx';
import { ATTENTION_BIAS } from './names.ts';
import { product, reduceLast, reshape, transpose } from './operators.ts';

type AttentionShape = Pick<ModelConfig, 'headCount' | 'kvHeadCount' | 'headSize'>;

export interface Attention {
  readonly shape: AttentionShape;
  /** `[kvHeadCount, groupSize · s, h]` */
  readonly queries: string;
  /** `[kvHeadCount, s, h]` */
  readonly keys: string;
  readonly values: string;
  /** `[kvHeadCount, groupSize · s, s]` */
  readonly shares: string;
  /** `[kvHeadCount, groupSize · s, h]` */
  readonly mixed: string;
  /** `[s, headCount · h]` */
  readonly y: string;
}

/** Queries `[s, headCount · h]`, keys and values `[s, kvHeadCount · h]`, both turned already, under {@link ATTENTION_BIAS}. */
export function addAttention(graph: GraphBuilder, shape: AttentionShape, query: string, key: string, value: string, name: string): Attention {
  const queries = toGroups(graph, shape, query, `${name}.queries`);
  const keys = toHeads(graph, shape, key, `${name}.keys`);
  const values = toHeads(graph, shape, value, `${name}.values`);
  const scores = product(graph, queries, keys, `${name}.scores`, { transposeB: true, factor: scoreFactor(shape) });
  const seen = graph.node('Add', [scores, biasOfGroup(graph, shape.headCount / shape.kvHeadCount)], `${name}.seen`);
  const shares = graph.node('Softmax', [seen], `${name}.shares`, { attributes: { axis: { int: 2 } } });
  const mixed = product(graph, shares, values, `${name}.mixed`);
  return { shape, queries, keys, values, shares, mixed, y: fromGroups(graph, shape, mixed, name) };
}

/** `dy` `[s, headCount · h]` to the derivatives by query, key and value, in their shapes. */
export function addAttentionBackward(graph: GraphBuilder, attention: Attention, dy: string): readonly [query: string, key: string, value: string] {
  const { shape, queries, keys, values, shares, mixed, y } = attention;
  const name = `${y}.backward`;
  const dMixed = toGroups(graph, shape, dy, `${name}.mixed`);
  const dValues = product(graph, shares, dMixed, `${name}.values`, { transposeA: true });
  const dShares = product(graph, dMixed, values, `${name}.shares`, { transposeB: true });
  const rowSums = reduceLast(graph, 'ReduceSum', graph.node('Mul', [dMixed, mixed], `${name}.products`), `${name}.row_sums`);
  const dScores = graph.node('Mul', [shares, graph.node('Sub', [dShares, rowSums], `${name}.centred`)], `${name}.scores`);
  const dQueries = product(graph, dScores, keys, `${name}.queries`, { factor: scoreFactor(shape) });
  const dKeys = product(graph, dScores, queries, `${name}.keys`, { transposeA: true, factor: scoreFactor(shape) });
  return [
    fromGroups(graph, shape, dQueries, `${name}.query`), fromHeads(graph, shape, dKeys, `${name}.key`), fromHeads(graph, shape, dValues, `${name}.value`),
  ];
}

function scoreFactor({ headSize }: AttentionShape): number {
  return 1 / Math.sqrt(headSize);
}

/** `[s, headCount · h]` to `[kvHeadCount, groupSize · s, h]`. */
function toGroups(graph: GraphBuilder, { headCount, kvHeadCount, headSize }: AttentionShape, x: string, name: string): string {
  const parts = reshape(graph, x, [0, kvHeadCount, headCount / kvHeadCount, headSize], `${name}.parts`);
  return reshape(graph, transpose(graph, parts, [1, 2, 0, 3], `${name}.by_head`), [kvHeadCount, -1, headSize], name);
}

function fromGroups(graph: GraphBuilder, { headCount, kvHeadCount, headSize }: AttentionShape, x: string, name: string): string {
  const parts = reshape(graph, x, [kvHeadCount, headCount / kvHeadCount, -1, headSize], `${name}.parts`);
  return reshape(graph, transpose(graph, parts, [2, 0, 1, 3], `${name}.by_position`), [-1, headCount * headSize], name);
}

/** `[s, kvHeadCount · h]` to `[kvHeadCount, s, h]`. */
function toHeads(graph: GraphBuilder, { kvHeadCount, headSize }: AttentionShape, x: string, name: string): string {
  return transpose(graph, reshape(graph, x, [0, kvHeadCount, headSize], `${name}.parts`), [1, 0, 2], name);
}

function fromHeads(graph: GraphBuilder, { kvHeadCount, headSize }: AttentionShape, x: string, name: string): string {
  return reshape(graph, transpose(graph, x, [1, 0, 2], `${name}.by_position`), [-1, kvHeadCount * headSize], name);
}

/** The bias once for each head of a group, `[groupSize · s, s]`: the same for all layers. */
function biasOfGroup(graph: GraphBuilder, groupSize: number): string {
  if (groupSize === 1) return ATTENTION_BIAS;
  const name = `${ATTENTION_BIAS}.group`;
  return graph.has(name) ? name : graph.node('Concat', Array<string>(groupSize).fill(ATTENTION_BIAS), name, { attributes: { axis: { int: 0 } } });
}
