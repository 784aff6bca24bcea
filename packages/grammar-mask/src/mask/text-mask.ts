/**
 * What tokens may spell inside a string: its content's automaton and the tree of tokens walked side by side, symbol by symbol.
 * No transition of the byte automaton is computed for it.
 */
import type { StringContent } from '../grammar/string-content.ts';
import type { TextNode, TextTree } from '../vocab/text-tree.ts';
import type { TokenGroup, TokenSlice } from '../vocab/token-group.ts';

export interface FoundText {
  readonly groups: TokenGroup[];
  /** Tokens that end inside a character. */
  readonly partial: TokenGroup[];
  /** Nodes behind which the string may be closed. */
  readonly closing: TextNode[];
}

/** Kept for the next place of the same kind. */
export interface TextMask {
  readonly slice: TokenSlice;
  readonly closing: readonly TextNode[];
}

/** Adds to `found` what may follow `node`, which has led to `state` and `count` code points of `content`. `hasRoom` is asked of each text. */
export function findText(tree: TextTree, node: TextNode, content: StringContent, state: number, count: number, found: FoundText, hasRoom: (state: number, count: number) => boolean): void {
  tree.open(node);
  if (node.quoted.ids.length + node.closing.length > 0 && content.accepts(state, count)) found.closing.push(node);
  for (const { symbols, group } of node.partial) if (symbols.some((symbol) => content.step(state, count, symbol) >= 0)) found.partial.push(group);
  for (let symbol = 0; symbol < node.next.length; symbol += 1) {
    const next = node.next[symbol];
    const target = next === undefined ? -1 : content.step(state, count, symbol);
    if (next === undefined || target < 0) continue;
    if (next.whole.ids.length > 0 && hasRoom(target, count + 1)) found.groups.push(next.whole);
    findText(tree, next, content, target, count + 1, found, hasRoom);
  }
}
