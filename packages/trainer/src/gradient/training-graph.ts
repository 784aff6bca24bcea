/**
 * Forward and backward pass of the decoder as one ONNX graph: a packed batch and the adapter in, loss, log probabilities and the derivative by every A
 * and B out. Each block stands in a file of its own with its derivative beside it; here they are put in order, once forwards and once back. The base
 * is frozen, in float32, so no derivative by its weights is computed; activations are kept. What follows the last attention is computed of the
 * steps' positions only, and behind the first layer's adapters nothing is left to train.
 */
import type { GgufModel, ModelConfig } from '@contractrl/runtime-webgpu';
import {
  dequantise, encodeModel, GraphBuilder, groupMatrices, groupShape, LINEAR_GROUPS, linearShape, OUTPUT_NORM, ROPE_DIVISORS, vectorTensor, type GroupName,
} from '@contractrl/runtime-webgpu/onnx';
import { addAttention, addAttentionBackward, type Attention } from './attention.ts';
import { addAdapterBackward, addLinears, addLinearsBackward, type LinearMember, type Linears } from './linear.ts';
import { addMaskedLoss, addMaskedLossBackward } from './masked-loss.ts';
import { ALLOWED, ATTENTION_BIAS, EMBEDDINGS, HEAD_ROWS, LORA_SCALING, POSITION_IDS, STEP_POSITIONS, STEP_WEIGHTS, TARGET_ROWS } from './names.ts';
import { addNorm, addNormBackward, type Norm } from './norm.ts';
import { product } from './operators.ts';
import { addRotary, addRotaryBackward, addRotaryTables } from './rotary.ts';
import { addSwiGlu, addSwiGluBackward, type SwiGlu } from './swiglu.ts';

export interface TrainingGraph {
  /** Written one after the other they are the `.onnx` file. */
  readonly parts: readonly Uint8Array<ArrayBuffer>[];
  /** The frozen weights, which the model refers to by file name: embedded they would be copied, and a model file ends at 2 GiB. */
  readonly externalData: readonly { readonly path: string; readonly data: Uint8Array<ArrayBuffer> }[];
}

/** Builds the graph for paths of up to `contextLength` positions, of which a batch may hold any number; 4 bytes a weight, the head's not counted. */
export function buildTrainingGraph(model: GgufModel, contextLength: number): TrainingGraph {
  const { config } = model;
  if (!Number.isInteger(contextLength) || contextLength < 1 || contextLength > config.contextLength) throw new RangeError(`contextLength must be 1 to ${config.contextLength}`);
  const graph = new GraphBuilder('files');
  addInputs(graph, config);
  const divisors = model.tensors.get(ROPE_DIVISORS);
  addRotaryTables(graph, config, contextLength, divisors && dequantise(divisors));
  new TrainingGraphBuilder(graph, model).build();
  const externalData = graph.initializers.flatMap(({ location, data }) =>
    location === undefined ? [] : [{ path: location.file, data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) }]);
  return { parts: encodeModel(graph), externalData };
}

function addInputs(graph: GraphBuilder, { hiddenSize }: ModelConfig): void {
  graph.input(EMBEDDINGS, 'float32', ['s', hiddenSize]);
  graph.input(POSITION_IDS, 'int64', ['s', 1]);
  graph.input(ATTENTION_BIAS, 'float32', ['s', 's']);
  graph.input(STEP_POSITIONS, 'int64', ['m']);
  graph.input(HEAD_ROWS, 'float32', ['u', hiddenSize]);
  graph.input(ALLOWED, 'uint8', ['m', 'u']);
  graph.input(TARGET_ROWS, 'int64', ['m', 1]);
  graph.input(STEP_WEIGHTS, 'float32', ['m']);
  graph.input(LORA_SCALING, 'float32', [1]);
}

/** What the backward pass of one layer needs of its forward pass. */
interface Layer {
  readonly attentionNorm: Norm;
  readonly queryKeyValue: Linears;
  /** Of queries and keys, where the architecture has them. */
  readonly headNorms: readonly [Norm, Norm] | undefined;
  readonly attention: Attention;
  readonly output: Linears;
  readonly feedForwardNorm: Norm;
  readonly gateUp: Linears;
  readonly swiGlu: SwiGlu;
  readonly down: Linears;
  /** The residual sum after the layer. */
  readonly residual: string;
}

class TrainingGraphBuilder {
  readonly #graph: GraphBuilder;
  readonly #model: GgufModel;
  readonly #config: ModelConfig;

  constructor(graph: GraphBuilder, model: GgufModel) {
    this.#graph = graph;
    this.#model = model;
    this.#config = model.config;
  }

  build(): void {
    const layers: Layer[] = [];
    let residual = EMBEDDINGS;
    for (let index = 0; index < this.#config.layerCount; index++) {
      const layer = this.#forward(index, residual);
      layers.push(layer);
      residual = layer.residual;
    }
    const outputNorm = this.#norm(residual, OUTPUT_NORM, 'hidden');
    const loss = addMaskedLoss(this.#graph, outputNorm.y);
    let gradient = addNormBackward(this.#graph, outputNorm, addMaskedLossBackward(this.#graph, loss));
    for (const [index, layer] of [...layers.entries()].reverse()) {
      const { dLinears, dResidual } = this.#backward(index, layer, gradient);
      if (index === 0) {
        addAdapterBackward(this.#graph, layer.queryKeyValue, dLinears);
      } else {
        const dNormed = addLinearsBackward(this.#graph, layer.queryKeyValue, dLinears);
        gradient = this.#graph.node('Add', [dResidual, addNormBackward(this.#graph, layer.attentionNorm, dNormed)], `residual.${index}.backward`);
      }
    }
  }

  #forward(index: number, x: string): Layer {
    const attentionNorm = this.#norm(x, vectorTensor(index, 'attn_norm.weight'), `attention_norm.${index}`);
    const queryKeyValue = this.#linears(index, 'qkv', attentionNorm.y);
    const [query, key, value] = this.#biased(index, queryKeyValue.ys);
    const headNorms = this.#headNorms(index, query, key);
    const attention = addAttention(
      this.#graph, this.#config, this.#turned(headNorms?.[0].y ?? query, this.#config.headCount, 'query', index),
      this.#turned(headNorms?.[1].y ?? key, this.#config.kvHeadCount, 'key', index), value, `attention.${index}`,
    );
    const [attended, residual] = this.#isLast(index) ? [this.#ofSteps(attention.y), this.#ofSteps(x)] : [attention.y, x];
    const output = this.#linears(index, 'o', attended);
    const middle = this.#graph.node('Add', [residual, output.ys[0]!], `middle.${index}`);
    const feedForwardNorm = this.#norm(middle, vectorTensor(index, 'ffn_norm.weight'), `feed_forward_norm.${index}`);
    const gateUp = this.#linears(index, 'gate_up', feedForwardNorm.y);
    const swiGlu = addSwiGlu(this.#graph, gateUp.ys[0]!, gateUp.ys[1]!, `feed_forward.${index}`);
    const down = this.#linears(index, 'down', swiGlu.y);
    const sum = this.#graph.node('Add', [middle, down.ys[0]!], `residual.${index}`);
    return { attentionNorm, queryKeyValue, headNorms, attention, output, feedForwardNorm, gateUp, swiGlu, down, residual: sum };
  }

  /** From the derivative by the residual sum after the layer to those by the results of q, k and v and, past the attention, by the sum before it. */
  #backward(index: number, layer: Layer, dy: string): { readonly dLinears: readonly string[]; readonly dResidual: string } {
    const { attention, output, feedForwardNorm, gateUp, swiGlu, down } = layer;
    const dProduct = addLinearsBackward(this.#graph, down, [dy]);
    const dNormed = addLinearsBackward(this.#graph, gateUp, addSwiGluBackward(this.#graph, swiGlu, dProduct));
    const dMiddle = this.#graph.node('Add', [dy, addNormBackward(this.#graph, feedForwardNorm, dNormed)], `middle.${index}.backward`);
    const dOutput = addLinearsBackward(this.#graph, output, [dMiddle]);
    const [dAttended, dResidual] = this.#isLast(index) ? [this.#toPositions(dOutput), this.#toPositions(dMiddle)] : [dOutput, dMiddle];
    const [dQuery, dKey, dValue] = addAttentionBackward(this.#graph, attention, dAttended);
    return { dLinears: [this.#turnedBackward(layer, dQuery, 0, index), this.#turnedBackward(layer, dKey, 1, index), dValue], dResidual };
  }

  #isLast(index: number): boolean {
    return index + 1 === this.#config.layerCount;
  }

  #linears(layer: number, group: GroupName, x: string): Linears {
    const { inputSize, outputSize } = groupShape(this.#config, group);
    const name = `${group}.${layer}`;
    const values = new Float32Array(outputSize * inputSize);
    let offset = 0;
    for (const matrix of groupMatrices(this.#model, layer, group)) {
      const part = dequantise(matrix);
      values.set(part, offset);
      offset += part.length;
    }
    let first = 0;
    const members = LINEAR_GROUPS[group].map((linear): LinearMember => {
      const size = linearShape(this.#config, linear).outputSize;
      const rows = values.subarray(first * inputSize, (first + size) * inputSize);
      first += size;
      return { linear, outputSize: size, weight: this.#graph.weight(`${name}.${linear}.weight`, 'float32', [size, inputSize], rows) };
    });
    return addLinears(this.#graph, { name, layer, members, inputSize }, x);
  }

  #norm(x: string, tensor: string, name: string): Norm {
    return addNorm(this.#graph, x, this.#vector(tensor), this.#config.rmsEpsilon, name);
  }

  /** The frozen biases of qwen2 change no derivative. */
  #biased(layer: number, [query, key, value]: readonly string[]): readonly [string, string, string] {
    const parts = [query!, key!, value!] as const;
    if (this.#config.architecture !== 'qwen2') return parts;
    const add = (x: string, vector: Parameters<typeof vectorTensor>[1]): string => this.#graph.node('Add', [x, this.#vector(vectorTensor(layer, vector))], `${x}.biased`);
    return [add(parts[0], 'attn_q.bias'), add(parts[1], 'attn_k.bias'), add(parts[2], 'attn_v.bias')];
  }

  /** RMS norm over each head by itself, before the rotary embedding. */
  #headNorms(layer: number, query: string, key: string): Layer['headNorms'] {
    if (this.#config.architecture !== 'qwen3') return undefined;
    const { headCount, kvHeadCount, headSize } = this.#config;
    const heads = (x: string, count: number): string => this.#graph.node('Reshape', [x, this.#graph.integers(0, count, headSize)], `${x}.heads`);
    return [
      this.#norm(heads(query, headCount), vectorTensor(layer, 'attn_q_norm.weight'), `query_norm.${layer}`),
      this.#norm(heads(key, kvHeadCount), vectorTensor(layer, 'attn_k_norm.weight'), `key_norm.${layer}`),
    ];
  }

  #turned(x: string, headCount: number, what: 'query' | 'key', layer: number): string {
    const rows = this.#rows(x, headCount, `${what}.${layer}.rows`);
    return addRotary(this.#graph, this.#config, headCount, rows, `${what}.${layer}.turned`);
  }

  /** `which`: 0 the query, 1 the key. */
  #turnedBackward({ headNorms }: Layer, dy: string, which: 0 | 1, layer: number): string {
    const headCount = which === 0 ? this.#config.headCount : this.#config.kvHeadCount;
    const name = `${which === 0 ? 'query' : 'key'}.${layer}.backward`;
    const back = addRotaryBackward(this.#graph, this.#config, headCount, dy, `${name}.turned`);
    if (headNorms === undefined) return back;
    const heads = this.#graph.node('Reshape', [back, this.#graph.integers(0, headCount, this.#config.headSize)], `${name}.heads`);
    return this.#rows(addNormBackward(this.#graph, headNorms[which], heads), headCount, name);
  }

  /** Heads side by side again, `[s, headCount · h]`, where a norm took them apart. */
  #rows(x: string, headCount: number, name: string): string {
    if (this.#config.architecture !== 'qwen3') return x;
    return this.#graph.node('Reshape', [x, this.#graph.integers(0, headCount * this.#config.headSize)], name);
  }

  /** Of all positions those that predict a step, `[m, size]`. */
  #ofSteps(x: string): string {
    return this.#graph.node('Gather', [x, STEP_POSITIONS], `${x}.of_steps`, { attributes: { axis: { int: 0 } } });
  }

  /** The derivative of {@link #ofSteps}: `[m, size]` added up by position, `[s, size]`. As a product it adds in a fixed order. */
  #toPositions(dy: string): string {
    const steps = 'step_positions.one_hot';
    if (!this.#graph.has(steps)) {
      const count = this.#graph.node('Shape', [EMBEDDINGS], 'positions.count', { attributes: { start: { int: 0 }, end: { int: 1 } } });
      const offOn = this.#graph.constant('off_on', 'float32', [2], Float32Array.of(0, 1));
      this.#graph.node('OneHot', [STEP_POSITIONS, count, offOn], steps, { attributes: { axis: { int: 1 } } });
    }
    return product(this.#graph, steps, dy, `${dy}.of_positions`, { transposeA: true });
  }

  #vector(name: string): string {
    const tensor = this.#model.tensors.get(name);
    if (tensor === undefined) throw new TypeError(`model: no tensor ${name}, though readGguf checks the layout`);
    return this.#graph.constant(name, 'float32', tensor.shape, dequantise(tensor));
  }
}
