import { expect, test } from 'vitest';
import type { Digest } from '@contractrl/core';
import { createScriptedEngine } from './engine.ts';

/** The next id after the last one is likeliest. */
const counting = (history: readonly number[], out: Float32Array): void => {
  out[(history.at(-1)! + 1) % out.length] = history.length;
};

test('logits follow from the history alone, however it was chunked', async () => {
  const engine = createScriptedEngine({ logitWidth: 5, script: counting });
  const whole = await engine.extend(engine.emptyCache, [0, 1, 2]);
  const first = await engine.extend(engine.emptyCache, [0, 1]);
  if (!whole.ok || !first.ok) throw new Error('a step failed');
  const second = await engine.extend(first.value.cache, [2]);
  expect(second).toMatchObject({ ok: true, value: { hidden: whole.value.hidden, cache: { length: 3 } } });
  const [some, all] = [new Float32Array(2), new Float32Array(5)];
  engine.logitsOf(whole.value.hidden, Int32Array.of(3, 4), some);
  engine.allLogits(whole.value.hidden, all);
  expect([Array.from(some), Array.from(all)]).toEqual([[3, 0], [0, 0, 0, 3, 0]]);
  expect(first.value.cache.length).toBe(2);
});

test('a guess is verified by the row that follows each of its tokens, and a cut cache goes on from there', async () => {
  const engine = createScriptedEngine({ logitWidth: 5, script: counting });
  const start = await engine.extend(engine.emptyCache, [0]);
  if (!start.ok) throw new Error(start.error.code);
  const guess = await engine.verify(start.value.cache, [1, 4, 2]);
  if (!guess.ok) throw new Error(guess.error.code);
  expect(guess.value.hiddens.map((row) => Array.from(row))).toEqual([[0, 0, 2, 0, 0], [3, 0, 0, 0, 0], [0, 0, 0, 4, 0]]);
  const step = await engine.extend(engine.shorten(guess.value.cache, 2), [2]);
  expect(step).toMatchObject({ ok: true, value: { cache: { length: 3 }, hidden: Float32Array.of(0, 0, 0, 3, 0) } });
  expect(guess.value.cache.length).toBe(4);
  for (const length of [-1, 5, 0.5]) expect(() => engine.shorten(guess.value.cache, length)).toThrow(RangeError);
  expect(() => engine.shorten({ length: 1 }, 0)).toThrow(TypeError);
});

test('it fails as a real engine does', async () => {
  const controller = new AbortController();
  const engine = createScriptedEngine({
    logitWidth: 3,
    contextLength: 2,
    script: (history, out) => {
      if (history[0] === 1) out[0] = NaN;
      if (history[0] === 2) throw new Error('lost');
    },
    onStep: (history) => {
      if (history[0] === 0 && history.length === 2) controller.abort();
    },
  });
  const codeOf = async (tokens: readonly number[], signal?: AbortSignal): Promise<string> => {
    const step = await engine.extend(engine.emptyCache, tokens, signal);
    return step.ok ? 'ok' : step.error.code;
  };
  expect(await codeOf([0])).toBe('ok');
  expect(await codeOf([1])).toBe('engine/bad-logits');
  expect(await codeOf([0, 0, 0])).toBe('engine/context-full');
  expect(await codeOf([0, 0], controller.signal)).toBe('engine/aborted');
  expect(await codeOf([0], controller.signal)).toBe('engine/aborted');
  expect(await codeOf([2])).toBe('engine/run-failed');
  expect(await codeOf([0])).toBe('engine/run-failed');
  await engine.dispose();
  expect(await codeOf([0])).toBe('engine/disposed');
});

test('an adapter is remembered by its digest', () => {
  const engine = createScriptedEngine({ logitWidth: 1, script: counting });
  engine.useAdapter({ rank: 1, alpha: 1, digest: 'd' as Digest, layers: [] });
  expect(engine.adapterDigest).toBe('d');
});

test('misuse throws', async () => {
  const engine = createScriptedEngine({ logitWidth: 2, script: counting });
  await expect(engine.extend({ length: 0 }, [0])).rejects.toThrow(TypeError);
  await expect(engine.extend(engine.emptyCache, [])).rejects.toThrow(RangeError);
  expect(() => engine.logitsOf(new Float32Array(2), Int32Array.of(2), new Float32Array(1))).toThrow(RangeError);
});
