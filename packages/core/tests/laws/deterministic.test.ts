/** Laws of the deterministic step over random calls of one tool with a member of every kind. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  applyPatch, deterministicPatch, isPrefix, jsonEqual, loadContract, NO_POLICY, repairCall, validateArguments, type Contract,
  type JsonObject, type JsonPointer, type JsonValue, type RepairRequest,
} from '../../src/index.ts';
import { changedLeaves, replayTrace } from '../../src/ledger/index.ts';
import { requestOf } from '../support.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    count: { type: 'integer', minimum: 0 }, flag: { type: 'boolean' }, state: { enum: ['open', 'closed', 'Closed'] }, ids: { type: 'array', items: { type: 'integer' } },
    zip: { type: 'string', pattern: '^[0-9]{5}$' }, note: { type: 'string' }, when: { anyOf: [{ type: 'integer' }, { type: 'null' }] }, max_lines: { type: 'integer' },
    nested: { type: 'object', properties: { tags: { type: 'array', items: { type: 'string' } }, ok: { type: 'boolean', default: true } }, additionalProperties: false },
  },
  required: ['count'],
  additionalProperties: false,
};

const anyValue = fc.constantFrom<JsonValue>(
  5, '5', '05', '5.0', -1, '-1', 1.5, 12345, '12345', true, 'true', 'yes', null, 'null', 'OPEN', ' open ', 'CLOSED', [], [1], ['1'], ['a'], '[1,2]', '["a"]', 'a', 'a b', 'all', {}, '{}',
  { tags: 'a' }, { tags: '["a"]', ok: 'false' }, { ok: null }, '{"tags":["a"]}', { TAGS: ['a'] },
);
/** Notations with one reading, so that repairs are not rare. */
const CERTAIN: Readonly<Record<string, readonly JsonValue[]>> = {
  count: [5, '5'], Count: ['5', 7], flag: [true, 'true'], state: ['OPEN', 'open'], ids: [[1], ['1'], 5, '[1,2]'], zip: [12345, '12345', '12345</zip>', '12345</parameter>\n<parameter name="flag">true'], note: [null, 'a'],
  when: ['null', '5', null], max_lines: ['5', null], maxLines: [5, '5'], nested: [{ tags: 'a' }, '{"tags":["a"]}', { TAGS: ['a'] }, { tags: '["a"]', ok: 'false' }],
};
const member = fc.constantFrom(...Object.entries(CERTAIN), ...Object.entries(CERTAIN), ['MaxLines', [3]] as const, ['extra', [3]] as const).chain(([name, values]) =>
  fc.oneof({ weight: 1, arbitrary: anyValue }, { weight: values.length * 2, arbitrary: fc.constantFrom(...values) }).map((value) => [name, value] as const));
const members = fc.uniqueArray(member, { minLength: 1, maxLength: 4, selector: ([name]) => name })
  .map((entries) => (entries.some(([name]) => /count/i.test(name)) ? entries : [['count', '5'] as const, ...entries]));
const restrictions = fc.record({
  immutablePaths: fc.oneof({ weight: 3, arbitrary: fc.constant<string[]>([]) }, fc.subarray(['/count', '/ids', '/nested'])),
  allowedOperations: fc.oneof({ weight: 3, arbitrary: fc.constant(['replace', 'remove', 'move']) }, fc.subarray(['replace', 'remove', 'move'], { minLength: 1 })),
  operationBudget: fc.oneof({ weight: 3, arbitrary: fc.constant(16) }, fc.integer({ min: 0, max: 3 })),
  crossField: fc.constantFrom<object[]>([], [{ kind: 'excludes', pointer: '/note', excluded: ['/zip'] }]),
});

function requestFor(entries: readonly (readonly [string, JsonValue])[], contract: object): RepairRequest {
  return requestOf({ tool: { name: 'tool', parameters: SCHEMA }, call: { name: 'tool', arguments: JSON.stringify(Object.fromEntries(entries)) }, contract });
}

function contractOf(request: RepairRequest): Contract {
  const contract = loadContract(request.contract);
  if (!contract.ok) throw new Error(contract.error.code);
  return contract.value;
}

test('what is dispatched is valid to a second Ajv, and no leaf has changed outside of what the verifier named, but where a value was moved or had been swallowed', async () => {
  const isValid = new Ajv2020({ strict: false, ownProperties: true }).compile(SCHEMA);
  let repaired = 0;
  await fc.assert(fc.asyncProperty(members, restrictions, async (entries, restriction) => {
    const request = requestFor(entries, restriction);
    const outcome = await repairCall(request, NO_POLICY);
    expect(outcome.attempts).toBe(0);
    expect(outcome.operations).toBeLessThanOrEqual(restriction.operationBudget);
    if (!('arguments' in outcome)) return;
    expect(isValid(outcome.arguments)).toBe(true);
    expect(JSON.parse(outcome.argumentsText)).toEqual(outcome.arguments);
    if (outcome.status !== 'repaired') return;
    repaired += 1;
    const named = [...outcome.reports.map(({ pointer }) => pointer), ...outcome.patch.flatMap(({ op, path }) => (op === 'move' || op === 'add' ? [path] : []))];
    for (const leaf of changedLeaves(Object.fromEntries(entries), outcome.arguments)) {
      expect(named.some((pointer) => isPrefix(pointer, leaf))).toBe(true);
      expect(restriction.immutablePaths.some((locked) => isPrefix(locked as JsonPointer, leaf))).toBe(false);
    }
    expect(outcome.patch.every(({ op }) => new Set<string>(restriction.allowedOperations).has(op))).toBe(true);
  }), { numRuns: 300 });
  // the law would be empty if random calls were never repaired
  expect(repaired).toBeGreaterThan(30);
});

test('once is enough, and the order of members makes no difference', () => {
  let applied = 0;
  fc.assert(fc.property(members, restrictions, fc.infiniteStream(fc.nat(5)), (entries, restriction, order) => {
    const contract = contractOf(requestFor(entries, { ...restriction, operationBudget: 16 }));
    const certain = (args: JsonObject): ReturnType<typeof deterministicPatch> => {
      const { report, value = null } = validateArguments(contract, JSON.stringify(args));
      return report.kind === 'valid' ? undefined : deterministicPatch(contract, value, report.violations, new Set());
    };
    const args = Object.fromEntries(entries);
    const shuffled = entries.map((entry) => ({ entry, rank: order.next().value as number })).sort((a, b) => a.rank - b.rank).map(({ entry }) => entry);
    const first = certain(args);
    expect(certain(Object.fromEntries(shuffled))).toEqual(first);
    if (first === undefined) return;
    applied += 1;
    const document = applyPatch(contract, args, first.patch, 16);
    if (!document.ok) throw new Error(document.error.code);
    expect(certain(document.value as JsonObject)).toBeUndefined();
  }), { numRuns: 300 });
  expect(applied).toBeGreaterThan(50);
});

test('the ledger replays it, reading and step included, and shows a changed rule or patch', async () => {
  const wrap = fc.constantFrom<(text: string) => string>((text) => text, (text) => `\`\`\`json\n${text}\n\`\`\``, JSON.stringify, (text) => `[${text}]`, (text) => `${text} ${text}`, (text) => `${text}{`);
  await fc.assert(fc.asyncProperty(members, restrictions, wrap, fc.boolean(), async (entries, restriction, write, deterministic) => {
    const request = requestFor(entries, restriction);
    const call = { name: 'tool', argumentsText: write(request.call.argumentsText) };
    const outcome = await repairCall({ ...request, call }, NO_POLICY, { deterministic });
    expect(await replayTrace(outcome.frozen, contractOf(request))).toMatchObject({ ok: true });
    if (!deterministic) expect([outcome.rules, outcome.reading, outcome.frozen.deterministic]).toEqual([[], undefined, undefined]);
    if (outcome.status === 'repaired') expect(jsonEqual(JSON.parse(outcome.argumentsText) as JsonValue, outcome.arguments)).toBe(true);
  }), { numRuns: 120 });
});
