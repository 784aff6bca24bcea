import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { holdLifeLock, watchLifeLock } from './life-lock.ts';

/** Web Locks, as far as they go within one agent: a lock is free again once its holder's promise is settled, or its holder is ended. */
class Locks {
  readonly held = new Set<string>();
  readonly waiting: { readonly name: string; readonly callback: () => unknown; readonly signal: AbortSignal | undefined }[] = [];

  request(name: string, optionsOrCallback: { readonly signal: AbortSignal } | (() => unknown), callback?: () => unknown): Promise<unknown> {
    if (typeof optionsOrCallback === 'function') {
      this.held.add(name);
      return Promise.resolve(optionsOrCallback());
    }
    const { signal } = optionsOrCallback;
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
      this.waiting.push({ name, callback: () => resolve(callback?.()), signal });
    });
  }

  /** As when the agent that holds it ends. */
  end(name: string): void {
    this.held.delete(name);
    for (const each of this.waiting) if (each.name === name && each.signal?.aborted !== true) each.callback();
  }
}

describe('a lock that a worker holds while it lives', () => {
  let locks: Locks;
  beforeEach(() => {
    locks = new Locks();
    vi.stubGlobal('navigator', { locks });
  });
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  function start(): { readonly lock: string; readonly onGone: ReturnType<typeof vi.fn<() => void>>; readonly controller: AbortController } {
    const names: string[] = [];
    holdLifeLock((name) => names.push(name));
    expect(locks.held.has(names[0]!)).toBe(true);
    const [onGone, controller] = [vi.fn<() => void>(), new AbortController()];
    watchLifeLock(names[0]!, onGone, controller.signal);
    return { lock: names[0]!, onGone, controller };
  }

  test('tells the page that the worker is gone, once, and not before', () => {
    const { lock, onGone } = start();
    expect(onGone).not.toHaveBeenCalled();
    locks.end(lock);
    expect(onGone).toHaveBeenCalledOnce();
  });

  test('is no longer watched once the page has ended the worker itself', async () => {
    const { lock, onGone, controller } = start();
    controller.abort();
    locks.end(lock);
    await Promise.resolve();
    expect(onGone).not.toHaveBeenCalled();
  });

  test('has a name of its own for each worker', () => {
    expect(start().lock).not.toBe(start().lock);
  });

  test('is neither held nor watched where there are no Web Locks', () => {
    vi.stubGlobal('navigator', {});
    const onHeld = vi.fn();
    holdLifeLock(onHeld);
    watchLifeLock('any', onHeld, new AbortController().signal);
    expect(onHeld).not.toHaveBeenCalled();
  });
});
