/**
 * Attention of a pass that serves several rows, each with keys and values of its own. The linears see all new tokens as one sequence; here each
 * row's are gathered to places `[b, w]`, shorter rows filled up, and put back after. Scores over a row's past and over its new tokens are two
 * products with one softmax over both, so that the past is read where it lies: no run copies it, and only the new keys and values come out.
 * GroupQueryAttention takes no batch of rows that have a past and several new tokens, and copies each past whole.
 * Reference: Vaswani et al. 2017, "Attention Is All You Need", §3.2; ONNX Runtime contrib operators, RotaryEmbedding and FusedMatMul.
 */
import type { ModelConfig } from '../model/config.ts';
import type { GraphBuilder } from './builder.ts';
import { MS_DOMAIN } from './encoder.ts';
import { ATTENTION_BIAS, ATTENTION_PARTS, pastKey, pastValue, POSITION_IDS, presentKey, presentValue, ROW_TOKENS, TOKEN_PLACES } from './names.ts';

const AXIS_OF_TOKENS = { attributes: { axis: { int: 1 } } };
const AXIS_OF_SCORES = { attributes: { axis: { int: 4 } } };
/** `[1, b, w, heads, h]` to `[1, b, heads, w, h]`, and back. */
const SWAP_HEADS = { attributes: { perm: { ints: [0, 1, 3, 2, 4] } } };

/** Inputs and outputs of the pass, see names.ts. */
export function addBatchInputs(graph: GraphBuilder, { layerCount, kvHeadCount, headSize }: ModelConfig): void {
  graph.input(POSITION_IDS, 'int64', [1, 's']);
  graph.input(ROW_TOKENS, 'int32', ['b', 'w']);
  graph.input(TOKEN_PLACES, 'int32', ['s']);
  graph.input(ATTENTION_BIAS, 'float32', [1, 'b', 1, 'w', 'p+w']);
  graph.input(ATTENTION_PARTS, 'int64', [2]);
  for (let layer = 0; layer < layerCount; layer++) {
    for (const name of [pastKey(layer), pastValue(layer)]) graph.input(name, 'float32', [1, 'b', kvHeadCount, 'p', headSize]);
    for (const name of [presentKey(layer), presentValue(layer)]) graph.output(name, 'float32', [1, 'b', kvHeadCount, 'w', headSize]);
  }
}

/** Queries, keys and values of the new tokens, `[1, s, heads · h]`, to what they attend to, `[1, s, heads · h]`. */
export function addBatchedAttention(graph: GraphBuilder, config: ModelConfig, layer: number, query: string, key: string, value: string): string {
  const { headCount, kvHeadCount, headSize } = config;
  const groupSize = headCount / kvHeadCount;
  const name = `attention.${layer}`;
  const matMul = (a: string, b: string, output: string): string => graph.node('MatMul', [a, b], `${name}.${output}`);
  const scores = (keys: string, output: string): string => {
    const attributes = { transB: { int: 1 }, alpha: { float: 1 / Math.sqrt(headSize) } };
    return graph.node('FusedMatMul', [queries, keys], `${name}.${output}`, { attributes, domain: MS_DOMAIN });
  };

  // the heads of one group read the same keys: as rows of one matrix they read them once
  const queries = graph.node(
    'Reshape', [toRows(graph, rotated(graph, config, query, headCount), headCount, headSize, `${name}.query`), graph.integers(0, 0, kvHeadCount, -1, headSize)], `${name}.queries`,
  );
  const keys = toRows(graph, rotated(graph, config, key, kvHeadCount), kvHeadCount, headSize, presentKey(layer));
  const values = toRows(graph, value, kvHeadCount, headSize, presentValue(layer));

  const joined = graph.node('Concat', [scores(pastKey(layer), 'past_scores'), scores(keys, 'new_scores')], `${name}.scores`, AXIS_OF_SCORES);
  const masked = graph.node('Add', [joined, biasOfGroup(graph, groupSize)], `${name}.masked`);
  const shares = graph.node('Softmax', [masked], `${name}.shares`, AXIS_OF_SCORES);
  const [pastShares, newShares] = [`${name}.past_shares`, `${name}.new_shares`];
  graph.nodeOf('Split', [shares, ATTENTION_PARTS], [pastShares, newShares], AXIS_OF_SCORES);
  const mixed = graph.node('Add', [matMul(pastShares, pastValue(layer), 'past'), matMul(newShares, values, 'new')], `${name}.mixed`);

  const heads = graph.node('Reshape', [mixed, graph.integers(0, 0, headCount, -1, headSize)], `${name}.heads`);
  const places = graph.node('Reshape', [graph.node('Transpose', [heads], `${name}.by_place`, SWAP_HEADS), graph.integers(0, -1, headCount * headSize)], `${name}.places`);
  return graph.node('Gather', [places, TOKEN_PLACES], name, AXIS_OF_TOKENS);
}

function rotated(graph: GraphBuilder, { headSize, ropeSize }: ModelConfig, x: string, headCount: number): string {
  const part = ropeSize === headSize ? {} : { num_heads: { int: headCount }, rotary_embedding_dim: { int: ropeSize } };
  return graph.node('RotaryEmbedding', [x, POSITION_IDS, 'cos', 'sin'], `${x}.rotated`, { attributes: { interleaved: { int: 0 }, ...part }, domain: MS_DOMAIN });
}

/** `[1, s, heads · h]` to `[1, b, heads, w, h]`. */
function toRows(graph: GraphBuilder, x: string, headCount: number, headSize: number, output: string): string {
  const gathered = graph.node('Gather', [x, ROW_TOKENS], `${output}.gathered`, AXIS_OF_TOKENS);
  const heads = graph.node('Reshape', [gathered, graph.integers(0, 0, 0, headCount, headSize)], `${output}.by_head`);
  return graph.node('Transpose', [heads], output, SWAP_HEADS);
}

/** The bias of a row's places once for each head of a group, `[1, b, 1, groupSize · w, p + w]`: the same for all layers. */
function biasOfGroup(graph: GraphBuilder, groupSize: number): string {
  if (groupSize === 1) return ATTENTION_BIAS;
  const name = `${ATTENTION_BIAS}.group`;
  return graph.has(name) ? name : graph.node('Concat', Array<string>(groupSize).fill(ATTENTION_BIAS), name, { attributes: { axis: { int: 3 } } });
}
