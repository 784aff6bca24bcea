/** What the shell learns. The numbers follow ajv-cli (0 valid, 1 invalid, 2 usage) and go on from there. */
import type { RepairOutcome } from '@contractrl/core';

export const EXIT = {
  /** Every call was valid or has been repaired. */
  ok: 0,
  notRepaired: 1,
  usage: 2,
  abstained: 3,
  rejected: 4,
  ledgerBroken: 5,
  /** 128 + SIGINT, as shells report it. */
  interrupted: 130,
  /** 128 + SIGPIPE: the reader of our output went away. */
  brokenPipe: 141,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** For many lines the worst is reported. Worst first: a failure says least of the call, a refusal and an abstention are answers. */
const WORST_FIRST: readonly ExitCode[] = [EXIT.brokenPipe, EXIT.interrupted, EXIT.ledgerBroken, EXIT.usage, EXIT.notRepaired, EXIT.rejected, EXIT.abstained, EXIT.ok];

export function exitCodeOf(status: RepairOutcome['status']): ExitCode {
  switch (status) {
    case 'valid':
    case 'repaired': return EXIT.ok;
    case 'abstained': return EXIT.abstained;
    case 'rejected': return EXIT.rejected;
    case 'failed': return EXIT.notRepaired;
  }
}

export function worse(a: ExitCode, b: ExitCode): ExitCode {
  return WORST_FIRST.indexOf(a) <= WORST_FIRST.indexOf(b) ? a : b;
}
