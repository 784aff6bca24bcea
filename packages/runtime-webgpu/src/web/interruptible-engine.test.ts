import { ok, type Digest } from '@contractrl/core';
import { describe, expect, test, vi } from 'vitest';
import type { Engine, EngineStep } from '../engine.ts';
import { interruptible } from './interruptible-engine.ts';

const step: EngineStep = { cache: { length: 1 }, hidden: Float32Array.of(1) };

function fakeEngine(): Engine {
  return {
    identity: { backend: 'fake', modelDigest: 'aa' as Digest, format: 'f32' },
    logitWidth: 4, contextLength: 8, emptyCache: { length: 0 }, adapterDigest: undefined,
    useAdapter: () => ok(undefined),
    // as WASM does: the work is over when the promise is made, and the promise resolves as a microtask
    extend: vi.fn(() => Promise.resolve(ok(step))),
    verify: vi.fn((_cache, tokens) => Promise.resolve(ok({ cache: step.cache, hiddens: tokens.map(() => step.hidden) }))),
    shorten: (_cache, length) => ({ length }),
    logitsOf: (_hidden, ids, out) => out.set(ids),
    allLogits: (_hidden, out) => out.fill(1),
    dispose: () => Promise.resolve(),
  };
}

describe('interruptible', () => {
  test('a message that arrives while the engine works is heard before its next step', async () => {
    const inner = fakeEngine();
    const engine = interruptible(inner);
    const controller = new AbortController();
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => controller.abort();
    await engine.extend(engine.emptyCache, [1], controller.signal);
    port2.postMessage('cancel');
    const results = [];
    for (let i = 0; i < 3; i += 1) results.push(await engine.extend(step.cache, [1], controller.signal));
    port1.close();
    expect(results.at(-1)).toEqual({ ok: false, error: { code: 'engine/aborted' } });
    expect(vi.mocked(inner.extend).mock.calls.length).toBeLessThan(4);
  });

  test('so is one that arrives before a guess is verified', async () => {
    const inner = fakeEngine();
    const controller = new AbortController();
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => controller.abort();
    port2.postMessage('cancel');
    const results = [];
    for (let i = 0; i < 3; i += 1) results.push(await interruptible(inner).verify(step.cache, [1, 2], controller.signal));
    port1.close();
    expect(results.at(-1)).toEqual({ ok: false, error: { code: 'engine/aborted' } });
    expect(vi.mocked(inner.verify).mock.calls.length).toBeLessThan(3);
  });

  test('steps, logits and the adapter digest are the inner engine\'s own', async () => {
    const inner = { ...fakeEngine(), adapterDigest: 'bb' as Digest };
    const engine = interruptible(inner);
    expect(await engine.extend(engine.emptyCache, [1, 2])).toEqual(ok(step));
    expect(await engine.verify(engine.emptyCache, [1, 2])).toEqual(ok({ cache: step.cache, hiddens: [step.hidden, step.hidden] }));
    expect(engine.shorten(step.cache, 0)).toEqual({ length: 0 });
    const out = new Float32Array(2);
    engine.logitsOf(step.hidden, Int32Array.of(3, 1), out);
    expect([...out]).toEqual([3, 1]);
    expect(engine.adapterDigest).toBe('bb');
  });
});
