/**
 * How a page learns at once that its worker is gone: a worker that is ended, or dies for want of memory, sends no event, but the browser takes
 * back the locks it held. Where there are no Web Locks, only its silence tells (`worker/no-answer`).
 * Reference: W3C Web Locks API §2.5 (termination of an agent).
 */
interface Locks {
  request(name: string, callback: () => Promise<void>): Promise<unknown>;
  request(name: string, options: { readonly signal: AbortSignal }, callback: () => void): Promise<unknown>;
}

function locksHere(): Locks | undefined {
  return (globalThis as { readonly navigator?: { readonly locks?: Locks } }).navigator?.locks;
}

/** In the worker. `onHeld` hears the name once the lock is held, which is until the worker's end. */
export function holdLifeLock(onHeld: (lock: string) => void): void {
  const locks = locksHere();
  if (locks === undefined) return;
  const lock = `contractrl worker ${crypto.randomUUID()}`;
  void locks.request(lock, () => {
    onHeld(lock);
    return new Promise(() => undefined);
  });
}

/** In the page. Calls `onGone` when the worker that holds `lock` is no more; `signal` ends the wait. */
export function watchLifeLock(lock: string, onGone: () => void, signal: AbortSignal): void {
  // rejects only where `signal` ends it
  locksHere()?.request(lock, { signal }, onGone).catch(() => undefined);
}
