/**
 * The gated unit of the feed-forward block, `silu(gate) · up` with `silu(g) = g · σ(g)`, and its derivatives. That of silu is
 * `σ + silu · (1 − σ)`, of values that the forward pass has anyway.
 * Reference: Shazeer 2020, "GLU Variants Improve Transformer", §2.
 */
import type { GraphBuilder } from '@contractrl/runtime-webgpu/onnx';

export interface SwiGlu {
  readonly up: string;
  readonly sigmoid: string;
  readonly silu: string;
  readonly y: string;
}

/** `gate` and `up` of one shape to their product of that shape. */
export function addSwiGlu(graph: GraphBuilder, gate: string, up: string, name: string): SwiGlu {
  const sigmoid = graph.node('Sigmoid', [gate], `${name}.sigmoid`);
  const silu = graph.node('Mul', [gate, sigmoid], `${name}.silu`);
  return { up, sigmoid, silu, y: graph.node('Mul', [silu, up], name) };
}

/** `dy` to the derivatives by gate and up. */
export function addSwiGluBackward(graph: GraphBuilder, { up, sigmoid, silu, y }: SwiGlu, dy: string): readonly [gate: string, up: string] {
  const name = `${y}.backward`;
  const multiply = (a: string, b: string, output: string): string => graph.node('Mul', [a, b], `${name}.${output}`);
  const rest = graph.node('Sub', [graph.float(1), sigmoid], `${name}.rest`);
  const slope = graph.node('Add', [sigmoid, multiply(silu, rest, 'bend')], `${name}.slope`);
  return [multiply(multiply(dy, up, 'silu'), slope, 'gate'), multiply(dy, silu, 'up')];
}
