/** Failing calls rebuilt from public bug reports: the report is the listed one, in the listed order, and unsafe patches get the listed verdict. */
import { describe, expect, test } from 'vitest';
import { loadContract, type Contract } from '../../src/contract/contract.ts';
import { cloneJson, type JsonObject, type JsonValue } from '../../src/json/value.ts';
import { BUGCASE_PATCH_CODES } from '../../src/patch/bugcase-codes.ts';
import { applyPatch } from '../../src/patch/apply.ts';
import { readPatch } from '../../src/patch/operation.ts';
import { validateArguments } from '../../src/validate/validate.ts';
import { readRows } from '../fixtures.ts';

interface BugCase {
  readonly id: string;
  readonly stage: string;
  readonly tool: { readonly name: string; readonly description: string; readonly schema: JsonObject };
  readonly failing_call: { readonly arguments?: JsonObject; readonly arguments_raw?: string };
  readonly verifier_errors: readonly { readonly code: string; readonly pointer: string; readonly keyword?: string }[];
  readonly contract: {
    readonly allowed_ops: readonly string[]; readonly max_ops: number; readonly max_attempts: number;
    readonly immutable_paths: readonly string[]; readonly cross_field: readonly JsonObject[]; readonly gates?: readonly JsonObject[];
  };
  readonly proposed_patch?: JsonValue;
  readonly expected_patch_verdict?: { readonly code: string };
  readonly acceptable: 'abstain' | readonly { readonly arguments: JsonObject; readonly patch: readonly JsonObject[]; readonly name?: string }[];
}

const cases = readRows<BugCase>('bugcases.jsonl.gz');

function contractOf({ tool, contract }: BugCase): Contract {
  const loaded = loadContract({
    tool: { name: tool.name, description: tool.description, parameters: tool.schema },
    allowedOperations: contract.allowed_ops, operationBudget: contract.max_ops, attemptBudget: contract.max_attempts,
    immutablePaths: contract.immutable_paths, crossField: contract.cross_field, gates: contract.gates ?? [],
  });
  if (!loaded.ok) throw new TypeError(loaded.error.code);
  return loaded.value;
}

function callText({ failing_call: call }: BugCase): string {
  return call.arguments_raw ?? JSON.stringify(call.arguments);
}

// a gate's refusal is the gate's to report
// checklist: C5
test.each(cases.filter((bug) => bug.stage !== 'policy'))('$id ($stage): the report is the listed one', (bug) => {
  const { report } = validateArguments(contractOf(bug), callText(bug));
  const found = report.kind === 'valid' ? [] : report.violations.map(({ code, pointer, keyword }) => ({ code, pointer, keyword }));
  expect(found).toEqual(bug.verifier_errors.map(({ code, pointer, keyword = '' }) => ({ code, pointer, keyword })));
});

test.each(cases.filter((bug) => bug.proposed_patch !== undefined))('$id: the proposed patch is refused with the listed code', (bug) => {
  const contract = contractOf(bug);
  const document = bug.failing_call.arguments ?? {};
  const before = cloneJson(document);
  const patch = readPatch(bug.proposed_patch ?? null);
  const result = patch.ok ? applyPatch(contract, document, patch.value, bug.contract.max_ops) : patch;
  expect(result.ok ? undefined : BUGCASE_PATCH_CODES[result.error.code]).toBe(bug.expected_patch_verdict?.code);
  expect(document).toEqual(before);
});

describe('the acceptable arguments are valid, and their patches lead there', () => {
  const rows = cases.flatMap((bug) => (bug.acceptable === 'abstain' ? [] : bug.acceptable)
    .filter((good) => good.name === undefined)
    .map((good, index) => ({ name: `${bug.id} ${index}`, bug, good })));
  test.each(rows)('$name', ({ bug, good }) => {
    const contract = contractOf(bug);
    expect(validateArguments(contract, JSON.stringify(good.arguments)).report).toEqual({ kind: 'valid' });
    const document = validateArguments(contract, callText(bug)).value;
    if (document === undefined || good.patch.length === 0) return;
    const patch = readPatch(good.patch);
    const result = patch.ok ? applyPatch(contract, document, patch.value, bug.contract.max_ops) : patch;
    // four listed repairs replace the whole document, which a local repair never does
    const writesRoot = good.patch.some((operation) => operation['path'] === '');
    expect(result).toEqual(writesRoot ? { ok: false, error: { code: 'patch/root-target', index: 0, pointer: '' } } : { ok: true, value: good.arguments });
  });
});
