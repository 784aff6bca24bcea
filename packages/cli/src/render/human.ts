/** One repair for a person: the call before, the report, each attempt, the call after as a diff, where its values come from, what it cost, and the ledger digest. */
import { diffLines } from 'diff';
import type { HistoryEntry, JsonValue, RepairOutcome, RepairRequest, Violation, WrittenValue } from '@contractrl/core';
import { formatOrigin } from '@contractrl/core/messages';
import type { Colors } from '../io.ts';
import { formatMs, shorten, toSafeJson, toSafeText } from './text.ts';

export interface RenderedRepair {
  readonly request: RepairRequest;
  readonly outcome: RepairOutcome;
  readonly totalMs: number;
}

export function renderRepair({ request, outcome, totalMs }: RenderedRepair, colors: Colors): string {
  const before = readArguments(request.call.argumentsText);
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ['Request', request.request.filter((message) => message.role === 'user').map((message) => shorten(toSafeText(message.content)))],
    ['Call before', [`${colors.bold(toSafeText(request.call.name))} ${prettyArguments(before, request.call.argumentsText, outcome.reports)}`]],
    ['Verifier report', outcome.reports.length === 0 ? [colors.green('nothing to report')] : outcome.reports.map((violation) => renderViolation(violation, colors))],
    ['Without the model', renderCertain(outcome)],
    ...outcome.history.map((entry, index) => [`Attempt ${index + 1}`, renderAttempt(entry, colors)] as const),
    ['Call after', renderAfter(before, outcome, colors)],
    ['Written values', outcome.status === 'repaired' ? outcome.written.map((value) => renderWritten(value, colors)) : []],
  ];
  const body = sections.filter(([, lines]) => lines.length > 0).map(([title, lines]) => `${colors.cyan(title)}\n${indent(lines.join('\n'))}\n`);
  return `${colors.bold(toSafeText(outcome.id))}  ${renderStatus(outcome, colors)}\n\n${body.join('\n')}\n${renderCost(outcome, totalMs, colors)}\n`;
}

export function renderViolation({ code, pointer, keyword, params }: Violation, colors: Colors): string {
  const place = pointer === '' ? 'the whole call' : toSafeText(pointer);
  const details = Object.keys(params).length === 0 ? '' : colors.dim(` ${shorten(toSafeJson(params), 300)}`);
  return `${colors.yellow(code)} at ${place}${keyword === '' ? '' : ` (${toSafeText(keyword)})`}${details}`;
}

function renderStatus(outcome: RepairOutcome, colors: Colors): string {
  switch (outcome.status) {
    case 'valid':
    case 'repaired': return colors.green(outcome.status);
    case 'abstained':
    case 'rejected': return `${colors.yellow(outcome.status)} (${outcome.reason})`;
    case 'failed': return `${colors.red('failed')} (${outcome.reason})`;
  }
}

/** How the call was read, and the operations that were certain. */
function renderCertain({ reading, frozen: { deterministic } }: RepairOutcome): readonly string[] {
  return [
    ...(reading?.toolName === undefined ? [] : [`tool name read as ${toSafeText(reading.toolName)}`]),
    ...(reading?.steps === undefined ? [] : [`text read as ${reading.steps.map(({ kind }) => kind).join(', ')}`]),
    ...(deterministic?.patch ?? []).map((operation, index) => `${deterministic?.rules[index] ?? ''}: ${shorten(toSafeJson(operation), 1_000)}`),
  ];
}

function renderAttempt({ patch, verdict, code, pointer }: HistoryEntry, colors: Colors): readonly string[] {
  const operations = patch === undefined ? [colors.dim('no patch')] : patch.map((operation) => shorten(toSafeJson(operation), 1_000));
  const left = code === undefined ? '' : `, now ${code} at ${pointer === undefined || pointer === '' ? 'the whole call' : toSafeText(pointer)}`;
  return [...operations, `${verdict === 'accepted' ? colors.green(verdict) : colors.yellow(verdict)}${left}`];
}

function renderAfter(before: JsonValue | undefined, outcome: RepairOutcome, colors: Colors): readonly string[] {
  switch (outcome.status) {
    case 'valid': return [colors.dim('unchanged')];
    case 'repaired': return [renderDiff(before, outcome.arguments, colors)];
    case 'abstained':
    case 'rejected': return [colors.dim('none: the original call is untouched and must not be run')];
    case 'failed': return [toSafeText(outcome.message), colors.dim('The original call is untouched and must not be run.')];
  }
}

/** The place of a written value and where it comes from; of one that was made up, marked. */
export function renderWritten({ pointer, origin }: WrittenValue, colors: Colors): string {
  const text = toSafeText(formatOrigin(origin));
  return `${toSafeText(pointer)}: ${origin.kind === 'model' ? colors.yellow(text) : text}`;
}

/** Comparing two large, quite different calls could take for ever; then only the call after is shown. */
const DIFF_TIMEOUT_MS = 1_000;

/** The two calls line by line; members keep their order, so the diff shows what the patch did and no more. */
function renderDiff(before: JsonValue | undefined, after: JsonValue, colors: Colors): string {
  const text = (value: JsonValue | undefined): string => (value === undefined ? '' : `${toSafeJson(value, 2)}\n`);
  const changes = diffLines(text(before), text(after), { timeout: DIFF_TIMEOUT_MS });
  if (changes === undefined) return shorten(toSafeJson(after, 2));
  return changes.map(({ value, added, removed }) => {
    const [sign, paint] = added ? ['+', colors.green] as const : removed ? ['-', colors.red] as const : [' ', String] as const;
    return value.replace(/\n$/u, '').split('\n').map((line) => paint(`${sign} ${line}`)).join('\n');
  }).join('\n');
}

function renderCost(outcome: RepairOutcome, totalMs: number, colors: Colors): string {
  const { promptTokenCount, generatedTokenCount, forcedTokenCount, prefillMs, decodeMs, maskMs } = outcome.cost;
  const confidence = outcome.confidence === undefined ? '' : `, confidence ${outcome.confidence.toFixed(2)}`;
  const rows: readonly (readonly [string, string])[] = [
    ['Attempts', `${outcome.attempts}, operations ${outcome.operations}${confidence}`],
    ['Tokens', `prompt ${promptTokenCount}, generated ${generatedTokenCount}, forced ${forcedTokenCount}`],
    ['Time', `${formatMs(totalMs)}: prefill ${formatMs(prefillMs)}, decode ${formatMs(decodeMs)}, mask ${formatMs(maskMs)}`],
    ['Ledger', outcome.ledger],
  ];
  return rows.map(([name, value]) => `${colors.cyan(name.padEnd(9))} ${value}`).join('\n');
}

/** The arguments for display only; text that is no JSON is shown as it is. */
function readArguments(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The arguments as the pretty-printed value, unless that would hide what is wrong with the text (`"a":1,"a":2`, a rounded number). */
function prettyArguments(value: JsonValue | undefined, text: string, reports: readonly Violation[]): string {
  const isTextAtFault = reports.some(({ code }) => code.startsWith('json_') || code === 'duplicate_key' || code === 'precision_loss' || code === 'forbidden_name');
  return shorten(value === undefined || isTextAtFault ? toSafeText(text) : toSafeJson(value, 2));
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gmu, '  ');
}
