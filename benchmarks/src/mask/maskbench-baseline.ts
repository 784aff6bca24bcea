/**
 * What MaskBench came to when last measured, whole and for a quick sample of every suite. It may only improve: a schema that compiled must
 * compile, a valid instance that was spelled must be spelled, and no invalid one ever.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runMaskBench, type MaskBenchRun, type SuiteCounts } from './maskbench.ts';

export type SuiteBaseline = Pick<SuiteCounts, 'schemas' | 'compiled' | 'validAccepted' | 'validRefused' | 'invalidAccepted'>;

export interface MaskBenchBaseline {
  readonly whole: Readonly<Record<string, SuiteBaseline>>;
  /** The first {@link SAMPLE_SIZE} schemas of each suite. */
  readonly sample: Readonly<Record<string, SuiteBaseline>>;
}

/** Schemas a suite, so that a test takes seconds. */
export const SAMPLE_SIZE = 25;

export const BASELINE_FILE: string = fileURLToPath(new URL('../../baselines/maskbench.json', import.meta.url));

export function readBaseline(): MaskBenchBaseline {
  return JSON.parse(readFileSync(BASELINE_FILE, 'utf8')) as MaskBenchBaseline;
}

export function baselineOf(data: string, whole: MaskBenchRun): MaskBenchBaseline {
  return { whole: pick(whole), sample: pick(runMaskBench(data, SAMPLE_SIZE, undefined)) };
}

function pick({ suites }: MaskBenchRun): Readonly<Record<string, SuiteBaseline>> {
  return Object.fromEntries(Object.entries(suites).map(([suite, { schemas, compiled, validAccepted, validRefused, invalidAccepted }]) => [
    suite, { schemas, compiled, validAccepted, validRefused, invalidAccepted },
  ]));
}
