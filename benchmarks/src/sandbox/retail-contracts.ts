/**
 * The contract of every tool of the shop: its schema, the product's own budgets, and before a tool that changes something two gates over what
 * the agent has read. The record was read before it is written, and the order is in a state that allows the change (CHECKLIST O1, O4).
 */
import { DEFAULT_ATTEMPT_BUDGET, DEFAULT_OPERATION_BUDGET, loadContract, OPERATION_KINDS, type Contract, type GateDocument, type ToolDefinition } from '@contractrl/core';

const READ_ORDER: GateDocument = { kind: 'read_before_write', pointer: '/order_id', log: 'reads', tool: 'get_order_details', argument: '/order_id' };
const READ_USER: GateDocument = { kind: 'read_before_write', pointer: '/user_id', log: 'reads', tool: 'get_user_details', argument: '/user_id' };

function inStatus(...allowed: readonly string[]): GateDocument {
  return { kind: 'in', a: { state: '/orders', by: '/order_id', then: '/status' }, b: { value: allowed } };
}

const GATES: Readonly<Record<string, readonly GateDocument[]>> = {
  cancel_pending_order: [READ_ORDER, inStatus('pending')],
  modify_pending_order_items: [READ_ORDER, inStatus('pending')],
  modify_pending_order_address: [READ_ORDER, inStatus('pending', 'pending (item modified)')],
  modify_pending_order_payment: [READ_ORDER, inStatus('pending', 'pending (item modified)')],
  exchange_delivered_order_items: [READ_ORDER, inStatus('delivered')],
  return_delivered_order_items: [READ_ORDER, inStatus('delivered')],
  modify_user_address: [READ_USER],
};

/** By tool name. Throws a TypeError for a schema that cannot be honoured: these are committed. */
export function retailContracts(tools: readonly ToolDefinition[]): ReadonlyMap<string, Contract> {
  return new Map(tools.map((tool) => {
    const contract = loadContract({
      tool, allowedOperations: OPERATION_KINDS, operationBudget: DEFAULT_OPERATION_BUDGET, attemptBudget: DEFAULT_ATTEMPT_BUDGET,
      immutablePaths: [], crossField: [], gates: GATES[tool.name] ?? [],
    });
    if (!contract.ok) throw new TypeError(`${tool.name}: ${contract.error.code}`);
    return [tool.name, contract.value];
  }));
}
