/**
 * Scoring: the only module that opens gold. It takes a frozen run, so no score can steer what it scores (CHECKLIST F1, G2).
 * Every case gets one verdict, and the verdicts of an arm add up to its number of cases.
 */
import { changedLeaves, countCollateral, Gold, scoreFrozen, type JsonValue, type RepairRequest } from '@contractrl/core';
import { bfclGold } from './datasets/bfcl-corruptions.ts';
import { bugCaseGold } from './datasets/bugcases.ts';
import type { CaseGold, Cohort, PublicCase } from './datasets/case.ts';
import type { CaseRecord, FrozenRun } from './record.ts';
import { findLeaks, type GoldField, type Leak } from './scoring/leaks.ts';
import { parseLeniently, refusal } from './scoring/revalidate.ts';
import { isRight, mayAbstain } from './scoring/rightness.ts';

export const VERDICTS = ['right-call', 'abstained-rightly', 'abstained-wrongly', 'failed', 'silently-wrong', 'unsafe'] as const;
/**
 * `silently-wrong`: dispatched, valid, and not acceptable, a dispatch where only declining is right included.
 * `failed`: no dispatch and no decision to decline either (budget spent, contract refused, engine failure), whatever gold says.
 */
export type Verdict = (typeof VERDICTS)[number];

export interface CaseScore {
  readonly id: string;
  readonly cohort: Cohort;
  readonly arm: string;
  readonly verdict: Verdict;
  /** What the second validation refused; null where it refused nothing or nothing was dispatched. */
  readonly unsafe: string | null;
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

/** Scores a frozen run. Throws a RangeError for a record of a case that `cases` or `gold` does not know. */
export function scoreRun(run: FrozenRun, cases: readonly PublicCase[], gold: ReadonlyMap<string, Gold<CaseGold>>): readonly CaseScore[] {
  const requests = new Map(cases.map(({ request }) => [request.id, request]));
  return run.cases.map(({ record, frozen }) => {
    const request = requests.get(record.id);
    const label = gold.get(record.id);
    if (request === undefined || label === undefined) throw new RangeError(`run: unknown case ${record.id}`);
    return scoreFrozen(frozen, label, (_, opened) => scoreCase(record, request, opened));
  });
}

/** What a policy was shown of one case. */
export interface ShownTexts {
  readonly arm: string;
  readonly id: string;
  readonly texts: readonly string[];
}

export interface CaseLeak extends Leak {
  readonly arm: string;
  readonly id: string;
}

/**
 * Gold in what the policies of a frozen run were shown, case by case. A text that several cases share is the prompt's own wording; the public
 * record, the report on it and the policy's own proposals explain the rest.
 */
export function leaksIn(run: FrozenRun, cases: readonly PublicCase[], shown: readonly ShownTexts[], gold: ReadonlyMap<string, Gold<CaseGold>>): readonly CaseLeak[] {
  const requests = new Map(cases.map(({ request }) => [request.id, request]));
  const shownTo = new Map<string, Set<string>>();
  for (const { id, texts } of shown) for (const text of texts) shownTo.set(text, (shownTo.get(text) ?? new Set()).add(id));
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
  return ['acceptable', 'answers', 'original'].includes(name) ? [{ name, value: value as JsonValue }] : [];
}

function scoreCase(record: CaseRecord, request: RepairRequest, gold: CaseGold): CaseScore {
  const base = { id: record.id, cohort: record.cohort, arm: record.arm };
  const none = { unsafe: null, collateralOp: null, collateralPtr: null, collateralGold: null };
  if (record.arguments === undefined) {
    if (record.status !== 'abstained' && record.status !== 'rejected') return { ...base, verdict: 'failed', ...none };
    return { ...base, verdict: mayAbstain(gold) ? 'abstained-rightly' : 'abstained-wrongly', ...none };
  }
  const unsafe = refusal(request, record.arguments);
  const verdict = unsafe !== undefined ? 'unsafe' : isRight(record.arguments, gold) ? 'right-call' : 'silently-wrong';
  return { ...base, verdict, unsafe: unsafe ?? null, ...collateral(record, request.call.argumentsText, gold) };
}

function collateral({ arguments: after, patch, reports }: CaseRecord, argumentsText: string, gold: CaseGold): Pick<CaseScore, 'collateralOp' | 'collateralPtr' | 'collateralGold'> {
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
