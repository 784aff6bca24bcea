import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { afterAwakeMs } from './awake-timer.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('afterAwakeMs', () => {
  test('goes off once, after its time, with ticks on the way', () => {
    const [then, tick] = [vi.fn(), vi.fn()];
    afterAwakeMs(1_000, then, tick);
    vi.advanceTimersByTime(999);
    expect(then).not.toHaveBeenCalled();
    expect(tick.mock.calls.length).toBeGreaterThan(10);
    vi.advanceTimersByTime(5_000);
    expect(then).toHaveBeenCalledOnce();
  });

  test('a clock that jumped while the tab slept does not set it off', () => {
    const then = vi.fn();
    afterAwakeMs(1_000, then);
    vi.advanceTimersByTime(500);
    vi.setSystemTime(Date.now() + 3_600_000);
    vi.advanceTimersByTime(400);
    expect(then).not.toHaveBeenCalled();
    vi.advanceTimersByTime(200);
    expect(then).toHaveBeenCalledOnce();
  });

  test('stopped, it never goes off', () => {
    const then = vi.fn();
    afterAwakeMs(1_000, then)();
    vi.advanceTimersByTime(5_000);
    expect(then).not.toHaveBeenCalled();
  });
});
