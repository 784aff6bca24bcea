/** Laws of the loop over random proposers, contracts and calls. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  applyPatch, deepFreeze, jsonEqual, loadContract, OPERATION_KINDS, parsePointer, repairCall, resolvePointer, validateArguments, type Contract,
  type JsonObject, type JsonValue, type Observation, type Proposal, type Proposer, type RepairRequest,
} from '../../src/index.ts';
import { appendRepair, GENESIS, replayTrace, verifyRows } from '../../src/ledger/index.ts';
import { COST, requestOf, textProposal } from '../support.ts';

const POINTERS = ['/to', '/amount_cents', '/memo', '/tags', '/tags/0', '/tags/-', '/extra', '', '/__proto__', '/a~2', '/tags/01'];
const pointer = fc.constantFrom(...POINTERS);
const value = fc.oneof(
  fc.constantFrom<JsonValue>('ACC-2041', 'x', 1, 15000, -1, 1.5, null, true, [], ['a'], {}, JSON.parse('{"__proto__":{"to":"ACC-2041"}}') as JsonValue),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>,
);
const operation = fc.record({ op: fc.constantFrom<string>(...OPERATION_KINDS, 'test', 'toString'), path: pointer, from: pointer, value });
const answer: fc.Arbitrary<Proposal> = fc.oneof(
  { weight: 6, arbitrary: fc.array(operation, { minLength: 0, maxLength: 3 }).map((patch) => textProposal(JSON.stringify(patch))) },
  { weight: 6, arbitrary: fc.constant(textProposal('[{"op":"replace","path":"/amount_cents","value":15000}]')) },
  { weight: 1, arbitrary: fc.string().map((text) => textProposal(text)) },
  { weight: 1, arbitrary: fc.constantFrom('ambiguous', 'made up').map((abstain) => textProposal(JSON.stringify({ abstain }))) },
  { weight: 1, arbitrary: fc.string().map((text): Proposal => ({ kind: 'incomplete', text, code: 'engine/token-limit', cost: COST })) },
);

/** Mostly the plain value: settings in which a repair can succeed must not be rare. */
function sometimes<T>(rare: fc.Arbitrary<T>, plain: T): fc.Arbitrary<T> {
  return fc.oneof({ weight: 1, arbitrary: rare }, { weight: 2, arbitrary: fc.constant(plain) });
}

const contract = fc.record({
  allowedOperations: sometimes(fc.subarray([...OPERATION_KINDS], { minLength: 1 }), [...OPERATION_KINDS]),
  operationBudget: sometimes(fc.integer({ min: 0, max: 3 }), 2),
  attemptBudget: sometimes(fc.integer({ min: 0, max: 3 }), 2),
  immutablePaths: sometimes(fc.subarray(['/to', '/amount_cents', '/memo', '/tags', '/tags/0']), []),
  crossField: sometimes(fc.constant<object[]>([{ kind: 'excludes', pointer: '/memo', excluded: ['/tags'] }]), []),
  gates: sometimes(fc.constant<object[]>([{ kind: 'reference_exists', pointer: '/to', in: 'accounts' }]), []),
});
const member = (good: JsonValue, ...bad: JsonValue[]): fc.Arbitrary<JsonValue> => sometimes(fc.constantFrom(...bad), good);
const args: fc.Arbitrary<object> = fc.tuple(
  fc.record({ to: member('ACC-2041', 'acc', 7), amount_cents: member('15000', 15000, null) }, { requiredKeys: ['to'] }),
  sometimes(fc.record({ memo: fc.string(), tags: fc.array(fc.string()), extra: fc.boolean() }, { requiredKeys: [] }), {}),
).map(([given, more]) => ({ ...given, ...more }));
const setting = fc.record({
  contract, args, answers: fc.array(answer, { minLength: 1, maxLength: 5 }),
  accounts: sometimes(fc.constant<string[]>([]), ['ACC-2041']),
});
interface Setting { readonly contract: object; readonly args: object; readonly accounts: readonly string[] }

function answering(answers: readonly Proposal[], seen: Observation[] = []): Proposer {
  return {
    identity: {},
    propose: (observation) => {
      seen.push(observation);
      const value = answers[seen.length - 1];
      return Promise.resolve(value === undefined ? { ok: false, error: { code: 'engine/none', message: 'No answer.' } } : { ok: true, value });
    },
  };
}

function requestFor({ contract: document, args: given, accounts }: Setting): RepairRequest {
  return requestOf({ contract: document, call: { name: 'transfer', arguments: JSON.stringify(given) }, context: { accounts } });
}

function contractOf(request: RepairRequest): Contract {
  const loaded = loadContract(request.contract);
  if (!loaded.ok) throw new Error(loaded.error.code);
  return loaded.value;
}

// checklist: A4, H3
test('a third attempt is impossible under the default contract, whatever the proposer does', async () => {
  await fc.assert(fc.asyncProperty(fc.array(answer, { minLength: 3, maxLength: 6 }), async (answers) => {
    const seen: Observation[] = [];
    const outcome = await repairCall(requestOf(), answering(answers, seen));
    expect(seen.length).toBeLessThanOrEqual(2);
    expect(outcome.attempts).toBeLessThanOrEqual(2);
    expect(outcome.operations).toBeLessThanOrEqual(2);
    expect([0, 1]).toContain(outcome.frozen.closed.retries);
  }), { numRuns: 150 });
});

// checklist: A2, C4, H1
test('an unsafe dispatch is impossible: arguments that come out are valid by the contract, and nothing locked has changed', async () => {
  let repaired = 0;
  await fc.assert(fc.asyncProperty(setting, async (drawn) => {
    const request = requestFor(drawn);
    const loaded = contractOf(request);
    const outcome = await repairCall(request, answering(drawn.answers));
    if (outcome.status !== 'valid' && outcome.status !== 'repaired') {
      expect(outcome).not.toHaveProperty('arguments');
      expect(outcome).not.toHaveProperty('accepted');
      expect(outcome.frozen.closed.argumentsDigest).toBeNull();
      return;
    }
    expect(JSON.parse(outcome.argumentsText)).toEqual(outcome.arguments);
    expect(validateArguments(loaded, outcome.argumentsText).report).toEqual({ kind: 'valid' });
    if (loaded.document.gates.length > 0) expect(drawn.accounts).toContain(outcome.arguments['to']);
    for (const path of loaded.document.immutablePaths) {
      const place = parsePointer(path);
      if (!place.ok) throw new Error(path);
      const [before, after] = [resolvePointer(drawn.args as JsonObject, place.value), resolvePointer(outcome.arguments, place.value)];
      expect(before === undefined ? after === undefined : after !== undefined && jsonEqual(before, after)).toBe(true);
    }
    if (outcome.status !== 'repaired') return;
    repaired += 1;
    expect(outcome.patch.every(({ op }) => loaded.document.allowedOperations.includes(op))).toBe(true);
    const applied = applyPatch(loaded, drawn.args as JsonObject, outcome.patch, loaded.document.operationBudget);
    expect(applied).toMatchObject({ ok: true });
    expect(applied.ok && jsonEqual(applied.value, outcome.arguments)).toBe(true);
  }), { numRuns: 400 });
  // the law would be empty if the random proposers never repaired anything
  expect(repaired).toBeGreaterThan(10);
});

// checklist: B10, E3
test('budgets, costs and states add up, and history only grows', async () => {
  await fc.assert(fc.asyncProperty(setting, async (drawn) => {
    const request = requestFor(drawn);
    const seen: Observation[] = [];
    const outcome = await repairCall(request, answering(drawn.answers, seen));
    const { attemptBudget, operationBudget } = request.contract;
    expect(seen.length).toBeLessThanOrEqual(attemptBudget);
    expect(outcome.operations).toBeLessThanOrEqual(operationBudget);
    expect(outcome.history).toHaveLength(outcome.attempts);
    expect(outcome.frozen.closed).toMatchObject({ attemptsLeft: attemptBudget - outcome.attempts, operationsLeft: operationBudget - outcome.operations });
    for (const [index, { state, violations }] of seen.entries()) {
      expect(state.attemptsLeft).toBe(attemptBudget - index);
      expect(state.history).toHaveLength(index);
      expect(violations[0]).toMatchObject({ code: state.code, pointer: state.pointer });
      if (index > 0) expect(state.history.slice(0, index - 1)).toEqual(seen[index - 1]?.state.history);
    }
  }), { numRuns: 150 });
});

// checklist: H4
test('the request, the call and every state are never changed', async () => {
  await fc.assert(fc.asyncProperty(setting, async (drawn) => {
    const request = deepFreeze(structuredClone(requestFor(drawn)));
    const before = JSON.stringify(request);
    const seen: Observation[] = [];
    const states: string[] = [];
    const inner = answering(drawn.answers, seen);
    const noting: Proposer = {
      identity: {},
      propose: (observation, signal) => {
        states.push(JSON.stringify(observation.state));
        return inner.propose(observation, signal);
      },
    };
    await repairCall(request, noting);
    expect(JSON.stringify(request)).toBe(before);
    expect(seen.map(({ state }) => JSON.stringify(state))).toEqual(states);
    for (const { state, given, request: asked, context } of seen) expect([state, given, asked, context].map(isDeepFrozen)).toEqual([true, true, true, true]);
  }), { numRuns: 100 });
});

// checklist: G4
test('the ledger alone replays to the same trace, and its chain is sound', async () => {
  await fc.assert(fc.asyncProperty(setting, async (drawn) => {
    const request = requestFor(drawn);
    const { frozen } = await repairCall(request, answering(drawn.answers));
    expect(verifyRows(appendRepair(GENESIS, frozen).rows)).toMatchObject({ ok: true, value: { count: frozen.entries.length } });
    expect(await replayTrace(frozen, contractOf(request))).toMatchObject({ ok: true });
  }), { numRuns: 100 });
});

// checklist: F4, H2
test('an observation serialises to public fields alone', async () => {
  const hidden = ['HIDDEN-ID', 'HIDDEN-TOOL', 'HIDDEN-MANIFEST', 'HIDDEN-IDENTITY', 'HIDDEN-FINISH'];
  await fc.assert(fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 2 }), async (answers) => {
    const seen: Observation[] = [];
    const request = requestOf({ id: hidden[0], tools: ['transfer', hidden[1]], finishReason: hidden[4] });
    await repairCall(request, { ...answering(answers, seen), identity: { name: hidden[3] ?? '' } }, { manifest: { name: hidden[2] ?? '' } });
    for (const observation of seen) {
      const text = JSON.stringify(observation);
      expect(hidden.filter((mark) => text.includes(mark))).toEqual([]);
      expect(Object.keys(JSON.parse(text) as object).sort()).toEqual(['context', 'contract', 'given', 'request', 'state', 'violations']);
      expect(Object.keys(observation.state).sort()).toEqual(['attemptsLeft', 'candidate', 'code', 'history', 'operationsLeft', 'pointer']);
      for (const entry of observation.state.history) expect(['code', 'patch', 'pointer', 'verdict']).toEqual(Object.keys(entry).sort());
      for (const violation of observation.violations) expect(Object.keys(violation).sort()).toEqual(['code', 'keyword', 'keywordLocation', 'params', 'pointer']);
    }
  }), { numRuns: 50 });
});

function isDeepFrozen(value: unknown): boolean {
  return typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isDeepFrozen));
}
