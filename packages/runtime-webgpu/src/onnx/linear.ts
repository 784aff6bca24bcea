/**
 * One linear layer as graph operators. In the format `f32` every matrix is dequantised. In `q41x` it stays as narrow as it is stored, and exact:
 * MatMulNBits in 4 bits knows `(u − 8) · scale` only, so integers of more bits go in two halves, `q = 16 · (high − 8) + (low − 8) + 136 − bias`, and what
 * is not a multiple of the scale goes beside it: `Σ w·x = MatMulNBits(x) + blockSums(x) · C`. Block sums are computed once for all matrices
 * that read the same x. Its 8-bit kernel would be simpler: at one token it takes 3.5 ms where two halves take 0.28 (1024 to 3072, one thread).
 * Reference: ONNX Runtime contrib operators, MatMulNBits.
 */
import { BLOCK_FORMS, unpackBlocks, type QuantisedWeights } from '../model/blocks.ts';
import { dequantise, sixteenBits } from '../model/dequantise.ts';
import { isBlockTensor, type BlockType, type GgufTensor, type TensorType } from '../model/tensor.ts';
import type { GraphBuilder } from './builder.ts';
import { MS_DOMAIN } from './encoder.ts';

/**
 * How the matrices of the linear layers are held: `q41x` as narrow as the file has them, `f32` dequantised. `q41` is `q41x` with float zero points
 * in place of corrections where 4 bits are enough: two operators fewer a linear, which is what counts on a GPU; 10 to 20 times slower on a CPU. All
 * are exact.
 */
export type WeightFormat = 'q41x' | 'q41' | 'f32';

/** What a matrix is in the graph. */
export type Carriage = 'q4' | 'q4+zero-points' | 'q4+correction' | 'q4-pair' | 'q4-pair+correction' | 'f16' | 'bf16' | 'f32';

interface NibbleForm {
  /** Added to an integer to give an unsigned one of 4 or 8 bits. */
  readonly bias: number;
  readonly halves: 1 | 2;
}

/** 136 leaves no rest after the operator's own −8 · 16 − 8; a Q8_0 of 120 and more does not fit it. */
const NIBBLE_FORMS: Readonly<Record<BlockType, NibbleForm>> = {
  Q4_0: { bias: 8, halves: 1 }, Q4_1: { bias: 0, halves: 1 }, Q4_K: { bias: 0, halves: 1 },
  Q5_0: { bias: 136, halves: 2 }, Q5_1: { bias: 136, halves: 2 }, Q5_K: { bias: 136, halves: 2 }, Q6_K: { bias: 136, halves: 2 },
  Q8_0: { bias: 128, halves: 2 },
};

/** What the operator itself takes off the unsigned integer. */
const OPERATOR_BIAS = { 1: 8, 2: 136 } as const;

/** How a matrix stored as `type` goes into a graph of this format. */
export function carriageOf(format: WeightFormat, type: TensorType): Carriage {
  if (format === 'f32' || type === 'F32') return 'f32';
  if (type === 'F16' || type === 'BF16') return type === 'F16' ? 'f16' : 'bf16';
  const { bias, halves } = NIBBLE_FORMS[type];
  const isWhole = bias === OPERATOR_BIAS[halves] && !BLOCK_FORMS[type].hasMinima;
  if (format === 'q41' && halves === 1 && !isWhole) return 'q4+zero-points';
  return `q4${halves === 2 ? '-pair' : ''}${isWhole ? '' : '+correction'}`;
}

/** Adds `y = x · Wᵀ` for x `[s, inputSize]` and gives back the name of y, `[s, outputSize]`. `weight` is `[outputSize, inputSize]` with its rows already in order. */
export function addLinear(graph: GraphBuilder, format: WeightFormat, x: string, name: string, weight: GgufTensor): string {
  if (format === 'f32' || weight.type === 'F32') return addFloatLinear(graph, x, name, weight);
  return isBlockTensor(weight) ? addNibbleLinear(graph, format, x, name, weight) : addHalfLinear(graph, x, name, weight);
}

function addFloatLinear(graph: GraphBuilder, x: string, name: string, weight: GgufTensor): string {
  const [outputSize = 0, inputSize = 0] = weight.shape;
  const matrix = graph.weight(`${name}.weight`, 'float32', [inputSize, outputSize], transpose(dequantise(weight), outputSize, inputSize));
  return graph.node('MatMul', [x, matrix], name);
}

/** 16-bit floats are stored as they are; the cast is folded when the session loads. */
function addHalfLinear(graph: GraphBuilder, x: string, name: string, weight: GgufTensor): string {
  const [outputSize = 0, inputSize = 0] = weight.shape;
  const type = weight.type === 'F16' ? 'float16' : 'bfloat16';
  const matrix = graph.weight(`${name}.weight`, type, [inputSize, outputSize], transpose(sixteenBits(weight), outputSize, inputSize));
  const cast = graph.node('Cast', [matrix], `${name}.cast`, { attributes: { to: { int: FLOAT } } });
  return graph.node('MatMul', [x, cast], name);
}

/** TensorProto.DataType. */
const FLOAT = 1;

function addNibbleLinear(graph: GraphBuilder, format: WeightFormat, x: string, name: string, weight: GgufTensor<BlockType>): string {
  const [outputSize = 0, inputSize = 0] = weight.shape;
  const form = NIBBLE_FORMS[weight.type];
  const weights = unpackBlocks(weight);
  const { blockLength } = weights;
  const blockCount = inputSize / blockLength;
  const { low, high, corrections } = packNibbles(weights, form, outputSize);
  const scale = graph.weight(`${name}.scales`, 'float32', [outputSize * blockCount], weights.scales);
  const attributes = { K: { int: inputSize }, N: { int: outputSize }, bits: { int: 4 }, block_size: { int: blockLength }, accuracy_level: { int: 0 } };
  const packed = (half: string, nibbles: Uint8Array<ArrayBuffer>): string =>
    graph.weight(`${name}.${half}nibbles`, 'uint8', [outputSize, blockCount, blockLength / 2], nibbles);
  const zeros = format === 'q41' && corrections !== undefined ? zeroPointsOf(weights, form) : undefined;
  if (zeros !== undefined) {
    const zeroPoints = graph.weight(`${name}.zero_points`, 'float32', [outputSize * blockCount], zeros);
    return graph.node('MatMulNBits', [x, packed('', low), scale, zeroPoints], name, { attributes, domain: MS_DOMAIN });
  }
  const product = (input: string, half: string, nibbles: Uint8Array<ArrayBuffer>): string =>
    graph.node('MatMulNBits', [input, packed(half, nibbles), scale], `${name}.${half}symmetric`, { attributes, domain: MS_DOMAIN });
  const lower = product(x, '', low);
  const symmetric = high === undefined ? lower : graph.node('Add', [lower, product(sixteenfold(graph, x), 'high_', high)], `${name}.halves`);
  if (corrections === undefined) return symmetric;
  const correction = graph.weight(`${name}.corrections`, 'float32', [blockCount, outputSize], corrections);
  return graph.node('Gemm', [blockSums(graph, x, blockCount, blockLength), correction, symmetric], name);
}

/** x times 16, which is exact: the high halves share the scales of the low ones. */
function sixteenfold(graph: GraphBuilder, x: string): string {
  const name = `${x}.sixteenfold`;
  return graph.has(name) ? name : graph.node('Mul', [x, graph.float(16)], name);
}

/** Sums of x over blocks, `[s, blockCount]`. */
function blockSums(graph: GraphBuilder, x: string, blockCount: number, blockLength: number): string {
  const name = `${x}.block_sums`;
  if (graph.has(name)) return name;
  const inputSize = blockCount * blockLength;
  if (inputSize <= SUMMING_MATRIX_LIMIT) {
    const members = Float32Array.from({ length: inputSize * blockCount }, (_, i) => (Math.floor(i / blockCount / blockLength) === i % blockCount ? 1 : 0));
    return graph.node('MatMul', [x, graph.constant(`block_members.${inputSize}.${blockLength}`, 'float32', [inputSize, blockCount], members)], name);
  }
  const blocks = graph.node('Reshape', [x, graph.integers(0, blockCount, blockLength)], `${x}.blocks`);
  return graph.node('ReduceSum', [blocks, graph.integers(-1)], name, { attributes: { keepdims: { int: 0 } } });
}

/**
 * Up to this size a product with a matrix of zeros and ones, one for all layers, is faster than two operators: 4 % of a decode step with 576 inputs.
 * Its work grows with the square.
 */
const SUMMING_MATRIX_LIMIT = 1024;

interface PackedNibbles {
  /** `[outputSize, blockCount, blockLength / 2]`; byte j of a block holds weights 2j (low) and 2j + 1 (high). */
  readonly low: Uint8Array<ArrayBuffer>;
  /** Alike, of the upper four bits; absent where four are enough. */
  readonly high: Uint8Array<ArrayBuffer> | undefined;
  /** `[blockCount, outputSize]`; absent where all are zero. */
  readonly corrections: Float32Array<ArrayBuffer> | undefined;
}

/** Integers to the operands of MatMulNBits, which pairs neighbouring weights. */
export function packNibbles(weights: QuantisedWeights, { bias, halves }: NibbleForm, outputSize: number): PackedNibbles {
  const { integers, scales, minima } = weights;
  const low = new Uint8Array(integers.length / 2);
  const high = halves === 2 ? new Uint8Array(integers.length / 2) : undefined;
  for (let i = 0; i < low.length; i++) {
    const [first, second] = [integers[2 * i]! + bias, integers[2 * i + 1]! + bias];
    low[i] = (first & 15) | ((second & 15) << 4);
    if (high !== undefined) high[i] = (first >> 4) | (second & 0xf0);
  }
  const rest = OPERATOR_BIAS[halves] - bias;
  return { low, high, corrections: rest === 0 && minima === undefined ? undefined : correctionsOf(scales, minima, rest, outputSize) };
}

/** By block, the unsigned integer that stands for 0, a fraction; undefined where a block has no such number, or the integers have two halves. */
function zeroPointsOf({ scales, minima }: QuantisedWeights, { bias, halves }: NibbleForm): Float32Array<ArrayBuffer> | undefined {
  if (halves === 2) return undefined;
  const zeros = Float32Array.from(scales, (scale, index) => bias - (minima?.[index] ?? 0) / scale);
  return zeros.every(Number.isFinite) ? zeros : undefined;
}

function correctionsOf(scales: Float32Array, minima: Float32Array | undefined, rest: number, outputSize: number): Float32Array<ArrayBuffer> {
  const blockCount = scales.length / outputSize;
  const out = new Float32Array(scales.length);
  for (let row = 0; row < outputSize; row++) {
    for (let block = 0; block < blockCount; block++) {
      const index = row * blockCount + block;
      out[block * outputSize + row] = (minima?.[index] ?? 0) + rest * scales[index]!;
    }
  }
  return out;
}

/** `[rows, columns]` to `[columns, rows]`, in strips of 32 rows: a plain double loop misses the cache on every write. */
function transpose<T extends Float32Array<ArrayBuffer> | Uint16Array<ArrayBuffer>>(matrix: T, rowCount: number, columnCount: number): T {
  const out = matrix.slice() as T;
  for (let strip = 0; strip < rowCount; strip += 32) {
    const end = Math.min(rowCount, strip + 32);
    for (let column = 0; column < columnCount; column++) {
      for (let row = strip; row < end; row++) out[column * rowCount + row] = matrix[row * columnCount + column]!;
    }
  }
  return out;
}
