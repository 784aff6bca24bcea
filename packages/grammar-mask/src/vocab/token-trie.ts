/**
 * All tokens as one prefix tree, flat in depth-first order: a walk is a single pass over typed arrays, and a byte that leads nowhere
 * skips its whole subtree by one addition. The idea is llguidance's (`toktrie`); sorting the tokens yields the order directly.
 */
import type { TokenId } from './vocabulary.ts';

export interface TokenTrie {
  readonly nodeCount: number;
  /** Byte on the edge into a node. */
  readonly byte: Uint8Array;
  /** Nodes in the subtree, the node itself included. */
  readonly subtreeSize: Int32Array;
  /** Depth of the node: 0 for the first byte of a token. */
  readonly depth: Uint16Array;
  /** Tokens that end at node n: `ids[tokenOffset[n]]` up to, not including, `ids[tokenOffset[n + 1]]`. Several ids may share bytes. */
  readonly tokenOffset: Int32Array;
  readonly ids: Int32Array;
  /** The node of each first byte, −1 where no token begins with it. */
  readonly firstNodes: Int32Array;
}

/** Builds the tree over the `ids` whose bytes are not empty. O(total bytes + sorting). */
export function buildTokenTrie(tokens: readonly (Uint8Array | undefined)[], ids: readonly TokenId[]): TokenTrie {
  const sorted = sortByBytes(tokens, ids.filter((id) => (tokens[id]?.length ?? 0) > 0));
  const capacity = sorted.reduce((total, id) => total + (tokens[id] as Uint8Array).length, 0);
  const byte = new Uint8Array(capacity);
  const subtreeSize = new Int32Array(capacity);
  const depth = new Uint16Array(capacity);
  const tokenOffset = new Int32Array(capacity + 1);
  const open: number[] = [];
  let nodeCount = 0;
  let previous: Uint8Array = new Uint8Array(0);
  const closeTo = (length: number): void => {
    while (open.length > length) {
      const node = open.pop() as number;
      subtreeSize[node] = nodeCount - node;
    }
  };

  for (const [index, id] of sorted.entries()) {
    const token = tokens[id] as Uint8Array;
    const shared = commonPrefixLength(previous, token);
    closeTo(shared);
    for (let position = shared; position < token.length; position += 1) {
      byte[nodeCount] = token[position] as number;
      depth[nodeCount] = position;
      tokenOffset[nodeCount] = index;
      open.push(nodeCount);
      nodeCount += 1;
    }
    // offsets of the nodes to come start after this token
    tokenOffset[nodeCount] = index + 1;
    previous = token;
  }
  closeTo(0);
  return {
    nodeCount,
    firstNodes: firstNodesOf({ nodeCount, byte, subtreeSize }),
    byte: byte.slice(0, nodeCount),
    subtreeSize: subtreeSize.slice(0, nodeCount),
    depth: depth.slice(0, nodeCount),
    tokenOffset: tokenOffset.slice(0, nodeCount + 1),
    ids: sorted,
  };
}

/** The column {@link TokenTrie.firstNodes}. */
export function firstNodesOf({ nodeCount, byte, subtreeSize }: Pick<TokenTrie, 'nodeCount' | 'byte' | 'subtreeSize'>): Int32Array {
  const firstNodes = new Int32Array(256).fill(-1);
  for (let node = 0; node < nodeCount; node += subtreeSize[node] as number) firstNodes[byte[node] as number] = node;
  return firstNodes;
}

/** The bytes on the way to `node`, that node included: a prefix of the first token at or after it. */
export function pathOf(trie: TokenTrie, tokens: readonly (Uint8Array | undefined)[], node: number): Uint8Array {
  const id = trie.ids[trie.tokenOffset[node] as number] as number;
  return (tokens[id] as Uint8Array).subarray(0, (trie.depth[node] as number) + 1);
}

/** One number a token: its first four bytes above its id. 2^20 ids leave 32 of the 53 bits that a double holds exactly. */
const ID_SPAN = 2 ** 20;

/**
 * Ids in the order of their bytes, equal bytes by id. Numbers sort five times as fast as a comparator is called; only tokens that share four
 * bytes are compared. Throws RangeError for more ids than any tokenizer has.
 */
function sortByBytes(tokens: readonly (Uint8Array | undefined)[], ids: readonly TokenId[]): Int32Array {
  if (tokens.length > ID_SPAN) throw new RangeError(`tokens: expected at most ${ID_SPAN}, got ${tokens.length}`);
  const keys = new Float64Array(ids.length);
  for (const [index, id] of ids.entries()) {
    const token = tokens[id] as Uint8Array;
    let prefix = 0;
    for (let offset = 0; offset < 4; offset += 1) prefix = (prefix << 8) | (token[offset] ?? 0);
    keys[index] = (prefix >>> 0) * ID_SPAN + id;
  }
  keys.sort();
  const sorted = new Int32Array(ids.length);
  const prefixAt = (index: number): number => Math.floor((keys[index] as number) / ID_SPAN);
  for (let from = 0; from < keys.length;) {
    let to = from;
    const prefix = prefixAt(from);
    for (; to < keys.length && prefixAt(to) === prefix; to += 1) sorted[to] = (keys[to] as number) % ID_SPAN;
    if (to - from > 1) sorted.subarray(from, to).sort((a, b) => compareBytes(tokens[a] as Uint8Array, tokens[b] as Uint8Array) || a - b);
    from = to;
  }
  return sorted;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = commonPrefixLength(a, b);
  if (shared === a.length || shared === b.length) return a.length - b.length;
  return (a[shared] as number) - (b[shared] as number);
}

function commonPrefixLength(a: Uint8Array, b: Uint8Array): number {
  const limit = Math.min(a.length, b.length);
  let length = 0;
  while (length < limit && a[length] === b[length]) length += 1;
  return length;
}
