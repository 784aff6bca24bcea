/**
 * Mutation testing, as `npm run mutate` wrote it: what was tried in each file, and every mutant that no test noticed.
 * Why each of them stays stands in `baselines/mutation-survivors.json`, by file, text and replacement, so that moved lines keep theirs.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const OUTCOMES = ['killed', 'timeout', 'survived', 'not-reached', 'at-load'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Survivor {
  readonly line: number;
  readonly mutator: string;
  readonly source: string;
  readonly replacement: string;
  readonly status: 'survived' | 'not-reached';
}

export interface MutatedFile {
  readonly file: string;
  /** Share of its mutants that was tried, drawn by their ids. */
  readonly share: number;
  readonly counts: Readonly<Record<Outcome, number>>;
  readonly survivors: readonly Survivor[];
}

export type MutationRun = readonly MutatedFile[];

/** Of the package, as the script writes it. */
export interface MutateOutput {
  readonly share: number;
  readonly files: readonly { readonly file: string; readonly mutants: readonly (Omit<Survivor, 'status'> & { readonly status: Outcome })[] }[];
}

export interface SurvivorReason {
  readonly file: string;
  readonly source: string;
  readonly replacement: string;
  readonly why: string;
}

const REASONS_FILE = fileURLToPath(new URL('../../baselines/mutation-survivors.json', import.meta.url));

/** What was tried now replaces what is known of the same files; the others stay. */
export function joinMutationRuns(earlier: MutationRun | undefined, { share, files }: MutateOutput): MutationRun {
  const tried = files.map(({ file, mutants }): MutatedFile => ({
    file, share, counts: Object.fromEntries(OUTCOMES.map((outcome) => [outcome, mutants.filter(({ status }) => status === outcome).length])) as Record<Outcome, number>,
    survivors: mutants.flatMap(({ line, mutator, source, replacement, status }) => (status === 'survived' || status === 'not-reached' ? [{ line, mutator, source, replacement, status }] : [])),
  }));
  const kept = (earlier ?? []).filter(({ file }) => !files.some((other) => other.file === file));
  return [...kept, ...tried].sort((a, b) => a.file.localeCompare(b.file, 'en'));
}

export function readSurvivorReasons(): readonly SurvivorReason[] {
  return JSON.parse(readFileSync(REASONS_FILE, 'utf8')) as readonly SurvivorReason[];
}
