/**
 * The rule of release: a patch is withheld whose calibrated probability is below the threshold, or that throws a misnamed member away; the proposal is then an
 * abstention with `low-confidence`.
 * Stands between decoding and the loop. It only ever takes back: what it lets through is judged as any other patch.
 */
import { digestOf, parsePatch, type JsonObject, type JsonValue, type Observation } from '@contractrl/core';
import { confidenceOf, featuresOf, type Calibration } from './calibration.ts';
import { signalsOfPatch, type DecisionSignals } from './signals.ts';

/** `threshold` in [0, 1]: the calibration's own, or a caller's. */
export interface Release {
  readonly calibration: Calibration;
  readonly threshold: number;
}

export interface ReleasedAnswer {
  readonly text: string;
  /** With a release, of a patch: the probability that it is right. Else that of the answer among the admissible ones. */
  readonly confidence: number;
  readonly signals: JsonObject;
}

/** Measures an answer, and withholds it where `release` says so. An abstention, and what the gate will refuse, pass as they are. */
export function releaseAnswer(observation: Observation, text: string, decisions: DecisionSignals, release: Release | undefined): ReleasedAnswer {
  const probability = Math.exp(decisions.sequenceLogProbability);
  const patch = parsePatch(text);
  const measured = patch.ok ? signalsOfPatch(observation, patch.value, decisions) : undefined;
  if (measured === undefined) return { text, confidence: probability, signals: {} };
  const { sequenceLogProbability, margin, openLogAllowed, takenBackCount, sources, doubts } = measured;
  const signals: JsonObject = { patch: { sequenceLogProbability, margin: margin ?? null, openLogAllowed, takenBackCount, sources, doubts: { ...doubts } } };
  if (release === undefined) return { text, confidence: probability, signals };
  const { calibration, threshold } = release;
  const confidence = confidenceOf(calibration.map, featuresOf(measured));
  // so rare under the mask that no calibration can weigh it, and hardly ever right
  const isReleased = confidence >= threshold && doubts.unmoved === 0;
  return { text: isReleased ? text : JSON.stringify({ abstain: 'low-confidence' }), confidence, signals: { ...signals, release: { confidence, threshold, isReleased } } };
}

/** As the ledger names it. */
export function describeRelease({ calibration, threshold }: Release): JsonObject {
  return { calibration: digestOf(calibration as unknown as JsonValue), threshold };
}
