/**
 * What the mask prepares once per vocabulary: the byte tree, and the tokens by what they spell inside a string. Inside a free string all that
 * spells text is one slice by its length in code points, OR-ed in at once; only tokens with the closing quote are looked at (SmolLM2: 161 of
 * 49,135). The idea of slices is llguidance's (`docs/optimizations.md`).
 */
import type { TextAutomaton } from '@contractrl/core/schema';
import { alphabetOf, ANY_TEXT } from '../grammar/alphabet.ts';
import { AFTER_BACKSLASH, BEFORE_QUOTE, BETWEEN, CharacterSpelling } from '../grammar/character-spelling.ts';
import { createSpelling, type Spelling } from '../grammar/spelling.ts';
import { TextTree, type TextNode } from './text-tree.ts';
import { sliceOf, type TokenSlice } from './token-group.ts';
import { buildTokenTrie, type TokenTrie } from './token-trie.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Text behind which tokens close a free string. */
export interface ClosingText {
  readonly codePoints: number;
  readonly node: TextNode;
}

export interface VocabularyIndex {
  readonly spelling: Spelling;
  readonly trie: TokenTrie;
  readonly longestToken: number;
  /** Two independent mixes of every id; a mask's hash is their sum over its ids, whatever the order. */
  readonly mixLow: Int32Array;
  readonly mixHigh: Int32Array;
  /** What tokens spell inside a free string, by code points. */
  readonly textNodes: readonly TextNode[];
  /** Of those, behind which some token closes the string. */
  readonly closings: readonly ClosingText[];
  /** Tokens that spell, or begin to spell, at most `codePoints` code points of a string. */
  sliceUpTo(codePoints: number): TokenSlice;
  /** What tokens spell inside strings of one content. */
  textTree(automaton: TextAutomaton): TextTree;
}

/** What is worth keeping between two processes: the rest follows from it and the vocabulary at once. */
export type IndexFields = Pick<VocabularyIndex, 'trie' | 'longestToken'>;

const prepared = new WeakMap<Vocabulary, VocabularyIndex>();

/** The index of a vocabulary, built on first use. O(total bytes + sorting). */
export function indexVocabulary(vocabulary: Vocabulary): VocabularyIndex {
  const known = prepared.get(vocabulary);
  if (known !== undefined) return known;
  const index = buildIndex(vocabulary);
  prepared.set(vocabulary, index);
  return index;
}

/** Makes an index that was read from a file that of `vocabulary`. */
export function adoptIndex(vocabulary: Vocabulary, fields: IndexFields): void {
  prepared.set(vocabulary, completeIndex(vocabulary, createSpelling(vocabulary.tokens), fields));
}

function buildIndex(vocabulary: Vocabulary): VocabularyIndex {
  const { tokens } = vocabulary;
  const ids = [...tokens.keys()].filter((id) => tokens[id] !== undefined);
  const longestToken = ids.reduce((longest, id) => Math.max(longest, (tokens[id] as Uint8Array).length), 0);
  return completeIndex(vocabulary, createSpelling(tokens), { trie: buildTokenTrie(tokens, ids), longestToken });
}

function completeIndex({ logitWidth }: Vocabulary, spelling: Spelling, fields: IndexFields): VocabularyIndex {
  const mixLow = new Int32Array(logitWidth);
  const mixHigh = new Int32Array(logitWidth);
  for (let id = 0; id < logitWidth; id += 1) {
    mixLow[id] = mix(id, 0x9e3779b1);
    mixHigh[id] = mix(id, 0x7feb352d);
  }
  const characters = new CharacterSpelling(spelling);
  const trees = new WeakMap<TextAutomaton, TextTree>();
  const textTree = (automaton: TextAutomaton): TextTree => {
    let tree = trees.get(automaton);
    if (tree === undefined) trees.set(automaton, tree = new TextTree(fields.trie, characters, alphabetOf(automaton), [mixLow, mixHigh]));
    return tree;
  };

  const free = textTree(ANY_TEXT);
  const nodesFrom = (entry: number): readonly TextNode[] => {
    const nodes: TextNode[] = [];
    for (let node: TextNode | undefined = free.rootAt(entry); node !== undefined; [node] = node.next) nodes.push(free.open(node));
    return nodes;
  };
  const textNodes = nodesFrom(BETWEEN);
  // the other places where many tokens can stand
  for (const entry of [BEFORE_QUOTE, AFTER_BACKSLASH]) nodesFrom(entry);
  const closings = textNodes.map((node, codePoints) => ({ codePoints, node })).filter(({ node }) => node.quoted.ids.length + node.closing.length > 0);
  const slices: TokenSlice[] = [sliceOf([], new Int32Array((logitWidth + 31) >> 5))];
  const sliceUpTo = (codePoints: number): TokenSlice => {
    for (let length = slices.length; length <= Math.min(codePoints, textNodes.length); length += 1) {
      const shorter = slices[length - 1] as TokenSlice;
      const begun = (textNodes[length - 1] as TextNode).partial.map(({ group }) => group);
      slices.push(sliceOf([...begun, ...textNodes.slice(length, length + 1).map(({ whole }) => whole)], shorter.words.slice(), shorter));
    }
    return slices[Math.min(codePoints, slices.length - 1)] as TokenSlice;
  };
  return { ...fields, spelling, mixLow, mixHigh, textNodes, closings, sliceUpTo, textTree };
}

function mix(id: number, seed: number): number {
  let mixed = Math.imul(id + 1, seed);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return mixed ^ (mixed >>> 13);
}
