/**
 * Schema nodes made ready for the automaton: numbered, bounds filled in, and whatever accepts nothing cut away, so that every state the
 * automaton can reach has a way to the end. A dead end cannot be entered because it does not exist.
 */
import { assertNever, type SchemaNode } from '@contractrl/core';
import { ByteTrie } from './byte-trie.ts';
import { NumberMachine } from './decimal.ts';
import type { Spelling } from './spelling.ts';

/** Bounds where the schema sets none: the output of a small model must end, and a repair is short. */
export interface ValueLimits {
  /** Code points. */
  readonly maxStringLength: number;
  readonly maxItems: number;
}

/** A paragraph; a longer text is the work of the model that made the call, not of its repair. */
export const DEFAULT_MAX_STRING_LENGTH = 1024;
/** Longer lists than this do not fit the context of the small models meant here. */
export const DEFAULT_MAX_ITEMS = 64;

/** Index of a {@link GrammarNode}. */
export type NodeId = number;
/** Accepts nothing. */
export const EMPTY_NODE: NodeId = -1;

export interface GrammarMember {
  /** The member's name as spelled in an object, quotes and colon included. */
  readonly key: Uint8Array;
  readonly required: boolean;
  readonly value: NodeId;
}

export type GrammarNode =
  | { readonly kind: 'literals'; readonly root: number; readonly count: number }
  | { readonly kind: 'string'; readonly minLength: number; readonly maxLength: number }
  | { readonly kind: 'number'; readonly machine: NumberMachine }
  | { readonly kind: 'array'; readonly prefix: readonly NodeId[]; readonly rest: NodeId; readonly minItems: number; readonly maxItems: number }
  | { readonly kind: 'object'; readonly members: readonly GrammarMember[]; /** Member names that may come next, by the number of members passed. */ readonly keys: number[] }
  | { readonly kind: 'union'; readonly branches: readonly NodeId[] };

/** All nodes of one contract, with the trees that their literals and member names share. */
export class ValueGrammar {
  readonly nodes: GrammarNode[] = [];
  readonly trie: ByteTrie = new ByteTrie();
  readonly #spelling: Spelling;
  readonly #limits: ValueLimits;
  readonly #known = new Map<SchemaNode, NodeId>();

  constructor(spelling: Spelling, limits: ValueLimits) {
    this.#spelling = spelling;
    this.#limits = limits;
  }

  /** Adds a schema node and everything in it; {@link EMPTY_NODE} where it accepts nothing within the limits. */
  add(schema: SchemaNode): NodeId {
    const known = this.#known.get(schema);
    if (known !== undefined) return known;
    const node = this.#read(schema);
    const id = node === undefined ? EMPTY_NODE : this.nodes.push(node) - 1;
    this.#known.set(schema, id);
    return id;
  }

  /** The tree of member names that may follow once the first `passed` members of an object are decided. */
  keysAfter(id: NodeId, passed: number): number {
    const node = this.nodes[id] as Extract<GrammarNode, { readonly kind: 'object' }>;
    const known = node.keys[passed];
    if (known !== undefined) return known;
    const root = this.trie.createNode();
    for (let index = passed; index < node.members.length; index += 1) {
      const member = node.members[index] as GrammarMember;
      this.trie.setLeaf(this.trie.insert(root, member.key), index);
      // members come in order, so nothing behind a required one can come before it
      if (member.required) break;
    }
    node.keys[passed] = root;
    return root;
  }

  #read(schema: SchemaNode): GrammarNode | undefined {
    switch (schema.kind) {
      case 'literals': {
        if (schema.values.length === 0) return undefined;
        const root = this.trie.createNode();
        for (const value of schema.values) this.trie.setLeaf(this.trie.insert(root, this.#spelling.literalOf(value)), 0);
        return { kind: 'literals', root, count: schema.values.length };
      }
      case 'string': {
        const { minLength } = schema;
        const maxLength = schema.maxLength ?? Math.max(this.#limits.maxStringLength, minLength);
        return minLength > maxLength ? undefined : { kind: 'string', minLength, maxLength };
      }
      case 'number': {
        const machine = new NumberMachine(schema);
        return machine.isEmpty ? undefined : { kind: 'number', machine };
      }
      case 'array':
        return this.#readArray(schema);
      case 'object': {
        const members = schema.members.map(({ name, required, node }) => ({ key: this.#keyOf(name), required, value: this.add(node) }));
        if (members.some(({ required, value }) => required && value === EMPTY_NODE)) return undefined;
        return { kind: 'object', members: members.filter(({ value }) => value !== EMPTY_NODE), keys: [] };
      }
      case 'union': {
        const branches = schema.branches.map((branch) => this.add(branch)).filter((id) => id !== EMPTY_NODE);
        return branches.length === 0 ? undefined : { kind: 'union', branches };
      }
      default:
        return assertNever(schema);
    }
  }

  #readArray(schema: Extract<SchemaNode, { readonly kind: 'array' }>): GrammarNode | undefined {
    const prefix = schema.prefix.map((item) => this.add(item));
    const rest = this.add(schema.rest);
    // an element that cannot exist ends the array before it
    const firstEmpty = prefix.indexOf(EMPTY_NODE);
    const possible = firstEmpty !== -1 ? firstEmpty : rest === EMPTY_NODE ? prefix.length : Infinity;
    const maxItems = Math.min(possible, schema.maxItems ?? Math.max(this.#limits.maxItems, schema.minItems));
    return schema.minItems > maxItems ? undefined : { kind: 'array', prefix, rest, minItems: schema.minItems, maxItems };
  }

  #keyOf(name: string): Uint8Array {
    return Uint8Array.from([...this.#spelling.literalOf(name), 0x3a]);
  }
}
