/**
 * Failing calls from public bug reports through the whole loop, each with its own acceptable patch as the only proposal. Shows the mechanism:
 * a right patch passes. It says nothing about a policy, since the proposals are the answers. The deterministic step is off: see deterministic.test.ts.
 */
import { describe, expect, test } from 'vitest';
import { repairCall, type JsonObject, type RepairOutcome } from '../../src/index.ts';
import { readRows } from '../fixtures.ts';
import { requestOf, scripted } from '../support.ts';

interface BugCase {
  readonly id: string;
  readonly tool: { readonly name: string; readonly description: string; readonly schema: JsonObject };
  readonly failing_call: { readonly name: string; readonly arguments?: JsonObject; readonly arguments_raw?: string; readonly finish_reason?: string };
  readonly verifier_errors: readonly { readonly code: string; readonly pointer: string }[];
  readonly contract: {
    readonly allowed_ops: readonly string[]; readonly max_ops: number; readonly max_attempts: number;
    readonly immutable_paths: readonly string[]; readonly cross_field: readonly JsonObject[]; readonly gates?: readonly JsonObject[];
  };
  readonly acceptable: 'abstain' | readonly { readonly arguments: JsonObject; readonly patch: readonly JsonObject[] }[];
}

const cases = readRows<BugCase>('bugcases.jsonl.gz');

function repair(bug: BugCase, ...answers: string[]): Promise<RepairOutcome> {
  const { tool, contract, failing_call: call } = bug;
  const request = requestOf({
    id: bug.id,
    tool: { name: tool.name, description: tool.description, parameters: tool.schema },
    call: { name: call.name, arguments: call.arguments_raw ?? call.arguments },
    ...(call.finish_reason === undefined ? {} : { finishReason: call.finish_reason }),
    contract: {
      allowedOperations: contract.allowed_ops, operationBudget: contract.max_ops, attemptBudget: contract.max_attempts,
      immutablePaths: contract.immutable_paths, crossField: contract.cross_field, gates: contract.gates ?? [],
    },
  });
  return repairCall(request, scripted(...answers), { deterministic: false });
}

test.each(cases)('$id: the report of the outcome is the listed one', async (bug) => {
  const outcome = await repair(bug);
  expect(outcome.reports.map(({ code, pointer }) => ({ code, pointer }))).toEqual(bug.verifier_errors.map(({ code, pointer }) => ({ code, pointer })));
});

// checklist: C4
test.each(cases)('$id: without a proposal nothing is dispatched that was not valid as it came', async (bug) => {
  const outcome = await repair(bug);
  expect(outcome.status === 'valid').toBe(bug.verifier_errors.length === 0);
  expect('arguments' in outcome).toBe(outcome.status === 'valid');
});

describe('an acceptable patch repairs the call, where the text can be read and the patch is local', () => {
  const rows = cases.flatMap((bug) => (bug.acceptable === 'abstain' ? [] : bug.acceptable.map((answer, index) => ({ name: `${bug.id} #${index}`, bug, answer }))));
  test.each(rows)('$name', async ({ bug, answer }) => {
    const outcome = await repair(bug, JSON.stringify(answer.patch), JSON.stringify(answer.patch));
    if (answer.patch.some((operation) => operation['path'] === '')) {
      expect(outcome).toMatchObject({ status: 'failed', history: [{ verdict: 'patch/root-target' }, { verdict: 'patch/root-target' }] });
    } else if (bug.verifier_errors.some(({ code }) => code.startsWith('json_') || code === 'duplicate_key')) {
      expect(outcome).toMatchObject({ status: 'abstained', reason: 'abstain/unreadable-arguments' });
    } else {
      expect(outcome).toMatchObject({ status: bug.verifier_errors.length === 0 ? 'valid' : 'repaired', arguments: answer.arguments });
    }
  });
});
