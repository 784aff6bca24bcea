/** `q41`: float zero points in place of corrections, which a GPU prefers. The engines that use it are tested on a model of Q4_1; here the other types. */
import { expect, test } from 'vitest';
import { referenceLogits } from '../../tests/support/reference-decoder.ts';
import { largestDifference, logitsAfter, startTiny, TOLERANCE } from '../../tests/support/tiny-engine.ts';
import { TINY_CONFIGS, tinyModel } from '../../tests/support/tiny-model.ts';
import { GraphBuilder } from './builder.ts';
import { addLinear, carriageOf } from './linear.ts';

const TOKENS = [3, 1, 4, 1, 5, 9, 2, 6];

test.each(['Q4_0', 'Q4_1', 'Q4_K', 'Q5_1', 'Q8_0', 'F16'] as const)('linears stored as %s are exact in q41 too', async (storage) => {
  const model = tinyModel({ ...TINY_CONFIGS.llama, hiddenSize: 256, feedForwardSize: 256, headSize: 64 }, storage);
  const engine = await startTiny(model, 'q41');
  expect(largestDifference(await logitsAfter(engine, [TOKENS]), referenceLogits(model, TOKENS))).toBeLessThan(TOLERANCE);
  await engine.dispose();
});

test('a matrix of four bits is one operator', () => {
  const graph = new GraphBuilder('model');
  addLinear(graph, 'q41', 'x', 'y', { name: 'w', type: 'Q4_1', shape: [1, 32], bytes: Uint8Array.of(0x00, 0x38, 0x00, 0xc0, ...new Uint8Array(16)) });
  expect(graph.nodes.map(({ operator, inputs }) => [operator, inputs.length])).toEqual([['MatMulNBits', 4]]);
  expect(carriageOf('q41', 'Q4_1')).toBe('q4+zero-points');
});

test('a block whose scale is zero has no zero point, so its matrix keeps the correction', () => {
  const graph = new GraphBuilder('model');
  addLinear(graph, 'q41', 'x', 'y', { name: 'w', type: 'Q4_1', shape: [1, 32], bytes: Uint8Array.of(0x00, 0x00, 0x00, 0xc0, ...new Uint8Array(16)) });
  expect(graph.nodes.map(({ operator }) => operator)).toEqual(['MatMulNBits', 'MatMul', 'Gemm']);
});
