/**
 * What a page loads unless told otherwise: the base model and the default adapter, pinned by size and SHA-256.
 * A page adds the addresses it serves them from.
 */
import { BASE_MODEL } from '../model/base-model.ts';
import type { PinnedFile } from '../worker/protocol.ts';

type Pin = Omit<PinnedFile, 'url'>;

export const DEFAULT_MODEL: Pin = { sha256: BASE_MODEL.sha256, sizeBytes: BASE_MODEL.sizeBytes };

/** The adapter in `adapters/r8`, with the calibration of its release rule. */
export const DEFAULT_ADAPTER: { readonly config: Pin; readonly weights: Pin; readonly calibration: Pin } = {
  config: { sha256: '184a884564a338f228541805a9842857db30f057b9b07c94fc503a1aa9d96207', sizeBytes: 469 },
  weights: { sha256: '0a5f9c7af0277c693452af41ff6f0e4f984b9722ef49c1a7d2ef8cb8c5ddd1dc', sizeBytes: 4_938_632 },
  calibration: { sha256: '7fcae67f5c377e85dd15693133d828cf22210231b5a81c13460bca776b807e14', sizeBytes: 9_323 },
};
