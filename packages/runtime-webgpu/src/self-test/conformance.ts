/**
 * What every engine must keep, as checks that run anywhere: under a test runner, in a worker of a page, on a reader's own machine. All run on
 * the check model, one after the other on one engine, which the last of them disposes. Numbers are compared as logits, against answers that
 * plain double-precision loops gave; laws of the cache are compared with the engine's own answers.
 */
import { loadContract, ok, openRepair, validateValue, type JsonObject, type RepairState, type Result } from '@contractrl/core';
import { compileMask, createVocabulary, type MaskMatcher } from '@contractrl/grammar-mask';
import type { Engine, EngineFailure, EngineStep, KvCache } from '../engine.ts';
import { generate, type Generation } from '../generate.ts';
import { createSampler } from '../sampling.ts';
import { CHECK_PROMPT, CHECK_STOP, CHECK_VOCABULARY_SIZE, createCheckAdapter } from './check-model.ts';
import { ADAPTER_RANKS, ANSWER_IDS, KNOWN_ANSWERS, KNOWN_PATCH, NEXT_TOKEN, PATCH_PROMPT } from './known-answers.ts';

/** Logits are of size 10 to 50 here; sums of float32 over two layers differ by 1e-5 to 1e-4, the attention fault that was measured by 6. */
export const TOLERANCE = 2e-3;

export interface Finding {
  /** What is wrong, in words; undefined where nothing is. */
  readonly fault: string | undefined;
  /** Largest difference of a logit, where numbers were compared. */
  readonly maxDifference?: number;
}

export interface ConformanceCheck {
  /** A claim about the engine. */
  readonly name: string;
  /** The claim is about numbers of the check model, or about what only an engine with a model keeps. */
  readonly needsModel: boolean;
  run(engine: Engine): Promise<Finding>;
}

export interface ConformanceResult extends Finding {
  readonly name: string;
}

/** Runs all checks in order and reports each as it ends. `engine` is disposed afterwards. Never rejects: what a check throws is its fault. */
export async function checkConformance(engine: Engine, onResult: (result: ConformanceResult) => void = () => undefined): Promise<readonly ConformanceResult[]> {
  const results: ConformanceResult[] = [];
  for (const { name, run } of CONFORMANCE_CHECKS) {
    let finding: Finding;
    try {
      finding = await run(engine);
    } catch (cause) {
      finding = { fault: cause instanceof Error ? cause.message : String(cause) };
    }
    results.push({ name, ...finding });
    onResult({ name, ...finding });
  }
  return results;
}

function law(name: string, run: ConformanceCheck['run']): ConformanceCheck {
  return { name, needsModel: false, run };
}

function onModel(name: string, run: ConformanceCheck['run']): ConformanceCheck {
  return { name, needsModel: true, run };
}

/** In the order in which they must run. */
export const CONFORMANCE_CHECKS: readonly ConformanceCheck[] = [
  onModel('a prefill of 33 tokens gives the known logits', async (engine) => compare(await logitsAfter(engine, [CHECK_PROMPT]), KNOWN_ANSWERS.prefill)),
  onModel('one more token after it gives the known logits', async (engine) => compare(await logitsAfter(engine, [CHECK_PROMPT, [NEXT_TOKEN]]), KNOWN_ANSWERS.next)),
  law('one token at a time gives what one prefill gives', async (engine) =>
    compare(await logitsAfter(engine, CHECK_PROMPT.map((token) => [token])), await logitsAfter(engine, [CHECK_PROMPT]))),
  law('chunks of any lengths give what one prefill gives', async (engine) =>
    compare(await logitsAfter(engine, [CHECK_PROMPT.slice(0, 5), CHECK_PROMPT.slice(5, 7), CHECK_PROMPT.slice(7)]), await logitsAfter(engine, [CHECK_PROMPT]))),
  law('an older cache still means what it meant, after a rollback and in a fork', async (engine) => {
    const shared = await extend(engine, engine.emptyCache, CHECK_PROMPT);
    const before = await logitsAfter(engine, [[1], [2]], shared.cache);
    const fork = await extend(engine, shared.cache, [3, 4]);
    const [again, forked] = [await logitsAfter(engine, [[1], [2]], shared.cache), await logitsAfter(engine, [[5]], fork.cache)];
    const apart = await logitsAfter(engine, [[...CHECK_PROMPT, 3, 4, 5]]);
    return worst(compare(again, before), compare(forked, apart));
  }),
  law('a guess is verified with the logits that single steps give, and what was wrong of it is cut off the cache', async (engine) => {
    const shared = await extend(engine, engine.emptyCache, CHECK_PROMPT.slice(0, 20));
    const guessed = await engine.verify(shared.cache, CHECK_PROMPT.slice(20));
    if (!guessed.ok) return { fault: describe(guessed.error) };
    const { cache, hiddens } = guessed.value;
    const logits = new Float32Array(ANSWER_IDS.length);
    const findings: Finding[] = [];
    for (const [index, hidden] of hiddens.entries()) {
      engine.logitsOf(hidden, ANSWER_IDS, logits);
      if (index % 4 === 0) findings.push(compare(logits, await logitsAfter(engine, [CHECK_PROMPT.slice(20, 21 + index)], shared.cache)));
    }
    const cut = engine.shorten(cache, 24);
    const [left, whole] = [await logitsAfter(engine, [[1], [2]], cut), await logitsAfter(engine, [[NEXT_TOKEN]], cache)];
    const isCut = hiddens.length === CHECK_PROMPT.length - 20 && cut.length === 24;
    return worst(...findings, compare(left, await logitsAfter(engine, [[...CHECK_PROMPT.slice(0, 24), 1, 2]])),
      compare(whole, await logitsAfter(engine, [[...CHECK_PROMPT, NEXT_TOKEN]])), { fault: isCut ? undefined : 'hidden states or positions are missing' });
  }),
  law('steps asked for at once answer each for its own cache', async (engine) => {
    const prompts = [[1], [2, 3], CHECK_PROMPT];
    const together = await Promise.all(prompts.map((prompt) => logitsAfter(engine, [prompt])));
    const findings: Finding[] = [];
    for (const [index, prompt] of prompts.entries()) findings.push(compare(together[index]!, await logitsAfter(engine, [prompt])));
    return worst(...findings);
  }),
  law('logits of chosen ids are those of the full row', async (engine) => {
    const { hidden } = await extend(engine, engine.emptyCache, CHECK_PROMPT);
    const [all, some] = [new Float32Array(engine.logitWidth), new Float32Array(ANSWER_IDS.length)];
    engine.allLogits(hidden, all);
    engine.logitsOf(hidden, ANSWER_IDS, some);
    return compare(some, Array.from(ANSWER_IDS, (id) => all[id]!));
  }),
  ...ADAPTER_RANKS.map((rank) => onModel(`an adapter of rank ${rank} is swapped in, gives the known logits, and is swapped out without a trace`, async (engine) => {
    use(engine, rank);
    const adapted = await logitsAfter(engine, [CHECK_PROMPT]);
    use(engine, undefined);
    return worst(compare(adapted, KNOWN_ANSWERS.adapters[rank]), compare(await logitsAfter(engine, [CHECK_PROMPT]), KNOWN_ANSWERS.prefill));
  })),
  onModel('a cache filled under one adapter is refused under another', async (engine) => {
    use(engine, 4);
    const { cache } = await extend(engine, engine.emptyCache, [1, 2]);
    use(engine, undefined);
    return expectFailure(await engine.extend(cache, [3]), 'engine/adapter-mismatch');
  }),
  onModel('an adapter of other layers is refused, and the one in use stays', async (engine) => {
    use(engine, 8);
    const other = createCheckAdapter(4);
    const refused = engine.useAdapter({ ...other, layers: other.layers.slice(1) });
    const kept = await logitsAfter(engine, [CHECK_PROMPT]);
    use(engine, undefined);
    return worst(expectFailure(refused, 'engine/adapter-mismatch'), compare(kept, KNOWN_ANSWERS.adapters[8]));
  }),
  law('an aborted signal ends a step before it runs and while it waits, and the engine goes on', async (engine) => {
    const before = await engine.extend(engine.emptyCache, [1], AbortSignal.abort());
    const controller = new AbortController();
    const running = engine.extend(engine.emptyCache, CHECK_PROMPT, controller.signal);
    const waiting = engine.extend(engine.emptyCache, [1], controller.signal);
    controller.abort();
    const findings = [before, await running, await waiting].map((result) => expectFailure(result, 'engine/aborted'));
    await extend(engine, engine.emptyCache, [1]);
    return worst(...findings);
  }),
  law('more positions than the context has are refused', async (engine) =>
    expectFailure(await engine.extend(engine.emptyCache, Array.from({ length: engine.contextLength + 1 }, () => 1)), 'engine/context-full')),
  onModel('no tokens, and ids outside the vocabulary, are the caller’s mistake', async (engine) => {
    const thrown = [[], [-1], [CHECK_VOCABULARY_SIZE], [0.5]].map((tokens) => expectThrow(() => engine.extend(engine.emptyCache, tokens), RangeError));
    return worst(...await Promise.all(thrown));
  }),
  onModel('a cache of another engine is the caller’s mistake', (engine) => expectThrow(() => engine.extend({ length: 0 }, [1]), TypeError)),
  onModel('a released cache is gone, the one it was grown from and the one grown from it are whole', async (engine) => {
    if (engine.release === undefined) return { fault: undefined };
    const first = await extend(engine, engine.emptyCache, CHECK_PROMPT.slice(0, 20));
    const second = await extend(engine, first.cache, CHECK_PROMPT.slice(20, 30));
    const third = await extend(engine, second.cache, CHECK_PROMPT.slice(30));
    engine.release(second.cache);
    const gone = await expectThrow(() => engine.extend(second.cache, [1]), TypeError);
    const [older, newer] = [await logitsAfter(engine, [CHECK_PROMPT.slice(20)], first.cache), await logitsAfter(engine, [[NEXT_TOKEN]], third.cache)];
    return worst(compare(older, KNOWN_ANSWERS.prefill), compare(newer, KNOWN_ANSWERS.next), gone);
  }),
  onModel('greedy decoding under the mask writes the known patch, jumping over forced runs or not', async (engine) => {
    const [jumping, stepping] = [await repairOnce(engine, true), await repairOnce(engine, false)];
    const maxDifference = Math.abs(jumping.sequenceLogProbability - KNOWN_PATCH.logProbability);
    const isKnown = [jumping, stepping].every(({ kind, text }) => kind === 'complete' && text === KNOWN_PATCH.text);
    return { fault: isKnown && maxDifference < TOLERANCE ? undefined : `wrote ${jumping.text} and ${stepping.text}`, maxDifference };
  }),
  law('a disposed engine says so, also to a step that was waiting; disposing twice is harmless', async (engine) => {
    const waiting = engine.extend(engine.emptyCache, [1]);
    await engine.dispose();
    await engine.dispose();
    const waited = await waiting;
    const later = [await engine.extend(engine.emptyCache, [1]), engine.useAdapter(undefined)];
    return worst(...(waited.ok ? [] : [expectFailure(waited, 'engine/disposed')]), ...later.map((result) => expectFailure(result, 'engine/disposed')));
  }),
];

/** The logits of {@link ANSWER_IDS} after `chunks`. */
export async function logitsOfAnswer(
  engine: Engine, chunks: readonly (readonly number[])[], from: KvCache = engine.emptyCache,
): Promise<Result<Float32Array, EngineFailure>> {
  let cache = from;
  const logits = new Float32Array(ANSWER_IDS.length);
  for (const chunk of chunks) {
    const step = await engine.extend(cache, chunk);
    if (!step.ok) return step;
    engine.logitsOf(step.value.hidden, ANSWER_IDS, logits);
    if (cache !== from) engine.release?.(cache);
    ({ cache } = step.value);
  }
  if (cache !== from) engine.release?.(cache);
  return ok(logits);
}

async function logitsAfter(engine: Engine, chunks: readonly (readonly number[])[], from?: KvCache): Promise<Float32Array> {
  const logits = await logitsOfAnswer(engine, chunks, from);
  if (!logits.ok) throw new Error(describe(logits.error));
  return logits.value;
}

async function extend(engine: Engine, cache: KvCache, tokens: readonly number[]): Promise<EngineStep> {
  const step = await engine.extend(cache, tokens);
  if (!step.ok) throw new Error(describe(step.error));
  return step.value;
}

function use(engine: Engine, rank: number | undefined): void {
  const used = engine.useAdapter(rank === undefined ? undefined : createCheckAdapter(rank));
  if (!used.ok) throw new Error(describe(used.error));
}

export function compare(actual: ArrayLike<number>, expected: ArrayLike<number>): Finding {
  const maxDifference = Array.from(actual).reduce((largest, value, i) => Math.max(largest, Math.abs(value - expected[i]!)), 0);
  // a NaN is larger than nothing, so the question is whether the difference is small
  return { fault: maxDifference < TOLERANCE ? undefined : `differs by ${maxDifference.toExponential(1)}`, maxDifference };
}

function worst(...findings: readonly Finding[]): Finding {
  const differences = findings.flatMap(({ maxDifference }) => maxDifference ?? []);
  const fault = findings.find((finding) => finding.fault !== undefined)?.fault;
  return differences.length === 0 ? { fault } : { fault, maxDifference: Math.max(...differences) };
}

function expectFailure(result: { readonly ok: true } | { readonly ok: false; readonly error: EngineFailure }, code: EngineFailure['code']): Finding {
  const seen = result.ok ? 'success' : result.error.code;
  return { fault: seen === code ? undefined : `${seen} instead of ${code}` };
}

async function expectThrow(work: () => Promise<unknown>, kind: typeof RangeError | typeof TypeError): Promise<Finding> {
  try {
    await work();
    return { fault: `no ${kind.name}` };
  } catch (cause) {
    return { fault: cause instanceof kind ? undefined : `${String(cause)} instead of a ${kind.name}` };
  }
}

function describe(failure: EngineFailure): string {
  if (!('cause' in failure)) return failure.code;
  return `${failure.code}: ${failure.cause instanceof Error ? failure.cause.message : String(failure.cause)}`;
}

/** One masked, greedy answer of the check model to a made-up failed call. */
async function repairOnce(engine: Engine, jumpForward: boolean): Promise<Generation> {
  const start = await extend(engine, engine.emptyCache, PATCH_PROMPT);
  const options = { sampler: createSampler({ kind: 'greedy' }), clock: () => 0, maxTokens: TOKEN_BUDGET, jumpForward };
  const generation = await generate(engine, openCheckMatcher(), start, options);
  if (!generation.ok) throw new Error(generation.error.code);
  return generation.value;
}

/** The known patch takes 23. */
export const TOKEN_BUDGET = 60;
const CANDIDATE: JsonObject = { city: 7, unit: 'kelvin', days: '3' };
const PARAMETERS: JsonObject = {
  type: 'object',
  properties: {
    city: { type: 'string', maxLength: 12 }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] }, days: { type: 'integer', minimum: 1, maximum: 14 },
  },
  required: ['city', 'unit', 'days'],
  additionalProperties: false,
};

/** What the patch is mostly made of, as tokens on ids whose bytes no text has: fewer steps, and forced runs of several lengths. */
const FIRST_PIECE = 0xf8;
const PIECES = ['[{"op":"replace","path":"/', '","value":', '{"abstain":"', '"}]'];

/** Longest piece first, then bytes. */
function encode(text: string): number[] {
  const ids: number[] = [];
  for (let rest = text; rest !== '';) {
    const piece = PIECES.findIndex((each) => rest.startsWith(each));
    const length = piece === -1 ? String.fromCodePoint(rest.codePointAt(0)!).length : PIECES[piece]!.length;
    ids.push(...(piece === -1 ? new TextEncoder().encode(rest.slice(0, length)) : [FIRST_PIECE + piece]));
    rest = rest.slice(length);
  }
  return ids;
}

function bytesOf(id: number): Uint8Array | undefined {
  if (id === CHECK_STOP) return undefined;
  const piece = PIECES[id - FIRST_PIECE];
  return piece === undefined ? Uint8Array.of(id) : new TextEncoder().encode(piece);
}

/** The mask for one made-up failed call: two values have the wrong type, one is not among the allowed. */
export function openCheckMatcher(): MaskMatcher {
  const tokens = Array.from({ length: CHECK_VOCABULARY_SIZE }, (_, id) => bytesOf(id));
  const vocabulary = createVocabulary({ logitWidth: CHECK_VOCABULARY_SIZE, tokens, stopIds: [CHECK_STOP], encode });
  if (!vocabulary.ok) throw new Error(vocabulary.error.code);
  const contract = loadContract({
    tool: { name: 'weather', description: 'Weather of a city', parameters: PARAMETERS },
    allowedOperations: ['replace'], operationBudget: 2, attemptBudget: 1, immutablePaths: [], crossField: [], gates: [],
  });
  if (!contract.ok) throw new Error(contract.error.code);
  const mask = compileMask(contract.value, vocabulary.value, { excludeNoOps: true });
  if (!mask.ok) throw new Error(mask.error.code);
  const report = validateValue(contract.value, CANDIDATE);
  if (report.kind === 'valid') throw new Error('the candidate is valid');
  const state: RepairState = openRepair(contract.value, report, CANDIDATE);
  const matcher = mask.value.bind(state, { tokenBudget: TOKEN_BUDGET });
  if (!matcher.ok) throw new Error(matcher.error.code);
  return matcher.value;
}
