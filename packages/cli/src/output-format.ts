/** Which form the results take: chosen by flag, else by who reads them and what came in. */
import type { Input } from './input.ts';

export const OUTPUT_FORMATS = ['human', 'json', 'jsonl', 'changes'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** JSON Lines in, JSON Lines out; a single document is shown to a person on a terminal and is one JSON document elsewhere. */
export function chooseFormat(asked: OutputFormat | undefined, input: Input, isTerminal: boolean): OutputFormat {
  if (asked !== undefined) return asked;
  if (input.format === 'lines') return 'jsonl';
  return isTerminal ? 'human' : 'json';
}
