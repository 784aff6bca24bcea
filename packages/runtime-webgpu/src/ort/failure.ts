/** What ONNX Runtime or the GPU said went wrong, as failures of the port. Their texts are all there is to go by: neither has codes. */
import type { EngineFailure } from '../engine.ts';

const DEVICE_LOST = /\bdevice\b[^.]*\blost\b|\blost\b[^.]*\bdevice\b|device was destroyed|external instance reference no longer exists/iu;
const OUT_OF_MEMORY = /out.?of.?memory|bad_alloc|\bOOM\b|(?:allocation|allocate)[^.]*failed|fail(?:ed|ure)? to allocate|could not allocate|invalid typed array length/iu;

export type LoadFailure = Extract<EngineFailure, { code: 'engine/device-lost' | 'engine/out-of-memory' }> | { readonly code: 'engine/load-failed'; readonly cause: unknown };

/** What a run threw. */
export function toRunFailure(cause: unknown): EngineFailure {
  return toKnownFailure(cause) ?? { code: 'engine/run-failed', cause };
}

/** What starting a session threw. */
export function toLoadFailure(cause: unknown): LoadFailure {
  return toKnownFailure(cause) ?? { code: 'engine/load-failed', cause };
}

function toKnownFailure(cause: unknown): Extract<LoadFailure, EngineFailure> | undefined {
  const text = textOf(cause);
  if (DEVICE_LOST.test(text)) return { code: 'engine/device-lost', reason: 'unknown', detail: text };
  return OUT_OF_MEMORY.test(text) ? { code: 'engine/out-of-memory', cause } : undefined;
}

/** Errors of WebGPU are no `Error`s, and what kind they are only their class says. */
function textOf(cause: unknown): string {
  return typeof cause === 'object' && cause !== null && 'message' in cause ? `${cause.constructor.name}: ${String(cause.message)}` : String(cause);
}
