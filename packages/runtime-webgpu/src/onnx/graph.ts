/**
 * The decoder as an ONNX graph: embeddings of the new tokens in, hidden states of the kept positions out, keys and values of every layer
 * in and out, and (with `lora`) A and B of every group of linears as inputs of free rank, so that an adapter is a feed. All between is `[s, size]`.
 * The head is not in the graph: the few logits a masked step needs are cheaper computed from the embedding rows (see row-table.ts).
 * Reference: ONNX Runtime contrib operators (GroupQueryAttention, SkipSimplifiedLayerNormalization, MatMulNBits).
 */
import type { ModelConfig } from '../model/config.ts';
import { dequantise } from '../model/dequantise.ts';
import type { GgufModel } from '../model/gguf.ts';
import { linearShape, OUTPUT_NORM, ROPE_DIVISORS, vectorTensor } from '../model/layout.ts';
import type { GgufTensor } from '../model/tensor.ts';
import { addBatchedAttention, addBatchInputs } from './batched-attention.ts';
import { alignedSize, GraphBuilder, type WeightPlacement } from './builder.ts';
import { encodeModel, MS_DOMAIN } from './encoder.ts';
import { groupMatrices, groupShape, LINEAR_GROUPS, type GroupName } from './linear-groups.ts';
import { addLinear, type WeightFormat } from './linear.ts';
import { EMBEDDINGS, HIDDEN, KEPT_POSITIONS, loraA, loraB, pastKey, pastValue, presentKey, presentValue, SEQUENCE_LENGTHS, TOTAL_LENGTH } from './names.ts';
import { rotaryTables } from './rotary.ts';

/** Raised whenever the same options would give other bytes: part of every cache key. */
export const GRAPH_VERSION = 5;

/** Positions a graph is built for unless told otherwise, where the model allows them. The rotary tables grow with it: 256 bytes each for heads of 64. */
export const DEFAULT_CONTEXT_LENGTH = 8192;

export interface GraphOptions {
  readonly format: WeightFormat;
  /** Inputs for an adapter. Without them an adapter cannot be used, and the base model runs faster. Default true. */
  readonly lora?: boolean;
  /** At most the model's own; default the smaller of that and {@link DEFAULT_CONTEXT_LENGTH}. */
  readonly contextLength?: number;
  /**
   * Large weights beside the model instead of inside it, which saves copies: in files of their own (`'files'`), as a browser takes them, or all in one
   * `file` in the model's folder, which ONNX Runtime maps into memory. Default `'model'`.
   */
  readonly weights?: WeightPlacement;
  /** For several rows in one pass (see batch-engine.ts). Default false. */
  readonly batched?: boolean;
}

/** Options with every default filled in. */
export interface GraphSettings {
  readonly format: WeightFormat;
  readonly lora: boolean;
  readonly contextLength: number;
  readonly batched: boolean;
}

export interface DecoderGraph {
  readonly settings: GraphSettings;
  /** Written one after the other they are the `.onnx` file. */
  readonly parts: readonly Uint8Array<ArrayBuffer>[];
  /** What the model refers to by file name; empty where weights are in the model. Entries of one `path` follow each other in it. */
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
  return { format: options.format, lora: options.lora ?? true, contextLength, batched: options.batched ?? false };
}

/**
 * Name under which a graph with its weights in the model may be kept: equal keys mean equal bytes. Made of the model's digest, the version of this
 * builder and the settings; safe as a file name.
 */
export function graphCacheKey(model: GgufModel, options: GraphOptions): string {
  const { format, lora, contextLength, batched } = graphSettings(model, options);
  return `${(model.merged ?? model).digest.slice(0, 16)}-v${GRAPH_VERSION}-${format}${lora ? '-lora' : ''}${batched ? '-batched' : ''}-c${contextLength}`;
}

/** Builds the graph; seconds of work and as many bytes as the weights have in the chosen format. */
export function buildGraph(model: GgufModel, options: GraphOptions): DecoderGraph {
  const settings = graphSettings(model, options);
  const graph = new GraphBuilder(options.weights ?? 'model');
  addDecoder(graph, model, settings);
  const parts = encodeModel(graph);
  const externalData = graph.initializers.flatMap(({ location, data }): readonly ExternalData[] => {
    if (location === undefined) return [];
    const weight = { path: location.file, data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) };
    const paddingBytes = typeof options.weights === 'object' ? alignedSize(data.byteLength) - data.byteLength : 0;
    return paddingBytes === 0 ? [weight] : [weight, { path: location.file, data: new Uint8Array(paddingBytes) }];
  });
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
  graph.input(KEPT_POSITIONS, 'int32', ['k']);
  graph.output(HIDDEN, 'float32', ['k', config.hiddenSize]);
  if (settings.batched) addBatchInputs(graph, config);
  else addSequenceInputs(graph, config);
  const decoder = new DecoderBuilder(graph, model, settings);
  const rows = graph.node('Reshape', [EMBEDDINGS, graph.integers(-1, config.hiddenSize)], `${EMBEDDINGS}.rows`);
  let stream: Stream = { residual: rows, normed: decoder.norm(rows, vectorTensor(0, 'attn_norm.weight')) };
  for (let layer = 0; layer < config.layerCount; layer++) stream = decoder.layer(layer, stream);
}

function addSequenceInputs(graph: GraphBuilder, { layerCount, kvHeadCount, headSize }: ModelConfig): void {
  graph.input(SEQUENCE_LENGTHS, 'int32', [1]);
  graph.input(TOTAL_LENGTH, 'int32', []);
  for (let layer = 0; layer < layerCount; layer++) {
    for (const name of [pastKey(layer), pastValue(layer)]) graph.input(name, 'float32', [1, kvHeadCount, 'p', headSize]);
    for (const name of [presentKey(layer), presentValue(layer)]) graph.output(name, 'float32', [1, kvHeadCount, 't', headSize]);
  }
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
    // What follows the last attention is needed of the kept positions only.
    const [kept, keptResidual] = isLast ? [this.#keptPositions(attended), this.#keptPositions(residual)] : [attended, residual];
    const output = this.#linears(layer, 'o', kept);
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
    const { config } = this.#model;
    const attended = this.#settings.batched ? addBatchedAttention(this.#graph, config, layer, ...this.#queryKeyValue(layer, x)) : this.#sequenceAttention(layer, x);
    return this.#graph.node('Reshape', [attended, this.#graph.integers(-1, config.headCount * config.headSize)], `${attended}.rows`);
  }

  #sequenceAttention(layer: number, x: string): string {
    const { architecture, headCount, kvHeadCount, headSize } = this.#model.config;
    // the operator takes queries, keys and values side by side as they are
    const parts = architecture === 'qwen3' ? this.#queryKeyValue(layer, x) : [this.#sequence(this.#packedQueryKeyValue(layer, x)), '', ''];
    const attended = `attention.${layer}`;
    this.#graph.nodeOf(
      'GroupQueryAttention',
      [...parts, pastKey(layer), pastValue(layer), SEQUENCE_LENGTHS, TOTAL_LENGTH, 'cos', 'sin'],
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

  /** `[s, queries | keys | values]` */
  #packedQueryKeyValue(layer: number, x: string): string {
    const packed = this.#linears(layer, 'qkv', x);
    return this.#model.config.architecture === 'qwen2' ? this.#bias(layer, packed) : packed;
  }

  /** Each `[1, s, its size]`. */
  #queryKeyValue(layer: number, x: string): readonly [string, string, string] {
    const { architecture, headCount, kvHeadCount } = this.#model.config;
    const [query, key, value] = this.#split(this.#sequence(this.#packedQueryKeyValue(layer, x)), 'qkv', 2);
    if (architecture !== 'qwen3') return [query!, key!, value!];
    return [
      this.#headNorm(query!, headCount, vectorTensor(layer, 'attn_q_norm.weight')), this.#headNorm(key!, kvHeadCount, vectorTensor(layer, 'attn_k_norm.weight')), value!,
    ];
  }

  /** SwiGLU: `down(silu(gate(x)) · up(x))`. */
  #feedForward(layer: number, x: string): string {
    const [gate, up] = this.#split(this.#linears(layer, 'gate_up', x), 'gate_up', 1);
    const sigmoid = this.#graph.node('Sigmoid', [gate!], `${gate!}.sigmoid`);
    const silu = this.#graph.node('Mul', [gate!, sigmoid], `${gate!}.silu`);
    return this.#linears(layer, 'down', this.#graph.node('Mul', [silu, up!], `${gate!}.product`));
  }

  /** The results of a group side by side, `[s, outputSize]`. */
  #linears(layer: number, group: GroupName, x: string): string {
    const name = `${group}.${layer}`;
    const matrices = groupMatrices(this.#model, layer, group);
    const parts = matrices.map((matrix, part) => addLinear(this.#graph, this.#settings.format, x, matrices.length === 1 ? name : `${name}.${part}`, matrix));
    const base = parts.length === 1 ? parts[0]! : this.#graph.node('Concat', parts, name, { attributes: { axis: { int: 1 } } });
    if (!this.#settings.lora) return base;
    const { inputSize, outputSize } = groupShape(this.#model.config, group);
    const rank = `r.${name}`;
    const a = this.#graph.input(loraA(layer, group), 'float32', [inputSize, rank]);
    const b = this.#graph.input(loraB(layer, group), 'float32', [rank, outputSize]);
    const low = this.#graph.node('MatMul', [x, a], `${name}.low`);
    return this.#graph.node('Gemm', [low, b, base], `${name}.adapted`);
  }

  /** The members' results apart, which lie side by side along `axis`. */
  #split(x: string, group: GroupName, axis: number): readonly string[] {
    const outputs = LINEAR_GROUPS[group].map((linear) => `${x}.${linear}`);
    const sizes = LINEAR_GROUPS[group].map((linear) => linearShape(this.#model.config, linear).outputSize);
    this.#graph.nodeOf('Split', [x, this.#graph.integers(...sizes)], outputs, { attributes: { axis: { int: axis } } });
    return outputs;
  }

  /** `[s, size]` to `[1, s, size]`. */
  #sequence(x: string): string {
    return this.#graph.node('Unsqueeze', [x, this.#graph.integers(0)], `${x}.sequence`);
  }

  #bias(layer: number, packed: string): string {
    const tensors = (['attn_q.bias', 'attn_k.bias', 'attn_v.bias'] as const).map((vector) => this.#tensor(vectorTensor(layer, vector)));
    const values = Float32Array.from(tensors.flatMap((tensor) => [...dequantise(tensor)]));
    return this.#graph.node('Add', [packed, this.#graph.weight(`${packed}.bias`, 'float32', [values.length], values)], `${packed}.biased`);
  }

  /** RMS norm over each head by itself, before the rotary embedding; `[1, s, heads · h]`, which is what ONNX Runtime expects where it fuses this into the attention. */
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

  #keptPositions(x: string): string {
    return this.#graph.node('Gather', [x, KEPT_POSITIONS], `${x}.kept`, { attributes: { axis: { int: 0 } } });
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
