/**
 * One linear layer as graph operators, exact in both weight formats.
 * `f32`: MatMul with the dequantised, transposed matrix. `q41x`: Q4_1 weights stay in 4 bits. MatMulNBits knows `(q − 8)·d` only, so the
 * rest of `w = d·q + m` goes beside it: `Σ w·x = MatMulNBits(x; q, d) + MatMul(blockSums(x), C)` with `C[block][n] = m + 8d`.
 * The sums over blocks of 32 are computed once for all linears that read the same x. Weights stored otherwise are used as float32.
 * Reference: ONNX Runtime contrib operators, MatMulNBits.
 */
import { BLOCK_LENGTH, dequantise, halfAt, Q4_1_BLOCK_BYTES } from '../model/dequantise.ts';
import type { GgufTensor } from '../model/tensor.ts';
import type { GraphBuilder } from './builder.ts';
import { MS_DOMAIN } from './encoder.ts';

/** How the matrices of the linear layers are held: `q41x` in 4 bits where the file has them so, `f32` dequantised. */
export type WeightFormat = 'q41x' | 'f32';

/** Adds `y = x · Wᵀ` and gives back the name of y. `weight` is `[outputSize, inputSize]` with its rows already in order. */
export function addLinear(graph: GraphBuilder, format: WeightFormat, x: string, name: string, weight: GgufTensor): string {
  return format === 'q41x' && weight.type === 'Q4_1' ? addQ4Linear(graph, x, name, weight) : addFloatLinear(graph, x, name, weight);
}

function addFloatLinear(graph: GraphBuilder, x: string, name: string, weight: GgufTensor): string {
  const [outputSize = 0, inputSize = 0] = weight.shape;
  const matrix = graph.weight(`${name}.weight`, 'float32', [inputSize, outputSize], transpose(dequantise(weight), outputSize, inputSize));
  return graph.node('MatMul', [x, matrix], name);
}

function addQ4Linear(graph: GraphBuilder, x: string, name: string, weight: GgufTensor): string {
  const [outputSize = 0, inputSize = 0] = weight.shape;
  const blockCount = inputSize / BLOCK_LENGTH;
  const { nibbles, scales, corrections } = repackQ4(weight.bytes, outputSize, blockCount);
  const quantised = graph.weight(`${name}.nibbles`, 'uint8', [outputSize, blockCount, BLOCK_LENGTH / 2], nibbles);
  const scale = graph.weight(`${name}.scales`, 'float32', [outputSize * blockCount], scales);
  const correction = graph.weight(`${name}.corrections`, 'float32', [blockCount, outputSize], corrections);
  const attributes = { K: { int: inputSize }, N: { int: outputSize }, bits: { int: 4 }, block_size: { int: BLOCK_LENGTH }, accuracy_level: { int: 0 } };
  const symmetric = graph.node('MatMulNBits', [x, quantised, scale], `${name}.symmetric`, { attributes, domain: MS_DOMAIN });
  const rest = graph.node('MatMul', [blockSums(graph, x, blockCount), correction], `${name}.rest`);
  return graph.node('Add', [symmetric, rest], name);
}

/** Sums of x over blocks of 32, `[1, s, blockCount]`. */
function blockSums(graph: GraphBuilder, x: string, blockCount: number): string {
  const name = `${x}.block_sums`;
  if (graph.nodes.some((node) => node.outputs[0] === name)) return name;
  const blocks = graph.node('Reshape', [x, graph.integers(0, 0, blockCount, BLOCK_LENGTH)], `${x}.blocks`);
  return graph.node('ReduceSum', [blocks, graph.integers(-1)], name, { attributes: { keepdims: { int: 0 } } });
}

interface RepackedQ4 {
  /** `[outputSize, blockCount, 16]`; byte j of a block holds weights 2j (low) and 2j + 1 (high). */
  readonly nibbles: Uint8Array<ArrayBuffer>;
  /** `[outputSize, blockCount]`. */
  readonly scales: Float32Array<ArrayBuffer>;
  /** `[blockCount, outputSize]`. */
  readonly corrections: Float32Array<ArrayBuffer>;
}

/** Q4_1 blocks to the operands of MatMulNBits, which pairs neighbouring weights where ggml pairs weights 16 apart. */
export function repackQ4(bytes: Uint8Array, outputSize: number, blockCount: number): RepackedQ4 {
  const nibbles = new Uint8Array(outputSize * blockCount * 16);
  const scales = new Float32Array(outputSize * blockCount);
  const corrections = new Float32Array(blockCount * outputSize);
  for (let row = 0; row < outputSize; row++) {
    for (let block = 0; block < blockCount; block++) {
      const index = row * blockCount + block;
      const source = index * Q4_1_BLOCK_BYTES;
      const scale = halfAt(bytes, source);
      scales[index] = scale;
      corrections[block * outputSize + row] = halfAt(bytes, source + 2) + 8 * scale;
      const target = index * 16;
      for (let j = 0; j < 8; j++) {
        const first = bytes[source + 4 + 2 * j]!;
        const second = bytes[source + 5 + 2 * j]!;
        nibbles[target + j] = (first & 15) | ((second & 15) << 4);
        nibbles[target + 8 + j] = (first >> 4) | (second & 0xf0);
      }
    }
  }
  return { nibbles, scales, corrections };
}

/** `[rows, columns]` to `[columns, rows]`, in strips of 32 rows: a plain double loop misses the cache on every write. */
function transpose(matrix: Float32Array, rowCount: number, columnCount: number): Float32Array<ArrayBuffer> {
  const out = new Float32Array(matrix.length);
  for (let strip = 0; strip < rowCount; strip += 32) {
    const end = Math.min(rowCount, strip + 32);
    for (let column = 0; column < columnCount; column++) {
      for (let row = strip; row < end; row++) out[column * rowCount + row] = matrix[row * columnCount + column]!;
    }
  }
  return out;
}
