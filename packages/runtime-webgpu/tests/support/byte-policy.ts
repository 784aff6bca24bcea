/** A tokenizer of single bytes and a few pieces as one would have learnt them, a stop token, and scripts over it: for tests under the real mask. */
import { createVocabulary, type TokenId, type Vocabulary } from '@contractrl/grammar-mask';
import type { ScriptedEngineOptions } from '../../src/scripted/engine.ts';

export const STOP: TokenId = 256;
const PIECES = [
  '[{', '{"', 'op"', '":"', '":', 'add', 'ad', 'remove', 're', 'move', 'replace', '","', 'path', '"path":"/', 'value', 'ue":', '"}', '"}]', '}]',
  'abstain', 'locked', 'not', '-in', 'from', 'city', 'Ro', 'Rome', 'Par', 'is', '12', ' ',
];
const decoder = new TextDecoder('latin1');
const tokens = [...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)), undefined, ...PIECES.map((piece) => new TextEncoder().encode(piece))];

/** The bytes of a token as Latin-1, empty for the stop token. */
export const SPELLINGS: readonly string[] = tokens.map((bytes) => (bytes === undefined ? '' : decoder.decode(bytes)));

/** Longest piece first, then bytes. */
function encode(text: string): readonly TokenId[] {
  let rest = decoder.decode(new TextEncoder().encode(text));
  const ids: TokenId[] = [];
  while (rest !== '') {
    const longest = PIECES.reduce((best, piece) => (rest.startsWith(piece) && piece.length > best.length ? piece : best), '');
    ids.push(longest.length > 1 ? STOP + 1 + PIECES.indexOf(longest) : rest.charCodeAt(0));
    rest = rest.slice(longest.length > 1 ? longest.length : 1);
  }
  return ids;
}

function makeVocabulary(): Vocabulary {
  const vocabulary = createVocabulary({ logitWidth: tokens.length, tokens, stopIds: [STOP], encode });
  if (!vocabulary.ok) throw new Error(vocabulary.error.code);
  return vocabulary.value;
}

export const BYTE_VOCABULARY: Vocabulary = makeVocabulary();

export function writtenIn(history: readonly TokenId[], promptLength: number): string {
  return history.slice(promptLength).map((id) => SPELLINGS[id]!).join('');
}

/** Logits that depend on the text written after the prompt and on the token, the same for each seed. */
export function anyTaste(seed: number, promptLength: number): ScriptedEngineOptions['script'] {
  return (history, out) => {
    const written = writtenIn(history, promptLength);
    SPELLINGS.forEach((spelling, id) => {
      out[id] = 3 * Math.sin(seed + [...`${written}|${spelling}`].reduce((hash, char) => (hash * 33 + char.charCodeAt(0)) % 9973, 17));
    });
  };
}

/** Means `text`, in the tokenizer's spelling, with a logit of `strength` above all others. */
export function meaning(text: string, promptLength: number, strength: number): ScriptedEngineOptions['script'] {
  const ids = [...encode(text), STOP];
  return (history, out) => {
    const written = history.length - promptLength;
    if (ids.slice(0, written).every((id, index) => id === history[promptLength + index])) out[ids[written] ?? STOP] = strength;
  };
}
