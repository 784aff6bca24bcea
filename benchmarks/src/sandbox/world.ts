/**
 * One shop with its state, from first to last call. Calls go through core's executor, so that what the validator did not accept reaches no tool
 * (CHECKLIST I4), and every call that was sent leaves what it changed, what it gave back and what went wrong (I3). A world is made for one
 * trajectory and thrown away.
 */
import { digestOf, judgeArguments, resolvePointer, type Contract, type Digest, type JsonObject, type JsonPointer, type JsonValue, type RepairRequest } from '@contractrl/core';
import { createExecutor, type Tool } from '@contractrl/core/execute';
import { changedLeaves } from '@contractrl/core/ledger';
import { isWrite, RETAIL_TOOLS, type RetailTables, type RetailTool } from './retail.ts';

/** A leaf of the tables, before and after; null where it was or is not there. */
export interface Change {
  readonly pointer: JsonPointer;
  readonly before: JsonValue;
  readonly after: JsonValue;
}

export interface SentCall {
  readonly name: string;
  /** What the tool got; null where nothing was sent. */
  readonly arguments: JsonObject | null;
  /** Of the executor; `not-accepted` where the validator or a gate refused it before. */
  readonly outcome: 'executed' | 'refused' | 'failed' | 'not-accepted';
  /** Why it was not executed. */
  readonly reason: string | null;
  /** The tool ran and said no: nothing was changed. */
  readonly toolError: string | null;
  readonly resultDigest: Digest | null;
  /** Side effects, in the order of their pointers. */
  readonly changes: readonly Change[];
}

export interface World {
  /** What an agent can know: the calls it has read with, and the status of the orders that it has seen. Gates decide on it. */
  readonly context: JsonObject;
  /** What the tools gave back so far, oldest first. */
  readonly results: readonly { readonly name: string; readonly result: JsonValue }[];
  readonly tables: RetailTables;
  send(caseId: string, call: RepairRequest['call']): Promise<SentCall>;
}

/** Tools are pure functions: none can hang, and no clock gets into a run. */
const NO_CLOCK = { limitMs: 0, start: () => ({ elapsed: new Promise<never>(() => undefined), cancel: () => undefined }) };

/** `start` is never changed: each world that is opened on it begins alike. */
export function openWorld(start: RetailTables, contracts: ReadonlyMap<string, Contract>): World {
  let tables = start;
  let toolError: string | null = null;
  const reads: JsonObject[] = [];
  const results: { readonly name: string; readonly result: JsonValue }[] = [];

  const asTool = ([name, run]: readonly [string, RetailTool]): Tool => ({
    name,
    call({ arguments: args }) {
      const effect = run(tables, args);
      toolError = effect.ok ? null : effect.error;
      if (!effect.ok) return { error: effect.error };
      ({ tables } = effect.value);
      if (!isWrite(name)) reads.push({ tool: name, arguments: args });
      return effect.value.result;
    },
  });
  const context = (): JsonObject => ({ reads: [...reads], orders: seenOrders(tables, reads) });
  const executor = createExecutor({ tools: [...RETAIL_TOOLS].map(asTool), state: context, bound: NO_CLOCK });

  return {
    get context() { return context(); },
    get results() { return results; },
    get tables() { return tables; },
    async send(caseId, { name, argumentsText }) {
      const nothing = { name, arguments: null, toolError: null, resultDigest: null, changes: [] };
      const contract = contracts.get(name);
      if (contract === undefined) return { ...nothing, outcome: 'not-accepted', reason: 'tool_unknown' };
      const judged = judgeArguments(contract, argumentsText, context());
      if (judged.kind !== 'accepted') return { ...nothing, outcome: 'not-accepted', reason: judged.kind === 'rejected' ? judged.reason : judged.report.violations[0].code };
      const before = tables;
      const done = await executor.execute(caseId, judged.call);
      if (done.kind === 'failed') return { ...nothing, arguments: judged.call.arguments, outcome: 'failed', reason: done.code, changes: changesOf(before, tables) };
      if (done.kind !== 'executed') return { ...nothing, outcome: 'refused', reason: done.kind === 'refused' ? done.reason ?? done.code : done.kind };
      results.push({ name, result: done.result });
      return { name, arguments: judged.call.arguments, outcome: 'executed', reason: null, toolError, resultDigest: digestOf(done.result), changes: changesOf(before, tables) };
    },
  };
}

/** O(size of the tables) where they differ; nothing where a call only read. */
export function changesOf(before: RetailTables, after: RetailTables): readonly Change[] {
  if (before === after) return [];
  const at = (tables: RetailTables, pointer: JsonPointer): JsonValue => resolvePointer(tables, pointer) ?? null;
  return changedLeaves(before, after).toSorted().map((pointer) => ({ pointer, before: at(before, pointer), after: at(after, pointer) }));
}

function seenOrders(tables: RetailTables, reads: readonly JsonObject[]): JsonObject {
  const seen = reads.filter(({ tool }) => tool === 'get_order_details').map((read) => (read['arguments'] as { readonly order_id: string }).order_id);
  return Object.fromEntries([...new Set(seen)].map((id) => [id, { status: tables.orders[id]?.status ?? null }]));
}
