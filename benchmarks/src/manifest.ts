/** What a run was made with: enough to repeat it, and nothing that differs between two runs of the same thing on one machine. */
import { cpus } from 'node:os';
import { readFileSync } from 'node:fs';
import type { LedgerHead } from '@contractrl/core/ledger';
import type { Arm } from './arms/arm.ts';
import { dataDigest } from './datasets/jsonl.ts';
import type { Leakage } from './score.ts';

export type ManifestArm = Omit<Arm, 'answer'>;

export interface Manifest {
  readonly title: string;
  readonly seed: number;
  /** SHA-256 of every data file as committed. */
  readonly data: Readonly<Record<string, string>>;
  readonly arms: readonly ManifestArm[];
  readonly machine: { readonly cpu: string; readonly threadCount: number; readonly platform: string; readonly node: string };
  readonly versions: Readonly<Record<string, string>>;
  /** Gold in what the policies were shown, looked for when the run was sealed; absent from runs before that. */
  readonly leakage?: Leakage;
  /** How many cases each arm was given. */
  readonly caseCount: number;
  /** SHA-256 of the records' JSON Lines text. */
  readonly recordsDigest: string;
  /** Where the chain of the ledger ends. */
  readonly ledger: LedgerHead;
}

/** What is known before a run is sealed. */
export type ManifestDraft = Omit<Manifest, 'recordsDigest' | 'ledger'>;

export function describeArms(arms: readonly Arm[]): readonly ManifestArm[] {
  return arms.map(({ name, description, output, identity }) => ({ name, description, output, identity }));
}

/** The parts that describe the surroundings rather than the run; `files` are those of `data/` that it used. */
export function surroundings(seed: number, files: readonly string[]): Pick<Manifest, 'seed' | 'data' | 'machine' | 'versions'> {
  const processors = cpus();
  return {
    seed,
    data: Object.fromEntries(files.map((file) => [file, dataDigest(file)])),
    machine: {
      cpu: processors[0]?.model.trim() ?? 'unknown processor',
      threadCount: processors.length,
      platform: `${process.platform} ${process.arch}`,
      node: process.versions.node,
    },
    versions: ownDependencies(),
  };
}

function ownDependencies(): Readonly<Record<string, string>> {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { dependencies: Record<string, string> };
  return manifest.dependencies;
}
