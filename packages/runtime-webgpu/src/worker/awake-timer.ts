/**
 * Time during which this page or worker runs. A tab that the browser puts to sleep gets no ticks, so that sleep does not count; a timer of one
 * piece would go off the moment the tab wakes, before anything that was asked could be answered.
 * Reference: W3C Page Lifecycle, "frozen"; HTML Living Standard, "timers".
 */
const TICKS = 20;

/** Calls `then` after `ms` of waking time, `eachTick` on the way. Gives back what stops it. */
export function afterAwakeMs(ms: number, then: () => void, eachTick: () => void = () => undefined): () => void {
  let left = TICKS;
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return eachTick();
    clearInterval(timer);
    then();
  }, ms / TICKS);
  return () => clearInterval(timer);
}
