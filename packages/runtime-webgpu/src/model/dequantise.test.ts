import { describe, expect, test } from 'vitest';
import { dequantise } from './dequantise.ts';
import { HALF_VALUES } from './half.ts';
import { halfSplitOrder, reorderRows } from './row-order.ts';
import { createRowTable } from './row-table.ts';
import type { GgufTensor, TensorType } from './tensor.ts';

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

describe('row order', () => {
  test('rows of a head go from interleaved to half-split', () => {
    expect(Array.from(halfSplitOrder(8, 4))).toEqual([0, 2, 1, 3, 4, 6, 5, 7]);
    expect(Array.from(halfSplitOrder(6, 6))).toEqual([0, 2, 4, 1, 3, 5]);
  });

  test('whole rows are moved', () => {
    expect(Array.from(reorderRows(Uint8Array.of(0, 1, 10, 11, 20, 21), 2, Int32Array.of(2, 0, 1)))).toEqual([20, 21, 0, 1, 10, 11]);
  });
});

describe('row table', () => {
  const rowCount = 5;
  const bytesOfRow = (row: number): number[] => [0, 1].flatMap((block) => [...HALF_OF_0_5, ...Array.from({ length: 32 }, (_, i) => (row * 7 + block * 3 + i) & 127)]);
  const q8 = tensor('Q8_0', [rowCount, 64], Array.from({ length: rowCount }, (_, row) => bytesOfRow(row)).flat());
  const floats = { ...q8, type: 'F32' as const, bytes: new Uint8Array(dequantise(q8).buffer) };
  const vector = Float32Array.from({ length: 64 }, (_, i) => Math.sin(i));

  test('a table in 8 bits and one in float32 agree on rows and products', () => {
    const [a, b] = [createRowTable(q8), createRowTable(floats)];
    const [rowsA, rowsB] = [new Float32Array(192), new Float32Array(192)];
    a.copyRows([4, 0, 4], rowsA);
    b.copyRows([4, 0, 4], rowsB);
    expect(rowsA).toEqual(rowsB);
    expect(rowsA.subarray(0, 64)).toEqual(dequantise(q8).subarray(256, 320));
    for (let id = 0; id < rowCount; id++) {
      const product = dequantise(q8).subarray(id * 64, (id + 1) * 64).reduce((sum, weight, i) => sum + weight * vector[i]!, 0);
      expect(a.dot(id, vector)).toBeCloseTo(product, 10);
      expect(b.dot(id, vector)).toBeCloseTo(product, 10);
    }
  });

  test('it keeps no view on the bytes it was made of', () => {
    const copy = { ...q8, bytes: q8.bytes.slice() };
    const table = createRowTable(copy);
    copy.bytes.fill(0);
    expect(table.dot(3, vector)).toBe(createRowTable(q8).dot(3, vector));
  });
});
