/** Failing calls from public bug reports without any model: every one ends as its gold says, or is declined. */
import { expect, test } from 'vitest';
import { jsonEqual, NO_POLICY, repairCall, type JsonObject, type RepairOutcome } from '../../src/index.ts';
import { readRows } from '../fixtures.ts';
import { requestOf } from '../support.ts';

interface BugCase {
  readonly id: string;
  readonly family: string;
  readonly tool: { readonly name: string; readonly description: string; readonly schema: JsonObject };
  readonly failing_call: { readonly name: string; readonly arguments?: JsonObject; readonly arguments_raw?: string; readonly finish_reason?: string };
  readonly contract: {
    readonly allowed_ops: readonly string[]; readonly max_ops: number; readonly max_attempts: number;
    readonly immutable_paths: readonly string[]; readonly cross_field: readonly JsonObject[]; readonly gates?: readonly JsonObject[];
  };
  readonly acceptable: 'abstain' | readonly { readonly arguments: JsonObject }[];
}

const cases = readRows<BugCase>('bugcases.jsonl.gz');

async function repair({ id, tool, contract, failing_call: call }: BugCase): Promise<RepairOutcome> {
  return repairCall(requestOf({
    id, tool: { name: tool.name, description: tool.description, parameters: tool.schema },
    call: { name: call.name, arguments: call.arguments_raw ?? call.arguments },
    ...(call.finish_reason === undefined ? {} : { finishReason: call.finish_reason }),
    contract: {
      allowedOperations: contract.allowed_ops, operationBudget: contract.max_ops, attemptBudget: contract.max_attempts,
      immutablePaths: contract.immutable_paths, crossField: contract.cross_field, gates: contract.gates ?? [],
    },
  }), NO_POLICY);
}

test('of all calls, 28 come out right, none wrong, and all others are declined', async () => {
  const rows = await Promise.all(cases.map(async (bug) => ({ bug, outcome: await repair(bug) })));
  const table = Object.fromEntries(rows.map(({ bug, outcome }) => {
    if (!('arguments' in outcome)) return [bug.id, bug.acceptable === 'abstain' ? 'declined, rightly' : 'declined'];
    const isRight = bug.acceptable !== 'abstain' && bug.acceptable.some((good) => jsonEqual(good.arguments, outcome.arguments));
    const how = [...(outcome.reading?.steps ?? []).map(({ kind }) => kind), ...new Set(outcome.rules)].join(', ');
    return [bug.id, `${isRight ? 'right' : 'WRONG'}: ${how}`];
  }));
  expect(rows.every(({ outcome: { attempts } }) => attempts === 0)).toBe(true);
  expect(Object.values(table).filter((verdict) => verdict.startsWith('WRONG'))).toEqual([]);
  expect(Object.values(table).filter((verdict) => verdict.startsWith('right'))).toHaveLength(28);
  expect(table).toMatchInlineSnapshot(`
    {
      "BC-002": "right: text-to-json",
      "BC-004": "right: text-to-json",
      "BC-005": "right: text-to-json",
      "BC-006": "declined, rightly",
      "BC-007": "declined, rightly",
      "BC-010": "right: text-to-json",
      "BC-013": "right: ",
      "BC-014": "declined",
      "BC-015": "right: integer-to-text",
      "BC-017": "right: drop-null",
      "BC-018": "right: drop-null",
      "BC-020": "right: drop-null",
      "BC-021": "right: drop-null",
      "BC-023": "declined",
      "BC-024": "declined",
      "BC-025": "declined",
      "BC-026": "declined, rightly",
      "BC-028": "declined, rightly",
      "BC-030": "declined, rightly",
      "BC-032": "right: enum-case",
      "BC-037": "declined",
      "BC-038": "declined",
      "BC-039": "declined",
      "BC-040": "declined",
      "BC-041": "declined",
      "BC-042": "right: rename-member",
      "BC-044": "right: rename-member",
      "BC-045": "declined",
      "BC-047": "right: rename-member, text-to-json",
      "BC-048": "right: text-to-json",
      "BC-049": "right: text-to-json",
      "BC-052": "right: text-to-json",
      "BC-054": "declined",
      "BC-056": "right: wrapper",
      "BC-057": "right: wrapper",
      "BC-060": "declined",
      "BC-061": "declined",
      "BC-063": "declined",
      "BC-064": "declined",
      "BC-068": "declined, rightly",
      "BC-069": "right: json-in-text",
      "BC-070": "right: json-in-text",
      "BC-073": "right: prose",
      "BC-076": "right: repeated",
      "BC-078": "right: code-fence",
      "BC-079": "declined",
      "BC-081": "declined",
      "BC-082": "declined, rightly",
      "BC-084": "declined, rightly",
      "BC-085": "right: leaked-markup",
      "BC-086": "declined, rightly",
      "BC-087": "right: enum-case",
      "BC-092": "declined, rightly",
      "PC-01": "declined",
      "PC-03": "declined",
      "PC-05": "declined",
      "PC-06": "declined",
      "PC-07": "declined",
      "PC-08": "right: text-to-json",
      "PC-10": "right: text-to-json",
      "PC-11": "declined",
    }
  `);
});
