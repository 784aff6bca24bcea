import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildTokenTrie, pathOf, type TokenTrie } from './token-trie.ts';

const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'));

/** Every token by walking the tree: text and id. */
function listTokens(trie: TokenTrie): [string, number][] {
  const found: [string, number][] = [];
  const path: number[] = [];
  for (let node = 0; node < trie.nodeCount; node += 1) {
    path.length = trie.depth[node] as number;
    path.push(trie.byte[node] as number);
    for (let index = trie.tokenOffset[node] as number; index < (trie.tokenOffset[node + 1] as number); index += 1) found.push([Buffer.from(path).toString('latin1'), trie.ids[index] as number]);
  }
  return found;
}

test('a walk meets every token once, several ids at one node where they share bytes, and no empty token', () => {
  const token = fc.string({ unit: fc.constantFrom('a', 'b', '\xff', '\x00'), maxLength: 4 });
  fc.assert(fc.property(fc.array(token, { maxLength: 20 }), (texts) => {
    const tokens = texts.map(bytesOf);
    const trie = buildTokenTrie(tokens, tokens.map((_, id) => id));
    const expected = texts.flatMap((text, id): [string, number][] => (text === '' ? [] : [[text, id]]));
    expect(listTokens(trie).sort()).toEqual(expected.sort());
  }));
});

test('a subtree is as many nodes as it says, and a skip lands on the next sibling', () => {
  const trie = buildTokenTrie(['ab', 'abc', 'b', 'a'].map(bytesOf), [0, 1, 2, 3]);
  expect([...trie.byte].map((byte) => String.fromCharCode(byte)).join('')).toBe('abcb');
  expect([...trie.subtreeSize]).toEqual([3, 2, 1, 1]);
  expect(Buffer.from(pathOf(trie, ['ab', 'abc', 'b', 'a'].map(bytesOf), 2)).toString()).toBe('abc');
});

test('tokens of 600 bytes keep their depth', () => {
  const long = new Uint8Array(600).fill(0x20);
  const trie = buildTokenTrie([long], [0]);
  expect(trie.nodeCount).toBe(600);
  expect(trie.depth[599]).toBe(599);
});
