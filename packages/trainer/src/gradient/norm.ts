/**
 * RMS norm and its derivative by what it normalises; the gain is frozen. With `r = 1 / √(mean(x²) + ε)` the norm is `y = x · r · gain`, and
 * since `r` depends on x as well, `dx = r · gain · dy − x · r² · mean(dy · y)`.
 * Reference: Zhang and Sennrich 2019, "Root Mean Square Layer Normalization", §4.
 */
import type { GraphBuilder } from '@contractrl/runtime-webgpu/onnx';
import { reduceLast } from './operators.ts';

export interface Norm {
  readonly x: string;
  /** Name of a vector as long as the last axis of x. */
  readonly gain: string;
  readonly y: string;
  /** r of each vector, `[…, 1]`. */
  readonly inverse: string;
}

/** Over the last axis of x, of any shape. */
export function addNorm(graph: GraphBuilder, x: string, gain: string, epsilon: number, name: string): Norm {
  const inverse = `${name}.inverse`;
  graph.nodeOf('SimplifiedLayerNormalization', [x, gain], [name, inverse], { attributes: { epsilon: { float: epsilon } } });
  return { x, gain, y: name, inverse };
}

/** `dy` to `dx`, of the norm's shape. */
export function addNormBackward(graph: GraphBuilder, { x, gain, y, inverse }: Norm, dy: string): string {
  const name = `${y}.backward`;
  const multiply = (a: string, b: string, output: string): string => graph.node('Mul', [a, b], `${name}.${output}`);
  const direct = multiply(multiply(dy, gain, 'gain'), inverse, 'direct');
  const mean = reduceLast(graph, 'ReduceMean', multiply(dy, y, 'products'), `${name}.mean`);
  const through = multiply(x, multiply(mean, multiply(inverse, inverse, 'square'), 'factor'), 'through');
  return graph.node('Sub', [direct, through], name);
}
