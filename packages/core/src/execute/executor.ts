/**
 * The last step, outside the repair: the only way to a tool. It takes what the validator accepted and nothing else, once, and asks the gates
 * again on the state as it is now, since the state they saw during the repair may have changed. A refusal means that nothing was sent; a
 * failure, that the tool was called and what it did is not known.
 */
import { digestOf, digestOfText, type Digest } from '../json/digest.ts';
import { isJsonObject, readJsonValue, type JsonObject, type JsonValue } from '../json/value.ts';
import { contractOfAccepted, type AcceptedCall } from '../repair/accepted-call.ts';
import { askGateFunctions, evaluateGates, type GateFunction, type GateReason } from '../repair/gate.ts';
import type { AbortSignalLike } from '../repair/proposer.ts';
import { runBounded, type TimeBound } from './bounded.ts';

/** What a tool gets: `argumentsText` are the bytes to send, `arguments` the same as a frozen object. */
export interface Dispatch {
  readonly name: string;
  readonly argumentsText: string;
  readonly arguments: JsonObject;
  /** The same for the same case and bytes: a service that knows it can drop a second delivery. */
  readonly idempotencyKey: Digest;
}

export interface Tool {
  readonly name: string;
  /** Gives JSON; `undefined` counts as null. */
  call(dispatch: Dispatch, signal: AbortSignalLike): unknown;
}

interface RecordBase {
  readonly caseId: string;
  readonly tool: string;
  readonly idempotencyKey: Digest;
}
/** What an execution leaves behind: digests alone. It is no row of the repair's ledger, whose chain ends before anything is run. */
export type ExecutionRecord =
  | (RecordBase & { readonly kind: 'dispatched'; readonly argumentsDigest: Digest; readonly stateDigest: Digest })
  | (RecordBase & { readonly kind: 'executed'; readonly failure: ExecutionFailure | null; readonly resultDigest: Digest | null });

export interface ExecutorOptions {
  readonly tools: readonly Tool[];
  /** The operational state now, as JSON. Read once for each call, right before the gates. */
  readonly state: () => unknown;
  readonly gateFunctions?: readonly GateFunction[];
  /** Each foreign step has this long: state, gate function, claim, record, tool. */
  readonly bound: TimeBound;
  /**
   * Takes a key, and gives `true` only to the first who asks, over restarts and machines. Without it, keys are remembered by this executor alone.
   */
  readonly claim?: (idempotencyKey: Digest) => unknown;
  /** Gets a record before the tool is called, and after; where the first cannot be kept, nothing is called. */
  readonly record?: (record: ExecutionRecord) => unknown;
}

export type ExecutionRefusal =
  | 'execute/not-accepted' | 'execute/already-executed' | 'execute/tool-unavailable' | 'execute/aborted'
  | 'execute/state-unreadable' | 'execute/gate' | 'execute/claim-failed' | 'execute/record-failed';
export type ExecutionFailure = 'execute/tool-threw' | 'execute/tool-timeout' | 'execute/bad-result';

interface Named {
  readonly idempotencyKey: Digest;
}
export type Execution =
  | (Named & { readonly kind: 'executed'; readonly result: JsonValue; readonly isRecorded: boolean })
  /** Everything but the call itself was done, and nothing claimed or recorded. */
  | (Named & { readonly kind: 'dry-run' })
  /** The tool was not called. `reason` is the gate's. */
  | { readonly kind: 'refused'; readonly code: ExecutionRefusal; readonly reason?: GateReason; readonly params: JsonObject }
  /** The tool was called; it may or may not have done its work. */
  | (Named & { readonly kind: 'failed'; readonly code: ExecutionFailure; readonly params: JsonObject; readonly isRecorded: boolean });

export interface Executor {
  /** Never rejects. Calls of one executor run one after another, so that none changes the state between another's gates and its tool. */
  execute(caseId: string, call: AcceptedCall, options?: { readonly dryRun?: boolean; readonly signal?: AbortSignalLike }): Promise<Execution>;
}

/** SHA-256 over the case and the exact text: two cases that ask for the same are two executions. */
export function idempotencyKeyOf(caseId: string, call: Pick<AcceptedCall, 'name' | 'argumentsText'>): Digest {
  return digestOfText(JSON.stringify([caseId, call.name, call.argumentsText]));
}

const NEVER_ABORTED: AbortSignalLike = { aborted: false };

/** Calls that were sent, by any executor: one acceptance is one execution. */
const spent = new WeakSet<AcceptedCall>();

export function createExecutor(options: ExecutorOptions): Executor {
  const { tools, bound, gateFunctions: functions = [] } = options;
  const keys = new Set<Digest>();
  let last: Promise<unknown> = Promise.resolve();

  const run = async (caseId: string, call: AcceptedCall, isDryRun: boolean, signal: AbortSignalLike): Promise<Execution> => {
    const contract = contractOfAccepted(call);
    if (contract === undefined) return refusal('execute/not-accepted');
    const idempotencyKey = idempotencyKeyOf(caseId, call);
    if (spent.has(call) || keys.has(idempotencyKey)) return refusal('execute/already-executed', { idempotencyKey });
    const tool = tools.find(({ name }) => name === call.name);
    if (tool === undefined) return refusal('execute/tool-unavailable', { name: call.name });
    if (signal.aborted) return refusal('execute/aborted');

    const read = await runBounded(async () => readJsonValue(await options.state()), bound);
    const state = read.kind === 'done' ? (read.value as ReturnType<typeof readJsonValue>) : undefined;
    if (state?.ok !== true || !isJsonObject(state.value)) return refusal('execute/state-unreadable', read.kind === 'threw' ? { cause: read.cause } : {});
    const input = { tool: call.name, arguments: call.arguments, state: state.value };
    const { gates } = contract.document;
    const decision = evaluateGates(gates, call.name, call.arguments, state.value, await askGateFunctions(gates, { functions, bound }, input));
    if (decision.kind === 'reject') return { kind: 'refused', code: 'execute/gate', reason: decision.reason, params: decision.params };
    if (signal.aborted) return refusal('execute/aborted');
    if (isDryRun) return { kind: 'dry-run', idempotencyKey };

    // From here on the call is spent: a second try could be a second execution. Only the keeper of the claims, if it failed, is asked again.
    spent.add(call);
    keys.add(idempotencyKey);
    if (options.claim !== undefined) {
      const claimed = await runBounded(() => options.claim?.(idempotencyKey), bound);
      if (claimed.kind !== 'done' || typeof claimed.value !== 'boolean') {
        spent.delete(call);
        keys.delete(idempotencyKey);
        return refusal('execute/claim-failed', { idempotencyKey });
      }
      if (!claimed.value) return refusal('execute/already-executed', { idempotencyKey });
    }
    const keep = async (record: ExecutionRecord): Promise<boolean> =>
      options.record === undefined || (await runBounded(() => options.record?.(record), bound)).kind === 'done';
    const base = { caseId, tool: call.name, idempotencyKey };
    const argumentsDigest = digestOf(call.arguments);
    if (!await keep({ kind: 'dispatched', ...base, argumentsDigest, stateDigest: digestOf(state.value) })) return refusal('execute/record-failed', { idempotencyKey });
    if (signal.aborted) return refusal('execute/aborted', { idempotencyKey });

    const { name, argumentsText, arguments: args } = call;
    const answer = await runBounded(async () => readJsonValue(await tool.call({ name, argumentsText, arguments: args, idempotencyKey }, signal) ?? null), bound);
    const result = answer.kind === 'done' ? (answer.value as ReturnType<typeof readJsonValue>) : undefined;
    const code = answer.kind !== 'done' ? (`execute/tool-${answer.kind}` as const) : result?.ok === true ? null : 'execute/bad-result';
    const resultDigest = result?.ok === true ? digestOf(result.value) : null;
    const isRecorded = await keep({ kind: 'executed', ...base, failure: code, resultDigest });
    if (code === null && result?.ok === true) return { kind: 'executed', idempotencyKey, result: result.value, isRecorded };
    return { kind: 'failed', code: code ?? 'execute/bad-result', idempotencyKey, params: answer.kind === 'threw' ? { cause: answer.cause } : {}, isRecorded };
  };

  return {
    execute(caseId, call, { dryRun = false, signal = NEVER_ABORTED } = {}) {
      const turn = last.then(() => run(caseId, call, dryRun, signal));
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}

function refusal(code: ExecutionRefusal, params: JsonObject = {}): Execution {
  return { kind: 'refused', code, params };
}
