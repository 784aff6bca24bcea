import { describe, expect, test } from 'vitest';
import { ABSTAIN_CODES, err, ok, parsePatch, readAbstention, type Digest, type JsonObject, type Observation, type Proposal, type RepairRequest } from '@contractrl/core';
import { compileMask, createVocabulary, type Vocabulary } from '@contractrl/grammar-mask';
import { OPENING_LIMIT } from './draft.ts';
import type { MassReport } from './mass-report.ts';
import { createMaskedProposer, createProposerMemory, type MaskCompiler, type ProposerOptions } from './proposer.ts';
import { createRepairer } from './repairer.ts';
import { createScriptedEngine, type ScriptedEngineOptions } from './scripted/engine.ts';
import type { Tokenizer } from './tokenizer.ts';
import { createToyMatcher } from '../tests/support/toy-matcher.ts';
import { observationOf, REFERENCE_REPAIRS, requestOf } from '../tests/support/repair-prompts.ts';

/** Ids 1 to 255 are Latin-1 characters, 0 stops: a tokenizer and a mask over characters. */
const PIECES = Array.from({ length: 255 }, (_, index) => String.fromCharCode(index + 1));
const LOGIT_WIDTH = 256;
const encode = (text: string): readonly number[] => Array.from(text, (character) => Math.min(character.charCodeAt(0), 255));
const tokenizer: Tokenizer = {
  encodePlain: encode, encodeTrusted: encode, decode: (ids) => ids.map((id) => PIECES[id - 1] ?? '').join(''), specialIds: new Map(), stopIds: [0], tokens: [],
};
const vocabulary: Vocabulary = { logitWidth: LOGIT_WIDTH, tokens: [], stopIds: [0], digest: 'v'.repeat(64) as Digest, encode };

const [reference] = REFERENCE_REPAIRS;
const request = requestOf(reference!);
const observation = observationOf(request);
const RIGHT = '[{"op":"add","path":"/case_number","value":43403}]';
const WRONG = '[{"op":"add","path":"/case_number","value":1}]';
const ABSTAIN = '{"abstain":"ambiguous"}';

/** Makes the texts likely in this order, the first most. */
function preferring(...texts: readonly string[]): ScriptedEngineOptions['script'] {
  return (history, out) => {
    const written = history.map((id) => PIECES[id - 1] ?? '').join('').split('assistant\n').at(-1)!;
    texts.forEach((text, index) => {
      if (text.startsWith(written)) out[text.charCodeAt(written.length)] = 3 * (texts.length - index);
    });
  };
}

function parts(given: { readonly script?: ScriptedEngineOptions['script']; readonly compile?: MaskCompiler; readonly contextLength?: number } = {}) {
  const calls = { compiled: 0, chunks: [] as number[] };
  const engine = createScriptedEngine({ logitWidth: LOGIT_WIDTH, contextLength: given.contextLength ?? 4096, script: given.script ?? preferring(RIGHT, WRONG, ABSTAIN), onStep: (_, count) => void calls.chunks.push(count) });
  const compile: MaskCompiler = given.compile ?? (() => {
    calls.compiled += 1;
    return ok({ bind: () => ok(createToyMatcher(PIECES, [RIGHT, WRONG, ABSTAIN], LOGIT_WIDTH)) });
  });
  let now = 0;
  return { calls, parts: { engine, tokenizer, vocabulary, clock: () => (now += 1), memory: createProposerMemory(engine, compile) } };
}

async function propose(given: ReturnType<typeof parts>, options?: ProposerOptions, shown: Observation = observation): Promise<Proposal> {
  const proposal = await createMaskedProposer(given.parts, options).propose(shown, new AbortController().signal);
  if (!proposal.ok) throw new Error(proposal.error.code);
  return proposal.value;
}

describe('a proposal', () => {
  test('is the text the model prefers among those the mask allows, with its cost', async () => {
    const proposal = await propose(parts());
    expect(proposal).toMatchObject({ kind: 'text', text: RIGHT, maskDigest: 'toy' });
    expect(proposal.cost.promptTokenCount).toBe(reference!.prompt.length);
    // two choices: patch or abstain, and the first digit
    expect(proposal.cost.generatedTokenCount - proposal.cost.forcedTokenCount).toBe(2);
    expect([proposal.cost.prefillMs, proposal.cost.decodeMs, proposal.cost.maskMs].every((ms) => ms > 0)).toBe(true);
  });

  test('is as confident as the product of its decisions', async () => {
    const proposal = await propose(parts({ script: preferring(RIGHT, WRONG) }));
    const [right, wrong] = [Math.exp(6), Math.exp(3)];
    // at the first decision both patches share one character, whose logit is that of the likelier text written last
    const atOpening = Math.exp(3) / (Math.exp(3) + 1);
    expect(proposal.kind === 'text' && proposal.confidence).toBeCloseTo(atOpening * (right / (right + wrong)), 5);
  });

  test('that outgrows its token budget is incomplete', async () => {
    expect(await propose(parts(), { maxAnswerTokens: 5 })).toMatchObject({ kind: 'incomplete', code: 'generate/token-budget', text: '[{"op' });
  });

  // checklist: F2
  test('abstains in the name of the runtime where no value reaches the goal', async () => {
    const rules: unknown[] = [];
    const compile: MaskCompiler = (_contract, _vocabulary, given) => {
      rules.push(given);
      return ok({ bind: () => ok({ ...createToyMatcher(PIECES, [RIGHT], LOGIT_WIDTH), isGoalMiss: () => true, banMiss: () => 0 }) });
    };
    expect(await propose(parts({ compile }))).toMatchObject({ kind: 'text', text: '{"abstain":"goal-unreachable"}', confidence: undefined });
    await propose(parts({ compile }), { goal: false });
    await propose(parts({ compile }), { excludeNoOps: false });
    expect(rules).toEqual([{ excludeNoOps: true, goal: true, nearer: true }, { excludeNoOps: true, goal: false, nearer: false }, { excludeNoOps: false, goal: true, nearer: true }]);
  });

  test('is the same without jump-forward, only dearer', async () => {
    const [on, off] = [parts(), parts()];
    expect((await propose(on)).text).toBe((await propose(off, { jumpForward: false })).text);
    expect(on.calls.chunks.length).toBeLessThan(off.calls.chunks.length);
  });

  test('with a seed repeats; the next attempt draws anew', async () => {
    const sampling = { kind: 'random', temperature: 50, topP: 1, seed: 3 } as const;
    const later = { ...observation, state: { ...observation.state, history: [{ patch: undefined, verdict: 'patch/x', code: undefined, pointer: undefined }] } };
    const texts = new Set<string>();
    for (let seed = 0; seed < 8; seed += 1) {
      const first = (await propose(parts(), { sampling: { ...sampling, seed } })).text;
      expect((await propose(parts(), { sampling: { ...sampling, seed } })).text).toBe(first);
      expect((await propose(parts(), { sampling: { ...sampling, seed } }, later)).text).toBe((await propose(parts(), { sampling: { ...sampling, seed: seed + 1 } })).text);
      texts.add(first);
    }
    expect(texts.size).toBeGreaterThan(1);
  });
});

describe('under the real mask', () => {
  const real = (logitWidth: number): Vocabulary => {
    const created = createVocabulary({ logitWidth, tokens: [undefined, ...PIECES.map((_, index) => Uint8Array.of(index + 1))], stopIds: [0], encode });
    if (!created.ok) throw new Error(created.error.code);
    return created.value;
  };

  test('a policy that would never stop ends within its token budget', async () => {
    const given = parts({ compile: compileMask, script: (history, out) => { out['[{",:'.includes(PIECES[(history.at(-1) ?? 1) - 1]!) ? 0x72 : 0x78] = 5; } });
    for (const maxAnswerTokens of [60, 80, 120]) {
      const { kind, text, cost } = await propose({ ...given, parts: { ...given.parts, vocabulary: real(LOGIT_WIDTH) } }, { maxAnswerTokens, goal: false });
      expect(kind).toBe('text');
      expect(cost.generatedTokenCount).toBeLessThanOrEqual(maxAnswerTokens);
      expect(readAbstention(text) !== undefined || parsePatch(text).ok).toBe(true);
    }
  });

  test('a tokenizer that is not the model’s ends the repair before anything is run', async () => {
    const given = parts({ compile: compileMask });
    const proposal = await createMaskedProposer({ ...given.parts, vocabulary: real(LOGIT_WIDTH + 8) }).propose(observation, new AbortController().signal);
    expect(!proposal.ok && proposal.error).toMatchObject({ code: 'mask/vocabulary-mismatch', params: { what: 'logitWidth', expected: 264, actual: 256 } });
    expect(given.calls.chunks).toEqual([]);
  });
});

describe('signals and trail', () => {
  test('the share of abstentions and what tells a patch’s confidence are always there, the mass where it is asked for', async () => {
    const plain = await propose(parts());
    expect((await propose(parts(), { speculate: false })).signals).toEqual({ abstainShare: expect.closeTo(1 / (1 + Math.exp(3)), 1) as number, patch: expect.objectContaining({ margin: 3 }) as object });
    expect(plain.maskTrail).toMatchObject({ closedCount: null, ids: expect.objectContaining({ length: plain.cost.generatedTokenCount }) as number[] });
    const { mass } = (await propose(parts(), { reportMass: true })).signals as unknown as { readonly mass: MassReport };
    expect(mass.steps).toHaveLength(2);
    expect(mass.opening!.patch).toBeGreaterThan(mass.opening!.abstain);
  });

  test('an answer that was cut has both digest and trail', async () => {
    expect(await propose(parts(), { maxAnswerTokens: 5 })).toMatchObject({ kind: 'incomplete', maskDigest: 'toy', maskTrail: { ids: encode('[{"op') } });
  });

  test('reach the ledger outside the digest of the trace', async () => {
    const [plain, measured] = [await createRepairer(parts().parts).repair(request), await createRepairer(parts().parts).repair(request, { reportMass: true })];
    expect(measured.frozen.resources?.signals).toMatchObject([{ mass: { steps: [{ index: 0 }, {}] } }]);
    expect(measured.ledger).toBe(plain.ledger);
    expect(measured.frozen.proposals[0]?.maskTrail?.ids.length).toBe(measured.cost.generatedTokenCount);
  });
});

describe('under the real mask, a small contract', () => {
  const created = createVocabulary({ logitWidth: LOGIT_WIDTH, tokens: [undefined, ...PIECES.map((_, index) => Uint8Array.of(index + 1))], stopIds: [0], encode });
  const small = (schema: JsonObject): RepairRequest => ({
    ...request,
    contract: { ...request.contract, allowedOperations: ['replace'], tool: { name: 't', description: '', parameters: { type: 'object', properties: { case_number: schema }, additionalProperties: false } } },
    toolNames: ['t'], call: { name: 't', argumentsText: '{"case_number":"x"}' },
  });
  const under = (script: ScriptedEngineOptions['script']) => {
    if (!created.ok) throw new Error(created.error.code);
    return { ...parts({ script, compile: (contract, vocabulary, rules) => compileMask(contract, vocabulary, rules) }).parts, vocabulary: created.value };
  };
  const patchOf = (value: unknown): string => JSON.stringify([{ op: 'replace', path: '/case_number', value }]);

  test('is searched exactly: the best answer is not the one that begins best', async () => {
    // `4` begins better than `70`, and is then split among ten
    const script: ScriptedEngineOptions['script'] = (history, out) => {
      preferring(patchOf(70), ABSTAIN)(history, out);
      const written = history.map((id) => PIECES[id - 1] ?? '').join('').split('assistant\n').at(-1)!;
      if (written.endsWith('"value":')) out['4'.charCodeAt(0)] = 6.5;
    };
    const shown = observationOf(small({ type: 'integer', enum: [40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 70] }));
    const [greedy, exact] = [await createMaskedProposer(under(script)).propose(shown, { aborted: false }), await createMaskedProposer(under(script), { search: 'exact' }).propose(shown, { aborted: false })];
    if (!greedy.ok || !exact.ok) throw new Error('no proposal');
    expect(greedy.value.text.startsWith(patchOf(40).slice(0, -3))).toBe(true);
    expect(exact.value).toMatchObject({ kind: 'text', text: patchOf(70), maskDigest: expect.stringMatching(/^[0-9a-f]{64}$/u) as string });
    const { outputCount, margin } = exact.value.signals!['exact'] as { readonly outputCount: number; readonly margin: number };
    expect(outputCount).toBe(11 + ABSTAIN_CODES.length);
    expect(margin).toBeGreaterThan(1);
    expect(exact.value.cost.forcedTokenCount).toBeGreaterThan(20);
  });

  test('that is not small is decoded as ever, and says so', async () => {
    const shown = observationOf(small({ type: 'string', minLength: 2 }));
    const proposal = await createMaskedProposer(under(preferring(patchOf('ab'))), { search: 'exact' }).propose(shown, { aborted: false });
    expect(proposal.ok && proposal.value).toMatchObject({ text: patchOf('ab'), signals: { exact: 'mask/too-many-outputs' } });
  });

  test('that the mask cannot constrain is written only where the caller asks for it, and then judged', async () => {
    const whole = small({ type: 'array', items: { type: 'integer' }, uniqueItems: true });
    const asked = { ...whole, contract: { ...whole.contract, attemptBudget: 1 } };
    const run = async (text: string, options: ProposerOptions) => (await createRepairer(under(preferring(text, ABSTAIN))).repair(asked, options));
    expect((await run(patchOf([1, 2]), {})).status).not.toBe('repaired');
    expect(await run(patchOf([1, 2]), { unmaskable: 'validate' })).toMatchObject({ status: 'repaired', frozen: { resources: { signals: [{ approximated: ['/properties/case_number/uniqueItems'] }] } } });
    expect(await run(patchOf([1, 1]), { unmaskable: 'validate', goal: false })).toMatchObject({ status: 'failed', history: [{ verdict: 'repair/still-invalid' }] });
  });
});

describe('what is kept', () => {
  test('a contract is compiled once, and a second attempt runs only the part of the prompt that changed', async () => {
    const given = parts();
    await propose(given);
    const first = given.calls.chunks.splice(0);
    const history = [{ patch: undefined, verdict: 'patch/syntax', code: undefined, pointer: undefined }];
    const second = { ...observation, state: { ...observation.state, attemptsLeft: 1, history } };
    await propose(given, { speculate: false }, second);
    expect(given.calls.compiled).toBe(1);
    // what the first attempt did not say
    expect(given.calls.chunks[0]).toBe('\nAttempt: 2<|im_end|>\n<|im_start|>assistant\n'.length);
    expect(first.slice(0, 2).reduce((sum, count) => sum + count, 0)).toBe(reference!.prompt.length + OPENING_LIMIT);
  });

  test('what the answer says is read ahead, and nothing else of the proposal changes', async () => {
    const [on, off] = [await propose(parts()), await propose(parts(), { speculate: false })];
    const without = (proposal: Proposal): object => ({ ...proposal, cost: { ...proposal.cost, prefillMs: 0, decodeMs: 0, maskMs: 0 }, signals: { ...proposal.signals, speculation: undefined } });
    expect(without(on)).toEqual(without(off));
    // the tokenizer of this test spells single characters: the opening is cut, and behind it the first pass reads as far as the number goes
    expect(on.signals).toMatchObject({ speculation: { passCount: 1, draftedTokenCount: OPENING_LIMIT + 6, acceptedTokenCount: OPENING_LIMIT + 6 } });
  });
});

describe('failures end the repair with a code and a sentence', () => {
  test.each([
    { name: 'a keyword the mask cannot honour', given: { compile: () => err({ code: 'mask/unsupported-keyword', keyword: 'not' }) }, failure: { code: 'mask/unsupported-keyword', params: { keyword: 'not' } } },
    { name: 'a state the mask cannot be bound to', given: { compile: () => ok({ bind: () => err({ code: 'mask/token-budget' }) }) }, failure: { code: 'mask/token-budget' } },
    { name: 'a context too small for prompt and answer', given: { contextLength: 300 }, failure: { code: 'prompt/too-long', params: { limit: 44 } } },
    { name: 'logits that are none', given: { script: (_: readonly number[], out: Float32Array) => void out.fill(NaN) }, failure: { code: 'engine/bad-logits' } },
    { name: 'a device that is lost', given: { script: () => { throw new Error('lost'); } }, failure: { code: 'engine/run-failed', cause: new Error('lost') } },
  ])('$name', async ({ given, failure }) => {
    const proposal = await createMaskedProposer(parts(given).parts).propose(observation, new AbortController().signal);
    expect(proposal.ok).toBe(false);
    expect(!proposal.ok && proposal.error).toMatchObject({ ...failure, message: expect.stringMatching(/\.$/u) as string });
  });

  test('a cancelled signal', async () => {
    const proposal = await createMaskedProposer(parts().parts).propose(observation, AbortSignal.abort());
    expect(!proposal.ok && proposal.error.code).toBe('engine/aborted');
  });
});

test('the identity names model, adapter, prompt, vocabulary and sampling', () => {
  const { identity } = createMaskedProposer(parts().parts, { sampling: { kind: 'random', temperature: 1, topP: 0.9, seed: 7 } });
  expect(identity).toEqual({
    backend: 'scripted', modelDigest: '0'.repeat(64), format: 'script', adapterDigest: null, promptVersion: '2', vocabulary: vocabulary.digest,
    sampling: { kind: 'random', temperature: 1, topP: 0.9, seed: 7 }, excludeNoOps: true, goal: true, maxAnswerTokens: 256, jumpForward: true, speculate: true,
    provenance: 'off', provenanceShare: 0.5, search: 'decode', unmaskable: 'refuse', abstainShare: null,
  });
});

describe('a repairer', () => {
  test('repairs, and its record carries the times of the given clock', async () => {
    const { outcome, record } = await createRepairer(parts().parts).repairToRecord(request);
    expect(outcome).toMatchObject({ status: 'repaired', arguments: { case_number: 43403, court: 'New York', year: 2018 }, attempts: 1, operations: 1 });
    expect(record.timing.totalMs).toBeGreaterThan(record.timing.prefillMs + record.timing.decodeMs + record.timing.maskMs - 1);
    expect(record.tokens.generated).toBe(outcome.cost.generatedTokenCount);
  });

  test('runs several repairs at once', async () => {
    const repairer = createRepairer(parts().parts);
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => repairer.repair(request)));
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['repaired', 'repaired', 'repaired', 'repaired']);
    expect(new Set(outcomes.map((outcome) => outcome.ledger)).size).toBe(1);
  });

  test('that is cancelled in mid-repair leaves the call as it was', async () => {
    const controller = new AbortController();
    const given = parts({ script: (history, out) => { controller.abort(); preferring(RIGHT)(history, out); } });
    const outcome = await createRepairer(given.parts).repair(request, { signal: controller.signal });
    expect(outcome).toMatchObject({ status: 'failed', reason: 'repair/aborted' });
    expect('arguments' in outcome).toBe(false);
  });

  test('that was disposed answers with a failure', async () => {
    const repairer = createRepairer(parts().parts);
    await repairer.dispose();
    expect(await repairer.repair(request)).toMatchObject({ status: 'failed', reason: 'engine/disposed' });
  });
});
