/**
 * Tokens by what they spell inside a string: a tree over the symbols of an alphabet. Where nothing tells the letters apart, all tokens of five
 * letters are one node, so that a mask visits some hundred nodes in place of a hundred thousand. Nodes are opened when first visited, from the
 * byte tree. Characters spelled as escapes stand beside raw ones; tokens that end inside a character wait for its symbol.
 */
import type { Alphabet } from '../grammar/alphabet.ts';
import { BEFORE_QUOTE, BETWEEN, codePointOf, NO_CHARACTER, type CharacterSpelling, type CharacterStep } from '../grammar/character-spelling.ts';
import { newGroup, type TokenGroup } from './token-group.ts';
import type { TokenTrie } from './token-trie.ts';
import type { TokenId } from './vocabulary.ts';

const QUOTE = 0x22;

/** Behind some text. All but {@link TextNode.whole} is known once the node is open. */
export interface TextNode {
  /** Tokens that spell the text. */
  readonly whole: TokenGroup;
  /** Tokens that end inside one more character, which can become any of these symbols. */
  readonly partial: { readonly symbols: readonly number[]; readonly group: TokenGroup }[];
  /** Tokens that spell the text and the closing quote. */
  readonly quoted: TokenGroup;
  /** Nodes of the byte tree at which the text is closed while tokens go on. */
  readonly closing: number[];
  /** By symbol. */
  readonly next: (TextNode | undefined)[];
  /** Nodes of the byte tree that lead here and whose children are not read yet. */
  readonly unread: number[];
}

export class TextTree {
  readonly #trie: TokenTrie;
  readonly #characters: CharacterSpelling;
  readonly #alphabet: Alphabet;
  readonly #mixes: readonly [low: Int32Array, high: Int32Array];
  readonly #symbols = new Map<CharacterStep, readonly number[]>();
  readonly #lists = new Map<string, readonly number[]>();
  readonly #roots = new Map<CharacterStep, TextNode>();

  constructor(trie: TokenTrie, characters: CharacterSpelling, alphabet: Alphabet, mixes: readonly [low: Int32Array, high: Int32Array]) {
    this.#trie = trie;
    this.#characters = characters;
    this.#alphabet = alphabet;
    this.#mixes = mixes;
  }

  /** Where a token begins: behind some text and inside a character, or not, or in front of the opening quote, which is then part of no text. */
  rootAt(entry: CharacterStep): TextNode {
    let root = this.#roots.get(entry);
    if (root === undefined) {
      this.#roots.set(entry, root = newNode());
      const { firstNodes, nodeCount } = this.#trie;
      if (entry !== BEFORE_QUOTE) this.#read(root, 0, nodeCount, entry);
      else if ((firstNodes[QUOTE] as number) >= 0) this.#lead(root, firstNodes[QUOTE] as number);
    }
    return root;
  }

  open(node: TextNode): TextNode {
    for (const source of node.unread) this.#read(node, source + 1, source + (this.#trie.subtreeSize[source] as number), BETWEEN);
    node.unread.length = 0;
    return node;
  }

  /** Nodes `from` to `to` of the byte tree are whole subtrees of one parent, inside the character `partial`. */
  #read(node: TextNode, from: number, to: number, partial: CharacterStep): void {
    const { byte, subtreeSize } = this.#trie;
    for (let child = from; child < to; child += subtreeSize[child] as number) {
      const size = subtreeSize[child] as number;
      if (partial === BETWEEN && byte[child] === QUOTE) {
        this.#add(node.quoted, child);
        if (size > 1) node.closing.push(child);
        continue;
      }
      const step = this.#characters.step(partial, byte[child] as number);
      if (step === NO_CHARACTER) continue;
      if (step > BETWEEN) {
        const symbols = this.#symbolsAfter(step);
        if (symbols.length === 0) continue;
        this.#addPartial(node, symbols, child);
        this.#read(node, child + 1, child + size, step);
        continue;
      }
      const symbol = this.#alphabet.symbolOf(codePointOf(step));
      if (symbol < 0) continue;
      this.#lead(node.next[symbol] ??= newNode(), child);
    }
  }

  /** `child` of the byte tree spells the text of `node`. */
  #lead(node: TextNode, child: number): void {
    this.#add(node.whole, child);
    if ((this.#trie.subtreeSize[child] as number) > 1) node.unread.push(child);
  }

  #addPartial(node: TextNode, symbols: readonly number[], child: number): void {
    if (this.#trie.tokenOffset[child] === this.#trie.tokenOffset[child + 1]) return;
    let partial = node.partial.find((other) => other.symbols === symbols);
    if (partial === undefined) node.partial.push(partial = { symbols, group: newGroup() });
    this.#add(partial.group, child);
  }

  #add(group: TokenGroup, child: number): void {
    const { ids, tokenOffset } = this.#trie;
    const [low, high] = this.#mixes;
    for (let index = tokenOffset[child] as number; index < (tokenOffset[child + 1] as number); index += 1) {
      const id = ids[index] as TokenId;
      group.ids.push(id);
      group.hashLow = (group.hashLow + (low[id] as number)) | 0;
      group.hashHigh = (group.hashHigh + (high[id] as number)) | 0;
    }
  }

  /** The symbols that a partial character can become; equal lists are one object. */
  #symbolsAfter(partial: CharacterStep): readonly number[] {
    const known = this.#symbols.get(partial);
    if (known !== undefined) return known;
    const found = new Set<number>();
    const note = (symbol: number): boolean => {
      found.add(symbol);
      return false;
    };
    this.#characters.isViable(partial, (first, last) => this.#alphabet.some(first, last, note));
    const key = [...found].sort((a, b) => a - b).join();
    const list = this.#lists.get(key) ?? [...found];
    this.#lists.set(key, list);
    this.#symbols.set(partial, list);
    return list;
  }
}

function newNode(): TextNode {
  return { whole: newGroup(), partial: [], quoted: newGroup(), closing: [], next: [], unread: [] };
}
