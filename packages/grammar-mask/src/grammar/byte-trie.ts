/**
 * Prefix trees over byte strings that grow as they are used: literals of `enum` and `const`, member names, escapes, pointers of the live
 * document. Nodes are integers in parallel arrays, children a linked list, so that a tree for one document is cheap to build and drop.
 */

/** Node 0 is "no node". */
export const NO_NODE = 0;

export class ByteTrie {
  readonly #byte: number[] = [0];
  readonly #firstChild: number[] = [NO_NODE];
  readonly #nextSibling: number[] = [NO_NODE];
  readonly #leaf: (number | undefined)[] = [undefined];

  createNode(): number {
    return this.#push(0, NO_NODE);
  }

  /** Adds the missing nodes below `root` and returns the one that `bytes` lead to. */
  insert(root: number, bytes: Uint8Array): number {
    let node = root;
    for (const byte of bytes) {
      const known = this.child(node, byte);
      if (known !== NO_NODE) {
        node = known;
      } else {
        const added = this.#push(byte, this.#firstChild[node] as number);
        this.#firstChild[node] = added;
        node = added;
      }
    }
    return node;
  }

  child(node: number, byte: number): number {
    let child = this.#firstChild[node] as number;
    while (child !== NO_NODE && this.#byte[child] !== byte) child = this.#nextSibling[child] as number;
    return child;
  }

  hasChildren(node: number): boolean {
    return this.#firstChild[node] !== NO_NODE;
  }

  /** The bytes that lead on from `node`. */
  bytesOf(node: number): readonly number[] {
    const bytes: number[] = [];
    for (let child = this.#firstChild[node] as number; child !== NO_NODE; child = this.#nextSibling[child] as number) bytes.push(this.#byte[child] as number);
    return bytes;
  }

  /** The byte of the only child; −1 where there are none or several. */
  onlyByte(node: number): number {
    const child = this.#firstChild[node] as number;
    return child !== NO_NODE && this.#nextSibling[child] === NO_NODE ? this.#byte[child] as number : -1;
  }

  /** What a complete string stands for; undefined where none ends here. */
  leafOf(node: number): number | undefined {
    return this.#leaf[node];
  }

  setLeaf(node: number, value: number): void {
    this.#leaf[node] = value;
  }

  #push(byte: number, nextSibling: number): number {
    this.#byte.push(byte);
    this.#firstChild.push(NO_NODE);
    this.#nextSibling.push(nextSibling);
    this.#leaf.push(undefined);
    return this.#byte.length - 1;
  }
}
