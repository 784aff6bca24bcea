/** A low-rank adapter: for linears of each layer, A [rank, in] and B [out, rank], applied as `scaling · B · A · x`. */
import type { Digest } from '@contractrl/core';

export interface LoraMatrix {
  /** Row-major `[rank, inputSize]`. */
  readonly a: Float32Array;
  /** Row-major `[outputSize, rank]`. */
  readonly b: Float32Array;
  readonly inputSize: number;
  readonly outputSize: number;
  /** Where it is not the adapter's. */
  readonly rank?: number;
  /** Where it is not the adapter's `alpha / rank`. */
  readonly scaling?: number;
}

export interface LoraAdapter {
  readonly rank: number;
  readonly alpha: number;
  readonly digest: Digest;
  /** By layer, then by linear: `q`, `k`, `v`, `o`, `gate`, `up`, `down`. A linear that is absent is not adapted. */
  readonly layers: readonly Readonly<Partial<Record<LinearName, LoraMatrix>>>[];
}

export const LINEAR_NAMES = ['q', 'k', 'v', 'o', 'gate', 'up', 'down'] as const;
export type LinearName = (typeof LINEAR_NAMES)[number];

/** Rank and factor of one matrix of the adapter. */
export function matrixForm(adapter: Pick<LoraAdapter, 'rank' | 'alpha'>, matrix: LoraMatrix): { readonly rank: number; readonly scaling: number } {
  return { rank: matrix.rank ?? adapter.rank, scaling: matrix.scaling ?? adapter.alpha / adapter.rank };
}
