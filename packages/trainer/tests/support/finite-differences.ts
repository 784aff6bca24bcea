/** A block's derivatives against central finite differences of its forward pass, input by input and number by number. */
import { createRandom } from '@contractrl/runtime-webgpu';
import { concatBytes, encodeModel, GraphBuilder, type DataType } from '@contractrl/runtime-webgpu/onnx';
import * as ort from 'onnxruntime-node';

export interface BlockInput {
  readonly type: Extract<DataType, 'float32' | 'int64' | 'uint8'>;
  readonly shape: readonly number[];
  readonly values: Float32Array | BigInt64Array | Uint8Array;
}

export interface Block {
  readonly inputs: Readonly<Record<string, BlockInput>>;
  /** Inputs that the block declares by itself. */
  readonly ownInputs?: readonly string[];
  /** Adds forward and backward pass; the derivative by y is in the input {@link DERIVATIVE}. `gradients` names, by input, the derivative by it. */
  build(graph: GraphBuilder): { readonly y: string; readonly gradients: Readonly<Record<string, string>> };
}

export const DERIVATIVE = 'dy';

/** Uniform numbers in [−1, 1). */
export function uniformInput(seed: number, ...shape: readonly number[]): BlockInput {
  const random = createRandom(seed);
  return { type: 'float32', shape, values: Float32Array.from({ length: sizeOf(shape) }, () => 2 * random() - 1) };
}

export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Large enough to stand out from the rounding of float32, small enough that blocks hardly bend within it. */
const STEP = 1e-2;

/** By input the largest difference of a derivative from the finite difference, in parts of the input's largest derivative. `dyShape` is that of y. */
export async function derivativeErrors(block: Block, dyShape: readonly number[]): Promise<Readonly<Record<string, number>>> {
  const graph = new GraphBuilder('model');
  for (const [name, { type, shape }] of Object.entries(block.inputs)) if (!block.ownInputs?.includes(name)) graph.input(name, type, shape);
  graph.input(DERIVATIVE, 'float32', dyShape);
  const { y, gradients } = block.build(graph);
  for (const name of [y, ...Object.values(gradients)]) if (!graph.outputs.some((output) => output.name === name)) graph.output(name, 'float32', ['?']);
  const session = await ort.InferenceSession.create(concatBytes(encodeModel(graph)), { intraOpNumThreads: 1, logSeverityLevel: 3 });
  const dy = sizeOf(dyShape) === 1 ? Float32Array.of(1) : (uniformInput(99, ...dyShape).values as Float32Array);
  const run = async (changed: Readonly<Record<string, Float32Array>>): ReturnType<typeof session.run> => {
    const feeds = Object.entries({ ...block.inputs, [DERIVATIVE]: { type: 'float32', shape: dyShape, values: dy } } as Block['inputs']);
    return session.run(Object.fromEntries(feeds.filter(([name]) => session.inputNames.includes(name))
      .map(([name, { type, shape, values }]) => [name, new ort.Tensor(type as 'float32', (changed[name] ?? values) as Float32Array, shape)])));
  };
  const objective = async (changed: Readonly<Record<string, Float32Array>>): Promise<number> =>
    ((await run(changed))[y]!.data as Float32Array).reduce((sum, value, i) => sum + value * dy[i]!, 0);
  const derived = await run({});
  const errors: Record<string, number> = {};
  for (const [name, gradientName] of Object.entries(gradients)) {
    const values = block.inputs[name]!.values as Float32Array;
    const gradient = derived[gradientName]!.data as Float32Array;
    if (gradient.length !== values.length) throw new Error(`${name}: ${gradient.length} derivatives of ${values.length} numbers`);
    let largest = 0;
    for (let i = 0; i < values.length; i++) {
      const moved = (by: number): Record<string, Float32Array> => ({ [name]: values.map((value, at) => (at === i ? value + by : value)) });
      const difference = ((await objective(moved(STEP))) - (await objective(moved(-STEP)))) / (2 * STEP);
      largest = Math.max(largest, Math.abs(difference - gradient[i]!));
    }
    errors[name] = largest / gradient.reduce((size, value) => Math.max(size, Math.abs(value)), 0);
  }
  await session.release();
  return errors;
}
