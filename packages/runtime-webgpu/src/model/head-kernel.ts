/**
 * All logits at once: a table of 8-bit rows times one vector, in WebAssembly with 128-bit SIMD. In JavaScript the same loops take longer than the
 * layers do. The module is some 300 bytes, written here instruction by instruction, and its memory is where the table lives, so nothing is held twice.
 * Products are summed in float32, four lanes a block, and a block is summed before its scale is applied.
 * Reference: WebAssembly Core Specification 2.0, chapter 5 (binary format); numbers of the instructions are its table of opcodes.
 */

export interface HeadKernel {
  /** The table, zeros at first and filled by the caller; views that stay valid. `integers` is row-major, `scales` has one entry a block. */
  readonly integers: Int8Array;
  readonly scales: Float32Array<ArrayBuffer>;
  /** Writes, for each row, Σ over its blocks of scale · Σ q · vector. */
  multiply(vector: Float32Array, out: Float32Array): void;
}

/** Undefined where the host has no WebAssembly SIMD or refuses the memory, and for block lengths that are no multiple of 8. */
export function createHeadKernel(rowCount: number, rowLength: number, blockLength: number): HeadKernel | undefined {
  if (blockLength % 8 !== 0) return undefined;
  const scaleCount = (rowCount * rowLength) / blockLength;
  const vectorAt = 0;
  const outAt = vectorAt + alignedBytes(rowLength * 4);
  const scalesAt = outAt + alignedBytes(rowCount * 4);
  const integersAt = scalesAt + alignedBytes(scaleCount * 4);
  const memory = instantiate(integersAt + rowCount * rowLength, blockLength);
  if (memory === undefined) return undefined;
  const { buffer, run } = memory;
  const vectorView = new Float32Array(buffer, vectorAt, rowLength);
  const outView = new Float32Array(buffer, outAt, rowCount);
  return {
    integers: new Int8Array(buffer, integersAt, rowCount * rowLength),
    scales: new Float32Array(buffer, scalesAt, scaleCount),
    multiply(vector, out) {
      vectorView.set(vector);
      run(vectorAt, integersAt, scalesAt, outAt, rowCount, rowLength / blockLength);
      out.set(outView);
    },
  };
}

type Run = (vector: number, integers: number, scales: number, out: number, rowCount: number, blocksPerRow: number) => void;

const PAGE_BYTES = 65_536;

function instantiate(byteCount: number, blockLength: number): { readonly buffer: ArrayBuffer; readonly run: Run } | undefined {
  try {
    const module = new WebAssembly.Module(moduleBytes(Math.ceil(byteCount / PAGE_BYTES), blockLength));
    const { memory, run } = new WebAssembly.Instance(module).exports as { readonly memory: WebAssembly.Memory; readonly run: Run };
    return { buffer: memory.buffer as ArrayBuffer, run };
  } catch {
    // no SIMD, no memory of that size, or a page whose policy forbids it: the loops in JavaScript do the same
    return undefined;
  }
}

function alignedBytes(byteCount: number): number {
  return Math.ceil(byteCount / 16) * 16;
}

const I32 = 0x7f;
const V128 = 0x7b;
const PARAMETERS = 6;
const [VECTOR, INTEGERS, SCALES, OUT, ROWS, BLOCKS, BLOCK, INPUT, TOTAL, SUM, EIGHT] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const;

const NO_RESULT = 0x40;
const simd = (opcode: number, ...immediates: readonly number[]): readonly number[] => [0xfd, ...unsigned(opcode), ...immediates];
const get = (local: number): readonly number[] => [0x20, local];
const set = (local: number): readonly number[] => [0x21, local];
const add = (local: number, value: number): readonly number[] => [...get(local), 0x41, ...signed(value), 0x6a, ...set(local)];
const ZEROS = simd(0x0c, ...new Array<number>(16).fill(0));
const LOAD_EIGHT_BYTES = 0x01;
const LOW_HALF = 0xa7;
const HIGH_HALF = 0xa8;
const LANE = (lane: number): readonly number[] => [...get(TOTAL), ...simd(0x1f, lane)];

/** A module of one memory, `pageCount` pages, and one function {@link Run}. */
function moduleBytes(pageCount: number, blockLength: number): Uint8Array<ArrayBuffer> {
  const body = [
    // locals: two i32, three v128
    2, 2, I32, 3, V128,
    0x02, NO_RESULT,
    0x03, NO_RESULT,
    ...get(ROWS), 0x45, 0x0d, 1,
    ...ZEROS, ...set(TOTAL), ...get(VECTOR), ...set(INPUT), ...get(BLOCKS), ...set(BLOCK),
    0x03, NO_RESULT,
    ...ZEROS, ...set(SUM),
    ...Array.from({ length: blockLength / 8 }, (_, eighth) => eightProducts(eighth * 8)).flat(),
    ...get(TOTAL), ...get(SUM), ...get(SCALES), 0x2a, 2, 0, ...simd(0x13), ...simd(0xe6), ...simd(0xe4), ...set(TOTAL),
    ...add(INTEGERS, blockLength), ...add(INPUT, blockLength * 4), ...add(SCALES, 4), ...add(BLOCK, -1),
    ...get(BLOCK), 0x0d, 0,
    0x0b,
    ...get(OUT), ...LANE(0), ...LANE(1), 0x92, ...LANE(2), ...LANE(3), 0x92, 0x92, 0x38, 2, 0,
    ...add(OUT, 4), ...add(ROWS, -1),
    0x0c, 0,
    0x0b,
    0x0b,
    0x0b,
  ];
  const name = (text: string): readonly number[] => [text.length, ...Array.from(text, (character) => character.charCodeAt(0))];
  return Uint8Array.from([
    0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, [1, 0x60, PARAMETERS, ...new Array<number>(PARAMETERS).fill(I32), 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, ...unsigned(pageCount)]),
    ...section(7, [2, ...name('memory'), 2, 0, ...name('run'), 0, 0]),
    ...section(10, [1, ...unsigned(body.length), ...body]),
  ]);
}

/** Adds to {@link SUM} the products of eight weights, `offset` into the block, with their inputs. */
function eightProducts(offset: number): readonly number[] {
  const four = (half: number, inputOffset: number): readonly number[] => [
    ...get(SUM),
    ...get(EIGHT), ...simd(half), ...simd(0xfa),
    ...get(INPUT), ...simd(0x00, 4, ...unsigned(inputOffset)),
    ...simd(0xe6), ...simd(0xe4), ...set(SUM),
  ];
  return [
    ...get(INTEGERS), ...simd(LOAD_EIGHT_BYTES, 3, ...unsigned(offset)), ...set(EIGHT),
    ...four(LOW_HALF, offset * 4), ...four(HIGH_HALF, offset * 4 + 16),
  ];
}

function section(id: number, content: readonly number[]): readonly number[] {
  return [id, ...unsigned(content.length), ...content];
}

/** LEB128. */
function unsigned(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

/** LEB128 of a small number of either sign. */
function signed(value: number): readonly number[] {
  return value >= -0x40 && value < 0x40 ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}
