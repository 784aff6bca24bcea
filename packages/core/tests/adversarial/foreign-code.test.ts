/** Family: a proposer, check, gate, state, claim, record or tool that throws, hangs, answers nonsense or changes what it is shown; aborts at every look. */
// checklist: H5
import fc from 'fast-check';
import { expect } from 'vitest';
import {
  judgeArguments, judgeWithHost, loadContract, repairCall, type AbortSignalLike, type GateHost, type JsonObject, type Proposer,
} from '../../src/index.ts';
import { createExecutor } from '../../src/execute/index.ts';
import { BOUND, COST, requestOf, textProposal } from '../support.ts';
import { attack, family, holds, saying } from './support.ts';

const FIX = '[{"op":"replace","path":"/n","value":3}]';
const parameters: JsonObject = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
const call = { name: 'put', arguments: { n: 'three' } };

const broken = (): never => { throw new Error('gone'); };
const trap = (): object => new Proxy({}, { get: broken, ownKeys: broken, has: broken, getPrototypeOf: broken, getOwnPropertyDescriptor: broken });

/** What foreign code may do instead of its work. `shown` is what it was given. */
const MISDEEDS: Readonly<Record<string, (shown: unknown) => unknown>> = {
  throws: broken,
  'throws what has no text': () => { throw Object.create(null) as Error; },
  'throws half a character': () => { throw new Error('\ud800'); },
  rejects: () => Promise.reject(new Error('gone')),
  hangs: () => new Promise(() => undefined),
  'is a thenable that hangs': () => ({ then: () => undefined }),
  'is a thenable that throws': () => ({ then: broken }),
  'answers with a trap': trap,
  'answers with a trap later': () => Promise.resolve([trap()]),
  'answers nothing': () => undefined,
  'answers true later': () => Promise.resolve(true),
  'answers a text': () => 'allow',
  'answers NaN': () => Number.NaN,
  'answers a symbol': () => Symbol('yes'),
  'answers a cycle': () => { const cycle: unknown[] = []; cycle.push(cycle); return cycle; },
  'answers ok and nothing': () => ({ ok: true }),
  'fails without an error': () => ({ ok: false }),
  'fails with nonsense': () => ({ ok: false, error: { code: 7, message: {} } }),
  'fails with half a character': () => ({ ok: false, error: { code: '\ud800', message: '\ud800' } }),
  'proposes half a code': () => ({ ok: true, value: { kind: 'incomplete', text: '', code: '\udc00', cost: COST } }),
  'proposes another kind': () => ({ ok: true, value: { ...textProposal(FIX), kind: 'accepted' } }),
  'proposes a mask that is a number': () => ({ ok: true, value: { ...textProposal(FIX), maskDigest: 7 } }),
  'proposes by accessors that change': () => { let reads = 0; return { ok: true, value: { ...textProposal(FIX), get text() { reads += 1; return reads > 1 ? 7 : FIX; } } }; },
  'changes what it is shown': (shown) => { change(shown); return { kind: 'allow' }; },
};

/** Tries to write into everything it can reach. */
function change(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > 6) return;
  for (const name of Object.keys(value)) {
    change((value as Record<string, unknown>)[name], depth + 1);
    Reflect.set(value, name, 'CHANGED');
  }
}
const misdeed = fc.constantFrom(...Object.keys(MISDEEDS));
const act = (name: string, shown: unknown): unknown => MISDEEDS[name]?.(shown);

family('a proposer that misbehaves costs a repair, never a dispatch', fc.tuple(misdeed, fc.boolean()), { runs: 150, sees: ['failed', 'repaired'] }, ([name, isSecond]) => {
  let asked = 0;
  const proposer: Proposer = {
    identity: {},
    propose: (observation) => {
      asked += 1;
      return (isSecond && asked === 1 ? Promise.resolve({ ok: true, value: textProposal('[]') }) : act(name, observation)) as ReturnType<Proposer['propose']>;
    },
  };
  return attack(requestOf({ tool: { name: 'put', parameters }, call }), proposer, { proposalBound: BOUND });
});

family('a gate that misbehaves refuses, in the loop and in front of the tool', fc.tuple(misdeed, fc.constantFrom('alone', 'all', 'any'), fc.boolean(), fc.boolean()), { runs: 250, sees: ['rejected', 'repaired', 'valid'] }, async ([name, around, isShown, isValid]) => {
  const host: GateHost = { bound: BOUND, functions: [{ name: 'f', version: '1', decide: (input) => act(name, input) }] };
  const rule = { kind: 'function', name: 'f', version: '1' };
  const open = { kind: 'absent', pointer: '/never' };
  const gate = { ...(around === 'alone' ? rule : { kind: around, gates: [open, rule] }), ...(isShown ? { mayShow: true } : {}) };
  const request = requestOf({ tool: { name: 'put', parameters }, call: { name: 'put', arguments: { n: isValid ? 3 : 'three' } }, contract: { gates: [gate] } });
  const outcome = await repairCall(request, saying(FIX, '[{"op":"replace","path":"/n","value":4}]'), { gates: host });
  await holds(request, outcome, { gates: host });
  const isOpen = around === 'any' || name === 'changes what it is shown';
  if (!isOpen) expect(outcome.status).not.toMatch(/^(valid|repaired)$/);
  return outcome.status;
});

family('a check of the host that misbehaves makes a call invalid', misdeed, { runs: 60, sees: ['failed'] }, async (name) => {
  const functions = [{ name: 'f', version: '1', check: (args: JsonObject) => act(name, args) }];
  const contract = { crossField: [{ kind: 'function', name: 'f', version: '1' }] };
  const request = requestOf({ tool: { name: 'put', parameters }, call: { name: 'put', arguments: { n: 3 } }, contract });
  const before = structuredClone(request);
  const outcome = await repairCall(request, saying(FIX), { functions });
  expect(request).toEqual(before);
  expect(outcome).not.toHaveProperty('accepted');
  return outcome.status;
});

const port = fc.constantFrom('state', 'claim', 'record', 'tool', 'gate', 'clock');

family('a port of the executor that misbehaves sends at most once, and nothing that a gate did not allow', fc.tuple(port, misdeed), { runs: 300, sees: ['refused', 'failed', 'executed'] }, async ([which, name]) => {
  const contract = loadContract({ tool: { name: 'put', parameters }, gates: [{ kind: 'function', name: 'f', version: '1' }] });
  if (!contract.ok) throw new Error(contract.error.code);
  const fine = { name: 'f', version: '1', decide: () => ({ kind: 'allow' }) };
  const judged = await judgeWithHost(contract.value, '{"n":3}', {}, { functions: [fine], bound: BOUND });
  if (judged.kind !== 'accepted') throw new Error(judged.kind);
  const sent: string[] = [];
  const doing = <T>(part: string, otherwise: T): ((shown?: unknown) => unknown) => (shown) => (which === part ? act(name, shown) : otherwise);
  const executor = createExecutor({
    state: doing('state', {}), claim: doing('claim', true), record: doing('record', undefined),
    gateFunctions: [{ ...fine, decide: doing('gate', { kind: 'allow' }) }],
    bound: which === 'clock' ? { limitMs: 1, start: () => act(name, undefined) as ReturnType<typeof BOUND.start> } : BOUND,
    tools: [{ name: 'put', call: (dispatch) => { sent.push(dispatch.argumentsText); return doing('tool', 1)(dispatch); } }],
  });
  const done = await executor.execute('case', judged.call);
  expect(sent).toEqual(done.kind === 'refused' ? [] : ['{"n":3}']);
  const again = await executor.execute('case', judged.call);
  expect(sent.length).toBeLessThanOrEqual(1);
  if (done.kind !== 'refused') expect(again).toMatchObject({ kind: 'refused', code: 'execute/already-executed' });
  expect(judged.call.arguments).toEqual({ n: 3 });
  return done.kind;
});

/** Aborted from its nth look on. */
function abortAt(look: number): AbortSignalLike {
  let looks = 0;
  return { get aborted() { looks += 1; return looks > look; } };
}

family('an abort at any look ends a repair whole', fc.tuple(fc.nat(9), fc.array(fc.constantFrom('[]', FIX, '{"abstain":"unsafe"}'), { maxLength: 3 }), fc.boolean()), { runs: 200, sees: ['failed', 'repaired'] }, ([look, answers, isGated]) => {
  const host: GateHost = { bound: BOUND, functions: [{ name: 'f', version: '1', decide: () => Promise.resolve({ kind: 'allow' }) }] };
  const contract = { gates: isGated ? [{ kind: 'function', name: 'f', version: '1' }] : [], attemptBudget: 3 };
  return attack(requestOf({ tool: { name: 'put', parameters }, call, contract }), saying(...answers), { signal: abortAt(look), gates: host });
});

family('an abort at any look sends nothing, or the call whole', fc.nat(7), { runs: 60, sees: ['refused', 'executed'] }, async (look) => {
  const contract = loadContract({ tool: { name: 'put', parameters } });
  const judged = contract.ok ? judgeArguments(contract.value, '{"n":3}', {}) : undefined;
  if (judged?.kind !== 'accepted') throw new Error('not accepted');
  const sent: string[] = [];
  const executor = createExecutor({ state: () => ({}), bound: BOUND, tools: [{ name: 'put', call: (dispatch) => sent.push(dispatch.argumentsText) }] });
  const done = await executor.execute('case', judged.call, { signal: abortAt(look) });
  expect(sent).toEqual(done.kind === 'refused' ? [] : ['{"n":3}']);
  return done.kind;
});
