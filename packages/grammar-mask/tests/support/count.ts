/** Tallies of the long comparisons between the mask and the naive recogniser, written as JSON for the benchmark's report. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Tally {
  contracts: number;
  states: number;
  /** (state, token) pairs on which mask and recogniser were compared. */
  pairs: number;
  outputs: number;
  /** Tokens the mask allows and the recogniser does not. */
  unsound: number;
  /** Tokens the recogniser allows and the mask does not. */
  incomplete: number;
  /** States without an allowed token, and walks that did not end. */
  deadEnds: number;
  /** Outputs that core does not admit, operation by operation. */
  notAdmitted: number;
  /** The first differences, to be looked at. */
  readonly examples: string[];
}

const EXAMPLE_LIMIT = 10;

export function newTally(): Tally {
  return { contracts: 0, states: 0, pairs: 0, outputs: 0, unsound: 0, incomplete: 0, deadEnds: 0, notAdmitted: 0, examples: [] };
}

export function note(tally: Tally, what: 'unsound' | 'incomplete' | 'deadEnds' | 'notAdmitted', example: string): void {
  tally[what] += 1;
  if (tally.examples.length < EXAMPLE_LIMIT) tally.examples.push(`${what}: ${example}`);
}

/** Where the benchmark wants its counts; it also lays the larger vocabularies there. */
export function countFolder(): string {
  const folder = process.env['CONTRACTRL_MASK_COUNTS'];
  if (folder === undefined) throw new Error('CONTRACTRL_MASK_COUNTS: expected a folder');
  mkdirSync(folder, { recursive: true });
  return folder;
}

export function writeTally(name: string, tally: Tally & { readonly [more: string]: unknown }): void {
  writeFileSync(join(countFolder(), `count-${name}.json`), `${JSON.stringify(tally)}\n`);
}
