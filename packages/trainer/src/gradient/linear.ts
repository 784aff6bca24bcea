/**
 * Frozen linears with a trainable low-rank update, `y = x · Wᵀ + scaling · x · Aᵀ · Bᵀ`, and the derivatives by x, A and B. Of linears that read the same
 * vector the As lie one below the other, because a product with 8 columns takes nearly as long as one with 24. The frozen matrices stay apart: stacked
 * they save products, and splitting the results and joining their derivatives takes as long.
 * Reference: Hu et al. 2021, "LoRA", §4.1.
 */
import type { LinearName } from '@contractrl/runtime-webgpu';
import type { GraphBuilder } from '@contractrl/runtime-webgpu/onnx';
import { gradientOf, LORA_SCALING, loraA, loraB } from './names.ts';
import { concat, product, productPlus, splitEqually } from './operators.ts';

export interface LinearGroup {
  /** Unique in the graph, as the prefix of what is named here. */
  readonly name: string;
  readonly layer: number;
  readonly members: readonly LinearMember[];
  readonly inputSize: number;
}

export interface LinearMember {
  readonly linear: LinearName;
  readonly outputSize: number;
  /** Name of the frozen matrix, `[outputSize, inputSize]`. */
  readonly weight: string;
}

export interface Linears {
  readonly group: LinearGroup;
  readonly x: string;
  /** The members' A one below the other, `[members · r, inputSize]`. */
  readonly a: string;
  /** By member, `scaling · x · Aᵀ`, `[s, r]`. */
  readonly low: readonly string[];
  /** By member, `[s, outputSize]`. */
  readonly ys: readonly string[];
}

/** Declares A and B of each member as inputs; x is `[s, inputSize]`. */
export function addLinears(graph: GraphBuilder, group: LinearGroup, x: string): Linears {
  const { name, layer, members, inputSize } = group;
  const as = members.map(({ linear }) => graph.input(loraA(layer, linear), 'float32', ['r', inputSize]));
  const bs = members.map(({ linear, outputSize }) => graph.input(loraB(layer, linear), 'float32', [outputSize, 'r']));
  const a = concat(graph, as, 0, `${name}.a`);
  const scaled = graph.node('Mul', [product(graph, x, a, `${name}.low`, { transposeB: true }), LORA_SCALING], `${name}.low_scaled`);
  const low = splitEqually(graph, scaled, 1, members.map(({ linear }) => `${name}.${linear}.low`));
  const ys = members.map(({ linear, weight }, i) => {
    const base = product(graph, x, weight, `${name}.${linear}.base`, { transposeB: true });
    return productPlus(graph, low[i]!, bs[i]!, base, `${name}.${linear}`, true);
  });
  return { group, x, a, low, ys };
}

/** Declares the derivatives by A and B as outputs; `dys` are those by each member's result. Gives back the derivative by `x · Aᵀ`, `[s, members · r]`. */
export function addAdapterBackward(graph: GraphBuilder, { group, x, low }: Linears, dys: readonly string[]): string {
  const { layer, members, inputSize } = group;
  const name = `${group.name}.backward`;
  for (const [i, { linear, outputSize }] of members.entries()) {
    const gradient = product(graph, dys[i]!, low[i]!, gradientOf(loraB(layer, linear)), { transposeA: true });
    graph.output(gradient, 'float32', [outputSize, 'r']);
  }
  const dLows = members.map(({ linear }, i) => product(graph, dys[i]!, loraB(layer, linear), `${name}.${linear}.low`));
  const dLow = graph.node('Mul', [concat(graph, dLows, 1, `${name}.low`), LORA_SCALING], `${name}.low_scaled`);
  const gradients = members.map(({ linear }) => gradientOf(loraA(layer, linear)));
  splitEqually(graph, product(graph, dLow, x, members.length === 1 ? gradients[0]! : `${name}.a`, { transposeA: true }), 0, gradients);
  for (const gradient of gradients) graph.output(gradient, 'float32', ['r', inputSize]);
  return dLow;
}

/** As {@link addAdapterBackward}, and gives back the derivative by x. */
export function addLinearsBackward(graph: GraphBuilder, linears: Linears, dys: readonly string[]): string {
  const { members, name } = linears.group;
  let dx = product(graph, addAdapterBackward(graph, linears, dys), linears.a, `${name}.backward.x`);
  for (const [i, { linear, weight }] of members.entries()) dx = productPlus(graph, dys[i]!, weight, dx, `${name}.backward.${linear}.x`);
  return dx;
}
