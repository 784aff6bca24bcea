/**
 * A decoder in plain double-precision loops, written from the published architectures and sharing nothing with the package: RMS norm, grouped-query
 * attention with half-split rotary embedding, SwiGLU; biases on q, k, v for qwen2, a norm on each head of q and k for qwen3; optional LoRA.
 * Everything is recomputed for every position: slow and hard to get wrong.
 */
import type { TinyConfig, TinyModel } from './tiny-model.ts';

type Vector = Float64Array;

/** `W + scaling · B · A` is what a linear with this adapter computes. A is `[rank, inputSize]`, B `[outputSize, rank]`. */
export interface ReferenceLora {
  /** Of matrices that name none of their own. */
  readonly scaling?: number;
  matrixOf(layer: number, tensor: string): { readonly a: ArrayLike<number>; readonly b: ArrayLike<number>; readonly scaling?: number } | undefined;
}

/** Logits of the last position after `tokens`. */
export function referenceLogits(model: TinyModel, tokens: readonly number[], lora?: ReferenceLora): Vector {
  const { config } = model;
  const weight = (name: string): Vector => {
    const values = model.weights.get(name);
    if (values === undefined) throw new Error(`no ${name}`);
    return values;
  };
  const linear = (layer: number, tensor: string, x: Vector): Vector => {
    const y = multiply(weight(`blk.${layer}.${tensor}.weight`), x);
    const matrix = lora?.matrixOf(layer, tensor);
    if (lora === undefined || matrix === undefined) return y;
    const update = multiply(matrix.b, multiply(matrix.a, x));
    return y.map((value, i) => value + (matrix.scaling ?? lora.scaling ?? 1) * update[i]!);
  };
  const biased = (name: string, x: Vector): Vector => x.map((value, i) => value + weight(name)[i]!);
  const norm = (x: Vector, gain: Vector): Vector => {
    const scale = 1 / Math.sqrt(x.reduce((sum, value) => sum + value * value, 0) / x.length + config.rmsEpsilon);
    return x.map((value, i) => value * scale * gain[i]!);
  };

  const embedding = weight('token_embd.weight');
  let stream = tokens.map((token) => embedding.slice(token * config.hiddenSize, (token + 1) * config.hiddenSize));
  for (let layer = 0; layer < config.layerCount; layer++) {
    const projected = stream.map((x, position) => {
      const normed = norm(x, weight(`blk.${layer}.attn_norm.weight`));
      let [q, k, v] = (['attn_q', 'attn_k', 'attn_v'] as const).map((tensor) => linear(layer, tensor, normed)) as [Vector, Vector, Vector];
      if (config.architecture === 'qwen2') {
        [q, k, v] = [biased(`blk.${layer}.attn_q.bias`, q), biased(`blk.${layer}.attn_k.bias`, k), biased(`blk.${layer}.attn_v.bias`, v)];
      }
      const headNorm = (head: Vector, tensor: string): Vector =>
        config.architecture === 'qwen3' ? norm(head, weight(`blk.${layer}.${tensor}.weight`)) : head;
      const rotated = (x: Vector, tensor: string): Vector[] =>
        heads(x, config.headSize).map((head) => rotate(headNorm(head, tensor), position, config));
      return { q: rotated(q, 'attn_q_norm'), k: rotated(k, 'attn_k_norm'), v: heads(v, config.headSize) };
    });
    stream = stream.map((x, position) => {
      const groupSize = config.headCount / config.kvHeadCount;
      const attended = projected[position]!.q.map((query, head) => {
        const group = Math.floor(head / groupSize);
        const past = projected.slice(0, position + 1);
        const weights = softmax(past.map(({ k }) => dot(query, k[group]!) / Math.sqrt(config.headSize)));
        return query.map((_, i) => past.reduce((sum, { v }, at) => sum + weights[at]! * v[group]![i]!, 0));
      });
      const output = linear(layer, 'attn_output', Float64Array.from(attended.flatMap((head) => Array.from(head))));
      const middle = x.map((value, i) => value + output[i]!);
      const normed = norm(middle, weight(`blk.${layer}.ffn_norm.weight`));
      const gate = linear(layer, 'ffn_gate', normed);
      const up = linear(layer, 'ffn_up', normed);
      const down = linear(layer, 'ffn_down', gate.map((value, i) => (value / (1 + Math.exp(-value))) * up[i]!));
      return middle.map((value, i) => value + down[i]!);
    });
  }
  const last = norm(stream.at(-1)!, weight('output_norm.weight'));
  return multiply(config.isHeadTied ? embedding : weight('output.weight'), last);
}

function multiply(matrix: ArrayLike<number>, x: Vector): Vector {
  const out = new Float64Array(matrix.length / x.length);
  for (let row = 0; row < out.length; row++) {
    let sum = 0;
    for (let i = 0; i < x.length; i++) sum += x[i]! * matrix[row * x.length + i]!;
    out[row] = sum;
  }
  return out;
}

function dot(a: Vector, b: Vector): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}

function heads(x: Vector, headSize: number): Vector[] {
  return Array.from({ length: x.length / headSize }, (_, head) => x.slice(head * headSize, (head + 1) * headSize));
}

/** Turns the leading `ropeSize` dimensions, pair (i, i + half) by position times its frequency; the rest passes. */
function rotate(head: Vector, position: number, config: TinyConfig): Vector {
  const size = config.ropeSize ?? head.length;
  const half = size / 2;
  const { ropeScaling } = config;
  const magnitude = ropeScaling?.kind === 'yarn' ? 0.1 * Math.log(ropeScaling.factor) + 1 : 1;
  return head.map((value, i) => {
    if (i >= size) return value;
    const angle = position * frequency(i % half, size, config);
    const partner = i < half ? -head[i + half]! : head[i - half]!;
    return magnitude * (value * Math.cos(angle) + partner * Math.sin(angle));
  });
}

function frequency(pair: number, size: number, { ropeBase, ropeScaling, ropeDivisors }: TinyConfig): number {
  const plain = ropeBase ** ((-2 * pair) / size) / Math.fround(ropeDivisors?.[pair] ?? 1);
  if (ropeScaling === undefined || ropeScaling.kind === 'none') return plain;
  const stretched = plain / ropeScaling.factor;
  if (ropeScaling.kind === 'linear') return stretched;
  // YaRN: pairs that turn 32 times or more in the original context keep their frequency, those that turn less than once are stretched.
  const pairOfTurns = (turns: number): number => (size / 2) * (Math.log(ropeScaling.originalContextLength / (2 * Math.PI * turns)) / Math.log(ropeBase));
  const [low, high] = [Math.max(0, Math.floor(pairOfTurns(32))), Math.min(size - 1, Math.ceil(pairOfTurns(1)))];
  if (pair <= low) return plain;
  if (pair >= high) return stretched;
  const stretch = (pair - low) / (high - low);
  return plain * (1 - stretch) + stretched * stretch;
}

function softmax(scores: readonly number[]): number[] {
  const highest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - highest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}
