/** The server engine against llama.cpp's own server, running the default model without its adapter: what comes back is checked, not how good it is. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compileMask } from '@contractrl/grammar-mask';
import { exportGrammar } from '@contractrl/grammar-mask/export';
import { createTokenizer } from '../src/model/tokenizer.ts';
import { replayMask } from '../src/replay-mask.ts';
import { BYTE_VOCABULARY, createServerProposer, createServerRepairer, type ServerParts } from '../src/server/index.ts';
import { setUpLlamaServer, startLlamaServer, type LlamaServer } from './support/llama-server.ts';
import { loadRealModel } from './support/real-model.ts';
import { observationOf, REFERENCE_REPAIRS, requestOf } from './support/repair-prompts.ts';

const setup = setUpLlamaServer();
/** One operation: then the GBNF and a mask that excludes no operation are the same language. */
const REQUESTS = REFERENCE_REPAIRS.slice(0, 3).map((repair) => {
  const request = requestOf(repair);
  return { ...request, contract: { ...request.contract, operationBudget: 1 } };
});
/** Seconds on an idle machine. */
const TIMEOUT_MS = 120_000;
const SAME_LANGUAGE = { excludeNoOps: false, maxAnswerTokens: 128 };

describe.skipIf(setup.missing !== undefined)(`llama.cpp's server${setup.missing === undefined ? '' : ` (skipped: ${setup.missing})`}`, () => {
  let server: LlamaServer | undefined;
  let parts: ServerParts;
  beforeAll(async () => {
    if (setup.missing !== undefined) return;
    server = await startLlamaServer(setup);
    parts = { baseUrl: server.baseUrl, dialect: 'llama.cpp', timeoutMs: TIMEOUT_MS, clock: () => performance.now() };
  }, TIMEOUT_MS);
  afterAll(() => server?.stop());

  test.each(REQUESTS.map((request) => [request.id, request] as const))('%s: its answer is one that the mask could have written, and the ledger replays it', async (_, request) => {
    const observation = observationOf(request);
    const proposed = await createServerProposer(parts, SAME_LANGUAGE).propose(observation, new AbortController().signal);
    if (!proposed.ok) throw new Error(proposed.error.code, { cause: proposed.error });
    const { text, cost, signals } = proposed.value;
    expect(proposed.value).toMatchObject({ kind: 'text', maskDigest: expect.stringMatching(/^[0-9a-f]{64}$/u) as unknown });
    expect(cost.promptTokenCount).toBeGreaterThan(50);
    expect(cost.generatedTokenCount).toBeGreaterThan(0);
    expect(signals).toEqual({ notCarried: [{ code: 'goal-directed-closing' }, { code: 'no-op-exclusion' }, { code: 'token-budget' }], finishReason: 'stop' });

    const mask = compileMask(observation.contract, BYTE_VOCABULARY, { excludeNoOps: false, goal: false });
    const matcher = mask.ok ? mask.value.bind(observation.state) : mask;
    if (!matcher.ok || proposed.value.maskTrail === undefined || proposed.value.maskDigest === undefined) throw new Error('no mask');
    expect(replayMask({ maskTrail: proposed.value.maskTrail, maskDigest: proposed.value.maskDigest, jumpForward: true }, matcher.value)).toEqual({ ok: true, value: text });
  }, TIMEOUT_MS);

  test('greedy answers repeat, and the prompt sent as ids is the prompt sent as text', async () => {
    const model = await loadRealModel();
    const tokenizer = createTokenizer(model);
    if (!tokenizer.ok) throw new Error(tokenizer.error.code);
    const [request] = REQUESTS;
    const ask = async (given: ServerParts): Promise<readonly [string, number]> => {
      const proposed = await createServerProposer(given, SAME_LANGUAGE).propose(observationOf(request!), { aborted: false });
      if (!proposed.ok) throw new Error(proposed.error.code, { cause: proposed.error });
      return [proposed.value.text, proposed.value.cost.promptTokenCount];
    };
    const first = await ask(parts);
    expect(await ask(parts)).toEqual(first);
    expect(await ask({ ...parts, tokenizer: tokenizer.value })).toEqual(first);
  }, TIMEOUT_MS);

  test('a whole repair ends in an outcome whose ledger names the server and what its grammar leaves out', async () => {
    const [request] = REQUESTS;
    const outcome = await createServerRepairer(parts).repair(request!, { ...SAME_LANGUAGE, deterministic: false });
    expect(outcome.cost.promptTokenCount).toBeGreaterThan(50);
    // what the bare model decides is its own affair; the world did not fail
    if (outcome.status === 'failed') expect(outcome.reason).toBe('repair/attempts-exhausted');
    const opened = outcome.frozen.entries.find(({ kind }) => kind === 'opened');
    const grammar = exportGrammar(observationOf(request!).contract, observationOf(request!).state, 'gbnf');
    expect(JSON.stringify(opened)).toContain(`"notCarried":${JSON.stringify(grammar.ok ? grammar.value.notCarried : undefined)}`);
    expect(JSON.stringify(opened)).toContain('"backend":"openai-compatible"');
  }, TIMEOUT_MS);

  test('a grammar that it cannot read is its refusal, told with its words', async () => {
    const broken: typeof fetch = (url, init) => fetch(url, { ...init, body: JSON.stringify({ ...(JSON.parse(init?.body as string) as object), grammar: 'root ::= (' }) });
    const proposed = await createServerProposer({ ...parts, fetch: broken }).propose(observationOf(REQUESTS[0]!), { aborted: false });
    expect(proposed).toMatchObject({ ok: false, error: { code: 'server/http-status', params: { status: 400 } } });
  });
});
