import { describe, expect, test } from 'vitest';
import { BOUND, TRANSFER } from '../../tests/support.ts';
import { loadContract } from '../contract/contract.ts';
import type { JsonObject } from '../json/value.ts';
import { judgeArguments, judgeWithHost, type AcceptedCall } from '../repair/accepted-call.ts';
import { createExecutor, idempotencyKeyOf, type Dispatch, type ExecutionRecord, type ExecutorOptions, type Tool } from './executor.ts';

const STATE = { accounts: ['ACC-2041'] };
const TEXT = '{ "to":"ACC-2041", "amount_cents":15000 }';

function accept(text = TEXT, gates: readonly object[] = [{ kind: 'reference_exists', pointer: '/to', in: 'accounts' }]): AcceptedCall {
  const contract = loadContract({ tool: TRANSFER, gates });
  const judged = contract.ok ? judgeArguments(contract.value, text, STATE) : undefined;
  if (judged?.kind !== 'accepted') throw new Error(judged?.kind);
  return judged.call;
}

/** A tool that notes what reached it. */
function noting(answer: Tool['call'] = () => ({ done: true })): Tool & { readonly sent: Dispatch[] } {
  const sent: Dispatch[] = [];
  return { name: 'transfer', sent, call: (dispatch, signal) => { sent.push(dispatch); return answer(dispatch, signal); } };
}

function executorOf(tool: Tool, more: Partial<ExecutorOptions> = {}): ReturnType<typeof createExecutor> {
  return createExecutor({ tools: [tool], state: () => STATE, bound: BOUND, ...more });
}

const never = (): Promise<never> => new Promise(() => undefined);
const broken = (): never => { throw new Error('gone'); };

test('the tool gets the exact text that was judged, the frozen object read from it, and a key', async () => {
  const [tool, call] = [noting(), accept()];
  const done = await executorOf(tool).execute('case-1', call);
  const idempotencyKey = idempotencyKeyOf('case-1', call);
  expect(done).toEqual({ kind: 'executed', result: { done: true }, idempotencyKey, isRecorded: true });
  expect(tool.sent).toEqual([{ name: 'transfer', argumentsText: TEXT, arguments: { to: 'ACC-2041', amount_cents: 15000 }, idempotencyKey }]);
  expect(Object.isFrozen(tool.sent[0]?.arguments)).toBe(true);
});

test('the key is the same for the same case and text, and another for each other', () => {
  const keys = [['a', TEXT], ['b', TEXT], ['a', '{"to":"ACC-2041","amount_cents":15000}']].map(([id, text]) => idempotencyKeyOf(id ?? '', { name: 'transfer', argumentsText: text ?? '' }));
  expect(new Set(keys).size).toBe(3);
  expect(idempotencyKeyOf('a', accept())).toBe(keys[0]);
});

// checklist: A2, F6, I4
describe('what the validator did not make is refused', () => {
  test.each<[string, (call: AcceptedCall) => unknown]>([
    ['a look-alike', () => ({ name: 'transfer', argumentsText: TEXT, arguments: { to: 'ACC-2041', amount_cents: 1 } })],
    ['a copy', (call) => ({ ...call })],
    ['a structured clone', (call) => structuredClone(call)],
    ['a heir', (call) => Object.create(call)],
    ['a proxy', (call) => new Proxy(call, {})],
    ['nothing', () => undefined],
    ['a text', () => TEXT],
  ])('%s', async (_, make) => {
    const tool = noting();
    expect(await executorOf(tool).execute('case-1', make(accept()) as AcceptedCall)).toEqual({ kind: 'refused', code: 'execute/not-accepted', params: {} });
    expect(tool.sent).toEqual([]);
  });

  test('nor does a contract accept that was not loaded, such as a copy with a judge of its own', () => {
    const contract = loadContract({ tool: TRANSFER });
    if (!contract.ok) throw new Error(contract.error.code);
    const lenient = { ...contract.value, judge: { judge: () => [] } };
    expect(() => judgeArguments(lenient, '{}', STATE)).toThrow(TypeError);
  });

  test('and what it made cannot be changed', () => {
    const call = accept();
    expect(() => Object.assign(call, { argumentsText: '{}' })).toThrow(TypeError);
    expect(() => Object.assign(call.arguments, { amount_cents: 1 })).toThrow(TypeError);
  });
});

describe('once', () => {
  test('a second execution of the same acceptance is refused, by another executor and under another case too', async () => {
    const [tool, call] = [noting(), accept()];
    const executor = executorOf(tool);
    const both = await Promise.all([executor.execute('case-1', call), executor.execute('case-1', call)]);
    expect(both).toMatchObject([{ kind: 'executed' }, { kind: 'refused', code: 'execute/already-executed' }]);
    expect(await executorOf(tool).execute('case-2', call)).toMatchObject({ kind: 'refused', code: 'execute/already-executed' });
    expect(tool.sent).toHaveLength(1);
  });

  test('the same text, accepted again for the same case, is the same execution', async () => {
    const tool = noting();
    const executor = executorOf(tool);
    await executor.execute('case-1', accept());
    expect(await executor.execute('case-1', accept())).toMatchObject({ kind: 'refused', code: 'execute/already-executed' });
    expect(await executor.execute('case-2', accept())).toMatchObject({ kind: 'executed' });
  });

  test('two executors that claim at one place send once', async () => {
    const tool = noting();
    const keys = new Set<string>();
    const claim: ExecutorOptions['claim'] = (key) => Promise.resolve(!keys.has(key) && keys.add(key).size > 0);
    const [one, two] = [executorOf(tool, { claim }), executorOf(tool, { claim })];
    expect(await Promise.all([one.execute('case-1', accept()), two.execute('case-1', accept())])).toMatchObject([{ kind: 'executed' }, { code: 'execute/already-executed' }]);
    expect(tool.sent).toHaveLength(1);
  });

  test.each<[string, () => unknown]>([['throws', broken], ['hangs', never], ['says nothing', () => undefined]])('a claim that %s sends nothing, and may be asked again', async (_, first) => {
    const [tool, call] = [noting(), accept()];
    const answers = [first, () => true];
    const executor = executorOf(tool, { claim: () => answers.shift()?.() });
    expect(await executor.execute('case-1', call)).toMatchObject({ kind: 'refused', code: 'execute/claim-failed' });
    expect(tool.sent).toEqual([]);
    expect(await executor.execute('case-1', call)).toMatchObject({ kind: 'executed' });
  });

  test('a failed execution is not tried again: what the tool did is not known', async () => {
    const [tool, call] = [noting(broken), accept()];
    const executor = executorOf(tool);
    expect(await executor.execute('case-1', call)).toMatchObject({ kind: 'failed', code: 'execute/tool-threw', params: { cause: 'Error: gone' } });
    expect(await executor.execute('case-1', call)).toMatchObject({ kind: 'refused', code: 'execute/already-executed' });
    expect(tool.sent).toHaveLength(1);
  });
});

// checklist: O1, O3
describe('gates look again at the state as it is now', () => {
  test('a state that changed since the acceptance refuses, with the reason of the gate, and leaves the call unspent', async () => {
    const [tool, call] = [noting(), accept()];
    let accounts: readonly string[] = [];
    const executor = executorOf(tool, { state: () => ({ accounts }) });
    expect(await executor.execute('case-1', call)).toMatchObject({ kind: 'refused', code: 'execute/gate', reason: 'gate/reference-unknown', params: { value: 'ACC-2041' } });
    expect(tool.sent).toEqual([]);
    accounts = ['ACC-2041'];
    expect(await executor.execute('case-1', call)).toMatchObject({ kind: 'executed' });
  });

  test('each call sees the state that the one before it left', async () => {
    let balance = 20_000;
    const gates = [{ kind: 'lte', a: { argument: '/amount_cents' }, b: { state: '/balance' } }];
    const judged = (text: string): AcceptedCall => {
      const contract = loadContract({ tool: TRANSFER, gates });
      const result = contract.ok ? judgeArguments(contract.value, text, { balance }) : undefined;
      if (result?.kind !== 'accepted') throw new Error('not accepted');
      return result.call;
    };
    const tool = noting(async ({ arguments: { amount_cents: amount } }) => {
      await Promise.resolve();
      balance -= amount as number;
      return { balance };
    });
    const executor = executorOf(tool, { state: () => ({ balance }) });
    const [first, second] = [judged('{"to":"ACC-2041","amount_cents":15000}'), judged('{"to":"ACC-2042","amount_cents":15000}')];
    expect(await Promise.all([executor.execute('a', first), executor.execute('b', second)])).toMatchObject([{ kind: 'executed', result: { balance: 5000 } }, { kind: 'refused', reason: 'gate/comparison' }]);
    expect(balance).toBe(5000);
  });

  test('a gate function that the executor does not have refuses', async () => {
    const contract = loadContract({ tool: TRANSFER, gates: [{ kind: 'any', gates: [{ kind: 'absent', pointer: '/memo' }, { kind: 'function', name: 'f', version: '1' }] }] });
    const judged = contract.ok ? judgeArguments(contract.value, TEXT, STATE) : undefined;
    if (judged?.kind !== 'accepted') throw new Error('not accepted');
    expect(await executorOf(noting()).execute('a', judged.call)).toMatchObject({ kind: 'executed' });
    const only = loadContract({ tool: TRANSFER, gates: [{ kind: 'function', name: 'f', version: '1' }] });
    if (!only.ok) throw new Error(only.error.code);
    const functions = [{ name: 'f', version: '1', decide: () => ({ kind: 'allow' }) }];
    const accepted = await judgeWithHost(only.value, TEXT, STATE, { functions, bound: BOUND });
    if (accepted.kind !== 'accepted') throw new Error('not accepted');
    const tool = noting();
    expect(await executorOf(tool).execute('b', accepted.call)).toMatchObject({ kind: 'refused', reason: 'gate/function-missing' });
    expect(await executorOf(tool, { gateFunctions: functions }).execute('b', accepted.call)).toMatchObject({ kind: 'executed' });
  });

  test.each<[string, ExecutorOptions['state']]>([
    ['cannot be read', broken], ['never comes', never], ['is no object', () => []], ['is no JSON', () => ({ accounts: undefined })],
    ['throws when it is read', () => new Proxy({}, { ownKeys: broken })],
  ])('a state that %s refuses', async (_, state) => {
    const tool = noting();
    expect(await executorOf(tool, { state }).execute('case-1', accept())).toMatchObject({ kind: 'refused', code: 'execute/state-unreadable' });
    expect(tool.sent).toEqual([]);
  });
});

describe('what a tool does wrong is a failure with a code', () => {
  test.each<[string, Tool['call'], string]>([
    ['throws', broken, 'execute/tool-threw'], ['rejects', () => Promise.reject(new Error('x')), 'execute/tool-threw'], ['never answers', never, 'execute/tool-timeout'],
    ['answers what is no JSON', () => new Map(), 'execute/bad-result'], ['answers an accessor', () => ({ get a() { return 1; } }), 'execute/bad-result'],
  ])('one that %s', async (_, answer, code) => {
    expect(await executorOf(noting(answer)).execute('case-1', accept())).toMatchObject({ kind: 'failed', code });
  });

  test('nothing as an answer is null', async () => {
    expect(await executorOf(noting(() => undefined)).execute('case-1', accept())).toMatchObject({ kind: 'executed', result: null });
  });

  test('a tool that is not there is refused by its name', async () => {
    expect(await executorOf({ ...noting(), name: 'toString' }).execute('case-1', accept())).toMatchObject({ kind: 'refused', code: 'execute/tool-unavailable', params: { name: 'transfer' } });
  });
});

test('a dry run asks the gates and neither sends, claims, records nor spends', async () => {
  const [tool, call] = [noting(), accept()];
  const asked: unknown[] = [];
  const executor = executorOf(tool, { claim: (key) => asked.push(key) > 0, record: (entry) => asked.push(entry) });
  expect(await executor.execute('case-1', call, { dryRun: true })).toEqual({ kind: 'dry-run', idempotencyKey: idempotencyKeyOf('case-1', call) });
  expect([tool.sent, asked]).toEqual([[], []]);
  expect(await executorOf(tool, { state: () => ({ accounts: [] }) }).execute('case-1', call, { dryRun: true })).toMatchObject({ kind: 'refused', code: 'execute/gate' });
  expect(await executor.execute('case-1', call)).toMatchObject({ kind: 'executed' });
});

describe('records', () => {
  test('one before and one after, digests alone', async () => {
    const records: ExecutionRecord[] = [];
    const order: string[] = [];
    const tool = noting(() => { order.push('tool'); return 1; });
    await executorOf(tool, { record: (entry) => { order.push(entry.kind); records.push(entry); } }).execute('case-1', accept());
    expect(order).toEqual(['dispatched', 'tool', 'executed']);
    expect(records).toMatchObject([{ caseId: 'case-1', tool: 'transfer' }, { failure: null }]);
    expect(JSON.stringify(records)).not.toContain('ACC-2041');
  });

  test.each<[string, () => unknown]>([['throws', broken], ['hangs', never]])('where the first record %s, nothing is sent', async (_, record) => {
    const tool = noting();
    expect(await executorOf(tool, { record }).execute('case-1', accept())).toMatchObject({ kind: 'refused', code: 'execute/record-failed' });
    expect(tool.sent).toEqual([]);
  });

  test('a second record that fails is told beside the result', async () => {
    const answers = [() => undefined, broken];
    expect(await executorOf(noting(), { record: () => answers.shift()?.() }).execute('case-1', accept())).toMatchObject({ kind: 'executed', isRecorded: false });
  });
});

test('an abort before the tool is called stops it, at every step', async () => {
  const steps: (keyof ExecutorOptions)[] = ['state', 'claim', 'record'];
  for (const step of [undefined, ...steps]) {
    const tool = noting();
    const signal = { aborted: step === undefined };
    const aborting = (value: unknown) => () => { signal.aborted = true; return value; };
    const at: Partial<ExecutorOptions> = step === undefined ? {} : { [step]: aborting(step === 'state' ? STATE : true) };
    expect(await executorOf(tool, at).execute('case-1', accept(), { signal })).toMatchObject({ kind: 'refused', code: 'execute/aborted' } satisfies JsonObject);
    expect(tool.sent).toEqual([]);
  }
});

test('an abort before the state is read reads none, and one while it is read stops a dry run too', async () => {
  let reads = 0;
  const signal = { aborted: true };
  const executor = executorOf(noting(), { state: () => { reads += 1; signal.aborted = true; return STATE; } });
  expect(await executor.execute('case-1', accept(), { signal })).toMatchObject({ code: 'execute/aborted' });
  expect(reads).toBe(0);
  signal.aborted = false;
  expect(await executor.execute('case-1', accept(), { signal, dryRun: true })).toMatchObject({ code: 'execute/aborted' });
  expect(reads).toBe(1);
});

test('why the state could not be read is told where something was thrown', async () => {
  expect(await executorOf(noting(), { state: broken }).execute('case-1', accept())).toEqual({ kind: 'refused', code: 'execute/state-unreadable', params: { cause: 'Error: gone' } });
  expect(await executorOf(noting(), { state: never }).execute('case-1', accept())).toEqual({ kind: 'refused', code: 'execute/state-unreadable', params: {} });
});
