/** A graph under construction: each operator is a call that gives back the name of its result. */
import type { Attribute, DataType, Dimension, GraphNode, Initializer, OnnxGraph, ValueInfo } from './encoder.ts';

interface NodeOptions {
  readonly attributes?: Readonly<Record<string, Attribute>>;
  readonly domain?: string;
}

export class GraphBuilder implements OnnxGraph {
  readonly inputs: ValueInfo[] = [];
  readonly outputs: ValueInfo[] = [];
  readonly nodes: GraphNode[] = [];
  readonly initializers: Initializer[] = [];
  readonly #external: boolean;
  readonly #constants = new Set<string>();
  readonly #results = new Set<string>();

  /** With `external`, large initializers are given a file of their own instead of a place in the model. */
  constructor(external: boolean) {
    this.#external = external;
  }

  input(name: string, type: DataType, dimensions: readonly Dimension[]): string {
    this.inputs.push({ name, type, dimensions });
    return name;
  }

  output(name: string, type: DataType, dimensions: readonly Dimension[]): string {
    this.outputs.push({ name, type, dimensions });
    return name;
  }

  /** One operator with one result. */
  node(operator: string, inputs: readonly string[], output: string, options: NodeOptions = {}): string {
    this.nodes.push({ operator, inputs, outputs: [output], ...options });
    this.#results.add(output);
    return output;
  }

  /** Whether {@link node} has given a result of this name: what several operators read is computed once. */
  has(output: string): boolean {
    return this.#results.has(output);
  }

  /** One operator whose outputs are positional; an empty name leaves one out. */
  nodeOf(operator: string, inputs: readonly string[], outputs: readonly string[], options: NodeOptions = {}): void {
    this.nodes.push({ operator, inputs, outputs, ...options });
  }

  weight(name: string, type: DataType, dimensions: readonly number[], data: ArrayBufferView<ArrayBuffer>): string {
    const isExternal = this.#external && data.byteLength > INLINE_LIMIT_BYTES;
    this.initializers.push({ name, type, dimensions, data, ...(isExternal ? { location: `${name}.bin` } : {}) });
    return name;
  }

  /** A list of integers, such as a shape; the same list is stored once. */
  integers(...values: readonly number[]): string {
    return this.#constant(`integers(${values.join(' ')})`, 'int64', [values.length], BigInt64Array.from(values, BigInt));
  }

  /** A number that multiplies a tensor of any shape; stored once. */
  float(value: number): string {
    return this.#constant(`float(${value})`, 'float32', [1], Float32Array.of(value));
  }

  #constant(name: string, type: DataType, dimensions: readonly number[], data: ArrayBufferView<ArrayBuffer>): string {
    if (!this.#constants.has(name)) {
      this.#constants.add(name);
      this.weight(name, type, dimensions, data);
    }
    return name;
  }
}

/** Shapes and norms stay in the model: ONNX Runtime reads shape constants while it loads, before external data is at hand. */
const INLINE_LIMIT_BYTES = 65_536;
