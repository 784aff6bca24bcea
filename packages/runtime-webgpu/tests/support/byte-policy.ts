/** Tokenizers of single bytes and pieces as one would have learnt them, with a stop token, and scripts over one of them: for tests under the real mask. */
import { createVocabulary, type TokenId, type Vocabulary } from '@contractrl/grammar-mask';
import type { ScriptedEngineOptions } from '../../src/scripted/engine.ts';

export const STOP: TokenId = 256;
const PIECES = [
  '[{', '{"', 'op"', '":"', '":', 'add', 'ad', 'remove', 're', 'move', 'replace', '","', 'path', '"path":"/', 'value', 'ue":', '"}', '"}]', '}]',
  'abstain', 'locked', 'not', '-in', 'from', 'city', 'Ro', 'Rome', 'Par', 'is', '12', ' ',
];
const decoder = new TextDecoder('latin1');

export interface ByteTokenizer {
  readonly vocabulary: Vocabulary;
  /** The bytes of each token as Latin-1, empty for the stop token. */
  readonly spellings: readonly string[];
  /** Longest piece first, then bytes. */
  encode(text: string): readonly TokenId[];
}

/** All bytes, {@link STOP}, then `pieces`. Several ids may spell the same. */
export function byteTokenizer(pieces: readonly string[]): ByteTokenizer {
  const tokens = [...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)), undefined, ...pieces.map((piece) => new TextEncoder().encode(piece))];
  const encode = (text: string): readonly TokenId[] => {
    let rest = decoder.decode(new TextEncoder().encode(text));
    const ids: TokenId[] = [];
    while (rest !== '') {
      const longest = pieces.reduce((best, piece) => (rest.startsWith(piece) && piece.length > best.length ? piece : best), '');
      ids.push(longest.length > 1 ? STOP + 1 + pieces.indexOf(longest) : rest.charCodeAt(0));
      rest = rest.slice(longest.length > 1 ? longest.length : 1);
    }
    return ids;
  };
  const vocabulary = createVocabulary({ logitWidth: tokens.length, tokens, stopIds: [STOP], encode });
  if (!vocabulary.ok) throw new Error(vocabulary.error.code);
  return { vocabulary: vocabulary.value, spellings: tokens.map((bytes) => (bytes === undefined ? '' : decoder.decode(bytes))), encode };
}

export const { vocabulary: BYTE_VOCABULARY, spellings: SPELLINGS, encode }: ByteTokenizer = byteTokenizer(PIECES);

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
