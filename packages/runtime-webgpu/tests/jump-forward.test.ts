/**
 * Forced runs under the real mask. A model that means one text and spells it as its tokenizer does must write that text, in those tokens, whether
 * forced runs are jumped over or chosen token by token: a run may never be forced past a token that such a model would have used across its end.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileMask, type TokenId } from '@contractrl/grammar-mask';
import { generate, type Generation } from '../src/generate.ts';
import { createSampler, type Sampling } from '../src/sampling.ts';
import { createScriptedEngine, type ScriptedEngineOptions } from '../src/scripted/engine.ts';
import { byteTokenizer, STOP } from './support/byte-policy.ts';
import { contractOf, observationOf, REFERENCE_REPAIRS, requestOf } from './support/repair-prompts.ts';

type Script = ScriptedEngineOptions['script'];

const PROMPT: readonly TokenId[] = [0];
const MAX_TOKENS = 200;

/** All bytes, the stop token, and pieces as a tokenizer would have learnt them: many overlap at the ends of forced runs. */
const PIECES = [
  '[{', '{"', '"op', 'op"', '":"', '":', ':"', 'add', 'ad', 'remove', 're', 'rem', 'move', 'replace', '","', '",', ',"', 'path', 'pa', 'th', '"path":"/', '/', 'value', 'val', 'ue":',
  '"}', '"}]', '}]', ']', 'abstain', 'ab', 'locked', 'not-in-state', 'not', '-in', 'from', 'fr', 'om":"/', 'city', 'type', 'ty', 'name', 'year', 'la', 'limit', 'li', 'tion', 'true', 'tr', 'fal', '12', '0', '1', ' ',
];
const { vocabulary: VOCABULARY, spellings, encode } = byteTokenizer(PIECES);

/** Any legal text: all tokens are alike, save that patches begin more often than abstentions and strings end before long. */
const anything: Script = (history, out) => {
  const written = textOf(history);
  spellings.forEach((spelling, id) => {
    out[id] = id === STOP || spelling.includes(written === '' ? '[' : '"') ? 3 : 0;
  });
};

/** Means `text`, in the tokenizer's spelling. */
function meaning(text: string): Script {
  const ids = [...encode(text), STOP];
  return (history, out) => {
    const written = history.length - PROMPT.length;
    if (ids.slice(0, written).every((id, index) => id === history[PROMPT.length + index])) out[ids[written] ?? STOP] = 1;
  };
}

function textOf(history: readonly TokenId[]): string {
  return history.slice(PROMPT.length).map((id) => spellings[id]!).join('');
}

async function decode(reference: (typeof REFERENCE_REPAIRS)[number], script: Script, jumpForward: boolean, sampling: Sampling = { kind: 'greedy' }): Promise<Generation> {
  const request = requestOf(reference);
  const mask = compileMask(contractOf(request), VOCABULARY);
  const matcher = mask.ok ? mask.value.bind(observationOf(request).state) : mask;
  if (!matcher.ok) throw new Error(matcher.error.code);
  const engine = createScriptedEngine({ logitWidth: VOCABULARY.logitWidth, script });
  const start = await engine.extend(engine.emptyCache, PROMPT);
  if (!start.ok) throw new Error(start.error.code);
  const generation = await generate(engine, matcher.value, start.value, { sampler: createSampler(sampling), clock: () => 0, maxTokens: MAX_TOKENS, jumpForward });
  if (!generation.ok) throw new Error(generation.error.code);
  return generation.value;
}

test('jump-forward writes every text in the tokens that its tokenizer gives it, and so does choosing token by token', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...REFERENCE_REPAIRS), fc.integer({ min: 0, max: 2 ** 32 - 1 }), async (reference, seed) => {
      const { kind, text } = await decode(reference, anything, false, { kind: 'random', temperature: 1, topP: 1, seed });
      fc.pre(kind === 'complete');
      seen.add(text);
      const [on, off] = [await decode(reference, meaning(text), true), await decode(reference, meaning(text), false)];
      expect(on.text).toBe(text);
      expect(on.ids).toEqual([...encode(text), STOP]);
      expect(off.ids).toEqual(on.ids);
      expect(on.forcedTokenCount).toBeGreaterThan(0);
      expect(on.sequenceLogProbability).toBeGreaterThanOrEqual(off.sequenceLogProbability);
    }),
    { numRuns: 50 },
  );
  expect(seen.size).toBeGreaterThan(20);
}, 60_000);
