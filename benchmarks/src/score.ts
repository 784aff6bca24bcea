/**
 * Scoring: the only module that opens gold, beside that of the training benchmark. It takes a frozen run, so no score can steer what it scores (CHECKLIST F1, G2).
 * Every case gets one verdict, and the verdicts of an arm add up to its number of cases.
 */
import { jsonEqual, type FrozenRepair, type JsonValue, type RepairRequest } from '@contractrl/core';
import { changedLeaves, countCollateral, Gold, scoreFrozen } from '@contractrl/core/ledger';
import { bfclGold } from './datasets/bfcl-corruptions.ts';
import { bugCaseGold } from './datasets/bugcases.ts';
import type { CaseGold, Cohort, PublicCase } from './datasets/case.ts';
import type { CaseRecord, FrozenRun, RunCase } from './record.ts';
import { findLeaks, type GoldField, type Leak } from './scoring/leaks.ts';
import { parseLeniently, refusal } from './scoring/revalidate.ts';
import { isRight, mayAbstain } from './scoring/rightness.ts';
import { traceFacts, type TraceFacts } from './scoring/trace-facts.ts';

export const VERDICTS = ['right-call', 'abstained-rightly', 'abstained-wrongly', 'failed', 'silently-wrong', 'unsafe'] as const;
/**
 * `silently-wrong`: dispatched, valid, and not acceptable, a dispatch where only declining is right included.
 * `failed`: no dispatch and no decision to decline either (budget spent, contract refused, engine failure), whatever gold says.
 */
export type Verdict = (typeof VERDICTS)[number];

export interface CaseScore extends TraceFacts {
  readonly id: string;
  readonly cohort: Cohort;
  readonly arm: string;
  readonly verdict: Verdict;
  /** What the second validation refused; null where it refused nothing or nothing was dispatched. */
  readonly unsafe: string | null;
  /** The patch is a canonical one, operation by operation (CHECKLIST D1); false where none was dispatched, null where the case has none. */
  readonly patchEqual: boolean | null;
  /**
   * Changed leaves (CHECKLIST D5): outside the emitted operations, outside the pointers reported at the start, and that the target leaves
   * as they were. Null where it does not apply.
   */
  readonly collateralOp: number | null;
  readonly collateralPtr: number | null;
  readonly collateralGold: number | null;
}

/** Gold of every cohort, sealed, by case id. */
export function sealedGold(): ReadonlyMap<string, Gold<CaseGold>> {
  return new Map([...bugCaseGold(), ...bfclGold()].map(([id, gold]) => [id, new Gold(gold)]));
}

/** Gold of the BFCL corruptions of another seed, sealed, by case id. */
export function sealedBfclGold(seed: number): ReadonlyMap<string, Gold<CaseGold>> {
  return new Map([...bfclGold(seed)].map(([id, gold]) => [id, new Gold(gold)]));
}

/** Scores a frozen run. Throws a RangeError for a record of a case that `cases` or `gold` does not know. */
export function scoreRun(run: FrozenRun, cases: readonly PublicCase[], gold: ReadonlyMap<string, Gold<CaseGold>>): readonly CaseScore[] {
  const requests = new Map(cases.map(({ request }) => [request.id, request]));
  return run.cases.map(({ record, frozen }) => {
    const request = requests.get(record.id);
    const label = gold.get(record.id);
    if (request === undefined || label === undefined) throw new RangeError(`run: unknown case ${record.id}`);
    return scoreFrozen(frozen, label, (_, opened) => scoreCase({ record, frozen }, request, opened));
  });
}

/** How a scan for gold in what policies were shown ended, and how many answers had a policy that was shown anything. */
export interface Leakage {
  readonly answerCount: number;
  readonly leaks: readonly CaseLeak[];
}

export function leakageOf(shown: readonly ShownTexts[], leaks: readonly CaseLeak[]): Leakage {
  return { answerCount: shown.filter(({ texts }) => texts.length > 0).length, leaks };
}

export function formatLeak({ arm, id, field, found }: CaseLeak): string {
  return `Leak: ${arm} on ${id} was shown ${field} (${found})`;
}

/** What a policy was shown of one case. */
export interface ShownTexts {
  readonly arm: string;
  readonly id: string;
  readonly texts: readonly string[];
}

/** A sealed repair, and whose it is. */
export interface Answered {
  readonly record: Pick<CaseRecord, 'arm' | 'id'>;
  readonly frozen: FrozenRepair;
}

export interface CaseLeak extends Leak {
  readonly arm: string;
  readonly id: string;
}

/**
 * Gold in what the policies of a run were shown, looked for after its repairs were sealed, case by case. A text that several cases share is the prompt's
 * own wording; the public record, the report on it and the policy's own proposals explain the rest.
 */
export function leaksIn(
  run: { readonly cases: readonly Answered[] }, cases: readonly Pick<PublicCase, 'request'>[], shown: readonly ShownTexts[], gold: ReadonlyMap<string, Gold<object>>,
): readonly CaseLeak[] {
  const requests = new Map(cases.map(({ request }) => [request.id, request]));
  const shownTo = new Map<string, Set<string>>();
  // the same record under two names is one case
  const contentOf = (id: string): string => JSON.stringify({ ...requests.get(id), id: '' });
  for (const { id, texts } of shown) {
    const content = contentOf(id);
    for (const text of texts) shownTo.set(text, (shownTo.get(text) ?? new Set()).add(content));
  }
  return run.cases.flatMap(({ record: { arm, id }, frozen }) => {
    const label = gold.get(id);
    const request = requests.get(id);
    if (label === undefined || request === undefined) throw new RangeError(`run: unknown case ${id}`);
    const texts = shown.filter((one) => one.arm === arm && one.id === id).flatMap((one) => one.texts).filter((text) => shownTo.get(text)?.size === 1);
    const known = [JSON.stringify(request), JSON.stringify(frozen.opened.report), ...frozen.proposals.map(({ proposal, ...rest }) => `${proposal.text ?? ''}${JSON.stringify(rest)}`)];
    return scoreFrozen(frozen, label, (_, opened) => findLeaks(texts, Object.entries(opened).flatMap(goldField), known)).map((leak) => ({ arm, id, ...leak }));
  });
}

/** `kind` and `corrupted` say what was done to the call, which the report says too; they have no content of their own. */
function goldField([name, value]: [string, unknown]): readonly GoldField[] {
  return ['acceptable', 'answers', 'original', 'patches', 'result'].includes(name) ? [{ name, value: value as JsonValue }] : [];
}

function scoreCase({ record, frozen }: RunCase, request: RepairRequest, gold: CaseGold): CaseScore {
  return { id: record.id, cohort: record.cohort, arm: record.arm, patchEqual: equalsCanonical(frozen, gold), ...traceFacts(frozen), ...judgeAnswer(record, request, gold) };
}

/** What of a record is held against gold. */
export type JudgedAnswer = Pick<CaseRecord, 'status' | 'arguments' | 'patch'> & { readonly reports: readonly Pick<CaseRecord['reports'][number], 'pointer'>[] };

/** The verdict on a sealed answer, and its collateral edits. */
export function judgeAnswer(answer: JudgedAnswer, request: RepairRequest, gold: CaseGold): Pick<CaseScore, 'verdict' | 'unsafe' | 'collateralOp' | 'collateralPtr' | 'collateralGold'> {
  const none = { unsafe: null, collateralOp: null, collateralPtr: null, collateralGold: null };
  if (answer.arguments === undefined) {
    if (answer.status !== 'abstained' && answer.status !== 'rejected') return { verdict: 'failed', ...none };
    return { verdict: mayAbstain(gold) ? 'abstained-rightly' : 'abstained-wrongly', ...none };
  }
  const unsafe = refusal(request, answer.arguments);
  const verdict = unsafe !== undefined ? 'unsafe' : isRight(answer.arguments, gold) ? 'right-call' : 'silently-wrong';
  return { verdict, unsafe: unsafe ?? null, ...collateral(answer, request.call.argumentsText, gold) };
}

/** A canonical patch of nothing, for a call that only needs another reading, is none. */
function equalsCanonical({ closed }: FrozenRepair, gold: CaseGold): boolean | null {
  const canonical = gold.kind === 'abstain' ? [] : gold.patches.filter(({ length }) => length > 0);
  if (canonical.length === 0) return null;
  return canonical.some((patch) => jsonEqual(closed.patch as JsonValue, patch as unknown as JsonValue));
}

function collateral({ arguments: after, patch, reports }: JudgedAnswer, argumentsText: string, gold: CaseGold): Pick<CaseScore, 'collateralOp' | 'collateralPtr' | 'collateralGold'> {
  const before = parseLeniently(argumentsText);
  if (before === undefined || after === undefined) return { collateralOp: null, collateralPtr: null, collateralGold: null };
  const { collateralOp, collateralPtr } = countCollateral(before, after, patch ?? [], reports.map(({ pointer }) => pointer));
  const changed = changedLeaves(before, after);
  const againstTarget = targetsOf(gold).map((target) => {
    const wanted = new Set(changedLeaves(before, target));
    return changed.filter((leaf) => !wanted.has(leaf)).length;
  });
  return { collateralOp: patch === undefined ? null : collateralOp, collateralPtr, collateralGold: againstTarget.length === 0 ? null : Math.min(...againstTarget) };
}

function targetsOf(gold: CaseGold): readonly NonNullable<CaseRecord['arguments']>[] {
  switch (gold.kind) {
    case 'abstain': return [];
    case 'one-of': return gold.acceptable;
    case 'answers': return [gold.original];
  }
}
