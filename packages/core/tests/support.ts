/** A small tool, requests on it and scripted proposers, shared by the tests of the loop and the ledger. */
import type { JsonObject, Proposal, ProposalCost, Proposer, RepairRequest, TimeBound } from '../src/index.ts';
import { readRepairRequest } from '../src/records.ts';

/** `amount_cents` (integer), `to` (pattern), `memo` (optional), `tags` (array of strings); nothing else. */
export const TRANSFER = {
  name: 'transfer',
  description: 'Transfer money between accounts',
  parameters: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      to: { type: 'string', pattern: '^ACC-[0-9]{4}$' },
      amount_cents: { type: 'integer', minimum: 1 },
      memo: { type: 'string' },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['to', 'amount_cents'],
    additionalProperties: false,
  },
};

export const COST: ProposalCost = { promptTokenCount: 100, generatedTokenCount: 10, forcedTokenCount: 4, prefillMs: 5, decodeMs: 7, maskMs: 1 };

/** A request through the real reader; `overrides` replaces top-level fields of the record. */
export function requestOf(overrides: Readonly<Record<string, unknown>> = {}): RepairRequest {
  const read = readRepairRequest({
    id: 'case-1', request: 'Send 150.00 to ACC-2041.', tool: TRANSFER,
    call: { name: 'transfer', arguments: { to: 'ACC-2041', amount_cents: '150.00' } }, ...overrides,
  });
  if (!read.ok) throw new Error(`${read.error.code} at ${read.error.pointer}`);
  return read.value;
}

export function textProposal(text: string, confidence = 0.5): Extract<Proposal, { readonly kind: 'text' }> {
  return { kind: 'text', text, confidence, cost: COST, maskDigest: 'mask' };
}

/** Answers with the given proposals in order; the promise rejects when asked for one more. Counts how often it was asked. */
export function scripted(...answers: readonly (string | Proposal)[]): Proposer & { readonly asked: () => number } {
  let asked = 0;
  return {
    identity: { policy: 'scripted' },
    asked: () => asked,
    propose: () => {
      const answer = answers[asked];
      asked += 1;
      if (answer === undefined) return Promise.reject(new Error('asked once too often'));
      return Promise.resolve({ ok: true, value: typeof answer === 'string' ? textProposal(answer) : answer });
    },
  };
}

export function patchText(...operations: readonly JsonObject[]): string {
  return JSON.stringify(operations);
}

/** The patch that repairs the default request. */
export const GOOD = patchText({ op: 'replace', path: '/amount_cents', value: 15000 });
/** Applies and leaves the call invalid. */
export const STILL_WRONG = patchText({ op: 'replace', path: '/amount_cents', value: 'many' });

/** A clock that runs out once everything that could go on has gone on: what waits then would wait for ever. */
export const BOUND: TimeBound = {
  limitMs: 1,
  start: () => {
    let immediate: NodeJS.Immediate | undefined;
    const elapsed = new Promise((resolve) => { immediate = setImmediate(resolve); });
    return { elapsed, cancel: () => clearImmediate(immediate) };
  },
};
