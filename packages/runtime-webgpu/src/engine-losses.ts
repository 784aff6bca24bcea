/** Failures of an engine, not of a repair: another engine may do. A disposed one is what a move that was cancelled half way leaves behind. */
export const ENGINE_LOST: ReadonlySet<string> = new Set(['engine/device-lost', 'engine/out-of-memory', 'engine/run-failed', 'engine/bad-logits', 'engine/disposed']);
