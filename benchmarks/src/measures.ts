/**
 * The measures of a report, each with its own definition and denominator (CHECKLIST D, G8, I5). Tables, intervals and the list of definitions at
 * the foot of a report all come from here, so that none can say something else than was counted. A case outside a measure's denominator is
 * neither a success nor a failure of it, and an arm without any such case has no figure: n/a, never 0.
 */
import type { CaseRecord } from './record.ts';
import type { CaseScore } from './score.ts';

export interface ScoredCase {
  readonly record: CaseRecord;
  readonly score: CaseScore;
}

export interface Definition {
  /** Heads the column. */
  readonly name: string;
  readonly family: 'outcome' | 'validity' | 'release' | 'locality' | 'cost' | 'task' | 'effects';
  readonly counts: string;
  /** The denominator. */
  readonly of: string;
  /** Arms that write whole objects have no such figure. */
  readonly isOfPatches?: true;
}

export interface RateMeasure extends Definition {
  /** Undefined outside the denominator. */
  readonly read: (one: ScoredCase) => boolean | undefined;
}

export interface MeanMeasure extends Definition {
  /** Null outside the denominator. */
  readonly read: (one: ScoredCase) => number | null;
}

export function isRight({ verdict }: CaseScore): boolean {
  return verdict === 'right-call' || verdict === 'abstained-rightly';
}

const ALL = 'all cases';
const INVALID = 'calls that arrived invalid';

const ofInvalid = (read: (score: CaseScore) => boolean) => ({ score }: ScoredCase): boolean | undefined => (score.arrivedInvalid ? read(score) : undefined);

export type RateName = 'right' | 'silentlyWrong' | 'patchEqual' | 'validFirst' | 'validFinally' | 'pointerFixed' | 'coverage' | 'selectiveRisk' | 'failClosed';
export type MeanName =
  | 'collateralOp' | 'collateralPtr' | 'collateralGold' | 'attempts' | 'retries' | 'validations' | 'promptTokens' | 'generatedTokens' | 'forcedTokens' | 'totalMs';
export type QuantileName = 'retriesP95' | 'p50Ms' | 'p95Ms';

export const RATES: Readonly<Record<RateName, RateMeasure>> = {
  right: { name: 'right', family: 'outcome', counts: 'the right call, or rightly declined', of: ALL, read: ({ score }) => isRight(score) },
  silentlyWrong: { name: 'silently wrong', family: 'outcome', counts: 'dispatched, valid, and not acceptable', of: ALL, read: ({ score }) => score.verdict === 'silently-wrong' },
  patchEqual: {
    name: 'canonical patch', family: 'outcome', isOfPatches: true, counts: 'the same operations in the same order as a canonical patch', of: 'cases that have a canonical patch',
    read: ({ score }) => score.patchEqual ?? undefined,
  },
  validFirst: {
    name: 'valid at first', family: 'validity', counts: 'schema and checks hold after at most one attempt; readings and the deterministic step are none', of: INVALID,
    read: ofInvalid(({ validAfter }) => validAfter !== null && validAfter <= 1),
  },
  validFinally: {
    name: 'valid at last', family: 'validity', counts: 'schema and checks hold after the last attempt, whatever a gate says then', of: INVALID,
    read: ofInvalid(({ validAfter }) => validAfter !== null),
  },
  pointerFixed: {
    name: 'pointer fixed', family: 'validity', counts: 'on the last candidate nothing is reported at the place reported first, above it or below it', of: INVALID,
    read: ({ score }) => score.pointerFixed ?? undefined,
  },
  coverage: { name: 'coverage', family: 'release', counts: 'ended with a patch or an object instead of declining', of: INVALID, read: ofInvalid(({ emitted }) => emitted) },
  selectiveRisk: {
    name: 'selective risk', family: 'release', counts: 'did not end in the right call', of: 'the cases that coverage counts',
    read: ({ score }) => (score.emitted ? score.verdict !== 'right-call' : undefined),
  },
  failClosed: {
    name: 'fail-closed', family: 'release', counts: 'nothing was dispatched', of: 'cases that did not end in the right call, rightly declined ones included',
    read: ({ record, score }) => (score.verdict === 'right-call' ? undefined : record.arguments === undefined),
  },
};

const DISPATCHED = 'dispatched calls whose original was JSON';

export const MEANS: Readonly<Record<MeanName, MeanMeasure>> = {
  collateralOp: {
    name: 'collateral op', family: 'locality', isOfPatches: true, of: DISPATCHED, read: ({ score }) => score.collateralOp,
    counts: 'changed leaves outside the emitted operations; 0 by construction, and named so, where the call was read as it stands: a patch changes nothing else',
  },
  collateralPtr: { name: 'collateral ptr', family: 'locality', counts: 'changed leaves outside the reported pointers', of: DISPATCHED, read: ({ score }) => score.collateralPtr },
  collateralGold: {
    name: 'collateral gold', family: 'locality', counts: 'changed leaves that the nearest target leaves alone', of: `${DISPATCHED} and that have a target`,
    read: ({ score }) => score.collateralGold,
  },
  attempts: { name: 'attempts', family: 'cost', counts: 'answers of a policy that are no abstention', of: ALL, read: ({ record }) => record.attempts },
  retries: { name: 'retries', family: 'cost', counts: 'attempts less one; 0 without any; refused patches count', of: ALL, read: ({ score }) => score.retries },
  validations: { name: 'validations', family: 'cost', counts: 'runs of the validator', of: ALL, read: ({ score }) => score.validatorCalls },
  promptTokens: { name: 'prompt tokens', family: 'cost', counts: 'of all attempts', of: ALL, read: ({ record }) => record.tokens.prompt },
  generatedTokens: { name: 'generated', family: 'cost', counts: 'tokens of all answers, prompts left out', of: ALL, read: ({ record }) => record.tokens.generated },
  forcedTokens: { name: 'of them forced', family: 'cost', counts: 'generated tokens that the mask left no choice about', of: ALL, read: ({ record }) => record.tokens.forced },
  totalMs: { name: 'mean ms', family: 'cost', counts: 'wall-clock time of a repair', of: ALL, read: ({ record }) => record.timing.totalMs },
};

/** By nearest rank, of what a mean is of. */
export const QUANTILES: Readonly<Record<QuantileName, { readonly name: string; readonly share: number; readonly base: MeanMeasure }>> = {
  retriesP95: { name: 'retries p95', share: 0.95, base: MEANS.retries },
  p50Ms: { name: 'p50 ms', share: 0.5, base: MEANS.totalMs },
  p95Ms: { name: 'p95 ms', share: 0.95, base: MEANS.totalMs },
};
