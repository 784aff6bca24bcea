/** The steps of the byte automaton inside arrays: counts of items, literals used once, and items that must occur a number of times. */
import { assertNever } from '@contractrl/core';
import { NO_NODE } from './byte-trie.ts';
import { ARRAY_AFTER, CLOSE_BRACKET, COMMA, UNIQUE_ITEM, type PositionId, type StepContext } from './position.ts';
import { EMPTY_SET, UsedSets } from './used-set.ts';
import { canFinishArray, EMPTY_NODE, type GrammarNode, type NodeId } from './value-grammar.ts';

type ArrayNode = Extract<GrammarNode, { readonly kind: 'array' | 'unique-array' | 'counted-array' }>;

export class ArraySteps {
  readonly #context: StepContext;
  readonly #usedSets = new UsedSets();

  constructor(context: StepContext) {
    this.#context = context;
  }

  /** Inside a literal that is not among those used. */
  stepUniqueItem(node: number, array: NodeId, used: number, rest: PositionId, byte: number, found: PositionId[]): void {
    const { trie } = this.#context.grammar;
    const child = trie.child(node, byte);
    if (child === NO_NODE) return;
    if (trie.bytesOf(child).some((next) => this.#leadsToUnused(trie.child(child, next), used))) found.push(this.#context.positions.intern(UNIQUE_ITEM, child, array, used, rest));
    const leaf = trie.leafOf(child);
    if (leaf === undefined || this.#usedSets.has(used, leaf)) return;
    const after = this.#usedSets.with(used, leaf);
    found.push(this.#context.positions.intern(ARRAY_AFTER, array, this.#usedSets.sizeOf(after), after, rest));
  }

  #leadsToUnused(node: number, used: number): boolean {
    const { trie } = this.#context.grammar;
    const leaf = trie.leafOf(node);
    return (leaf !== undefined && !this.#usedSets.has(used, leaf)) || trie.bytesOf(node).some((byte) => this.#leadsToUnused(trie.child(node, byte), used));
  }

  /** Between two items, or behind the opening bracket where `count` is 0. */
  stepArray(id: NodeId, count: number, register: number, rest: PositionId, byte: number, found: PositionId[]): void {
    const node = this.#context.grammar.nodes[id] as ArrayNode;
    const isEnough = node.kind !== 'counted-array' || (register >= node.min && register <= node.max);
    if (byte === CLOSE_BRACKET && count >= node.minItems && isEnough) found.push(rest);
    if (count >= node.maxItems) return;
    if (count > 0) {
      if (byte === COMMA) this.#beginItem(id, node, count, register, rest, found);
      return;
    }
    const starts: PositionId[] = [];
    this.#beginItem(id, node, count, register, rest, starts);
    for (const start of starts) this.#context.step(start, byte, found);
  }

  #beginItem(id: NodeId, node: ArrayNode, count: number, register: number, rest: PositionId, found: PositionId[]): void {
    const beginWith = (item: NodeId, nextRegister: number): void => {
      if (item !== EMPTY_NODE) this.#context.begin(item, this.#context.positions.intern(ARRAY_AFTER, id, count + 1, nextRegister, rest), found);
    };
    switch (node.kind) {
      case 'array': beginWith(node.prefix[count] ?? node.rest, 0); break;
      case 'unique-array': found.push(this.#context.positions.intern(UNIQUE_ITEM, node.root, id, count === 0 ? EMPTY_SET : register, rest)); break;
      case 'counted-array':
        if (canFinishArray(node, count + 1, register + 1)) beginWith(node.counted, register + 1);
        if (canFinishArray(node, count + 1, register)) beginWith(node.other, register);
        break;
      default: assertNever(node);
    }
  }
}
