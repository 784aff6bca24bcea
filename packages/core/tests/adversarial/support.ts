/**
 * What must hold of every repair, whatever anybody feeds it, and how a family of hostile cases is run: some hundred seeded cases in
 * `npm test`, and as many as the time allows under `node scripts/fuzz.mjs`, which counts them.
 */
import { appendFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  evaluateGates, jsonEqual, loadContract, repairCall, resolvePointer, validateArguments, type JsonObject, type JsonValue, type Proposal,
  type Proposer, type RepairOptions, type RepairOutcome, type RepairRequest,
} from '../../src/index.ts';
import { appendRepair, formatRow, GENESIS, readLedgerText, replayTrace, verifyRows } from '../../src/ledger/index.ts';
import { createExecutor } from '../../src/execute/index.ts';
import { BOUND, requestOf, textProposal } from '../support.ts';

const SECONDS = Number(process.env['CONTRACTRL_FUZZ_SECONDS'] ?? '0');
const REPORT = process.env['CONTRACTRL_FUZZ_REPORT'];

interface FamilyOptions {
  /** Cases in `npm test`. */
  readonly runs?: number;
  /** What `check` must have said at least once: a family in which nothing ever happens shows nothing. */
  readonly sees: readonly string[];
}

/** `check` says in a word what became of a case. */
export function family<T>(title: string, cases: fc.Arbitrary<T>, { runs = 250, sees }: FamilyOptions, check: (drawn: T) => Promise<string> | string): void {
  test(title, { timeout: 120_000 + SECONDS * 2_000 }, async () => {
    const startedAt = process.cpuUsage();
    const tally = new Map<string, number>();
    const property = fc.asyncProperty(cases, async (drawn) => {
      const word = await check(drawn);
      tally.set(word, (tally.get(word) ?? 0) + 1);
    });
    await fc.assert(property, SECONDS > 0 ? { numRuns: 2 ** 31 - 1, interruptAfterTimeLimit: SECONDS * 1_000 } : { numRuns: runs });
    if (REPORT !== undefined) appendFileSync(REPORT, `${JSON.stringify({ title, cpuMs: cpuMsSince(startedAt), outcomes: Object.fromEntries(tally) })}\n`);
    if (SECONDS === 0) expect([...tally.keys()]).toEqual(expect.arrayContaining([...sees]));
  });
}

/** Of this process alone: on a loaded machine the wall clock says nothing. */
function cpuMsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

/** Repairs `request` and holds the outcome against everything that must be true of it. Gives the status. */
export async function attack(request: RepairRequest, proposer: Proposer, options: RepairOptions = {}): Promise<RepairOutcome['status']> {
  const given = withLoaded(request);
  const before = structuredClone(given);
  const outcome = await repairCall(given, proposer, options);
  // the matcher costs more than the repair where nothing differs
  if (!isDeepStrictEqual(given, before)) expect(given).toEqual(before);
  await holds(given, outcome, options);
  return outcome.status;
}

export async function holds(request: RepairRequest, outcome: RepairOutcome, { gates }: RepairOptions = {}): Promise<void> {
  // nothing leaks into what every object inherits
  const leaked = Reflect.ownKeys(Object.prototype).filter((name) => !BUILT_IN.has(name));
  if (leaked.length > 0 || !Object.isFrozen(outcome)) throw new Error(`every object inherits ${leaked.map(String).join()}, or the outcome can be changed`);

  const contract = contractOf(request);
  const sent: string[] = [];
  const tool = { name: request.call.name, call: (dispatch: { readonly argumentsText: string }) => { sent.push(dispatch.argumentsText); return null; } };
  const executor = createExecutor({ tools: [tool], state: () => request.context, bound: BOUND, gateFunctions: gates?.functions ?? [] });
  const accepted = 'accepted' in outcome ? outcome.accepted : undefined;
  const done = await executor.execute(request.id, accepted ?? (outcome as never));
  if (outcome.status === 'valid' || outcome.status === 'repaired') {
    if (!contract.ok) throw new Error(`accepted under a contract that does not load: ${contract.error.code}`);
    expect([done.kind, sent]).toEqual(['executed', [outcome.argumentsText]]);
    expect(JSON.parse(outcome.argumentsText)).toEqual(outcome.arguments);
    expect(validateArguments(contract.value, outcome.argumentsText).report).toEqual({ kind: 'valid' });
    const { gates: rules, tool: { name } } = contract.value.document;
    if (gates === undefined) expect(evaluateGates(rules, name, outcome.arguments, request.context)).toEqual({ kind: 'allow' });
    expect(request.toolNames).toContain(name);
    if (outcome.status === 'valid') expect(outcome.attempts).toBe(0);
    else expectLocksHeld(contract.value.immutablePaths, textAsRead(request.call.argumentsText, outcome), outcome.arguments);
  } else {
    expect([done, sent]).toMatchObject([{ kind: 'refused', code: 'execute/not-accepted' }, []]);
    expect('arguments' in outcome || 'argumentsText' in outcome).toBe(false);
    expect(outcome.frozen.closed.argumentsDigest).toBeNull();
  }

  // in a long run every fourth case shows as much of the chain, in half the time
  ledgerTurn = (ledgerTurn + 1) % (SECONDS > 0 ? 4 : 1);
  if (ledgerTurn === 0) {
    const { rows, head } = appendRepair(GENESIS, outcome.frozen);
    const read = readLedgerText(rows.map(formatRow).join(''));
    expect(read.ok && verifyRows(read.value, { to: head })).toEqual({ ok: true, value: head });
  }
  if (contract.ok) {
    expect(outcome.attempts).toBeLessThanOrEqual(contract.value.document.attemptBudget);
    expect(outcome.operations).toBeLessThanOrEqual(contract.value.document.operationBudget);
    // a replay is a second repair: every fourth says as much
    replayTurn = (replayTurn + 1) % 4;
    const replayed = replayTurn === 0 ? await replayTrace(outcome.frozen, contract.value, gates) : undefined;
    if (replayed?.ok === false) expect(replayed.error.code).toBe('replay/text-not-recorded');
  }
}

let replayTurn = 0;
let ledgerTurn = 0;
let loadTurn = 0;
const loaded = new Map<string, ReturnType<typeof loadContract>>();
/** Each holds a compiled judge. */
const MAX_LOADED = 400;

/** Loads each contract once: compiling a judge is nine tenths of what a case costs. */
function contractOf({ contract }: RepairRequest): ReturnType<typeof loadContract> {
  const key = JSON.stringify(contract);
  const known = loaded.get(key) ?? loadContract(contract);
  if (loaded.size >= MAX_LOADED) loaded.clear();
  loaded.set(key, known);
  return known;
}

/** The request under its contract as it was loaded before; now and then one is left to load its own. */
export function withLoaded(request: RepairRequest): RepairRequest {
  loadTurn = (loadTurn + 1) % (SECONDS > 0 ? 64 : 16);
  const contract = loadTurn === 0 ? undefined : contractOf(request);
  return contract?.ok === true ? { ...request, contract: contract.value.document } : request;
}

const BUILT_IN = new Set(Reflect.ownKeys(Object.prototype));

/** The part of the text that was taken for the call, found again by the recorded spans. */
function textAsRead(text: string, { reading }: RepairOutcome): string {
  return (reading?.steps ?? []).reduce((inner, { kind, start, end }) => (kind === 'json-in-text' ? JSON.parse(inner) as string : inner.slice(start, end)), text);
}

/** A locked place holds after a repair what it held before. Texts that are not strict JSON have no places to compare. */
function expectLocksHeld(paths: readonly string[], text: string, after: JsonObject): void {
  let before: JsonValue;
  try {
    before = JSON.parse(text) as JsonValue;
  } catch {
    return;
  }
  for (const path of paths) {
    const [was, is] = [before, after].map((document) => resolvePointer(document, path as never));
    expect(was === undefined ? is === undefined : is !== undefined && jsonEqual(was, is), `${path} is locked`).toBe(true);
  }
}

/** Answers with each text in turn, then not at all. */
export function saying(...answers: readonly (string | Proposal)[]): Proposer {
  let index = 0;
  return {
    identity: { policy: 'hostile' },
    propose: () => {
      const answer = answers[index];
      index += 1;
      if (answer === undefined) return Promise.resolve({ ok: false, error: { code: 'engine/none', message: 'No answer.' } });
      return Promise.resolve({ ok: true, value: typeof answer === 'string' ? textProposal(answer) : answer });
    },
  };
}

/** A request past the reader's own refusals, so that the loop meets what the reader would have kept out. */
export function rawRequest(overrides: Partial<RepairRequest>): RepairRequest {
  return { ...requestOf(), ...overrides };
}

/** An order with a wrong `quantity`, nested lists, and two members that a repair may not touch. */
export const ORDER: JsonObject = {
  type: 'object',
  properties: {
    account: { type: 'object', properties: { id: { type: 'string' }, owner: { type: 'string' } }, required: ['id'], additionalProperties: false },
    quantity: { type: 'integer', minimum: 1 },
    lines: { type: 'array', items: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' }, n: { type: 'integer' } }, required: ['sku', 'n'] } } },
    note: { type: 'string' },
  },
  required: ['account', 'quantity'],
};

export const OP = fc.constantFrom('add', 'remove', 'replace', 'move', 'copy');
/** Names that mean something to a host language. */
export const PROTOTYPE_NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__', 'length', 'then', 'toJSON'];

export function patchOf(path: fc.Arbitrary<string>, value: fc.Arbitrary<JsonValue>, from: fc.Arbitrary<string> = path): fc.Arbitrary<string> {
  return fc.array(fc.record({ op: OP, path, from, value }), { minLength: 1, maxLength: 3 }).map((operations) => JSON.stringify(operations));
}
