/**
 * The decoder as an ONNX graph: embeddings of the new tokens in, hidden state of the last position out, keys and values of every layer
 * in and out, and (with `lora`) A and B of all seven linears of every layer as inputs of free rank, so that an adapter is a feed.
 * The head is not in the graph: the few logits a masked step needs are cheaper computed from the embedding rows (see row-table.ts).
 * Reference: ONNX Runtime contrib operators (GroupQueryAttention, SkipSimplifiedLayerNormalization, MatMulNBits).
 */
import type { LinearName } from '../lora/adapter.ts';
import { dequantise } from '../model/dequantise.ts';
import type { GgufModel } from '../model/gguf.ts';
import { linearShape, linearTensor, OUTPUT_NORM, ROPE_DIVISORS, vectorTensor, type LayerVector } from '../model/layout.ts';
import { halfSplitOrder, reorderRows } from '../model/row-order.ts';
import type { GgufTensor } from '../model/tensor.ts';
import { GraphBuilder } from './builder.ts';
import { encodeModel, MS_DOMAIN } from './encoder.ts';
import { addLinear, type WeightFormat } from './linear.ts';
import { EMBEDDINGS, HIDDEN, loraA, loraB, pastKey, pastValue, presentKey, presentValue, SEQUENCE_LENGTHS, TOTAL_LENGTH } from './names.ts';
import { rotaryTables } from './rotary.ts';

/** Raised whenever the same options would give other bytes: part of every cache key. */
export const GRAPH_VERSION = 2;

/** Positions a graph is built for unless told otherwise, where the model allows them. The rotary tables grow with it: 256 bytes each for heads of 64. */
export const DEFAULT_CONTEXT_LENGTH = 8192;

export interface GraphOptions {
  readonly format: WeightFormat;
  /** Inputs for an adapter. Without them an adapter cannot be used, and the base model runs faster. Default true. */
  readonly lora?: boolean;
  /** At most the model's own; default the smaller of that and {@link DEFAULT_CONTEXT_LENGTH}. */
  readonly contextLength?: number;
  /** Large weights as files of their own instead of inside the model: less memory in a browser. Default false. */
  readonly external?: boolean;
}

/** Options with every default filled in. */
export interface GraphSettings {
  readonly format: WeightFormat;
  readonly lora: boolean;
  readonly contextLength: number;
}

export interface DecoderGraph {
  readonly settings: GraphSettings;
  /** Written one after the other they are the `.onnx` file. */
  readonly parts: readonly Uint8Array<ArrayBuffer>[];
  /** Files that the model refers to by name; empty unless `external`. */
  readonly externalData: readonly ExternalData[];
  /** Of model and external data together. */
  readonly sizeBytes: number;
}

interface ExternalData {
  readonly path: string;
  readonly data: Uint8Array<ArrayBuffer>;
}

/** Fills in the defaults. A context longer than the model's is a RangeError. */
export function graphSettings(model: GgufModel, options: GraphOptions): GraphSettings {
  const limit = model.config.contextLength;
  const contextLength = options.contextLength ?? Math.min(limit, DEFAULT_CONTEXT_LENGTH);
  if (!Number.isInteger(contextLength) || contextLength < 1 || contextLength > limit) throw new RangeError(`contextLength must be 1 to ${limit}`);
  return { format: options.format, lora: options.lora ?? true, contextLength };
}

/**
 * Name under which a graph built without `external` may be kept: equal keys mean equal bytes. Made of the model's digest, the version of this
 * builder and the settings; safe as a file name.
 */
export function graphCacheKey(model: GgufModel, options: GraphOptions): string {
  const { format, lora, contextLength } = graphSettings(model, options);
  return `${(model.merged ?? model).digest.slice(0, 16)}-v${GRAPH_VERSION}-${format}${lora ? '-lora' : ''}-c${contextLength}`;
}

/** Builds the graph; seconds of work and as many bytes as the weights have in the chosen format. */
export function buildGraph(model: GgufModel, options: GraphOptions): DecoderGraph {
  const settings = graphSettings(model, options);
  const graph = new GraphBuilder(options.external ?? false);
  addDecoder(graph, model, settings);
  const parts = encodeModel(graph);
  const externalData = graph.initializers.flatMap(({ location, data }) =>
    location === undefined ? [] : [{ path: location, data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) }],
  );
  const sizeBytes = [...parts, ...externalData.map(({ data }) => data)].reduce((total, bytes) => total + bytes.length, 0);
  return { settings, parts, externalData, sizeBytes };
}

function addDecoder(graph: GraphBuilder, model: GgufModel, settings: GraphSettings): void {
  const { config } = model;
  const divisors = model.tensors.get(ROPE_DIVISORS);
  const { cos, sin } = rotaryTables(settings.contextLength, { ...config, ...(divisors === undefined ? {} : { frequencyDivisors: dequantise(divisors) }) });
  graph.weight('cos', 'float32', [settings.contextLength, config.ropeSize / 2], cos);
  graph.weight('sin', 'float32', [settings.contextLength, config.ropeSize / 2], sin);
  graph.input(EMBEDDINGS, 'float32', [1, 's', config.hiddenSize]);
  graph.input(SEQUENCE_LENGTHS, 'int32', [1]);
  graph.input(TOTAL_LENGTH, 'int32', []);
  graph.output(HIDDEN, 'float32', [1, 1, config.hiddenSize]);
  for (let layer = 0; layer < config.layerCount; layer++) {
    for (const name of [pastKey(layer), pastValue(layer)]) graph.input(name, 'float32', [1, config.kvHeadCount, 'p', config.headSize]);
    for (const name of [presentKey(layer), presentValue(layer)]) graph.output(name, 'float32', [1, config.kvHeadCount, 't', config.headSize]);
  }
  const decoder = new DecoderBuilder(graph, model, settings);
  let stream: Stream = { residual: EMBEDDINGS, normed: decoder.norm(EMBEDDINGS, vectorTensor(0, 'attn_norm.weight')) };
  for (let layer = 0; layer < config.layerCount; layer++) stream = decoder.layer(layer, stream);
}

/** The residual sum so far, and the same after the next norm. */
interface Stream {
  readonly residual: string;
  readonly normed: string;
}

class DecoderBuilder {
  readonly #graph: GraphBuilder;
  readonly #model: GgufModel;
  readonly #settings: GraphSettings;

  constructor(graph: GraphBuilder, model: GgufModel, settings: GraphSettings) {
    this.#graph = graph;
    this.#model = model;
    this.#settings = settings;
  }

  layer(layer: number, { residual, normed }: Stream): Stream {
    const isLast = layer + 1 === this.#model.config.layerCount;
    const attended = this.#attention(layer, normed);
    // What follows the last attention is needed of the last position only.
    const [kept, keptResidual] = isLast ? [this.#lastPosition(attended), this.#lastPosition(residual)] : [attended, residual];
    const output = this.#linear(layer, 'o', kept);
    const middle = this.#skipNorm(keptResidual, output, vectorTensor(layer, 'ffn_norm.weight'), `middle.${layer}`);
    const down = this.#feedForward(layer, middle.normed);
    const nextNorm = isLast ? OUTPUT_NORM : vectorTensor(layer + 1, 'attn_norm.weight');
    return this.#skipNorm(middle.residual, down, nextNorm, isLast ? HIDDEN : `layer.${layer}`);
  }

  norm(x: string, tensor: string): string {
    const attributes = { epsilon: { float: this.#model.config.rmsEpsilon } };
    return this.#graph.node('SimplifiedLayerNormalization', [x, this.#vector(tensor)], `${x}.normed`, { attributes });
  }

  #attention(layer: number, x: string): string {
    const { architecture, headCount, kvHeadCount, headSize } = this.#model.config;
    let query = this.#linear(layer, 'q', x);
    let key = this.#linear(layer, 'k', x);
    let value = this.#linear(layer, 'v', x);
    if (architecture === 'qwen2') {
      query = this.#bias(layer, query, 'attn_q.bias');
      key = this.#bias(layer, key, 'attn_k.bias');
      value = this.#bias(layer, value, 'attn_v.bias');
    }
    if (architecture === 'qwen3') {
      query = this.#headNorm(query, headCount, vectorTensor(layer, 'attn_q_norm.weight'));
      key = this.#headNorm(key, kvHeadCount, vectorTensor(layer, 'attn_k_norm.weight'));
    }
    const attended = `attention.${layer}`;
    this.#graph.nodeOf(
      'GroupQueryAttention',
      [query, key, value, pastKey(layer), pastValue(layer), SEQUENCE_LENGTHS, TOTAL_LENGTH, 'cos', 'sin'],
      [attended, presentKey(layer), presentValue(layer)],
      {
        attributes: {
          num_heads: { int: headCount }, kv_num_heads: { int: kvHeadCount }, do_rotary: { int: 1 }, rotary_interleaved: { int: 0 },
          scale: { float: 1 / Math.sqrt(headSize) },
        },
        domain: MS_DOMAIN,
      },
    );
    return attended;
  }

  /** SwiGLU: `down(silu(gate(x)) · up(x))`. */
  #feedForward(layer: number, x: string): string {
    const gate = this.#linear(layer, 'gate', x);
    const up = this.#linear(layer, 'up', x);
    const sigmoid = this.#graph.node('Sigmoid', [gate], `${gate}.sigmoid`);
    const silu = this.#graph.node('Mul', [gate, sigmoid], `${gate}.silu`);
    return this.#linear(layer, 'down', this.#graph.node('Mul', [silu, up], `${gate}.product`));
  }

  #linear(layer: number, linear: LinearName, x: string): string {
    const name = `${linear}.${layer}`;
    const base = addLinear(this.#graph, this.#settings.format, x, name, this.#weight(layer, linear));
    if (!this.#settings.lora) return base;
    const { inputSize, outputSize } = linearShape(this.#model.config, linear);
    const a = this.#graph.input(loraA(layer, linear), 'float32', [inputSize, 'r']);
    const b = this.#graph.input(loraB(layer, linear), 'float32', ['r', outputSize]);
    const low = this.#graph.node('MatMul', [x, a], `${name}.low`);
    const update = this.#graph.node('MatMul', [low, b], `${name}.update`);
    return this.#graph.node('Add', [base, update], `${name}.adapted`);
  }

  /** The matrix of one linear, rows in half-split order. */
  #weight(layer: number, linear: LinearName): GgufTensor {
    const { architecture, headSize, ropeSize } = this.#model.config;
    const tensor = this.#tensor(linearTensor(layer, linear));
    if (architecture !== 'llama' || (linear !== 'q' && linear !== 'k')) return tensor;
    const { outputSize } = linearShape(this.#model.config, linear);
    return { ...tensor, bytes: reorderRows(tensor.bytes, tensor.bytes.length / outputSize, halfSplitOrder(outputSize, headSize, ropeSize)) };
  }

  #bias(layer: number, x: string, vector: LayerVector): string {
    return this.#graph.node('Add', [x, this.#vector(vectorTensor(layer, vector))], `${x}.biased`);
  }

  /** RMS norm over each head by itself, before the rotary embedding. */
  #headNorm(x: string, headCount: number, tensor: string): string {
    const heads = this.#graph.node('Reshape', [x, this.#graph.integers(0, 0, headCount, this.#model.config.headSize)], `${x}.heads`);
    return this.#graph.node('Reshape', [this.norm(heads, tensor), this.#graph.integers(0, 0, -1)], `${x}.head_normed`);
  }

  #skipNorm(residual: string, x: string, tensor: string, normed: string): Stream {
    const sum = `${normed}.residual`;
    const attributes = { epsilon: { float: this.#model.config.rmsEpsilon } };
    const outputs = [normed, '', '', sum];
    this.#graph.nodeOf('SkipSimplifiedLayerNormalization', [residual, x, this.#vector(tensor)], outputs, { attributes, domain: MS_DOMAIN });
    return { residual: sum, normed };
  }

  #lastPosition(x: string): string {
    const [start, end, axis] = [this.#graph.integers(-1), this.#graph.integers(INT32_MAX), this.#graph.integers(1)];
    return this.#graph.node('Slice', [x, start, end, axis], `${x}.last`);
  }

  #vector(name: string): string {
    const tensor = this.#tensor(name);
    return this.#graph.weight(name, 'float32', tensor.shape, dequantise(tensor));
  }

  #tensor(name: string): GgufTensor {
    const tensor = this.#model.tensors.get(name);
    if (tensor === undefined) throw new TypeError(`model: no tensor ${name}, though readGguf checks the layout`);
    return tensor;
  }
}

const INT32_MAX = 2 ** 31 - 1;
