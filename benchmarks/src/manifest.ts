/** What a run was made with: enough to repeat it, and nothing that differs between two runs of the same thing on one machine. */
import { cpus } from 'node:os';
import { readFileSync } from 'node:fs';
import type { JsonObject } from '@contractrl/core';
import type { LedgerHead } from '@contractrl/core/ledger';
import { BFCL_FILE, BFCL_SEED } from './datasets/bfcl-corruptions.ts';
import { BUGCASES_FILE } from './datasets/bugcases.ts';
import { dataDigest } from './datasets/jsonl.ts';

export interface Manifest {
  readonly title: string;
  readonly seed: number;
  /** SHA-256 of every data file as committed. */
  readonly data: Readonly<Record<string, string>>;
  readonly arms: readonly { readonly name: string; readonly description: string; readonly identity: JsonObject }[];
  readonly machine: { readonly cpu: string; readonly threadCount: number; readonly platform: string; readonly node: string };
  readonly versions: Readonly<Record<string, string>>;
  /** How many cases each arm was given. */
  readonly caseCount: number;
  /** SHA-256 of the records' JSON Lines text. */
  readonly recordsDigest: string;
  /** Where the chain of the ledger ends. */
  readonly ledger: LedgerHead;
}

/** What is known before a run is sealed. */
export type ManifestDraft = Omit<Manifest, 'recordsDigest' | 'ledger'>;

/** The parts that describe the surroundings rather than the run. */
export function surroundings(): Pick<Manifest, 'seed' | 'data' | 'machine' | 'versions'> {
  const processors = cpus();
  return {
    seed: BFCL_SEED,
    data: { [BUGCASES_FILE]: dataDigest(BUGCASES_FILE), [BFCL_FILE]: dataDigest(BFCL_FILE) },
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
