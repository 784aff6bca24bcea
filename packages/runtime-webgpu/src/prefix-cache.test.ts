import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Digest } from '@contractrl/core';
import { createPrefixCache, type PrefillOptions, type PrefixCache } from './prefix-cache.ts';
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

async function prefilled(cache: PrefixCache, ids: readonly number[], options: PrefillOptions = { commonLength: 2, isKept: true }) {
  const prefill = await cache.prefill(ids, options);
  if (!prefill.ok) throw new Error(prefill.error.code);
  return prefill.value;
}

test('a second prompt runs only what differs from the first, wherever that begins', async () => {
  const { engine, chunks } = historian();
  const cache = createPrefixCache(engine);
  const prompts = [[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 9], [1, 2, 3, 8], [1, 7]];
  const reused: number[] = [];
  for (const ids of prompts) reused.push((await prefilled(cache, ids)).reusedTokenCount);
  expect(reused).toEqual([0, 5, 3, 1]);
  expect(chunks).toEqual([2, 4, 1, 1, 1]);
});

test('of a prompt that no other follows, the common part alone is kept', async () => {
  const { engine, chunks } = historian();
  const cache = createPrefixCache(engine);
  await prefilled(cache, [1, 2, 3, 4], { commonLength: 2 });
  expect((await prefilled(cache, [1, 2, 3, 4, 5], { commonLength: 2 })).reusedTokenCount).toBe(2);
  expect(chunks).toEqual([2, 2, 3]);
});

test('a long prompt is not dragged along for the sake of a few ids', async () => {
  const { engine } = historian();
  const cache = createPrefixCache(engine);
  await prefilled(cache, [1, 2, 3, ...Array<number>(40).fill(0)]);
  expect((await prefilled(cache, [1, 2, 3, 1])).reusedTokenCount).toBe(2);
});

test('the same prompt again reads its last id, for the state behind it', async () => {
  const { engine, chunks } = historian();
  const cache = createPrefixCache(engine);
  const [first, second] = [await prefilled(cache, [1, 2, 3]), await prefilled(cache, [1, 2, 3])];
  expect([second.hidden, second.reusedTokenCount]).toEqual([first.hidden, 2]);
  expect(chunks).toEqual([2, 1, 1]);
});

test('a guess is read in the chunk of the prompt, with the state behind each of its ids, and is no part of the snapshot', async () => {
  const { engine, chunks } = historian();
  const cache = createPrefixCache(engine);
  const { cache: prompt, hidden, ahead } = await prefilled(cache, [1, 2, 3], { commonLength: 2, isKept: true, ahead: [2, 1] });
  expect([prompt.length, ahead!.cache.length, ahead!.ids, ahead!.hiddens.length]).toEqual([3, 5, [2, 1], 2]);
  const [atPrompt, atGuess] = [await engine.extend(engine.emptyCache, [1, 2, 3]), await engine.extend(engine.emptyCache, [1, 2, 3, 2, 1])];
  expect([hidden, ahead!.hiddens[1]]).toEqual([atPrompt.ok && atPrompt.value.hidden, atGuess.ok && atGuess.value.hidden]);
  expect((await prefilled(cache, [1, 2, 3, 2, 1])).reusedTokenCount).toBe(3);
  expect(chunks.slice(0, 2)).toEqual([2, 3]);
});

test('another adapter, or a cleared cache, starts from nothing', async () => {
  const { engine } = historian();
  const cache = createPrefixCache(engine);
  await prefilled(cache, [1, 2, 3]);
  engine.useAdapter({ rank: 1, alpha: 1, digest: 'a'.repeat(64) as Digest, layers: [] });
  expect((await prefilled(cache, [1, 2, 3])).reusedTokenCount).toBe(0);
  engine.useAdapter(undefined);
  expect((await prefilled(cache, [1, 2, 3])).reusedTokenCount).toBe(2);
  cache.clear();
  expect((await prefilled(cache, [1, 2, 3])).reusedTokenCount).toBe(0);
});

test('the step is that of a prefill without any cache', async () => {
  const some = fc.array(fc.nat(2), { maxLength: 4 });
  const prompt = fc.record({ ids: fc.array(fc.nat(2), { minLength: 1, maxLength: 8 }), options: fc.record({ commonLength: fc.nat(8), isKept: fc.boolean(), ahead: some }) });
  await fc.assert(
    fc.asyncProperty(fc.array(prompt, { minLength: 1, maxLength: 12 }), async (prompts) => {
      const { engine } = historian();
      const cache = createPrefixCache(engine);
      for (const { ids, options } of prompts) {
        const step = await prefilled(cache, ids, options);
        const plain = await engine.extend(engine.emptyCache, ids);
        expect(plain.ok && { hidden: plain.value.hidden, length: plain.value.cache.length }).toEqual({ hidden: step.hidden, length: step.cache.length });
      }
    }),
  );
});

test('a failure of the engine is handed on', async () => {
  const { engine } = historian();
  const cache = createPrefixCache(engine);
  for (const ahead of [[], [3]]) {
    expect(await cache.prefill([1, 2], { ahead, signal: AbortSignal.abort() })).toEqual({ ok: false, error: { code: 'engine/aborted' } });
  }
  expect(await cache.prefill([1, 2], { commonLength: 1, signal: AbortSignal.abort() })).toEqual({ ok: false, error: { code: 'engine/aborted' } });
  await expect(cache.prefill([])).rejects.toThrow(RangeError);
});
