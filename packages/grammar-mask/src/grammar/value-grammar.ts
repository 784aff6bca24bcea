/**
 * Schema nodes made ready for the automaton: numbered, bounds filled in, and whatever accepts nothing cut away, so that every state the
 * automaton can reach has a way to the end. A dead end cannot be entered because it does not exist.
 */
import { assertNever, FORBIDDEN_TOKENS } from '@contractrl/core';
import { contentAutomaton, hasTexts, type OpenMembers, type SchemaNode } from '@contractrl/core/schema';
import { ByteTrie } from './byte-trie.ts';
import { numberMachine, type NumberMachine } from './decimal.ts';
import { NameSets } from './open-names.ts';
import type { Spelling } from './spelling.ts';
import { ANY_TEXT } from './alphabet.ts';
import { NO_CONTENT, StringContent } from './string-content.ts';

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
  | { readonly kind: 'string'; readonly content: StringContent }
  | { readonly kind: 'number'; readonly machine: NumberMachine }
  | { readonly kind: 'array'; readonly prefix: readonly NodeId[]; readonly rest: NodeId; readonly minItems: number; readonly maxItems: number }
  /** No element twice. The leaves below `root` are the literals' numbers. */
  | { readonly kind: 'unique-array'; readonly root: number; readonly minItems: number; readonly maxItems: number }
  | CountedArray
  | ObjectNode
  | { readonly kind: 'union'; readonly branches: readonly NodeId[] };

/** Between `min` and `max` elements count, the others do not; no value is both. */
export interface CountedArray {
  readonly kind: 'counted-array';
  readonly counted: NodeId;
  readonly other: NodeId;
  readonly min: number;
  readonly max: number;
  readonly minItems: number;
  readonly maxItems: number;
}

export interface ObjectNode {
  readonly kind: 'object';
  readonly members: readonly GrammarMember[];
  /** Undefined where any number of members will do: then they are not counted. */
  readonly counts: { readonly min: number; readonly max: number } | undefined;
  /** Names that the schema leaves open come last. */
  readonly open: OpenNode | undefined;
  /** Trees of the member names that may come next, as {@link ValueGrammar.keysAfter} builds them. */
  readonly keys: number[];
}

export interface OpenNode {
  /** No name is in two of them. */
  readonly classes: readonly { readonly name: NodeId; readonly value: NodeId }[];
  /** The set of names that are none of these. */
  readonly declared: number;
  /** Whether they alone can make up the least number of members. */
  readonly areEnough: boolean;
}

/** Whether an array of which `count` elements are written, `counted` of them counting, can still be brought to an end. */
export function canFinishArray({ counted: countedNode, other, min, max, minItems, maxItems }: CountedArray, count: number, counted: number): boolean {
  const room = maxItems - count;
  const least = Math.max(0, min - counted);
  const most = countedNode === EMPTY_NODE ? 0 : Math.min(max - counted, room);
  return room >= 0 && counted <= max && least <= most && (other !== EMPTY_NODE || most >= minItems - count);
}

/** All nodes of one contract, with the trees that their literals and member names share. */
export class ValueGrammar {
  readonly nodes: GrammarNode[] = [];
  readonly trie: ByteTrie = new ByteTrie();
  readonly names: NameSets = new NameSets();
  hasOpenNames = false;
  readonly #spelling: Spelling;
  readonly #limits: ValueLimits;
  readonly #known = new Map<SchemaNode | string, NodeId>();

  constructor(spelling: Spelling, limits: ValueLimits) {
    this.#spelling = spelling;
    this.#limits = limits;
  }

  /** Adds a schema node and everything in it; {@link EMPTY_NODE} where it accepts nothing within the limits. */
  add(schema: SchemaNode): NodeId {
    // fields of one type are many, and a machine for numbers is dear
    const isPlain = schema.kind === 'number' || schema.kind === 'literals' || (schema.kind === 'string' && schema.content === undefined);
    const key = isPlain ? JSON.stringify(schema) : schema;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const node = this.#read(schema);
    const id = node === undefined ? EMPTY_NODE : this.nodes.push(node) - 1;
    this.#known.set(key, id);
    return id;
  }

  /** The tree of member names that may follow once the first `passed` members of an object are decided, `count` of them (0 where none are counted) written. */
  keysAfter(id: NodeId, passed: number, count: number): number {
    const node = this.nodes[id] as ObjectNode;
    const slot = count * node.members.length + passed;
    const known = node.keys[slot];
    if (known !== undefined) return known;
    const root = this.trie.createNode();
    for (let index = passed; index < node.members.length; index += 1) {
      const member = node.members[index] as GrammarMember;
      if (canFinishObject(node, index + 1, count + 1)) this.trie.setLeaf(this.trie.insert(root, member.key), index);
      // members come in order, so nothing behind a required one can come before it
      if (member.required) break;
    }
    node.keys[slot] = root;
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
        if (minLength > maxLength) return undefined;
        const automaton = schema.content === undefined ? ANY_TEXT : contentAutomaton(schema.content, minLength);
        if (automaton === undefined) return undefined;
        const content = new StringContent(automaton, minLength, maxLength);
        return content.start === NO_CONTENT ? undefined : { kind: 'string', content };
      }
      case 'number': {
        const machine = numberMachine(schema);
        return machine.isEmpty ? undefined : { kind: 'number', machine };
      }
      case 'array':
        return this.#readArray(schema);
      case 'object': {
        const declared = schema.members.map(({ name, required, node }) => ({ key: this.#keyOf(name), required, value: this.add(node) }));
        if (declared.some(({ required, value }) => required && value === EMPTY_NODE)) return undefined;
        const members = declared.filter(({ value }) => value !== EMPTY_NODE);
        const { minProperties: min = 0 } = schema;
        const open = this.#readOpen(schema.open ?? [], schema.members.map(({ name }) => name), min);
        const limit = open === undefined ? members.length : members.length + Math.max(this.#limits.maxItems, min);
        const max = Math.min(schema.maxProperties ?? limit, limit);
        const node: ObjectNode = { kind: 'object', members, counts: min > 0 || max < members.length || open !== undefined ? { min, max } : undefined, open, keys: [] };
        return canFinishObject(node, 0, 0) ? node : undefined;
      }
      case 'union': {
        const branches = schema.branches.map((branch) => this.add(branch)).filter((id) => id !== EMPTY_NODE);
        return branches.length === 0 ? undefined : { kind: 'union', branches };
      }
      default:
        return assertNever(schema);
    }
  }

  #readOpen(open: readonly OpenMembers[], declared: readonly string[], least: number): OpenNode | undefined {
    const taken = [...new Set([...declared, ...FORBIDDEN_TOKENS])];
    let areEnough = false;
    const classes = open.flatMap(({ names, node }) => {
      const [name, value] = [this.add(names), this.add(node)];
      if (name === EMPTY_NODE || value === EMPTY_NODE) return [];
      const automaton = names.content === undefined ? undefined : contentAutomaton(names.content, names.minLength);
      areEnough ||= automaton === undefined ? names.maxLength !== 0 : hasTexts(automaton, names.minLength, names.maxLength ?? 0, least + taken.length);
      return [{ name, value }];
    });
    if (classes.length === 0) return undefined;
    this.hasOpenNames = true;
    return { classes, declared: this.names.of(taken.map((name) => this.#spelling.literalOf(name))), areEnough };
  }

  #readArray(schema: Extract<SchemaNode, { readonly kind: 'array' }>): GrammarNode | undefined {
    const { minItems, contains } = schema;
    const limit = schema.maxItems ?? Math.max(this.#limits.maxItems, minItems, contains?.min ?? 0);
    if (contains !== undefined) {
      const { min, max = limit } = contains;
      const node: CountedArray = { kind: 'counted-array', counted: this.add(contains.counted), other: this.add(contains.other), min, max, minItems, maxItems: limit };
      return minItems <= limit && canFinishArray(node, 0, 0) ? node : undefined;
    }
    if (schema.uniqueItems === true && schema.rest.kind === 'literals') {
      const root = this.trie.createNode();
      for (const [index, value] of schema.rest.values.entries()) this.trie.setLeaf(this.trie.insert(root, this.#spelling.literalOf(value)), index);
      const maxItems = Math.min(limit, schema.rest.values.length);
      return minItems > maxItems ? undefined : { kind: 'unique-array', root, minItems, maxItems };
    }
    const prefix = schema.prefix.map((item) => this.add(item));
    const rest = this.add(schema.rest);
    // an element that cannot exist ends the array before it
    const firstEmpty = prefix.indexOf(EMPTY_NODE);
    const possible = firstEmpty !== -1 ? firstEmpty : rest === EMPTY_NODE ? prefix.length : Infinity;
    const maxItems = Math.min(possible, limit);
    return minItems > maxItems ? undefined : { kind: 'array', prefix, rest, minItems, maxItems };
  }

  #keyOf(name: string): Uint8Array {
    return Uint8Array.from([...this.#spelling.literalOf(name), 0x3a]);
  }
}

/** Whether an object whose first `passed` members are decided, `count` of them written, can still be brought to an end. */
export function canFinishObject({ members, counts, open }: ObjectNode, passed: number, count: number): boolean {
  if (counts === undefined) return true;
  const left = members.slice(passed);
  return count + left.filter((member) => member.required).length <= counts.max && (open?.areEnough === true || count + left.length >= counts.min) && counts.min <= counts.max;
}
