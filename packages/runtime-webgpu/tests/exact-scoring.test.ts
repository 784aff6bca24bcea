/** Exact scoring against what it stands for: enumeration against chains of single bytes, scores against decoding and against sums over all outputs. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadContract, openRepair, validateValue, type Contract, type JsonObject } from '@contractrl/core';
import { compileMask, type MaskMatcher } from '@contractrl/grammar-mask';
import type { EngineStep } from '../src/engine.ts';
import { answerExactly } from '../src/exact-answer.ts';
import { enumerateOutputs, type Output } from '../src/enumerate-outputs.ts';
import { generate, type Generation } from '../src/generate.ts';
import { replayMask } from '../src/replay-mask.ts';
import { createSampler } from '../src/sampling.ts';
import { scoreOutputs, type ScoredOutput } from '../src/score-outputs.ts';
import { createScriptedEngine, type ScriptedEngineOptions } from '../src/scripted/engine.ts';
import { anyTaste, BYTE_VOCABULARY, SPELLINGS, STOP } from './support/byte-policy.ts';

const SMALL = { city: { enum: ['Rome', 'Paris', 'Röme'] }, days: { type: 'integer', minimum: 8, maximum: 12 }, isDirect: { type: 'boolean' } };
const CANDIDATE = { city: 'rome', days: 9 };

/** Prefers long tokens, as a trained model does: most of what it writes is spelled as its tokenizer would. */
function taste(seed: number): ScriptedEngineOptions['script'] {
  const anything = anyTaste(seed, 1);
  return (history, out) => {
    anything(history, out);
    SPELLINGS.forEach((spelling, id) => { out[id]! += 2 * spelling.length; });
  };
}

function matcherOf(properties: JsonObject = SMALL, candidate: JsonObject = CANDIDATE): MaskMatcher {
  const loaded = loadContract({ tool: { name: 't', description: '', parameters: { type: 'object', properties, additionalProperties: false, required: ['city'] } } });
  if (!loaded.ok) throw new Error(loaded.error.code);
  const contract: Contract = loaded.value;
  const report = validateValue(contract, candidate);
  if (report.kind === 'valid') throw new Error('the candidate is valid');
  const mask = compileMask(contract, BYTE_VOCABULARY, { excludeNoOps: true });
  const matcher = mask.ok ? mask.value.bind({ ...openRepair(contract, report, candidate), operationsLeft: 1 }) : mask;
  if (!matcher.ok) throw new Error(matcher.error.code);
  return matcher.value;
}

function outputsOf(matcher: MaskMatcher, limit = 256): readonly Output[] {
  const outputs = enumerateOutputs(matcher, BYTE_VOCABULARY, limit);
  if (!outputs.ok) throw new Error(outputs.error.code);
  return outputs.value;
}

/** By single bytes: all of them are tokens here. */
function textsByBytes(matcher: MaskMatcher): readonly string[] {
  const texts = matcher.isAllowed(STOP) ? [matcher.text()] : [];
  for (let byte = 0; byte < 256; byte += 1) {
    if (!matcher.isAllowed(byte)) continue;
    const next = matcher.fork();
    next.acceptToken(byte);
    texts.push(...textsByBytes(next));
  }
  return texts;
}

async function startOf(script: ScriptedEngineOptions['script'], onStep?: ScriptedEngineOptions['onStep']) {
  const engine = createScriptedEngine({ logitWidth: BYTE_VOCABULARY.logitWidth, script, ...(onStep === undefined ? {} : { onStep }) });
  const start = await engine.extend(engine.emptyCache, [0]);
  if (!start.ok) throw new Error(start.error.code);
  return { engine, start: start.value as EngineStep };
}

async function scoresOf(seed: number, options: Parameters<typeof scoreOutputs>[4] = {}): Promise<readonly ScoredOutput[]> {
  const { engine, start } = await startOf(taste(seed));
  const scored = await scoreOutputs(engine, matcherOf(), start, outputsOf(matcherOf()), options);
  if (!scored.ok) throw new Error(scored.error.code);
  return scored.value;
}

async function decode(seed: number, sampling: Parameters<typeof createSampler>[0], jumpForward: boolean): Promise<Generation> {
  const { engine, start } = await startOf(taste(seed));
  const generation = await generate(engine, matcherOf(), start, { sampler: createSampler(sampling), clock: () => 0, maxTokens: 200, jumpForward, reportMass: true });
  if (!generation.ok) throw new Error(generation.error.code);
  return generation.value;
}

describe('enumeration', () => {
  test('lists every output once, as its tokenizer spells it, and leaves the matcher where it was', () => {
    const matcher = matcherOf();
    const outputs = outputsOf(matcher);
    expect(outputs.map(({ text }) => text).sort()).toEqual([...textsByBytes(matcherOf())].sort());
    expect(outputs.map(({ text }) => text)).toContain('[{"op":"replace","path":"/city","value":"Röme"}]');
    for (const { text, ids } of outputs) expect(ids).toEqual([...BYTE_VOCABULARY.encode(text), STOP]);
    expect(matcher.text()).toBe('');
  });

  test('goes on from where the matcher stands', () => {
    const matcher = matcherOf();
    for (const id of BYTE_VOCABULARY.encode('[{"op":"replace","path":"/days"')) expect(matcher.acceptToken(id).ok).toBe(true);
    const values = outputsOf(matcher).map(({ text }) => /^\[\{"op":"replace","path":"\/days","value":(\d+)\}\]$/u.exec(text)?.[1]);
    expect(values.sort()).toEqual(['10', '11', '12', '8']);
  });

  test.each([
    { what: 'one output more than the limit', properties: SMALL, limit: textsByBytes(matcherOf()).length - 1 },
    { what: 'a free string', properties: { city: { type: 'string', minLength: 5 } }, limit: 256 },
    { what: 'a long pattern', properties: { city: { type: 'string', pattern: '^[a-z]{40}$' } }, limit: 64 },
    { what: 'a number', properties: { city: { type: 'number' } }, limit: 64 },
  ])('$what is too many', ({ properties, limit }) => {
    expect(enumerateOutputs(matcherOf(properties), BYTE_VOCABULARY, limit)).toEqual({ ok: false, error: { code: 'mask/too-many-outputs', limit } });
  });

  test('a language of exactly the limit is listed', () => {
    const texts = textsByBytes(matcherOf());
    expect(outputsOf(matcherOf(), texts.length)).toHaveLength(texts.length);
  });
});

describe('a score', () => {
  const runs = fc.record({ seed: fc.integer({ min: 0, max: 2 ** 32 - 1 }), jumpForward: fc.boolean() });

  test('is the sum of the decisions of decoding, for the same tokens: greedy or sampled, masked or not', async () => {
    let compared = 0;
    await fc.assert(fc.asyncProperty(runs, fc.boolean(), async ({ seed, jumpForward }, isGreedy) => {
      const written = await decode(seed, isGreedy ? { kind: 'greedy' } : { kind: 'random', temperature: 1, topP: 1, seed }, jumpForward);
      const scored = (await scoresOf(seed, { jumpForward, reportUnmasked: true })).find(({ text }) => text === written.text)!;
      expect(scored).toBeDefined();
      // decoding may spell a text otherwise than its tokenizer, which is another sequence
      if (scored.ids.some((id, index) => id !== written.ids[index])) return;
      compared += 1;
      expect(scored.logProbability).toBeCloseTo(written.sequenceLogProbability, 4);
      expect(scored.unmaskedLogProbability).toBeCloseTo(written.sequenceLogProbability + written.mass!.logAllowed, 3);
    }), { numRuns: 24, seed: 5 });
    expect(compared).toBeGreaterThan(6);
  });

  test('is a probability: over all outputs they sum to at most one, and to one where each text has one spelling', async () => {
    const { engine, start } = await startOf(taste(4));
    const scores = await scoresOf(4);
    expect(scores.reduce((sum, { logProbability }) => sum + Math.exp(logProbability), 0)).toBeLessThan(1 + 1e-5);
    // from behind the operation, digits and letters are single tokens
    const matcher = matcherOf({ city: { enum: ['x', 'y', 'z'] } });
    for (const id of BYTE_VOCABULARY.encode('[{"op":"replace","path":"/city","value":"')) matcher.acceptToken(id);
    const scored = await scoreOutputs(engine, matcher, start, outputsFrom(matcher));
    expect(scored.ok && scored.value.reduce((sum, { logProbability }) => sum + Math.exp(logProbability), 0)).toBeCloseTo(1, 5);
  });

  test('orders as a search for the best few does, which asks the engine less', async () => {
    await fc.assert(fc.asyncProperty(runs, fc.integer({ min: 1, max: 4 }), async ({ seed, jumpForward }, top) => {
      const all = await scoresOf(seed, { jumpForward });
      expect(await scoresOf(seed, { jumpForward, top })).toEqual(all.slice(0, top));
    }), { numRuns: 10 });
    const steps = async (top: number): Promise<number> => {
      let count = 0;
      const { engine, start } = await startOf(taste(1), () => void (count += 1));
      await scoreOutputs(engine, matcherOf(), start, outputsOf(matcherOf()), { top });
      return count;
    };
    expect(await steps(2)).toBeLessThan(await steps(Infinity));
  });

  test('runs what outputs share once: one engine step a decision', async () => {
    const histories: string[] = [];
    const { engine, start } = await startOf(taste(1), (history) => void histories.push(history.join(' ')));
    await scoreOutputs(engine, matcherOf(), start, outputsOf(matcherOf()));
    expect(new Set(histories).size).toBe(histories.length);
    expect(histories.length).toBeLessThan(outputsOf(matcherOf()).reduce((sum, { ids }) => sum + ids.length, 0) / 4);
  });

  test('of an output that the mask refuses is the caller’s bug; an abort and broken logits are failures', async () => {
    const { engine, start } = await startOf(taste(1));
    await expect(scoreOutputs(engine, matcherOf(), start, [{ text: 'no', ids: [...BYTE_VOCABULARY.encode('no'), STOP] }])).rejects.toThrow(RangeError);
    expect(await scoreOutputs(engine, matcherOf(), start, outputsOf(matcherOf()), { signal: AbortSignal.abort() })).toEqual({ ok: false, error: { code: 'engine/aborted' } });
    const broken = await startOf((history, out) => void (history.length > 1 && out.fill(NaN)));
    expect(await scoreOutputs(broken.engine, matcherOf(), broken.start, outputsOf(matcherOf()))).toEqual({ ok: false, error: { code: 'engine/bad-logits' } });
  });

  /** Of one spelling each, from where the matcher stands: the ids behind its prefix. */
  function outputsFrom(matcher: MaskMatcher): readonly Output[] {
    return outputsOf(matcher).map(({ text }) => ({ text, ids: [...BYTE_VOCABULARY.encode(text.slice(matcher.text().length)), STOP] }));
  }
});

describe('the exact answer', () => {
  const options = { jumpForward: true, abstainShare: undefined, signal: undefined };

  test('is the most probable output, at least as probable as the greedy one, with its margin and a digest that replays', async () => {
    let isBetter = 0;
    await fc.assert(fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 32 - 1 }), async (seed) => {
      const { engine, start } = await startOf(taste(seed));
      const answer = await answerExactly(engine, BYTE_VOCABULARY, matcherOf(), start, options);
      if (!answer.ok) throw new Error(answer.error.code);
      const [best, second] = await scoresOf(seed);
      const { text, ids, logProbability, margin, maskDigest, outputCount } = answer.value;
      expect({ text, logProbability, margin, outputCount }).toEqual({ text: best!.text, logProbability: best!.logProbability, margin: best!.logProbability - second!.logProbability, outputCount: outputsOf(matcherOf()).length });
      expect(replayMask({ maskDigest, maskTrail: { ids, closedCount: null }, jumpForward: true }, matcherOf())).toEqual({ ok: true, value: text });
      const greedy = await decode(seed, { kind: 'greedy' }, true);
      const isCanonical = greedy.ids.every((id, index) => id === [...BYTE_VOCABULARY.encode(greedy.text), STOP][index]);
      if (isCanonical) expect(logProbability).toBeGreaterThanOrEqual(greedy.sequenceLogProbability - 1e-4);
      if (greedy.text !== text) isBetter += 1;
    }), { numRuns: 16, seed: 11 });
    expect(isBetter).toBeGreaterThan(0);
  });

  test('is an abstention where all of them have the given share', async () => {
    const { engine, start } = await startOf(taste(2));
    const answered = async (abstainShare: number) => {
      const answer = await answerExactly(engine, BYTE_VOCABULARY, matcherOf(), start, { ...options, abstainShare });
      return answer.ok && answer.value.text;
    };
    expect(await answered(0)).toMatch(/^\{"abstain":/u);
    expect(await answered(1)).toBe((await scoresOf(2))[0]!.text);
  });

  test('of a free string is not to be had', async () => {
    const { engine, start } = await startOf(taste(2));
    expect(await answerExactly(engine, BYTE_VOCABULARY, matcherOf({ city: { type: 'string', minLength: 5 } }), start, options)).toMatchObject({ ok: false, error: { code: 'mask/too-many-outputs' } });
  });
});
