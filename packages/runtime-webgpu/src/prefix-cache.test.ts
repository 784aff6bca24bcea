import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Digest } from '@contractrl/core';
import { createPrefixCache } from './prefix-cache.ts';
import { createScriptedEngine } from './scripted/engine.ts';

/** An engine whose logits tell the whole history, and the sizes of the chunks it ran. */
function historian() {
  const chunks: number[] = [];
  const engine = createScriptedEngine({
    logitWidth: 4,
    script: (history, out) => {
      out[0] = history.reduce((hash, id) => (hash * 31 + id) % 65_521, 7);
    },
    onStep: (_, count) => void chunks.push(count),
  });
  return { engine, chunks };
}

async function prefilled(cache: ReturnType<typeof createPrefixCache>, ids: readonly number[], boundaries: readonly number[]) {
  const prefill = await cache.prefill(ids, boundaries);
  if (!prefill.ok) throw new Error(prefill.error.code);
  return prefill.value;
}

test('a second prompt runs only what differs from the first', async () => {
  const { engine, chunks } = historian();
  const cache = createPrefixCache(engine);
  const first = await prefilled(cache, [1, 2, 3, 4, 5, 6], [2, 4]);
  const second = await prefilled(cache, [1, 2, 3, 4, 9], [2, 4]);
  const other = await prefilled(cache, [1, 2, 8], [2]);
  expect([first, second, other].map((prefill) => prefill.reusedTokenCount)).toEqual([0, 4, 2]);
  expect(chunks).toEqual([2, 2, 2, 1, 1]);
});

test('another adapter, or a cleared cache, starts from nothing', async () => {
  const { engine } = historian();
  const cache = createPrefixCache(engine);
  await prefilled(cache, [1, 2, 3], [2]);
  engine.useAdapter({ rank: 1, alpha: 1, digest: 'a'.repeat(64) as Digest, layers: [] });
  expect((await prefilled(cache, [1, 2, 3], [2])).reusedTokenCount).toBe(0);
  engine.useAdapter(undefined);
  expect((await prefilled(cache, [1, 2, 3], [2])).reusedTokenCount).toBe(2);
  cache.clear();
  expect((await prefilled(cache, [1, 2, 3], [2])).reusedTokenCount).toBe(0);
});

test('the step is that of a prefill without any cache', async () => {
  const prompt = fc.record({ ids: fc.array(fc.nat(2), { minLength: 1, maxLength: 8 }), boundaries: fc.uniqueArray(fc.nat(8)).map((list) => list.sort((a, b) => a - b)) });
  await fc.assert(
    fc.asyncProperty(fc.array(prompt, { minLength: 1, maxLength: 12 }), async (prompts) => {
      const { engine } = historian();
      const cache = createPrefixCache(engine);
      for (const { ids, boundaries } of prompts) {
        const step = await prefilled(cache, ids, boundaries);
        const plain = await engine.extend(engine.emptyCache, ids);
        expect(plain.ok && { hidden: plain.value.hidden, length: plain.value.cache.length }).toEqual({ hidden: step.hidden, length: step.cache.length });
      }
    }),
  );
});

test('a failure of the engine is handed on', async () => {
  const { engine } = historian();
  const cache = createPrefixCache(engine);
  expect(await cache.prefill([1, 2], [], AbortSignal.abort())).toEqual({ ok: false, error: { code: 'engine/aborted' } });
  await expect(cache.prefill([], [])).rejects.toThrow(RangeError);
});
