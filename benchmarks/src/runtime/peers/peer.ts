/** What the peers of the speed table have in common. */
import type { Proposer } from '@contractrl/core';

export interface Peer {
  readonly proposer: Proposer;
  dispose(): Promise<void>;
}

export const CONTEXT_LENGTH = 4096;

/** The first line of what a package threw. */
export function reasonOf(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).split('\n', 1)[0]!;
}
