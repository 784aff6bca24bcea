/** A low-rank adapter: for each linear of each layer, A [rank, in] and B [out, rank], applied as `alpha / rank · B · A · x`. */
import type { Digest } from '@contractrl/core';

export interface LoraMatrix {
  /** Row-major `[rank, inputSize]`. */
  readonly a: Float32Array;
  /** Row-major `[outputSize, rank]`. */
  readonly b: Float32Array;
  readonly inputSize: number;
  readonly outputSize: number;
}

export interface LoraAdapter {
  readonly rank: number;
  readonly alpha: number;
  readonly digest: Digest;
  /** By layer, then by linear: `q`, `k`, `v`, `o`, `gate`, `up`, `down`. */
  readonly layers: readonly Readonly<Record<LinearName, LoraMatrix>>[];
}

export const LINEAR_NAMES = ['q', 'k', 'v', 'o', 'gate', 'up', 'down'] as const;
export type LinearName = (typeof LINEAR_NAMES)[number];
