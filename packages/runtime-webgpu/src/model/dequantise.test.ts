import { describe, expect, test, vi } from 'vitest';
import { drawBlock, REFERENCE_BLOCKS } from '../../tests/support/reference-blocks.ts';
import { randomNumbers } from '../../tests/support/tiny-model.ts';
import { dequantise } from './dequantise.ts';
import { HALF_VALUES } from './half.ts';
import { createHeadKernel } from './head-kernel.ts';
import { halfSplitOrder, reorderRows } from './row-order.ts';
import { createEmptyRowTable, createRowTable } from './row-table.ts';
import { STORAGE_LAYOUTS, type GgufTensor, type TensorType } from './tensor.ts';

const HALF_OF_1 = [0x00, 0x3c];
const HALF_OF_MINUS_2 = [0x00, 0xc0];
const HALF_OF_0_5 = [0x00, 0x38];

function tensor(type: TensorType, shape: readonly number[], bytes: readonly number[]): GgufTensor {
  return { name: 'test', type, shape, bytes: Uint8Array.from(bytes) };
}

describe('binary16', () => {
  test.each([
    [0x0000, 0], [0x8000, -0], [0x3c00, 1], [0xc000, -2], [0x3555, 0.333251953125], [0x7bff, 65_504], [0x0001, 2 ** -24], [0x03ff, 1023 * 2 ** -24],
    [0x0400, 2 ** -14], [0x7c00, Infinity], [0xfc00, -Infinity], [0x7e00, NaN],
  ])('%i is %d', (bits, value) => {
    expect(HALF_VALUES[bits]).toBe(value);
  });
});

describe('dequantise', () => {
  test('Q4_1: low nibbles are weights 0 to 15, high nibbles 16 to 31, each d·q + m', () => {
    const nibbles = Array.from({ length: 16 }, (_, i) => i | ((15 - i) << 4));
    const values = dequantise(tensor('Q4_1', [1, 32], [...HALF_OF_0_5, ...HALF_OF_MINUS_2, ...nibbles]));
    expect(Array.from(values)).toEqual([...Array.from({ length: 16 }, (_, i) => 0.5 * i - 2), ...Array.from({ length: 16 }, (_, i) => 0.5 * (15 - i) - 2)]);
  });

  test('Q8_0: signed bytes times d', () => {
    const integers = Array.from({ length: 32 }, (_, i) => [-128, -1, 0, 127][i % 4]!);
    const values = dequantise(tensor('Q8_0', [1, 32], [...HALF_OF_0_5, ...integers.map((q) => q & 255)]));
    expect(Array.from(values)).toEqual(integers.map((q) => 0.5 * q + 0));
  });

  test('F16 and F32 as they are', () => {
    expect(Array.from(dequantise(tensor('F16', [3], [...HALF_OF_1, ...HALF_OF_MINUS_2, ...HALF_OF_0_5])))).toEqual([1, -2, 0.5]);
    expect(Array.from(dequantise(tensor('F32', [2], [0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0])))).toEqual([1, -2]);
  });
});

describe('values are those of the gguf Python package, bit for bit', () => {
  test('the reference has every type that is read', () => {
    expect(REFERENCE_BLOCKS.map(({ type }) => type).sort()).toEqual([...STORAGE_LAYOUTS.values()].map(({ type }) => type).sort());
  });

  test.each(REFERENCE_BLOCKS)('$type', ({ type, bytes, values }) => {
    const read = dequantise({ name: 'test', type, shape: [values.length], bytes });
    // as bits: −0 is not 0 there
    expect(new Uint32Array(read.buffer)).toEqual(new Uint32Array(values.buffer));
  });
});

describe('row order', () => {
  test('rows of a head go from interleaved to half-split', () => {
    expect(Array.from(halfSplitOrder(8, 4))).toEqual([0, 2, 1, 3, 4, 6, 5, 7]);
    expect(Array.from(halfSplitOrder(6, 6))).toEqual([0, 2, 4, 1, 3, 5]);
  });

  test('rows that are not turned stay where they are', () => {
    expect(Array.from(halfSplitOrder(12, 6, 4))).toEqual([0, 2, 1, 3, 4, 5, 6, 8, 7, 9, 10, 11]);
  });

  test('whole rows are moved', () => {
    expect(Array.from(reorderRows(Uint8Array.of(0, 1, 10, 11, 20, 21), 2, Int32Array.of(2, 0, 1)))).toEqual([20, 21, 0, 1, 10, 11]);
  });
});

describe('row table', () => {
  const [rowCount, rowLength] = [5, 512];
  const vector = Float32Array.from({ length: rowLength }, (_, i) => Math.sin(i));

  /** Rows made of the reference's blocks, and what they mean. */
  function drawRows(type: TensorType): { readonly stored: GgufTensor; readonly values: Float32Array } {
    const random = randomNumbers(3);
    const blocks: ReturnType<typeof drawBlock>[] = [];
    for (let length = 0; length < rowCount * rowLength; length += blocks.at(-1)!.values.length) blocks.push(drawBlock(type, random));
    const bytes = blocks.flatMap((block) => Array.from(block.bytes));
    return { stored: tensor(type, [rowCount, rowLength], bytes), values: Float32Array.from(blocks.flatMap((block) => Array.from(block.values))) };
  }

  test.each(REFERENCE_BLOCKS.map(({ type }) => type))('of %s: rows bit for bit, products to double precision', (type) => {
    const { stored, values } = drawRows(type);
    const table = createRowTable(stored);
    const rows = new Float32Array(3 * rowLength);
    table.copyRows([4, 0, 4], rows);
    const row = (id: number): Float32Array => values.subarray(id * rowLength, (id + 1) * rowLength);
    expect(rows).toEqual(Float32Array.of(...row(4), ...row(0), ...row(4)));
    // A weight with a minimum is rounded to float32 when it is read alone, not in a sum over its block.
    const digits = type === 'Q4_1' || type === 'Q5_1' || type === 'Q4_K' || type === 'Q5_K' ? 6 : 10;
    for (let id = 0; id < rowCount; id++) expect(table.dot(id, vector)).toBeCloseTo(row(id).reduce((sum, weight, i) => sum + weight * vector[i]!, 0), digits);
  });

  test.each(REFERENCE_BLOCKS.map(({ type }) => type))('of %s: all products at once are those of the single rows, to float32, with a kernel and without', (type) => {
    const { stored } = drawRows(type);
    const single = createRowTable(stored);
    const bySingleRow = Float64Array.from({ length: rowCount }, (_, id) => single.dot(id, vector));
    const size = Math.max(...bySingleRow.map(Math.abs));
    const expectSame = (): void => {
      const out = new Float32Array(rowCount);
      createRowTable(stored).multiply(vector, out);
      for (const [id, product] of bySingleRow.entries()) expect(Math.abs(out[id]! - product) / size).toBeLessThan(1e-5);
    };
    expectSame();
    vi.stubGlobal('WebAssembly', undefined);
    expectSame();
    vi.unstubAllGlobals();
  });

  test('rows of blocks have a kernel on this host, of any count and of both lengths of block', () => {
    for (const blockLength of [16, 32]) {
      const [rowCountHere, blocksPerRow] = [1000, 3];
      const integers = Int8Array.from({ length: rowCountHere * blocksPerRow * blockLength }, (_, i) => ((i * 37) % 255) - 127);
      const scales = Float32Array.from({ length: rowCountHere * blocksPerRow }, (_, i) => 1 + (i % 7));
      const kernel = createHeadKernel(rowCountHere, blocksPerRow * blockLength, blockLength);
      kernel?.integers.set(integers);
      kernel?.scales.set(scales);
      const out = new Float32Array(rowCountHere);
      kernel?.multiply(Float32Array.from({ length: blocksPerRow * blockLength }, (_, i) => (i % 5) - 2), out);
      // whole numbers, so that the sums are exact
      const product = (row: number): number => integers.subarray(row * blocksPerRow * blockLength, (row + 1) * blocksPerRow * blockLength)
        .reduce((sum, integer, i) => sum + integer * ((i % 5) - 2) * scales[row * blocksPerRow + Math.floor(i / blockLength)]!, 0);
      expect(Array.from(out)).toEqual(Array.from({ length: rowCountHere }, (_, row) => product(row)));
    }
  });

  test.each([...REFERENCE_BLOCKS.map(({ type }) => type), 'F32', 'F16', 'BF16'] as const)('of %s may be filled in pieces', (type) => {
    const weightBytes = { F32: 4, F16: 2, BF16: 2 } as const;
    const stored = type in weightBytes
      ? tensor(type, [rowCount, rowLength], Array.from({ length: rowCount * rowLength * weightBytes[type as keyof typeof weightBytes] }, (_, i) => (i % 4 === 3 ? 0x3c : i % 61)))
      : drawRows(type).stored;
    const rowBytes = stored.bytes.length / rowCount;
    const inPieces = createEmptyRowTable(stored);
    for (const [from, to] of [[2, rowCount], [0, 2]] as const) inPieces.fill(from, stored.bytes.subarray(from * rowBytes, to * rowBytes));
    const [rows, expected] = [new Float32Array(rowCount * rowLength), new Float32Array(rowCount * rowLength)];
    const ids = Array.from({ length: rowCount }, (_, id) => id);
    inPieces.copyRows(ids, rows);
    createRowTable(stored).copyRows(ids, expected);
    expect(rows).toEqual(expected);
    expect(rows.some((weight) => weight !== 0)).toBe(true);
  });

  test('it keeps no view on the bytes it was made of', () => {
    for (const { type } of REFERENCE_BLOCKS) {
      const { stored } = drawRows(type);
      const copy = { ...stored, bytes: stored.bytes.slice() };
      const table = createRowTable(copy);
      copy.bytes.fill(0);
      expect(table.dot(3, vector), type).toBe(createRowTable(stored).dot(3, vector));
    }
  });
});
