/**
 * Right calls out of what a user's program did: lines of `{ request, tool, arguments }`, or a ledger of repairs, whose calls are those that were accepted. A
 * ledger is believed only where its chain holds, and its calls are derived again from what is on record. That a call was accepted says that it fits its
 * contract; whether it is what was asked for, the ledger does not know.
 */
import {
  digestOf, err, isJsonArray, isJsonObject, ok, parseJson, repairCall, validateArguments,
  type AbstentionEntry, type AttemptEntry, type Contract, type FrozenRepair, type JsonObject, type JsonValue, type Proposal, type Proposer, type Result,
} from '@contractrl/core';
import { readLedgerText, repairsIn, verifyRows, type LedgerIssue } from '@contractrl/core/ledger';
import type { LegalCall } from '../legal-call.ts';
import { wholeText, type Request } from '../request.ts';

export const TRACES = 'traces';

export interface UserTraces {
  readonly calls: readonly LegalCall[];
  readonly rowCount: number;
  /** Rows that give no call, by code. */
  readonly leftOut: Readonly<Record<string, number>>;
}

/** `line` counts from 1. */
export type TraceFileIssue =
  | { readonly code: 'train/trace-unreadable'; readonly file: string; readonly line: number; readonly issue: string }
  | { readonly code: 'train/ledger-broken'; readonly file: string; readonly row: number; readonly issue: string };

/** Reads one file of traces; `contracts` are the tools that calls may be of, and judge them. O(text + judge). */
export async function readTraces(file: string, text: string, contracts: ReadonlyMap<string, Contract>): Promise<Result<UserTraces, TraceFileIssue>> {
  const rows = isLedger(text) ? await ledgerRows(file, text) : callRows(file, text);
  if (!rows.ok) return rows;
  const calls: LegalCall[] = [];
  const leftOut: Record<string, number> = {};
  for (const [index, row] of rows.value.entries()) {
    const contract = typeof row === 'string' ? undefined : contracts.get(row.tool);
    const fault = typeof row === 'string' ? row : contract === undefined ? 'train/unknown-tool' : faultOf(contract, row);
    if (fault !== undefined || contract === undefined || typeof row === 'string') {
      leftOut[fault ?? ''] = (leftOut[fault ?? ''] ?? 0) + 1;
      continue;
    }
    calls.push({ id: `${TRACES}:${file}:${String(index + 1)}`, source: TRACES, request: row.request, contract, arguments: row.arguments });
  }
  return ok({ calls, rowCount: rows.value.length, leftOut });
}

interface TraceRow {
  readonly request: Request;
  readonly tool: string;
  readonly arguments: JsonObject;
}

function faultOf(contract: Contract, { request, arguments: args }: TraceRow): string | undefined {
  if (wholeText(request).trim() === '') return 'trainer/no-request';
  if (Object.keys(args).length === 0) return 'trainer/no-arguments';
  const { report } = validateArguments(contract, JSON.stringify(args));
  return report.kind === 'valid' ? undefined : report.violations[0].code;
}

function isLedger(text: string): boolean {
  const first = parseJson(text.split('\n', 1)[0]!);
  return first.ok && isJsonObject(first.value) && Object.hasOwn(first.value, 'entry');
}

function callRows(file: string, text: string): Result<readonly TraceRow[], TraceFileIssue> {
  const rows: TraceRow[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const parsed = parseJson(line);
    const row = parsed.ok ? readRow(parsed.value) : parsed.error.code;
    if (typeof row === 'string') return err({ code: 'train/trace-unreadable', file, line: index + 1, issue: row });
    rows.push(row);
  }
  return ok(rows);
}

/** A text says which member is missing or of another type. */
function readRow(value: JsonValue): TraceRow | string {
  if (!isJsonObject(value)) return 'row';
  const { request, tool, arguments: given } = value;
  const args = typeof given === 'string' ? argumentsIn(given) : given;
  if (!isRequest(request)) return 'request';
  if (typeof tool !== 'string') return 'tool';
  return isJsonObject(args) ? { request, tool, arguments: args } : 'arguments';
}

/** As models write them: the text of an object. */
function argumentsIn(text: string): JsonValue | undefined {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : undefined;
}

function isRequest(value: JsonValue | undefined): value is Request & JsonValue {
  const isMessage = (each: JsonValue): boolean => isJsonObject(each) && typeof each['role'] === 'string' && typeof each['content'] === 'string';
  return typeof value === 'string' || (isJsonArray(value) && value.every(isMessage));
}

/** A text where the repair gives no call. */
async function ledgerRows(file: string, text: string): Promise<Result<readonly (TraceRow | string)[], TraceFileIssue>> {
  const repairs = wholeRepairs(text);
  if (!repairs.ok) return err({ code: 'train/ledger-broken', file, row: 'index' in repairs.error ? repairs.error.index : 0, issue: repairs.error.code });
  const found: (TraceRow | string)[] = [];
  for (const repair of repairs.value) found.push(await acceptedCall(repair));
  return ok(found);
}

function wholeRepairs(text: string): Result<readonly FrozenRepair[], LedgerIssue> {
  const rows = readLedgerText(text);
  if (!rows.ok) return rows;
  const head = verifyRows(rows.value);
  return head.ok ? repairsIn(rows.value) : head;
}

/** The call that a repair ended with, by the loop itself over the proposals on record, and held to the digest of what was accepted. */
async function acceptedCall(repair: FrozenRepair): Promise<TraceRow | string> {
  const { opened, closed } = repair;
  if (closed.argumentsDigest === null) return 'train/not-accepted';
  const texts = [opened.call.arguments, ...(opened.request ?? []).map(({ content }) => content), ...repair.proposals.map(({ proposal }) => proposal)].map(({ text }) => text);
  if (opened.privacy !== undefined || opened.contract === null || opened.request === undefined || texts.includes(null)) return 'train/contents-not-recorded';
  const request = opened.request.map(({ role, content }) => ({ role, content: content.text ?? '' }));
  const call = { name: opened.call.name, argumentsText: opened.call.arguments.text ?? '' };
  const outcome = await repairCall({
    id: opened.caseId, request, contract: opened.contract as unknown as Contract['document'], toolNames: opened.toolNames, context: opened.context, call, finishReason: opened.finishReason ?? undefined,
  }, recorded(repair.proposals), { deterministic: opened.deterministic === true });
  if (outcome.status !== 'valid' && outcome.status !== 'repaired') return 'train/not-replayed';
  return digestOf(outcome.arguments) === closed.argumentsDigest ? { request, tool: outcome.name, arguments: outcome.arguments } : 'train/not-replayed';
}

/** Answers as was answered, in order. */
function recorded(proposals: readonly (AttemptEntry | AbstentionEntry)[]): Proposer {
  let answered = 0;
  return {
    identity: {},
    propose: () => {
      const entry = proposals[answered];
      answered += 1;
      return Promise.resolve(entry === undefined ? err({ code: 'replay/no-proposal', message: '' }) : ok(proposalOf(entry)));
    },
  };
}

function proposalOf(entry: AttemptEntry | AbstentionEntry): Proposal {
  const cost = { promptTokenCount: 0, generatedTokenCount: 0, forcedTokenCount: 0, prefillMs: 0, decodeMs: 0, maskMs: 0 };
  const given = { text: entry.proposal.text ?? '', cost, maskDigest: undefined };
  return entry.kind === 'attempt' && !entry.isComplete ? { kind: 'incomplete', code: entry.verdict, ...given } : { kind: 'text', confidence: undefined, ...given };
}
