/**
 * The outside world as the commands see it: streams, environment, and the signal of Ctrl-C. Passed in, so that tests need no process.
 */
import picocolors from 'picocolors';

export type Colors = ReturnType<typeof picocolors.createColors>;

export interface Output {
  readonly isTerminal: boolean;
  /** Resolves once it has been taken, so that a slow reader slows the work down instead of filling memory. */
  write(chunk: string | Uint8Array): Promise<void>;
}

export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  /** All of standard input, as it came. */
  readStdin(): Promise<Uint8Array>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C, by a polite kill, or when nobody reads the output any longer. */
  readonly signal: AbortSignal;
  /** Milliseconds from any fixed start. */
  now(): number;
}

/** Colours only on a terminal, and never against the user's wish (no-color.org). */
export function colorsFor(output: Output, env: Io['env']): Colors {
  const refused = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  return picocolors.createColors(output.isTerminal && !refused);
}
