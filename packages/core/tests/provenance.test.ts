/** Every value that a repair wrote says where it comes from, and where the contract asks for an origin, none is made up. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  freeze, loadContract, OPERATION_KINDS, repairCall, resolvePointer, type JsonObject, type JsonValue, type Observation, type Origin, type Proposer, type RepairOutcome, type RepairRequest,
} from '../src/index.ts';
import { appendRepair, checkRepair, formatRow, GENESIS, readLedgerText, repairsIn, replayTrace } from '../src/ledger/index.ts';
import { GOOD, patchText, requestOf, scripted, STILL_WRONG, textProposal } from './support.ts';

const BOOKING = {
  name: 'book',
  parameters: {
    $defs: { unit: { enum: ['celsius', 'kelvin'] } },
    type: 'object',
    properties: {
      city: { type: 'string' }, guest: { type: 'string' }, nights: { type: 'integer', minimum: 1 }, share: { type: 'number' }, smoking: { type: 'boolean' }, unit: { $ref: '#/$defs/unit' },
      mode: { type: 'string', default: 'fast' }, stops: { type: 'array', items: { type: 'string' } }, note: { anyOf: [{ const: { a: 'x', b: [1] } }, { type: 'string' }] },
      tags: { type: 'array', items: { type: 'object' } }, address: { type: 'object', properties: { street: { type: 'string' } } }, needed: { type: 'integer' },
      grade: { if: { type: 'integer' }, else: { const: 'A1' } }, marks: { type: 'array', contains: { const: 4 } },
    },
    required: ['needed'],
  },
};
const REQUEST = 'Book 3 nights in san francisco for Ana, 15% down. Answer 7.';

/** Always ends with `needed`, which alone makes the call valid. */
async function repaired(args: JsonObject, patch: readonly JsonObject[], overrides: Readonly<Record<string, unknown>> = {}): Promise<Extract<RepairOutcome, { readonly status: 'repaired' }>> {
  const outcome = await repairCall(
    requestOf({ request: REQUEST, tool: BOOKING, call: { name: 'book', arguments: args }, contract: { operationBudget: 8 }, ...overrides }),
    scripted(patchText(...patch, { op: 'add', path: '/needed', value: 7 })), { deterministic: false },
  );
  if (outcome.status !== 'repaired') throw new Error(JSON.stringify(outcome));
  expect(await checkRepair(outcome.frozen)).toMatchObject({ ok: true, value: { notChecked: [] } });
  return outcome;
}

async function originsOf(args: JsonObject, patch: readonly JsonObject[], overrides?: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, Origin>>> {
  const { written } = await repaired(args, patch, overrides);
  return Object.fromEntries(written.filter(({ pointer }) => pointer !== '/needed').map(({ pointer, origin }) => [pointer, origin]));
}

describe('a written value comes from', () => {
  test.each<[string, JsonObject, JsonObject[], Readonly<Record<string, unknown>>]>([
    ['a span of the request', {}, [{ op: 'add', path: '/city', value: 'san francisco' }], { '/city': { kind: 'request', text: 0, start: 17, end: 30, derivation: 'verbatim' } }],
    ['one in another case', {}, [{ op: 'add', path: '/city', value: 'San Francisco' }], { '/city': { kind: 'request', text: 0, start: 17, end: 30, derivation: 'title-case' } }],
    ['a numeral of it', {}, [{ op: 'add', path: '/nights', value: 3 }], { '/nights': { kind: 'request', text: 0, start: 5, end: 6, derivation: 'string-to-number' } }],
    ['a percentage of it', {}, [{ op: 'add', path: '/share', value: 0.15 }], { '/share': { kind: 'request', text: 0, start: 40, end: 43, derivation: 'percent-to-fraction' } }],
    ['a leaf of the call', { guest: 'Bo' }, [{ op: 'add', path: '/stops', value: ['Bo'] }], { '/stops/0': { kind: 'candidate', pointer: '/guest', start: 0, end: 2, derivation: 'verbatim' } }],
    ['the enumeration of the schema', {}, [{ op: 'add', path: '/unit', value: 'kelvin' }], { '/unit': { kind: 'schema-literal', keywordLocation: '/$defs/unit/enum' } }],
    ['its default', {}, [{ op: 'add', path: '/mode', value: 'fast' }], { '/mode': { kind: 'schema-literal', keywordLocation: '/properties/mode/default' } }],
    ['a literal around it', {}, [{ op: 'add', path: '/note', value: { a: 'x', b: [1] } }], { '/note/a': { kind: 'schema-literal', keywordLocation: '/properties/note/anyOf/0/const' }, '/note/b/0': { kind: 'schema-literal', keywordLocation: '/properties/note/anyOf/0/const' } }],
    ['a literal that a condition leads to', {}, [{ op: 'add', path: '/grade', value: 'A1' }], { '/grade': { kind: 'schema-literal', keywordLocation: '/properties/grade/else/const' } }],
    ['one that a list must contain', {}, [{ op: 'add', path: '/marks', value: [4] }], { '/marks/0': { kind: 'schema-literal', keywordLocation: '/properties/marks/contains/const' } }],
    ['nowhere else, a boolean', {}, [{ op: 'add', path: '/smoking', value: false }], { '/smoking': { kind: 'schema-literal' } }],
    ['the model', {}, [{ op: 'add', path: '/city', value: 'Paris' }], { '/city': { kind: 'model' } }],
    ['the model, which a literal of another place is', {}, [{ op: 'add', path: '/city', value: 'kelvin' }], { '/city': { kind: 'model' } }],
    ['where it was moved from', { town: { name: 'Rome' } }, [{ op: 'move', from: '/town/name', path: '/city' }], { '/city': { kind: 'candidate', pointer: '/town/name', start: 0, end: 4, derivation: 'verbatim' } }],
    ['where its container was copied from', { address: { street: 'Elm' } }, [{ op: 'copy', from: '/address', path: '/home' }], { '/home/street': { kind: 'candidate', pointer: '/address/street', start: 0, end: 3, derivation: 'verbatim' } }],
    ['the model, also where it was moved to', {}, [{ op: 'add', path: '/guest', value: 'Zoe' }, { op: 'move', from: '/guest', path: '/city' }], { '/city': { kind: 'model' } }],
    ['the end of a list', { stops: ['Rome'] }, [{ op: 'add', path: '/stops/-', value: 'Ana' }, { op: 'add', path: '/stops/-', value: 'Oz' }], { '/stops/1': { kind: 'request', text: 0, start: 35, end: 38, derivation: 'verbatim' }, '/stops/2': { kind: 'model' } }],
  ])('%s', async (_, args, patch, expected) => {
    expect(await originsOf(args, patch)).toEqual(expected);
  });

  test('public state, by its pointer', async () => {
    const context = { user: { home: 'Oslo' } };
    expect(await originsOf({}, [{ op: 'add', path: '/city', value: 'Oslo' }], { context })).toEqual({ '/city': { kind: 'context', pointer: '/user/home', start: 0, end: 4, derivation: 'verbatim' } });
  });

  test('nothing that was not written: what an insertion shifts, and what is taken away', async () => {
    expect(Object.keys(await originsOf({ stops: ['a', 'b'] }, [{ op: 'add', path: '/stops/0', value: 'Ana' }]))).toEqual(['/stops/0']);
    expect(await originsOf({ tags: [{ x: 1 }, { id: 'm' }], guest: 'Bo' }, [{ op: 'remove', path: '/tags/0' }, { op: 'remove', path: '/guest' }])).toEqual({});
  });
});

describe('what the deterministic step wrote comes from the call, by the rule', () => {
  const tool = {
    name: 'order', parameters: {
      type: 'object', properties: { id: { type: 'string', pattern: '^[0-9]+$' }, count: { type: 'integer' }, size: { enum: ['small', 'large'] }, tags: { type: 'array', items: { type: 'string' } }, one: { type: 'integer' }, at: { type: 'object' } },
      required: ['missing'], additionalProperties: { type: 'string' },
    },
  };
  test.each<[string, JsonObject, Readonly<Record<string, unknown>>]>([
    ['text-to-json', { count: '5' }, { '/count': { pointer: '/count', rule: 'text-to-json', start: 0, end: 1 } }],
    ['text-to-json of an object', { at: '{"x":"a\\nb","y":[7]}' }, { '/at/x': { pointer: '/at', rule: 'text-to-json', start: 0, end: 3 }, '/at/y/0': { pointer: '/at', rule: 'text-to-json', start: 0, end: 1 } }],
    ['integer-to-text', { id: 42 }, { '/id': { pointer: '/id', rule: 'integer-to-text', start: 0, end: 2 } }],
    ['enum-case', { size: 'LARGE' }, { '/size': { pointer: '/size', rule: 'enum-case', start: 0, end: 5 } }],
    ['list-of-one', { tags: 'rent' }, { '/tags/0': { pointer: '/tags', rule: 'list-of-one', start: 0, end: 4 } }],
    ['only-element', { one: [7] }, { '/one': { pointer: '/one/0', rule: 'only-element', start: 0, end: 1 } }],
  ])('%s', async (_, args, expected) => {
    // the policy adds what is missing, and a copy of the first value that was rewritten
    const [place] = Object.keys(expected) as [string];
    const [name] = Object.keys(args) as [string];
    const { written: [copied], ...outcome } = await repairedBy(args, { op: 'copy', from: place, path: '/missing' });
    const full = Object.fromEntries(Object.entries(expected).map(([pointer, origin]) => [pointer, { kind: 'candidate', derivation: 'verbatim', ...origin as object }]));
    expect(Object.fromEntries((outcome.frozen.deterministic?.written ?? []).map(({ pointer, origin }) => [pointer, origin]))).toEqual(full);
    expect(copied?.pointer.startsWith(`/${name}`)).toBe(true);
    expect(outcome.frozen.closed.written?.find(({ pointer }) => pointer === '/missing')?.origin).toEqual(full[place]);
    expect(await checkRepair(outcome.frozen)).toMatchObject({ ok: true, value: { notChecked: [] } });
  });

  test('and a value that the policy takes of it, too', async () => {
    const { written } = await repairedBy({ at: '{"x":"a\\nb"}' }, { op: 'add', path: '/missing', value: 'a\nb' });
    expect(written).toContainEqual({ pointer: '/missing', origin: { kind: 'candidate', pointer: '/at', rule: 'text-to-json', start: 0, end: 3, derivation: 'verbatim' } });
  });

  async function repairedBy(args: JsonObject, operation: JsonObject): Promise<Extract<RepairOutcome, { readonly status: 'repaired' }>> {
    const contract = { operationBudget: 4, provenance: 'require' };
    const open = { ...tool, parameters: { ...tool.parameters, additionalProperties: true } };
    const outcome = await repairCall(requestOf({ tool: open, contract, request: 'Order it.', call: { name: 'order', arguments: args } }), scripted(patchText(operation)));
    if (outcome.status !== 'repaired') throw new Error(JSON.stringify(outcome));
    return outcome;
  }
});

describe('a contract that asks for an origin', () => {
  const contract = { attemptBudget: 3, operationBudget: 4, provenance: { require: ['/to', '/amount_cents', '/tags'] } };
  const call = { name: 'transfer', arguments: { to: 'nobody', amount_cents: 1 } };
  const invent = patchText({ op: 'replace', path: '/to', value: 'ACC-9999' });
  const right = patchText({ op: 'replace', path: '/to', value: 'ACC-2041' });

  function watching(...answers: readonly string[]): Proposer & { readonly seen: Observation[] } {
    const seen: Observation[] = [];
    return { identity: {}, seen, propose: (observation) => { seen.push(observation); return Promise.resolve({ ok: true, value: textProposal(answers[seen.length - 1] ?? '[]') }); } };
  }

  test('refuses what the model made up, at the cost of an attempt that the next one sees', async () => {
    const proposer = watching(invent, right);
    const outcome = await repairCall(requestOf({ call, contract }), proposer);
    expect(outcome).toMatchObject({ status: 'repaired', attempts: 2, operations: 1, written: [{ pointer: '/to', origin: { kind: 'request', start: 15, end: 23 } }] });
    expect(proposer.seen[1]?.state).toMatchObject({ attemptsLeft: 2, operationsLeft: 4, candidate: call.arguments, history: [{ verdict: 'provenance/no-origin' }] });
    expect(outcome.frozen.proposals).toMatchObject([
      { verdict: 'provenance/no-origin', written: [{ pointer: '/to', origin: { kind: 'model' } }] }, { verdict: 'accepted' },
    ]);
    expect(await checkRepair(outcome.frozen)).toMatchObject({ ok: true, value: { notChecked: [] } });
  });

  test('dispatches nothing where nothing else comes', async () => {
    expect(await repairCall(requestOf({ call, contract }), scripted(invent, invent, invent))).toMatchObject({ status: 'failed', reason: 'repair/attempts-exhausted', operations: 0 });
  });

  test.each<[string, readonly string[]]>([
    ['in a value around it', [patchText({ op: 'add', path: '/tags', value: ['ACC-2041', 'made up'] })]],
    ['moved there in the same patch', [patchText({ op: 'add', path: '/memo', value: 'ACC-9999' }, { op: 'remove', path: '/to' }, { op: 'move', from: '/memo', path: '/to' })]],
    ['written elsewhere by one attempt and copied by the next', [patchText({ op: 'add', path: '/memo', value: 'ACC-9999' }), patchText({ op: 'remove', path: '/to' }, { op: 'copy', from: '/memo', path: '/to' })]],
    ['written elsewhere, and written there again', [patchText({ op: 'add', path: '/memo', value: 'ACC-9999' }), invent]],
    ['put together from the request', [patchText({ op: 'replace', path: '/to', value: 'ACC-1502' })]],
  ])('refuses it %s', async (_, answers) => {
    const outcome = await repairCall(requestOf({ call, contract }), watching(...answers));
    expect(outcome.history[answers.length - 1]?.verdict).toBe('provenance/no-origin');
    expect(outcome.status).toBe('failed');
  });

  test('leaves other places to the model, and names it', async () => {
    const outcome = await repairCall(requestOf({ call, contract }), scripted(patchText({ op: 'add', path: '/memo', value: 'hello' }, { op: 'replace', path: '/to', value: 'ACC-2041' })));
    expect(outcome).toMatchObject({ status: 'repaired', written: [{ pointer: '/to', origin: { kind: 'request' } }, { pointer: '/memo', origin: { kind: 'model' } }] });
  });

  test('says nothing of what was not written', async () => {
    expect(await repairCall(requestOf({ call: { name: 'transfer', arguments: { to: 'ACC-7777', amount_cents: 5 } }, contract }), scripted())).toMatchObject({ status: 'valid' });
  });
});

describe('a replay', () => {
  const change = (outcome: RepairOutcome, edit: (entries: Record<string, unknown>[]) => void): Parameters<typeof checkRepair>[0] => {
    const entries = structuredClone(outcome.frozen.entries) as unknown as Record<string, unknown>[];
    edit(entries);
    return freeze(entries as never);
  };

  test('names an origin that was changed', async () => {
    const outcome = await repairCall(requestOf(), scripted(STILL_WRONG, GOOD), { deterministic: false });
    const changed = change(outcome, (entries) => { (entries[2] as { written: unknown }).written = [{ pointer: '/amount_cents', origin: { kind: 'request', text: 0, start: 5, end: 11, derivation: 'string-to-number' } }]; });
    expect(await checkRepair(changed)).toMatchObject({ ok: false, error: { code: 'replay/difference', index: 2 } });
    expect(await checkRepair(change(outcome, (entries) => { delete entries[3]?.['written']; }))).toMatchObject({ ok: false, error: { code: 'replay/inconsistent', index: 3 } });
  });

  test('names a request that was changed, and one that was not recorded whole', async () => {
    const outcome = await repairCall(requestOf(), scripted(GOOD), { deterministic: false });
    const changed = change(outcome, ([opened]) => { (opened as { request: { content: { text: string } }[] }).request[0]!.content.text = 'Send 15000 cents to ACC-2'; });
    expect(await checkRepair(changed)).toMatchObject({ ok: false, error: { code: 'replay/inconsistent', index: 0 } });
    const long = await repairCall(requestOf({ request: 'x'.repeat(300_000) }), scripted(GOOD), { deterministic: false });
    expect(await checkRepair(long.frozen)).toMatchObject({ ok: true, value: { checked: ['structure'], notChecked: [{ step: 'texts', reason: 'replay/text-not-recorded' }, { step: 'judgement' }] } });
  });

  test('works from the file alone', async () => {
    const { frozen } = await repairCall(requestOf({ contract: { provenance: 'require' }, call: { name: 'transfer', arguments: { to: 'x', amount_cents: 1 } } }), scripted(patchText({ op: 'replace', path: '/to', value: 'ACC-2041' })));
    const rows = readLedgerText(appendRepair(GENESIS, frozen).rows.map(formatRow).join(''));
    const repairs = rows.ok ? repairsIn(rows.value) : rows;
    if (!repairs.ok) throw new Error(repairs.error.code);
    expect(await checkRepair(repairs.value[0] as typeof frozen)).toEqual({ ok: true, value: { checked: ['structure', 'texts', 'judgement'], notChecked: [] } });
  });
});

const WORDS = ['ACC-2041', 'acc-2041', 'ACC-9999', 'san', 'San Francisco', 'made up', '', 'Ana', 15, 150, 0.15, 1.5, 9, true, null] as const;
const value = fc.oneof(fc.constantFrom<JsonValue>(...WORDS), fc.array(fc.constantFrom<JsonValue>(...WORDS), { maxLength: 3 }), fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom<JsonValue>(...WORDS), { maxKeys: 2 }));
const place = fc.constantFrom('/memo', '/tags', '/tags/0', '/tags/-', '/more', '/more/a', '/more/b', '/list/0', '/list/1/a');
const operation = fc.record({ op: fc.constantFrom(...OPERATION_KINDS, 'add', 'add'), path: place, from: place, value });
/** What makes the call valid, mostly, at the end of each. */
const last = fc.constantFrom('ACC-2041', 'Ana', 'Zoe', 'San').map((name) => ({ op: 'add', path: '/to', value: name }));
const drawn = fc.record({
  answers: fc.array(fc.tuple(fc.array(operation, { maxLength: 3 }), fc.option(last, { freq: 4 })).map(([patch, end]) => [...patch, ...(end === null ? [] : [end])]), { minLength: 1, maxLength: 3 }),
  args: fc.record({ to: fc.constantFrom<JsonValue>('made up', 5), memo: value, tags: fc.array(value, { maxLength: 2 }), more: fc.record({ a: value, b: value }), list: fc.tuple(value, fc.record({ a: value })) }),
  require: fc.subarray(['/to', '/tags', '/more/a', '/list'], { maxLength: 2 }),
});
const OPEN = { name: 'open', parameters: { type: 'object', properties: { to: { type: 'string', pattern: '^[A-Z]' } }, required: ['to'] } };

function drawnRequest({ args, require }: { readonly args: object; readonly require: readonly string[] }): RepairRequest {
  return requestOf({ request: 'Ask ana of ACC-2041 in san francisco for 15%.', tool: OPEN, call: { name: 'open', arguments: args }, contract: { operationBudget: 12, attemptBudget: 4, provenance: { require } } });
}

/** What stands at a named origin, redone. */
function isRedone(origin: Origin, now: JsonValue, request: RepairRequest, read: JsonValue): boolean {
  if (origin.kind === 'schema-literal') return now === null || typeof now === 'boolean';
  if (origin.kind === 'model') return true;
  const leaf = origin.kind === 'request' ? request.request[origin.text]?.content : resolvePointer(origin.kind === 'context' ? request.context : read, origin.pointer);
  const shown = String(leaf).slice(origin.start, origin.end);
  switch (origin.derivation) {
    case 'verbatim': return shown === String(now);
    case 'string-to-number': case 'percent-to-fraction': return typeof now === 'number' && /\d/.test(shown);
    default: return shown.toLowerCase() === String(now).toLowerCase() || typeof now === 'string';
  }
}

test('law: whatever was written has an origin that can be redone, and none is the model where one is required', async () => {
  const seen = { model: 0, refused: 0, repaired: 0 };
  await fc.assert(fc.asyncProperty(drawn, async ({ answers, ...given }) => {
    const request = drawnRequest(given);
    const outcome = await repairCall(request, scripted(...answers.map((patch) => patchText(...patch as JsonObject[])), '{"abstain":"ambiguous"}'), { deterministic: false });
    const contract = loadContract(request.contract);
    if (contract.ok && outcome.status !== 'failed') expect(await replayTrace(outcome.frozen, contract.value)).toMatchObject({ ok: true });
    seen.refused += outcome.history.filter(({ verdict }) => verdict === 'provenance/no-origin').length;
    if (outcome.status !== 'repaired') return;
    seen.repaired += 1;
    const read = JSON.parse(request.call.argumentsText) as JsonValue;
    for (const { pointer, origin } of outcome.written) {
      const now = resolvePointer(outcome.arguments, pointer) as JsonValue;
      if (origin.kind === 'model') seen.model += 1;
      expect({ pointer, origin, isRedone: isRedone(origin, now, request, read) }).toEqual({ pointer, origin, isRedone: true });
      expect(origin.kind === 'model' && given.require.some((required) => pointer === required || pointer.startsWith(`${required}/`))).toBe(false);
    }
    // a scalar that is not written stands, as it is, somewhere in the call as it was read
    const written = new Set<string>(outcome.written.map(({ pointer }) => pointer));
    const known = new Set(scalarsIn(read).map(([, scalar]) => JSON.stringify(scalar)));
    for (const [pointer, scalar] of scalarsIn(outcome.arguments)) if (!written.has(pointer)) expect(known).toContain(JSON.stringify(scalar));
  }), { numRuns: 400, seed: 11 });
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(20);
});

function scalarsIn(json: JsonValue, at = ''): readonly (readonly [string, JsonValue])[] {
  if (typeof json !== 'object' || json === null) return [[at, json]];
  return Object.entries(json).flatMap(([name, member]) => scalarsIn(member as JsonValue, `${at}/${name}`));
}
