/** Outcome → page. Everything is built from elements and text content: a call, a schema or a model can put no markup here. */
import type { HistoryEntry, JsonValue, Violation } from '@contractrl/core';
import { formatOrigin } from '@contractrl/core/messages';
import type { RemoteOutcome } from '@contractrl/runtime-webgpu/web';
import { diffLines } from 'diff';
import { formatMs } from './format.ts';
import { toReadableJson, toSafeText } from './safe-text.ts';

export function element<K extends keyof HTMLElementTagNameMap>(name: K, text = '', className = ''): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  made.textContent = toSafeText(text);
  if (className !== '') made.className = className;
  return made;
}

export function definitions(entries: readonly (readonly [string, string])[]): readonly HTMLElement[] {
  return entries.flatMap(([term, text]) => [element('dt', term), element('dd', text)]);
}

export function reportRows(reports: readonly Violation[]): readonly HTMLElement[] {
  return reports.map(({ code, pointer, keyword, params }) => {
    const row = element('tr');
    row.append(cell(code), cell(pointer === '' ? '(whole call)' : pointer), cell(keyword), cell(JSON.stringify(params)));
    return row;
  });
}

function cell(text: string): HTMLElement {
  const made = element('td');
  made.append(element('code', text));
  return made;
}

export function attemptItems(history: readonly HistoryEntry[]): readonly HTMLElement[] {
  if (history.length === 0) return [element('li', 'No patch was proposed.')];
  return history.map(({ patch, verdict, code, pointer }) => {
    const item = element('li');
    item.append(element('code', patch === undefined ? '(no patch)' : JSON.stringify(patch)), element('div', verdictText(verdict, code, pointer), 'muted'));
    return item;
  });
}

function verdictText(verdict: string, code: string | undefined, pointer: string | undefined): string {
  return code === undefined ? verdict : `${verdict}: ${code} at ${pointer === undefined || pointer === '' ? 'the whole call' : pointer} is left`;
}

/** The call after, line by line; a changed line is marked by its element, its sign and its colour, never by colour alone. */
export function changedLines(before: string, after: string): readonly HTMLElement[] {
  const signs = { same: '  ', removed: '- ', added: '+ ' };
  return diffLines(toReadableJson(before), toReadableJson(after)).flatMap(({ value, added, removed }) => {
    const kind = added ? 'added' : removed ? 'removed' : 'same';
    const name = added ? 'ins' : removed ? 'del' : 'span';
    return value.replace(/\n$/u, '').split('\n').map((line) => element(name, signs[kind] + line, 'line'));
  });
}

/** One sentence on how it ended. */
export function verdictSentence(outcome: RemoteOutcome): string {
  switch (outcome.status) {
    case 'valid': return 'The call was valid as it arrived.';
    case 'repaired': return `Repaired: the validator accepts the call after ${count(outcome.attempts, 'attempt')} and ${count(outcome.operations, 'operation')}.`;
    case 'abstained': return `Abstained (${outcome.reason}): the call stays as it was.`;
    case 'rejected': return `Rejected by a gate (${outcome.reason}): the call stays as it was and must not run.`;
    case 'failed': return `Not repaired (${outcome.reason}): the call stays as it was. ${outcome.message}`;
  }
}

/** The text the call has now: the accepted one where there is one, else the original. */
export function argumentsAfter(outcome: RemoteOutcome, before: string): string {
  return outcome.status === 'repaired' || outcome.status === 'valid' ? outcome.argumentsText : before;
}

export function figures(outcome: RemoteOutcome, totalMs: number): readonly (readonly [string, string])[] {
  const { cost } = outcome;
  const otherMs = totalMs - cost.prefillMs - cost.decodeMs - cost.maskMs;
  const written = outcome.status === 'repaired' ? outcome.written : [];
  return [
    ...written.map(({ pointer, origin }) => [`Value at ${pointer}`, formatOrigin(origin)] as const),
    ['Prompt tokens', String(cost.promptTokenCount)],
    ['Generated tokens', `${cost.generatedTokenCount}, of them ${cost.forcedTokenCount} forced by the contract`],
    ['Time', `${formatMs(totalMs)}: prefill ${formatMs(cost.prefillMs)}, decode ${formatMs(cost.decodeMs)}, mask ${formatMs(cost.maskMs)}, rest ${formatMs(otherMs)}`],
    ['Confidence', outcome.confidence === undefined ? 'none' : outcome.confidence.toFixed(3)],
    ['Ledger digest', outcome.ledger],
  ];
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** The arguments of a record as text: as the model wrote them, or serialised. */
export function argumentsText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
