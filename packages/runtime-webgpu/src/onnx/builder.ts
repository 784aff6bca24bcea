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
  readonly #placement: WeightPlacement;
  /** Bytes in the one file so far. */
  #placedBytes = 0;
  readonly #constants = new Set<string>();
  readonly #results = new Set<string>();

  constructor(placement: WeightPlacement) {
    this.#placement = placement;
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
    const location = data.byteLength > INLINE_LIMIT_BYTES ? this.#place(name, data.byteLength) : undefined;
    this.initializers.push({ name, type, dimensions, data, ...(location === undefined ? {} : { location }) });
    return name;
  }

  #place(name: string, sizeBytes: number): Initializer['location'] {
    if (this.#placement === 'model') return undefined;
    if (this.#placement === 'files') return { file: `${name}.bin`, offset: 0 };
    const offset = this.#placedBytes;
    this.#placedBytes += alignedSize(sizeBytes);
    return { file: this.#placement.file, offset };
  }

  /** A list of integers, such as a shape; the same list is stored once. */
  integers(...values: readonly number[]): string {
    return this.constant(`integers(${values.join(' ')})`, 'int64', [values.length], BigInt64Array.from(values, BigInt));
  }

  /** A number that multiplies a tensor of any shape; stored once. */
  float(value: number): string {
    return this.constant(`float(${value})`, 'float32', [1], Float32Array.of(value));
  }

  /** A weight that several operators read: stored once under its name. */
  constant(name: string, type: DataType, dimensions: readonly number[], data: ArrayBufferView<ArrayBuffer>): string {
    if (!this.#constants.has(name)) {
      this.#constants.add(name);
      this.weight(name, type, dimensions, data);
    }
    return name;
  }
}

/** Where large weights go: into the model, into files of their own, or one after the other into one file. */
export type WeightPlacement = 'model' | 'files' | { readonly file: string };

/** Shapes and norms stay in the model: ONNX Runtime reads shape constants while it loads, before external data is at hand. */
const INLINE_LIMIT_BYTES = 8192;

/** What a weight takes of a shared file: each begins on a cache line. */
export function alignedSize(sizeBytes: number): number {
  return Math.ceil(sizeBytes / 64) * 64;
}
