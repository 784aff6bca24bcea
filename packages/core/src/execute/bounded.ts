/**
 * Foreign code under a bound: a gate, a tool, a policy may throw, hang or give back nonsense, and none of it may get past the caller.
 * core has no clock, so the host hands one in. What never gives control back (an endless loop) no clock in the same thread can end.
 */

/** The host's clock: `start` gives a promise that settles after `limitMs`, or earlier where the host wants an end. */
export interface TimeBound {
  readonly limitMs: number;
  start(limitMs: number): { readonly elapsed: PromiseLike<unknown>; cancel(): void };
}

export type Bounded = { readonly kind: 'done'; readonly value: unknown } | { readonly kind: 'threw'; readonly cause: string } | { readonly kind: 'timeout' };

/** Runs `work` and waits for what it gives, at most as long as `bound` says; without one, as long as it takes. Never rejects. */
export async function runBounded(work: () => unknown, bound: TimeBound | undefined): Promise<Bounded> {
  const done = settle(work);
  if (bound === undefined) return done;
  let timer: ReturnType<TimeBound['start']> | undefined;
  // The clock is foreign too: one that cannot be started, or fails, bounds nothing, so the time is up.
  const elapsed = settle(() => {
    timer = bound.start(bound.limitMs);
    // a promise is no timer, and a rejection that nobody takes ends a Node process
    void settle(() => timer);
    return timer.elapsed;
  }).then((): Bounded => ({ kind: 'timeout' }));
  const first = await Promise.race([done, elapsed]);
  void settle(() => timer?.cancel());
  return first;
}

async function settle(work: () => unknown): Promise<Bounded> {
  try {
    return { kind: 'done', value: await work() };
  } catch (cause) {
    return { kind: 'threw', cause: textOfCause(cause) };
  }
}

/** What was thrown may itself throw when it is made a text, or be no valid Unicode, which no ledger row can hold. */
export function textOfCause(cause: unknown): string {
  try {
    return String(cause).replace(/\p{Surrogate}/gu, '\uFFFD');
  } catch {
    return 'a value without a text';
  }
}
