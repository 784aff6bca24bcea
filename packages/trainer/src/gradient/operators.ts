/** The operators that forward and backward passes are written in, each as a call that names its result. */
import { MS_DOMAIN, type GraphBuilder } from '@contractrl/runtime-webgpu/onnx';

interface ProductOptions {
  /** Take the operand's last two axes in the other order. */
  readonly transposeA?: boolean;
  readonly transposeB?: boolean;
  /** Multiplies the product. */
  readonly factor?: number;
}

/** A matrix product over the last two axes. */
export function product(graph: GraphBuilder, a: string, b: string, output: string, options: ProductOptions = {}): string {
  const { transposeA = false, transposeB = false, factor = 1 } = options;
  const attributes = { transA: { int: Number(transposeA) }, transB: { int: Number(transposeB) }, alpha: { float: factor } };
  return graph.node('FusedMatMul', [a, b], output, { attributes, domain: MS_DOMAIN });
}

/** `a · b + c` of matrices, or `a · bᵀ + c`. */
export function productPlus(graph: GraphBuilder, a: string, b: string, c: string, output: string, transposeB = false): string {
  return graph.node('Gemm', [a, b, c], output, { attributes: { transB: { int: Number(transposeB) } } });
}

export function concat(graph: GraphBuilder, parts: readonly string[], axis: number, output: string): string {
  return parts.length === 1 ? parts[0]! : graph.node('Concat', parts, output, { attributes: { axis: { int: axis } } });
}

/** Into as many equal parts as there are names for. */
export function splitEqually(graph: GraphBuilder, x: string, axis: number, outputs: readonly string[]): readonly string[] {
  if (outputs.length === 1) return [x];
  graph.nodeOf('Split', [x], outputs, { attributes: { axis: { int: axis }, num_outputs: { int: outputs.length } } });
  return outputs;
}

export function reshape(graph: GraphBuilder, x: string, shape: readonly number[], output: string): string {
  return graph.node('Reshape', [x, graph.integers(...shape)], output);
}

export function transpose(graph: GraphBuilder, x: string, order: readonly number[], output: string): string {
  return graph.node('Transpose', [x], output, { attributes: { perm: { ints: order } } });
}

/** Sum or mean over the last axis, which stays as 1. */
export function reduceLast(graph: GraphBuilder, operator: 'ReduceSum' | 'ReduceMean', x: string, output: string): string {
  return graph.node(operator, [x, graph.integers(-1)], output);
}
