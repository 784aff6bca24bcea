/**
 * The same for all arms (CHECKLIST I1): tools, schema, budgets, gates, dialogue, state and the spoilt text. It is read off the ledger: what a
 * repair was opened with must be its case, whoever answered it.
 */
import { digestOfText, jsonEqual, type Contract, type JsonValue } from '@contractrl/core';
import type { PublicCase } from '../datasets/case.ts';
import type { FrozenRun } from '../record.ts';

/** The first repair that was opened with something else than its case, or with a case that nobody knows; undefined where there is none. */
export function firstDeviation({ cases: repairs }: FrozenRun, cases: readonly PublicCase[], contracts: ReadonlyMap<string, Contract>): { readonly arm: string; readonly id: string } | undefined {
  const requests = new Map(cases.map(({ request }) => [request.id, request]));
  const found = repairs.find(({ record, frozen: { opened } }) => {
    const request = requests.get(record.id);
    if (request === undefined) return true;
    const { call, toolNames, context } = request;
    return opened.contractDigest !== contracts.get(call.name)?.digest || opened.requestDigest !== digestOfText(JSON.stringify(request.request))
      || opened.call.name !== call.name || opened.call.arguments.digest !== digestOfText(call.argumentsText)
      || !jsonEqual({ toolNames: opened.toolNames, context: opened.context } as JsonValue, { toolNames, context } as JsonValue);
  });
  return found && { arm: found.record.arm, id: found.record.id };
}
