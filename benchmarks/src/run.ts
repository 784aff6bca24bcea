/**
 * The online part of a benchmark: every case to every arm, public input only, one at a time. What comes out is sealed repairs and
 * records; no gold is within reach of this module.
 */
import type { AbortSignalLike } from '@contractrl/core';
import type { Arm } from './arms/arm.ts';
import type { PublicCase } from './datasets/case.ts';
import { freezeRun, type FrozenRun, type RunCase } from './record.ts';

export interface RunProgress {
  readonly done: number;
  readonly total: number;
  readonly arm: string;
  readonly id: string;
  readonly status: string;
}

/**
 * Runs arm after arm, each over all `cases`, and seals the result. Arms are not interleaved, since a policy change would empty the
 * prompt cache that the production arm is measured with. An aborted `signal` ends the run with `undefined`: half a run is no run.
 */
export async function runArms(
  cases: readonly PublicCase[], arms: readonly Arm[], signal: AbortSignalLike, onProgress: (progress: RunProgress) => void,
): Promise<FrozenRun | undefined> {
  const done: RunCase[] = [];
  for (const arm of arms) {
    for (const { cohort, request } of cases) {
      if (signal.aborted) return undefined;
      const { record, frozen } = await arm.answer(request, signal);
      done.push({ record: { ...record, cohort, arm: arm.name }, frozen });
      onProgress({ done: done.length, total: arms.length * cases.length, arm: arm.name, id: request.id, status: record.status });
    }
  }
  return signal.aborted ? undefined : freezeRun(done);
}
