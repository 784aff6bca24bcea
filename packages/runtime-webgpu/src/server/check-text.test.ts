import { compileMask, type MaskMatcher } from '@contractrl/grammar-mask';
import { describe, expect, test } from 'vitest';
import { promptSegments, buildPrompt } from '../prompt.ts';
import { createMaskedProposer, createProposerMemory } from '../proposer.ts';
import { replayMask } from '../replay-mask.ts';
import { createScriptedEngine } from '../scripted/engine.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { anyTaste, BYTE_VOCABULARY as PIECES, STOP } from '../../tests/support/byte-policy.ts';
import { observationOf, REFERENCE_REPAIRS, requestOf } from '../../tests/support/repair-prompts.ts';
import { BYTE_VOCABULARY, checkText } from './check-text.ts';

const CASES = REFERENCE_REPAIRS.slice(0, 6).map((repair) => observationOf(requestOf(repair)));
const tokenizer: Tokenizer = { encodePlain: PIECES.encode, encodeTrusted: PIECES.encode, decode: () => '', specialIds: new Map(), stopIds: [STOP], tokens: PIECES.tokens };

function matcherFor(observation: (typeof CASES)[number], rules: { readonly excludeNoOps: boolean } = { excludeNoOps: true }): MaskMatcher {
  const mask = compileMask(observation.contract, BYTE_VOCABULARY, rules);
  const matcher = mask.ok ? mask.value.bind(observation.state) : mask;
  if (!matcher.ok) throw new Error(matcher.error.code);
  return matcher.value;
}

/** What a policy of any taste writes under the mask of another tokenizer. */
async function written(observation: (typeof CASES)[number], seed: number): Promise<string | undefined> {
  const promptLength = promptSegments(buildPrompt(observation)).reduce((sum, { text }) => sum + PIECES.encode(text).length, 0);
  const engine = createScriptedEngine({ logitWidth: PIECES.logitWidth, script: anyTaste(seed, promptLength) });
  const proposed = await createMaskedProposer({ engine, tokenizer, vocabulary: PIECES, clock: () => 0, memory: createProposerMemory(engine) }).propose(observation, { aborted: false });
  return proposed.ok && proposed.value.kind === 'text' ? proposed.value.text : undefined;
}

describe('a text is inside the language', () => {
  test('where a mask over another tokenizer wrote it, and the record of its bytes is replayed to the same digest', async () => {
    let count = 0;
    for (const observation of CASES) {
      for (const seed of [1, 2, 3]) {
        const text = await written(observation, seed);
        if (text === undefined) continue;
        const checked = checkText(matcherFor(observation), text);
        if (!checked.ok) throw new Error(`byte ${checked.error.byteIndex} of ${text}`);
        expect(checked.value.maskTrail.ids).toEqual([...Buffer.from(text), 256]);
        expect(replayMask({ ...checked.value, jumpForward: true }, matcherFor(observation))).toEqual({ ok: true, value: text });
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(10);
  });

  test('and outside of it from the byte on that no continuation has, or at its end where it only stops too early', () => {
    const [observation] = CASES;
    const text = '{"abstain":"ambiguous"}';
    const outside = (changed: string): unknown => checkText(matcherFor(observation!), changed);
    expect(checkText(matcherFor(observation!), text).ok).toBe(true);
    for (let length = 0; length < text.length; length += 1) expect(outside(text.slice(0, length))).toEqual({ ok: false, error: { code: 'server/outside-language', byteIndex: length } });
    for (const index of [0, 5, 12, text.length - 1]) expect(outside(`${text.slice(0, index)}\u0001${text.slice(index + 1)}`)).toEqual({ ok: false, error: { code: 'server/outside-language', byteIndex: index } });
    expect(outside(`${text} `)).toEqual({ ok: false, error: { code: 'server/outside-language', byteIndex: text.length } });
    expect(outside('')).toMatchObject({ ok: false });
  });
});
