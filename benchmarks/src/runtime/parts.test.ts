import { createScriptedEngine } from '@contractrl/runtime-webgpu';
import { expect, test } from 'vitest';
import { allCases, rotated, spread } from './cases.ts';
import { indexOfLargest, randomAdapter } from './costs.ts';
import { meteredEngine } from './metered-engine.ts';

test('the cases are 192 of both kinds from three seeds, ids all different', () => {
  const cases = allCases();
  expect(new Set(cases.map(({ id }) => id)).size).toBe(192);
  const sample = spread(cases, 12).map(({ id }) => id.replace(/:.*:/u, ' '));
  expect(new Set(sample)).toEqual(new Set(['13 missing_required', '13 wrong_type', '14 missing_required', '14 wrong_type', '15 missing_required', '15 wrong_type']));
});

test.each([
  { count: 1, picked: [0] }, { count: 2, picked: [0, 2] }, { count: 5, picked: [0, 1, 2, 3, 4] }, { count: 9, picked: [0, 1, 2, 3, 4] },
])('$count of five are spread evenly', ({ count, picked }) => {
  expect(spread([0, 1, 2, 3, 4], count)).toEqual(picked);
});

test('the first of the largest is the top one', () => {
  expect(indexOfLargest(Float32Array.of(-3, 2, 5, 5, -1))).toBe(2);
});

test('a random adapter has the asked rank in every linear of the one it is like, and no other linear', () => {
  const like = { rank: 2, alpha: 4, digest: '0'.repeat(64) as never, layers: [{ q: { a: new Float32Array(6), b: new Float32Array(10), inputSize: 3, outputSize: 5 } }] };
  const { q, ...others } = randomAdapter(like, 16).layers[0]!;
  expect(others).toEqual({});
  expect([q!.a.length, q!.b.length]).toEqual([48, 80]);
  expect(q!.a.every((value) => Math.abs(value) <= 0.01)).toBe(true);
});

test('the meter tells a prompt from an answer, and starts anew when read', async () => {
  let now = 0;
  const inner = createScriptedEngine({ logitWidth: 4, script: (_, out) => { now += 1; out.fill(0); } });
  const { engine, newMemory, take } = meteredEngine(inner, () => now);
  const prefilled = await newMemory().prefixes.prefill([1, 2, 3], { commonLength: 2 });
  if (!prefilled.ok) throw new Error(prefilled.error.code);
  await engine.extend(prefilled.value.cache, [1]);
  await engine.extend(engine.emptyCache, [1, 2]);
  engine.allLogits(prefilled.value.hidden, new Float32Array(4));
  expect(take()).toMatchObject({ prefillCalls: 3, prefillTokens: 5, decodeCalls: 1, decodeTokens: 1 });
  expect(take()).toMatchObject({ prefillCalls: 0, decodeCalls: 0, headMs: 0 });
});

test('in as many rounds as there are arms, each comes first once', () => {
  expect([0, 1, 2, 3].map((round) => rotated(['a', 'b', 'c'], round).join(''))).toEqual(['abc', 'bca', 'cab', 'abc']);
});
