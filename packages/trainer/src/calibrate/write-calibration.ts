/** Evaluated examples → rows to fit on, and a fit → `calibration.json`, bound to the adapter and prompt whose answers it was fitted on. */
import type { Digest, JsonObject, JsonValue } from '@contractrl/core';
import { CALIBRATION_VERSION, featuresOf, readPatchSignals, type Calibration } from '@contractrl/runtime-webgpu';
import type { Example } from '../data/example.ts';
import type { EvaluationRow } from '../evaluate/evaluate-examples.ts';
import type { CalibrationRow, FittedCalibration } from './fit-calibration.ts';
import type { RiskRule } from './threshold.ts';

/** The patches of the policy that were dispatched, each by its last proposal; what the deterministic step did alone, declined or failed is none. */
export function calibrationRows(rows: readonly EvaluationRow[], examples: readonly Example[]): readonly CalibrationRow[] {
  const toolOf = new Map(examples.map(({ id, record }) => [id, (record['tool'] as { readonly name: string }).name]));
  return rows.flatMap(({ id, verdict, signals }) => {
    const measured = verdict === 'right' || verdict === 'wrong' ? readPatchSignals(signals ?? {}) : undefined;
    return measured === undefined ? [] : [{ group: toolOf.get(id)!, features: featuresOf(measured), isRight: verdict === 'right' }];
  });
}

export interface CalibrationSource {
  readonly adapterDigest: Digest;
  readonly promptVersion: string;
  /** How the policy names itself. */
  readonly policy: JsonObject;
  /** Digest of the examples that were run, of the validation side. */
  readonly examplesDigest: Digest;
  readonly exampleCount: number;
  readonly seed: number;
}

/** A threshold of 1 lets nothing through: what cannot keep the rule is not released. */
const NOTHING = 1;

export function calibrationOf(fitted: FittedCalibration, rule: RiskRule, { adapterDigest, promptVersion, policy, examplesDigest, exampleCount, seed }: CalibrationSource): Calibration {
  const { map, chosen, threshold, rowCount, rightCount, figures, logLosses, curve } = fitted;
  return {
    version: CALIBRATION_VERSION, adapterDigest, promptVersion, map, threshold: threshold?.threshold ?? NOTHING,
    report: {
      rule: { ...rule }, released: threshold === undefined ? null : { ...threshold }, map: chosen, rows: rowCount, right: rightCount, figures: { ...figures }, logLosses: { ...logLosses },
      curve: curve.map((point): JsonValue => ({ ...point })), data: { split: 'validation', seed, examples: exampleCount, digest: examplesDigest }, policy,
    },
  };
}

export function calibrationText(calibration: Calibration): string {
  return `${JSON.stringify(calibration, undefined, 2)}\n`;
}
