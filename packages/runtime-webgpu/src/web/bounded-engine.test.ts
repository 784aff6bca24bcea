import { ok } from '@contractrl/core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Engine } from '../engine.ts';
import { createScriptedEngine } from '../scripted/engine.ts';
import { bounded } from './bounded-engine.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const scripted = (): Engine => createScriptedEngine({ logitWidth: 4, script: (_history, out) => out.fill(1) });

describe('bounded', () => {
  test('steps that come back are the engine’s own, and leave no timer', async () => {
    const inner = scripted();
    const giveUp = vi.fn();
    const engine = bounded(inner, giveUp, 1_000);
    const step = await engine.extend(engine.emptyCache, [1, 2]);
    expect(step).toMatchObject(ok({ cache: { length: 2 } }));
    expect(await engine.verify(engine.emptyCache, [1, 2])).toMatchObject(ok({ hiddens: [{}, {}] }));
    await expect(engine.extend(engine.emptyCache, [])).rejects.toThrow(RangeError);
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(10_000);
    expect(giveUp).not.toHaveBeenCalled();
    await engine.dispose();
    expect(await inner.extend(inner.emptyCache, [1])).toEqual({ ok: false, error: { code: 'engine/disposed' } });
  });

  test.each(['extend', 'verify'] as const)('a device that never answers to %s is lost, at once for all that is asked later, and is not waited for', async (method) => {
    const silent = { ...scripted(), [method]: () => new Promise<never>(() => undefined), dispose: vi.fn(() => new Promise<never>(() => undefined)) };
    const giveUp = vi.fn();
    const engine = bounded(silent, giveUp, 1_000);
    const step = engine[method](engine.emptyCache, [1]);
    vi.advanceTimersByTime(1_000);
    const lost = { ok: false, error: { code: 'engine/device-lost', reason: 'no-answer' } };
    expect(await step).toMatchObject(lost);
    expect(giveUp).toHaveBeenCalledOnce();
    expect(await engine.extend(engine.emptyCache, [1])).toMatchObject(lost);
    await engine.dispose();
    expect(silent.dispose).toHaveBeenCalledOnce();
  });
});
