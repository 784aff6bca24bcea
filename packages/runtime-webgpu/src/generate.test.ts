import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MaskMatcher, TokenId } from '@contractrl/grammar-mask';
import { generate, type GenerateOptions, type Generation } from './generate.ts';
import { createSampler } from './sampling.ts';
import { createScriptedEngine, type ScriptedEngineOptions } from './scripted/engine.ts';
import { createToyMatcher, STOP } from '../tests/support/toy-matcher.ts';

const PIECES = ['[{"op":"', 'add', 'ad', 'd', 'remove', '","path":"/', 'city', 'ci', 'ty', 'ties', 'cities', '"}', '"}]', ']', '{"', 'abstain', '":"', 'locked'];
const TEXTS = ['[{"op":"add","path":"/city"}]', '[{"op":"remove","path":"/city"}]', '[{"op":"remove","path":"/cities"}]', '{"abstain":"locked"}'];
const PROMPT: readonly TokenId[] = [1, 2, 3];
const GREEDY = createSampler({ kind: 'greedy' });

/** Logits that depend on the text written after the prompt, not on how it was split: what a real model does nearly. */
function scriptFor(seed: number, spell: (id: TokenId) => string): ScriptedEngineOptions['script'] {
  return (history, out) => {
    const text = history.slice(PROMPT.length).map(spell).join('');
    for (let id = 0; id < out.length; id += 1) out[id] = Math.sin(seed + [...`${text}|${spell(id)}`].reduce((hash, char) => (hash * 33 + char.charCodeAt(0)) % 9973, 17)) * 5;
  };
}

const spell = (id: TokenId): string => (id === STOP ? '' : PIECES[id - 1]!);

async function run(overrides: Partial<GenerateOptions> & { readonly seed?: number; readonly script?: ScriptedEngineOptions['script']; readonly logitWidth?: number } = {}) {
  const chunks: number[] = [];
  const logitWidth = overrides.logitWidth ?? PIECES.length + 1;
  const engine = createScriptedEngine({ logitWidth, script: overrides.script ?? scriptFor(overrides.seed ?? 1, spell), onStep: (_, count) => void chunks.push(count) });
  const start = await engine.extend(engine.emptyCache, PROMPT);
  if (!start.ok) throw new Error(start.error.code);
  const result = await generate(engine, createToyMatcher(PIECES, TEXTS, logitWidth), start.value, { sampler: GREEDY, clock: () => 0, maxTokens: 40, ...overrides });
  return { result, chunks: chunks.slice(1) };
}

async function decodeUnder(matcher: MaskMatcher, script: ScriptedEngineOptions['script'], options: Partial<GenerateOptions> = {}): Promise<{ readonly value: Generation }> {
  const engine = createScriptedEngine({ logitWidth: matcher.logitWidth, script });
  const start = await engine.extend(engine.emptyCache, PROMPT);
  if (!start.ok) throw new Error(start.error.code);
  const result = await generate(engine, matcher, start.value, { sampler: GREEDY, clock: () => 0, maxTokens: 40, ...options });
  if (!result.ok) throw new Error(result.error.code);
  return result;
}

async function generation(overrides: Parameters<typeof run>[0] = {}): Promise<Generation> {
  const { result } = await run(overrides);
  if (!result.ok) throw new Error(result.error.code);
  return result.value;
}

/** Prefers the pieces of one text over all others. */
function prefer(text: string): ScriptedEngineOptions['script'] {
  return (history, out) => {
    const written = history.slice(PROMPT.length).map(spell).join('');
    for (let id = 1; id < out.length; id += 1) if (id <= PIECES.length && text.startsWith(written + spell(id))) out[id] = spell(id).length;
  };
}

describe('jump-forward', () => {
  test('on or off, greedy output is the same bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 10_000 }), async (seed) => {
        const [on, off] = [await generation({ seed }), await generation({ seed, jumpForward: false })];
        expect(on.text).toBe(off.text);
        expect(TEXTS).toContain(on.text);
        expect(off.forcedTokenCount).toBe(0);
        expect(on.sequenceLogProbability).toBeGreaterThanOrEqual(off.sequenceLogProbability - 1e-9);
      }),
    );
  });

  test('a forced run goes to the engine in one chunk with the token chosen before it', async () => {
    const { result, chunks } = await run({ script: prefer('[{"op":"remove","path":"/cities"}]') });
    const value = result.ok ? result.value : undefined;
    expect(value).toMatchObject({ kind: 'complete', text: '[{"op":"remove","path":"/cities"}]' });
    // decisions: `[{"op":"`, `remove`, `cities`; after the last everything is forced, and the engine is not asked again.
    expect(value!.generatedTokenCount - value!.forcedTokenCount).toBe(3);
    expect(chunks).toEqual([1, 2]);
  });

  test('counts: generated is every output token, forced those never sampled', async () => {
    const value = await generation({ script: prefer('{"abstain":"locked"}') });
    expect(value.ids.at(-1)).toBe(STOP);
    expect(value.generatedTokenCount).toBe(value.ids.length);
    expect(value.generatedTokenCount - value.forcedTokenCount).toBe(1);
  });
});

describe('probabilities', () => {
  test('the sequence log-probability is the sum over the decisions of the masked distribution', async () => {
    const value = await generation({ script: () => undefined });
    // flat logits: two openings, then `ad`, `add` or `remove`, then … : each decision adds −log of its number of choices.
    expect(Math.exp(-value.sequenceLogProbability)).toBeCloseTo(Math.round(Math.exp(-value.sequenceLogProbability)), 6);
    expect(value.sequenceLogProbability).toBeLessThan(0);
  });

  test('the allowed mass is the share of the allowed ids, at decisions only; what is masked has the class of its clause', async () => {
    const { mass } = await generation({ script: prefer('{"abstain":"locked"}'), reportMass: true });
    const logits = new Float32Array(PIECES.length + 1);
    prefer('{"abstain":"locked"}')(PROMPT, logits);
    const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
    const shareOf = (piece: string): number => Math.exp(logits[PIECES.indexOf(piece) + 1]!) / total;
    const allowed = shareOf('{"') + shareOf('[{"op":"');
    expect(mass?.steps).toHaveLength(1);
    const [step] = mass!.steps;
    expect(step).toMatchObject({ index: 0, topRejected: { class: 'spelling' } });
    expect(step!.allowed).toBeCloseTo(allowed, 6);
    expect(step!.rejected).toEqual({ spelling: expect.closeTo(1 - allowed, 6) as number });
    expect(step!.unclassified).toBeCloseTo(0, 6);
    expect(mass!.logAllowed).toBeCloseTo(Math.log(allowed), 6);
    expect(mass!.opening!.patch).toBeCloseTo(shareOf('[{"op":"'), 6);
    expect(mass!.opening!.abstain).toBeCloseTo(shareOf('{"'), 6);
    expect((await generation()).mass).toBeUndefined();
  });

  test('tokens too improbable to be asked for their clause are counted together', async () => {
    const asked: TokenId[] = [];
    const width = PIECES.length + 1;
    const script: ScriptedEngineOptions['script'] = (_, out) => { out.fill(-13); out[PIECES.indexOf('{"') + 1] = 0; out[PIECES.indexOf('add') + 1] = -1; };
    const { value } = await decodeUnder({ ...createToyMatcher(PIECES, TEXTS, width), explain: (id) => { asked.push(id); return { isAllowed: false, clause: { kind: 'whitespace' } }; } }, script, { reportMass: true });
    expect(asked).toEqual([PIECES.indexOf('add') + 1]);
    const total = 1 + Math.exp(-1) + (width - 2) * Math.exp(-13);
    expect(value.mass!.steps[0]).toMatchObject({
      topRejected: { id: PIECES.indexOf('add') + 1, class: 'whitespace', probability: expect.closeTo(Math.exp(-1) / total, 6) as number },
      unclassified: expect.closeTo(((width - 3) * Math.exp(-13)) / total, 6) as number,
    });
  });

  test('the same seed writes the same text', async () => {
    const texts = await Promise.all([5, 5].map(async (seed) => (await generation({ sampler: createSampler({ kind: 'random', temperature: 2, topP: 1, seed }) })).text));
    expect(texts[0]).toBe(texts[1]);
  });
});

describe('what a decision tells without further cost', () => {
  /** More single pieces than are asked for one by one, behind an opening between two. */
  const pieces = ['[', ']', ...Array.from({ length: 1800 }, (_, index) => String.fromCharCode(0x4e00 + index))];
  const texts = pieces.slice(2, 1202).map((piece) => `[${piece}]`);
  const decide = (options: Partial<GenerateOptions> = {}): Promise<{ readonly value: Generation }> => decodeUnder(createToyMatcher([...pieces, '{', '}'], [...texts, '{}'], pieces.length + 3), (history, out) => {
    out[7] = history.at(-1) === 1 ? 2 : 0;
    out[1] = history.length === PROMPT.length ? 1.5 : 0;
  }, options);

  test('is its margin, and among many ids what the mask took of the model', async () => {
    const { value } = await decide();
    expect(value.text).toBe(`[${pieces[6]!}]`);
    // between the brackets 1.5 in logits, between the pieces 2
    expect(value.margin).toBeCloseTo(1.5, 6);
    expect(value.openLogAllowed).toBeCloseTo(Math.log((1199 + Math.exp(2)) / (pieces.length + 2 + Math.exp(2))), 4);
  });

  test('is the same with the masses reported, which know of the other decisions too', async () => {
    const [plain, measured] = [(await decide()).value, (await decide({ reportMass: true })).value];
    expect([measured.margin, measured.openLogAllowed]).toEqual([plain.margin, plain.openLogAllowed]);
    const wide = measured.mass!.steps.find(({ index }) => index === 1)!;
    expect(Math.log(wide.allowed)).toBeCloseTo(plain.openLogAllowed, 3);
    expect(measured.mass!.logAllowed).toBeLessThan(plain.openLogAllowed);
  });
});

describe('the decision between patch and abstention', () => {
  /** A patch is the likelier token, abstentions together have more: `{"` has two thirds of `[{"op":"`, and so has `{`. */
  const pieces = [...PIECES, '{'];
  const script: ScriptedEngineOptions['script'] = (_, out) => {
    out.fill(-9);
    out[PIECES.indexOf('[{"op":"') + 1] = Math.log(3);
    out[PIECES.indexOf('{"') + 1] = Math.log(2);
    out[pieces.length] = Math.log(2);
  };
  const decide = async (abstainShare?: number): Promise<Generation> => (await decodeUnder(createToyMatcher(pieces, TEXTS, pieces.length + 1), script, { abstainShare })).value;

  test('is reported with the share of all abstentions', async () => {
    expect((await decide()).abstainShare).toBeCloseTo(4 / 7, 6);
    expect((await decodeUnder(createToyMatcher(pieces, ['{"abstain":"locked"}']), script)).value.abstainShare).toBeUndefined();
  });

  test.each([
    { threshold: undefined, kind: 'a patch', abstains: false },
    { threshold: 0.6, kind: 'a patch', abstains: false },
    { threshold: 0.5, kind: 'an abstention', abstains: true },
    { threshold: 0, kind: 'an abstention', abstains: true },
  ])('under a threshold of $threshold is $kind', async ({ threshold, abstains }) => {
    const { text, sequenceLogProbability } = await decide(threshold);
    expect(text.startsWith('{')).toBe(abstains);
    // the confidence stays that among all admissible answers: the likeliest first token of its kind
    expect(sequenceLogProbability).toBeLessThan(Math.log(abstains ? 2 / 7 : 3 / 7) + 1e-6);
  });

  test('never becomes a patch by a threshold', async () => {
    await fc.assert(fc.asyncProperty(fc.integer({ min: 0, max: 10_000 }), fc.double({ min: 0, max: 1, noNaN: true }), async (seed, abstainShare) => {
      const [plain, withThreshold] = [await generation({ seed }), await generation({ seed, abstainShare })];
      if (plain.text.startsWith('{')) expect(withThreshold.text).toBe(plain.text);
    }), { numRuns: 50 });
  });
});

describe('ends', () => {
  test('a spent token budget is incomplete, with the text so far', async () => {
    const value = await generation({ maxTokens: 2, script: prefer('[{"op":"add","path":"/city"}]') });
    expect(value).toMatchObject({ kind: 'incomplete', generatedTokenCount: 2, text: '[{"op":"add' });
  });

  test('an abort between two steps stops', async () => {
    expect((await run({ signal: AbortSignal.abort() })).result).toEqual({ ok: false, error: { code: 'engine/aborted' } });
  });

  test('an abort during a step stops after it', async () => {
    const controller = new AbortController();
    const { result } = await run({
      signal: controller.signal,
      script: (history, out) => {
        if (history.length > PROMPT.length) controller.abort();
        prefer(TEXTS[0]!)(history, out);
      },
    });
    expect(result).toEqual({ ok: false, error: { code: 'engine/aborted' } });
  });

  test('logits that are not numbers are a failure', async () => {
    const { result } = await run({ script: (history, out) => void (history.length > PROMPT.length && out.fill(NaN)) });
    expect(result).toEqual({ ok: false, error: { code: 'engine/bad-logits' } });
  });

  test('an empty mask is a failure, never token 0', async () => {
    const engine = createScriptedEngine({ logitWidth: PIECES.length + 1, script: () => undefined });
    const start = await engine.extend(engine.emptyCache, PROMPT);
    if (!start.ok) throw new Error(start.error.code);
    const result = await generate(engine, createToyMatcher(PIECES, [], PIECES.length + 1), start.value, { sampler: GREEDY, clock: () => 0, maxTokens: 9 });
    expect(result).toEqual({ ok: false, error: { code: 'mask/empty' } });
  });

  test('a matcher of another width is the caller’s bug', async () => {
    const engine = createScriptedEngine({ logitWidth: 50, script: () => undefined });
    const start = await engine.extend(engine.emptyCache, PROMPT);
    if (!start.ok) throw new Error(start.error.code);
    await expect(generate(engine, createToyMatcher(PIECES, TEXTS), start.value, { sampler: GREEDY, clock: () => 0, maxTokens: 9 })).rejects.toThrow(RangeError);
  });
});

test('more allowed ids than the sparse form holds take all logits, and padding is never chosen', async () => {
  const many = Array.from({ length: 1500 }, (_, index) => `x${index};`);
  const logitWidth = 2048;
  const engine = createScriptedEngine({ logitWidth, script: (_, out) => void out.forEach((__, id) => (out[id] = id === 1300 || id > 1600 ? 9 : 0)) });
  const start = await engine.extend(engine.emptyCache, PROMPT);
  if (!start.ok) throw new Error(start.error.code);
  const result = await generate(engine, createToyMatcher(many, many, logitWidth), start.value, { sampler: GREEDY, clock: () => 0, maxTokens: 9 });
  expect(result.ok && result.value.text).toBe(many[1299]);
});

test('times come from the given clock, mask and decode apart', async () => {
  let now = 0;
  const value = await generation({ clock: () => (now += 1) });
  expect(value.maskMs).toBeGreaterThan(0);
  expect(value.decodeMs).toBeGreaterThan(0);
  expect(value.maskMs + value.decodeMs).toBe(now - 1);
});

describe('a patch that misses its goal', () => {
  const DIGITS = ['[', '1', '2', '3', '4', ']', '{"abstain":"locked"}'];
  const digitOf = (id: TokenId): string => (id === STOP ? '' : DIGITS[id - 1]!);

  /** `[` and one digit, `]` only behind the `right` one: any other digit is a miss, and banned it is gone. */
  function missingMatcher(right: string | undefined) {
    let banned: readonly string[] = [];
    const texts = (): readonly string[] => ['1', '2', '3', '4'].filter((digit) => !banned.includes(digit)).map((digit) => (digit === right ? `[${digit}]` : `[${digit}?`));
    const inner = () => createToyMatcher([...DIGITS, '?'], [...texts(), '{"abstain":"locked"}'], DIGITS.length + 2);
    let matcher = inner();
    let accepted: TokenId[] = [];
    const isMiss = (): boolean => accepted.length === 2 && digitOf(accepted[1]!) !== right;
    return {
      matcher: {
        ...matcher,
        fillBitmask: (bitmask: Int32Array) => matcher.fillBitmask(bitmask),
        allowedIds: (out: Int32Array) => (isMiss() ? 0 : matcher.allowedIds(out)),
        acceptToken(id: TokenId) {
          const result = matcher.acceptToken(id);
          if (result.ok) accepted.push(id);
          return result;
        },
        forcedTokens: () => (isMiss() ? [] : matcher.forcedTokens()),
        rollback(count: number) {
          matcher.rollback(count);
          accepted.length -= count;
        },
        isTerminated: () => matcher.isTerminated(),
        text: () => matcher.text(),
        isGoalMiss: isMiss,
        banMiss() {
          banned = [...banned, digitOf(accepted[1]!)];
          matcher = inner();
          accepted = [];
          matcher.acceptToken(1);
          accepted.push(1);
          return 1;
        },
      },
      bannedCount: () => banned.length,
    };
  }

  async function decode(right: string | undefined) {
    const width = DIGITS.length + 2;
    const histories: (readonly TokenId[])[] = [];
    // likes the digits in their order
    const engine = createScriptedEngine({ logitWidth: width, script: (_, out) => out.set([0, 9, 8, 7, 6, 5, 4, 1, 0]), onStep: (history) => void histories.push(history) });
    const start = await engine.extend(engine.emptyCache, PROMPT);
    if (!start.ok) throw new Error(start.error.code);
    const { matcher, bannedCount } = missingMatcher(right);
    const result = await generate(engine, matcher, start.value, { sampler: GREEDY, clock: () => 0, maxTokens: 40 });
    if (!result.ok) throw new Error(result.error.code);
    return { generation: result.value, bannedCount: bannedCount(), histories };
  }

  test('is taken back to its value, and the next best value is tried from the same state', async () => {
    const { generation: { kind, text, ids, generatedTokenCount, takenBackCount }, bannedCount, histories } = await decode('3');
    expect({ kind, text, bannedCount, takenBackCount }).toEqual({ kind: 'complete', text: '[3]', bannedCount: 2, takenBackCount: 2 });
    expect(ids.map(digitOf).join('')).toBe('[3]');
    // two values more than the output has
    expect(generatedTokenCount).toBe(ids.length + 2);
    // the engine never sees a value that was taken back
    expect(histories.every((history) => history.slice(PROMPT.length).every((id) => id === 1))).toBe(true);
  });

  test('counts no probability of what was taken back', async () => {
    const { generation } = await decode('2');
    expect(generation.sequenceLogProbability).toBeLessThan(0);
    expect(Math.exp(generation.sequenceLogProbability)).toBeGreaterThan(0.5);
  });

  test.each([
    { what: 'that began and then leads nowhere is one without a goal', dryAfter: 1, outcome: { ok: true, value: { kind: 'goal-unreachable', text: '[' } } },
    { what: 'that allows nothing from the start is a fault', dryAfter: 0, outcome: { ok: false, error: { code: 'mask/empty' } } },
  ])('a mask $what', async ({ dryAfter, outcome }) => {
    const { matcher } = missingMatcher('1');
    let count = 0;
    const dry: MaskMatcher = {
      ...matcher,
      allowedIds: (out) => (count >= dryAfter ? 0 : matcher.allowedIds(out)),
      forcedTokens: () => [],
      acceptToken(id) {
        count += 1;
        return matcher.acceptToken(id);
      },
    };
    const engine = createScriptedEngine({ logitWidth: dry.logitWidth, script: (_, out) => void (out[1] = 9) });
    const start = await engine.extend(engine.emptyCache, PROMPT);
    if (!start.ok) throw new Error(start.error.code);
    expect(await generate(engine, dry, start.value, { sampler: GREEDY, clock: () => 0, maxTokens: 40 })).toMatchObject(outcome);
  });

  test.each(['4', undefined])('ends after three values: the right one is %s', async (right) => {
    const { generation, bannedCount } = await decode(right);
    expect({ kind: generation.kind, bannedCount }).toEqual({ kind: 'goal-unreachable', bannedCount: 2 });
  });
});
