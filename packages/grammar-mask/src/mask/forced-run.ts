/**
 * Forced runs: the bytes that every continuation shares, and the tokens that may be written for them without asking the model. A run is only spelled
 * as far as no legal token could spell it otherwise across its end: a spelling of our own in place of the model's would change what follows.
 */
import { fromUtf8, toUtf8 } from '../bytes.ts';
import type { ClosedOperation } from '../grammar/operation-grammar.ts';
import { CLOSE_BRACKET, COMMA } from '../grammar/position.ts';
import { END, type ValueAutomaton } from '../grammar/value-automaton.ts';
import type { TokenTrie } from '../vocab/token-trie.ts';
import type { VocabularyIndex } from '../vocab/vocabulary-index.ts';
import type { TokenId, Vocabulary } from '../vocab/vocabulary.ts';
import { bytesBetween, stepAfter, type Step } from './step.ts';

export interface SpellingParts {
  readonly vocabulary: Vocabulary;
  readonly index: VocabularyIndex;
  readonly automaton: ValueAutomaton;
}

/** The bytes up to the next choice, and the step they lead to. */
export interface ForcedRun {
  readonly bytes: Uint8Array;
  readonly end: Step;
}

/** A forced run ends of itself in every finite contract; this bounds a single answer. */
const MAX_FORCED_BYTES = 4096;
/** Bytes of earlier output that forced bytes are tokenised behind: more than any merge of a tokenizer reaches back over. */
const LOOK_BACK_BYTES = 64;

export function forcedRunFrom(start: Step, { automaton }: SpellingParts): ForcedRun {
  const bytes: number[] = [];
  let end = start;
  while (bytes.length < MAX_FORCED_BYTES) {
    const byte = forcedByteAt(end, automaton);
    if (byte < 0) break;
    bytes.push(byte);
    end = stepAfter(end, Uint8Array.of(byte), automaton) as Step;
  }
  return { bytes: Uint8Array.from(bytes), end: { ...end, parent: undefined } };
}

/**
 * The tokens every canonical spelling of the run begins with. Some legal token may start inside the run and reach beyond it; then the
 * run's own spelling may only be trusted as far as it agrees with the spelling of what lies in front of that token, for every such token.
 */
export function safeTokens(from: Step, bytes: Uint8Array, ends: boolean, parts: SpellingParts): readonly TokenId[] {
  const cuts = ends ? [bytes.length] : [...spanningStarts(from, bytes, parts), bytes.length];
  let agreed: readonly TokenId[] | undefined;
  for (const cut of cuts) {
    const spelled = spell(from, bytes.subarray(0, cut), parts);
    const shared = agreed === undefined ? spelled.length : agreed.findIndex((id, index) => id !== spelled[index]);
    agreed = agreed === undefined ? spelled : agreed.slice(0, shared === -1 ? agreed.length : shared);
    if (agreed.length === 0) return [];
  }
  return agreed ?? [];
}

/** Offsets inside the run at which a legal token starts that spans the run's end. */
function spanningStarts(from: Step, bytes: Uint8Array, { automaton, index: { trie, longestToken }, vocabulary }: SpellingParts): readonly number[] {
  const starts: number[] = [];
  let step = from;
  for (let start = 0; start < bytes.length; start += 1) {
    if (bytes.length - start < longestToken) {
      const inside = bytes.subarray(start);
      const isLegal = (token: Uint8Array): boolean => stepAfter(step, token, automaton) !== undefined;
      if (someTokenBeyond(trie, inside, (id) => isLegal(vocabulary.tokens[id] as Uint8Array))) starts.push(start);
    }
    step = stepAfter(step, bytes.subarray(start, start + 1), automaton) as Step;
  }
  return starts;
}

/** The tokenizer's own spelling of `bytes` behind the output so far; of `bytes` alone where the two would merge. */
function spell(from: Step, bytes: Uint8Array, { vocabulary }: SpellingParts): readonly TokenId[] {
  const before = contextOf(from);
  const text = fromUtf8(bytes);
  const together = vocabulary.encode(before + text);
  let skipped = toUtf8(before).length;
  let first = 0;
  while (skipped > 0 && first < together.length) {
    skipped -= vocabulary.tokens[together[first] as TokenId]?.length ?? Infinity;
    first += 1;
  }
  const spelled = skipped === 0 ? together.slice(first) : vocabulary.encode(text);
  // an encoder that changes its text (normalises, adds a space) is trusted only as far as it gives the bytes back
  let length = 0;
  const wrong = spelled.findIndex((id) => {
    const token = vocabulary.tokens[id];
    if (token === undefined || !startsWith(bytes, length, token)) return true;
    length += token.length;
    return false;
  });
  return wrong === -1 ? spelled : spelled.slice(0, wrong);
}

/** The end of the output so far, whole tokens; empty where that begins or ends inside a character. */
function contextOf(end: Step): string {
  let start = end;
  while (start.parent !== undefined && end.length - start.length < LOOK_BACK_BYTES) start = start.parent;
  const bytes = bytesBetween(end, start.length);
  const text = fromUtf8(bytes);
  return toUtf8(text).length === bytes.length ? text : '';
}

/** The only byte that can follow, −1 where there is a choice or the output may stop. */
function forcedByteAt({ grammar, state, closed }: Step, automaton: ValueAutomaton): number {
  if (state === END) {
    const hasNext = (closed as ClosedOperation).hasNext();
    if ((closed as ClosedOperation).canEnd()) return hasNext ? -1 : CLOSE_BRACKET;
    return hasNext ? COMMA : -1;
  }
  return state > 0 ? automaton.forcedByte(state) : grammar.forcedByte(state);
}

/** Whether a token that begins with `bytes` and is longer passes `test`. */
function someTokenBeyond(trie: TokenTrie, bytes: Uint8Array, test: (id: TokenId) => boolean): boolean {
  let [from, to] = [0, trie.nodeCount];
  for (const byte of bytes) {
    let node = from;
    while (node < to && trie.byte[node] !== byte) node += trie.subtreeSize[node] as number;
    if (node >= to) return false;
    [from, to] = [node + 1, node + (trie.subtreeSize[node] as number)];
  }
  // ids of the nodes from..to lie together
  for (let index = trie.tokenOffset[from] as number; from < to && index < (trie.tokenOffset[to] as number); index += 1) if (test(trie.ids[index] as number)) return true;
  return false;
}

function startsWith(bytes: Uint8Array, offset: number, part: Uint8Array): boolean {
  return offset + part.length <= bytes.length && part.every((byte, index) => bytes[offset + index] === byte);
}
