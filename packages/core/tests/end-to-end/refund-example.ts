/** The example of README.md, from here to the end; `readme.test.ts` compares the two and runs it. */
import { repairCall, type JsonObject, type Proposer, type RepairRequest, type TimeBound } from '@contractrl/core';
import { createExecutor, type Execution } from '@contractrl/core/execute';

/** The host's own shop: what its tools do, and what they may see. */
export interface Shop {
  state(): JsonObject;
  refund(args: JsonObject, idempotencyKey: string): Promise<JsonObject>;
}

export const gates: readonly JsonObject[] = [
  { kind: 'read_before_write', pointer: '/order_id', log: 'reads', tool: 'get_order', argument: '/order_id' },
  { kind: 'eq', a: { state: '/orders', by: '/order_id', then: '/status' }, b: { value: 'open' } },
  { kind: 'lte', a: { argument: '/amount' }, b: { state: '/orders', by: '/order_id', then: '/paid' }, mayShow: true },
];

const bound: TimeBound = {
  limitMs: 10_000,
  start(limitMs) {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const elapsed = new Promise((resolve) => { timer = setTimeout(resolve, limitMs); });
    return { elapsed, cancel: () => clearTimeout(timer) };
  },
};

export async function repairAndRun(shop: Shop, request: RepairRequest, policy: Proposer): Promise<Execution | string> {
  const executor = createExecutor({
    tools: [{ name: 'refund', call: ({ arguments: args, idempotencyKey }) => shop.refund(args, idempotencyKey) }],
    state: () => shop.state(),
    bound,
  });
  const outcome = await repairCall(request, policy, { proposalBound: bound });
  return 'accepted' in outcome ? executor.execute(outcome.id, outcome.accepted) : outcome.reason;
}
