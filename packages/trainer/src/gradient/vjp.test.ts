/** The backward pass of each block against finite differences of its forward pass. */
import type { ModelConfig } from '@contractrl/runtime-webgpu';
import { expect, test } from 'vitest';
import { derivativeErrors, DERIVATIVE, uniformInput, type Block, type BlockInput } from '../../tests/support/finite-differences.ts';
import { addAttention, addAttentionBackward } from './attention.ts';
import { addLinears, addLinearsBackward, type LinearGroup } from './linear.ts';
import { addMaskedLoss, addMaskedLossBackward } from './masked-loss.ts';
import { ALLOWED, ATTENTION_BIAS, gradientOf, HEAD_ROWS, LORA_SCALING, loraA, loraB, LOSS, POSITION_IDS, STEP_WEIGHTS, TARGET_ROWS } from './names.ts';
import { addNorm, addNormBackward } from './norm.ts';
import { addRotary, addRotaryBackward, addRotaryTables } from './rotary.ts';
import { addSwiGlu, addSwiGluBackward } from './swiglu.ts';

/** In parts of the largest derivative: 3e-6 to 5e-5 was seen, the bend within the step and rounding; a missing term gives more than 0.05. */
const TOLERANCE = 2e-4;

const S = 5;

async function expectDerivatives(block: Block, dyShape: readonly number[], inputs: readonly string[]): Promise<void> {
  const errors = await derivativeErrors(block, dyShape);
  expect(Object.keys(errors).sort()).toEqual([...inputs].sort());
  for (const [input, error] of Object.entries(errors)) expect(error, input).toBeLessThan(TOLERANCE);
}

test.each([{ what: 'of rows', shape: [S, 12] }, { what: 'of each head', shape: [S, 3, 8] }])('RMS norm $what', async ({ shape }) => {
  await expectDerivatives({
    inputs: { x: uniformInput(1, ...shape), gain: uniformInput(2, shape.at(-1)!) },
    build: (graph) => {
      const norm = addNorm(graph, 'x', 'gain', 1e-2, 'y');
      return { y: norm.y, gradients: { x: addNormBackward(graph, norm, DERIVATIVE) } };
    },
  }, shape, ['x']);
});

test('SwiGLU by gate and up', async () => {
  await expectDerivatives({
    inputs: { gate: scaled(uniformInput(1, S, 7), 4), up: uniformInput(2, S, 7) },
    build: (graph) => {
      const unit = addSwiGlu(graph, 'gate', 'up', 'y');
      const [gate, up] = addSwiGluBackward(graph, unit, DERIVATIVE);
      return { y: unit.y, gradients: { gate, up } };
    },
  }, [S, 7], ['gate', 'up']);
});

const HEADS: ModelConfig = {
  architecture: 'llama', layerCount: 1, hiddenSize: 32, feedForwardSize: 32, headCount: 4, kvHeadCount: 2, headSize: 16, contextLength: 64,
  ropeBase: 100, ropeSize: 16, ropeScaling: { kind: 'none' }, rmsEpsilon: 1e-5,
};

test.each([
  { what: 'of whole heads', config: HEADS },
  { what: 'of the first half of each head', config: { ...HEADS, headSize: 32 } },
  { what: 'stretched by YaRN, which scales as well', config: { ...HEADS, ropeScaling: { kind: 'yarn', factor: 4, originalContextLength: 16 } } },
] as const)('rotary embedding $what, at positions in any order', async ({ config }) => {
  const shape = [S, 2 * config.headSize];
  await expectDerivatives({
    inputs: { x: uniformInput(1, ...shape), [POSITION_IDS]: { type: 'int64', shape: [S, 1], values: BigInt64Array.of(0n, 3n, 1n, 40n, 3n) } },
    build: (graph) => {
      addRotaryTables(graph, config, 64, undefined);
      return { y: addRotary(graph, config, 2, 'x', 'y'), gradients: { x: addRotaryBackward(graph, config, 2, DERIVATIVE, 'dx') } };
    },
  }, shape, ['x']);
});

test.each([
  { what: 'one head on each key head', headCount: 2, kvHeadCount: 2 },
  { what: 'three heads on each key head', headCount: 6, kvHeadCount: 2 },
  { what: 'all heads on one', headCount: 3, kvHeadCount: 1 },
])('attention, $what, under a tree mask', async ({ headCount, kvHeadCount }) => {
  const shape = { headCount, kvHeadCount, headSize: 4 };
  const seen = [[0], [0, 1], [0, 1, 2], [0, 3], [0, 3, 4]];
  const bias = Float32Array.from({ length: S * S }, (_, i) => (seen[Math.floor(i / S)]!.includes(i % S) ? 0 : -1e30));
  const size = (count: number): BlockInput => scaled(uniformInput(count, S, count * 4), 2);
  await expectDerivatives({
    inputs: { query: size(headCount), key: size(kvHeadCount), value: uniformInput(9, S, kvHeadCount * 4), [ATTENTION_BIAS]: { type: 'float32', shape: [S, S], values: bias } },
    build: (graph) => {
      const attention = addAttention(graph, shape, 'query', 'key', 'value', 'y');
      const [query, key, value] = addAttentionBackward(graph, attention, DERIVATIVE);
      return { y: attention.y, gradients: { query, key, value } };
    },
  }, [S, headCount * 4], ['query', 'key', 'value']);
});

test.each([{ what: 'one', sizes: { o: 6 } }, { what: 'three that read the same', sizes: { q: 6, k: 2, v: 3 } }])('linears with LoRA: $what, by x, A and B', async ({ sizes }) => {
  const [inputSize, rank] = [7, 2];
  const members = (Object.entries(sizes) as ['q' | 'k' | 'v' | 'o', number][]).map(([linear, outputSize]) => ({ linear, outputSize, weight: `w.${linear}` }));
  const group: LinearGroup = { name: 'group', layer: 3, members, inputSize };
  const total = members.reduce((sum, { outputSize }) => sum + outputSize, 0);
  const loras = members.flatMap(({ linear, outputSize }, i) => [
    [loraA(3, linear), uniformInput(10 + i, rank, inputSize)], [loraB(3, linear), uniformInput(20 + i, outputSize, rank)],
  ] as const);
  const names = loras.map(([name]) => name);
  await expectDerivatives({
    inputs: {
      x: uniformInput(1, S, inputSize), [LORA_SCALING]: { type: 'float32', shape: [1], values: Float32Array.of(1.5) },
      ...Object.fromEntries(members.map(({ weight, outputSize }, i) => [weight, uniformInput(30 + i, outputSize, inputSize)])), ...Object.fromEntries(loras),
    },
    ownInputs: names,
    build: (graph) => {
      const linears = addLinears(graph, group, 'x');
      const y = members.length === 1 ? linears.ys[0]! : graph.node('Concat', linears.ys, 'y', { attributes: { axis: { int: 1 } } });
      const dys = members.map(({ linear }) => `dy.${linear}`);
      graph.nodeOf('Split', [DERIVATIVE, graph.integers(...members.map(({ outputSize }) => outputSize))], dys, { attributes: { axis: { int: 1 } } });
      return { y, gradients: { x: addLinearsBackward(graph, linears, dys), ...Object.fromEntries(names.map((name) => [name, gradientOf(name)])) } };
    },
  }, [S, total], ['x', ...names]);
});

test('the masked loss by the final states, with several allowed, all allowed and one', async () => {
  const allowed = [1, 1, 0, 0, 1, 0, /**/ 1, 1, 1, 1, 1, 1, /**/ 0, 0, 0, 1, 0, 0];
  await expectDerivatives({
    inputs: {
      hidden: uniformInput(1, 3, 4), [HEAD_ROWS]: scaled(uniformInput(2, 6, 4), 2), [ALLOWED]: { type: 'uint8', shape: [3, 6], values: Uint8Array.from(allowed) },
      [TARGET_ROWS]: { type: 'int64', shape: [3, 1], values: BigInt64Array.of(4n, 2n, 3n) }, [STEP_WEIGHTS]: { type: 'float32', shape: [3], values: Float32Array.of(0.7, -1.3, 2) },
    },
    build: (graph) => ({ y: LOSS, gradients: { hidden: addMaskedLossBackward(graph, addMaskedLoss(graph, 'hidden')) } }),
  }, [1], ['hidden']);
});

function scaled(input: BlockInput, factor: number): BlockInput {
  return { ...input, values: (input.values as Float32Array).map((value) => factor * value) };
}
