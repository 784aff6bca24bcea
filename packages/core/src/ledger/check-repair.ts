/**
 * What can be checked of a repair on record, step by step, without policy and executor: that its figures agree with each other, that its
 * texts are the ones of their digests, and that every judgement comes out again. Where contents are hidden or were too long to record,
 * the step that needs them is named as not checked, never passed over.
 */
import { loadContract, type Contract, type ContractIssue, type LoadOptions } from '../contract/contract.ts';
import { digestOfText } from '../json/digest.ts';
import { hasFunctions, type GateHost } from '../repair/gate.ts';
import { ACCEPTED } from '../repair/close.ts';
import { err, ok, type Result } from '../result.ts';
import type { RecordedText } from './entry.ts';
import type { FrozenRepair, RepairTrace } from './freeze.ts';
import { isHidden } from './privacy.ts';
import { replayTrace, versionIssue, type ReplayIssue } from './replay.ts';

/** `structure`: order, counts and ending. `texts`: recorded texts against their digests. `judgement`: reports, patches, verdicts, budgets, derived anew. */
export type ReplayStep = 'structure' | 'texts' | 'judgement';

export interface ReplayReport {
  readonly checked: readonly ReplayStep[];
  /** `reason`: `replay/hidden`, `replay/text-not-recorded`, `replay/contract-not-recorded`, `replay/functions-not-given` or `ledger/other-version`. */
  readonly notChecked: readonly { readonly step: ReplayStep; readonly reason: string }[];
}

/** What contracts name and a ledger cannot hold. Without the functions that a repair's contract names, its judgement is not checked. */
export interface ReplayHost {
  readonly functions?: LoadOptions['functions'];
  readonly gates?: GateHost;
}

/**
 * Fails with the first entry that does not hold; `index` counts the entries of the repair from 0. `contracts` keeps the loaded contracts by
 * digest: those of one ledger repeat, and loading one costs more than a repair.
 */
export async function checkRepair(repair: FrozenRepair, host: ReplayHost = {}, contracts: Map<string, Contract> = new Map()): Promise<Result<ReplayReport, ReplayIssue>> {
  const fault = structureFault(repair) ?? textFault(repair);
  if (fault !== undefined) return err({ code: 'replay/inconsistent', ...fault });
  const missingText = recordedTexts(repair).some(({ text }) => text.text === null)
    ? isHidden(repair) ? 'replay/hidden' : 'replay/text-not-recorded'
    : undefined;
  const otherVersion = versionIssue(repair);
  const contract = otherVersion === undefined ? contractOf(repair, host, contracts) : ok(undefined);
  if (!contract.ok && contract.error.code !== FUNCTION_UNKNOWN) return err({ code: 'replay/contract-refused', issue: contract.error.code });

  const needsFunctions = !contract.ok || (contract.value !== undefined && host.gates === undefined && hasFunctions(contract.value.document.gates));
  const reason = otherVersion?.code ?? missingText ?? (needsFunctions ? 'replay/functions-not-given' : contract.value === undefined ? 'replay/contract-not-recorded' : undefined);
  if (reason === undefined && contract.ok && contract.value !== undefined) {
    const replayed = await replayTrace(repair, contract.value, host.gates);
    if (!replayed.ok) return replayed;
  }
  const reasons: Readonly<Record<ReplayStep, string | undefined>> = { structure: undefined, texts: missingText, judgement: reason };
  const steps = Object.entries(reasons) as readonly (readonly [ReplayStep, string | undefined])[];
  return ok({
    checked: steps.flatMap(([step, why]) => (why === undefined ? [step] : [])),
    notChecked: steps.flatMap(([step, why]) => (why === undefined ? [] : [{ step, reason: why }])),
  });
}

const FUNCTION_UNKNOWN = 'contract/unknown-function';

interface Fault {
  readonly index: number;
  readonly detail: string;
}

/** Where the proposals begin among the entries. */
function startOf({ deterministic }: RepairTrace): number {
  return deterministic === undefined ? 1 : 2;
}

function structureFault(trace: RepairTrace): Fault | undefined {
  const { proposals, closed } = trace;
  const start = startOf(trace);
  let attempts = 0;
  for (const [at, entry] of proposals.entries()) {
    const fault = (detail: string): Fault => ({ index: start + at, detail });
    const isLast = at === proposals.length - 1;
    if (entry.kind === 'abstention') {
      if (!isLast) return fault('kind: nothing follows an abstention');
      continue;
    }
    attempts += 1;
    if (entry.number !== attempts) return fault('number: attempts are numbered from 1');
    if (entry.verdict === ACCEPTED && (!isLast || closed.status !== 'repaired' || entry.report.length > 0)) return fault('verdict: what is accepted has no report and ends the repair');
  }
  const isAccepted = closed.status === 'valid' || closed.status === 'repaired';
  const rules: readonly (readonly [boolean, string])[] = [
    [closed.attempts === attempts, 'attempts: not the number of attempts on record'],
    [closed.retries === Math.max(attempts - 1, 0), 'retries: not one less than the attempts'],
    [closed.attemptsLeft >= 0 && closed.operationsLeft >= 0, 'attemptsLeft, operationsLeft: below zero'],
    [(closed.reason === null) === isAccepted, 'reason: given exactly where nothing is accepted'],
    [(closed.argumentsDigest !== null) === isAccepted, 'argumentsDigest: given exactly where something is accepted'],
    [(closed.patch !== null) === (closed.status === 'repaired'), 'patch: given exactly where the call was repaired'],
    [(closed.written !== undefined) === (closed.status === 'repaired' && trace.opened.version !== undefined), 'written: given exactly where the call was repaired'],
    [closed.patch === null || closed.patch.length === closed.operations, 'operations: not the length of the patch'],
  ];
  const broken = rules.find(([holds]) => !holds);
  return broken === undefined ? undefined : { index: start + proposals.length, detail: broken[1] };
}

/** Each with the index of its entry. */
function recordedTexts(trace: RepairTrace): readonly { readonly index: number; readonly text: RecordedText }[] {
  const start = startOf(trace);
  const { call, request = [] } = trace.opened;
  return [{ index: 0, text: call.arguments }, ...request.map(({ content }) => ({ index: 0, text: content })), ...trace.proposals.map((entry, at) => ({ index: start + at, text: entry.proposal }))];
}

function textFault(trace: RepairTrace): Fault | undefined {
  const wrong = recordedTexts(trace).find(({ text: { text, length, digest } }) => text !== null && (text.length !== length || digestOfText(text) !== digest));
  return wrong === undefined ? undefined : { index: wrong.index, detail: 'text: not the text of its length and digest' };
}

/** The recorded contract, undefined where none was. */
function contractOf(repair: FrozenRepair, { functions = [] }: ReplayHost, contracts: Map<string, Contract>): Result<Contract | undefined, ContractIssue> {
  const { contract, contractDigest } = repair.opened;
  const known = contracts.get(contractDigest ?? '');
  if (known !== undefined || contract === null || isHidden(repair)) return ok(known);
  const loaded = loadContract(contract, { functions });
  if (loaded.ok) contracts.set(loaded.value.digest, loaded.value);
  return loaded;
}
