/** The origins of a whole value, with its place in a schema as the mask reads it: what the closed set is compared with. */
import type { SchemaNode } from '../contract/schema-node.ts';
import { isJsonArray, isJsonObject, jsonEqual, type JsonValue } from '../json/value.ts';
import { childOf, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { originNamer, type Origin } from './origin.ts';
import type { ProvenanceSources } from './sources.ts';

export interface LeafOrigin {
  /** Inside the value. */
  readonly pointer: JsonPointer;
  readonly origin: Origin;
}

/** Names the origin of every scalar of a value; literals of the schema are those of `node`, the value's place. O(sources) for each scalar. */
export function originFinder(sources: ProvenanceSources): (value: JsonValue, node?: SchemaNode) => readonly LeafOrigin[] {
  const originOf = originNamer(sources);
  const leavesOf = (value: JsonValue, nodes: readonly SchemaNode[], isListed: boolean, pointer: JsonPointer): readonly LeafOrigin[] => {
    const isLiteral = isListed || nodes.some((node) => literalsIn(node).some((literal) => jsonEqual(literal, value)));
    if (isJsonArray(value)) return value.flatMap((item, index) => leavesOf(item, nodes.flatMap((node) => itemNodes(node, index)), isLiteral, childOf(pointer, String(index))));
    if (isJsonObject(value)) return Object.entries(value).flatMap(([name, member]) => leavesOf(member, nodes.flatMap((node) => memberNodes(node, name)), isLiteral, childOf(pointer, name)));
    return [{ pointer, origin: originOf(value, isLiteral ? { kind: 'schema-literal' } : undefined) }];
  };
  return (value, node) => leavesOf(value, node === undefined ? [] : branchesOf(node), false, ROOT_POINTER);
}

function branchesOf(node: SchemaNode): readonly SchemaNode[] {
  return node.kind === 'union' ? node.branches.flatMap(branchesOf) : [node];
}

function literalsIn(node: SchemaNode): readonly JsonValue[] {
  return node.kind === 'literals' ? node.values : node.kind === 'string' || node.kind === 'number' ? node.suggested ?? [] : [];
}

function itemNodes(node: SchemaNode, index: number): readonly SchemaNode[] {
  if (node.kind !== 'array') return [];
  const { prefix, rest, contains, listedFrom } = node;
  return [prefix[index] ?? listedFrom ?? rest, ...(contains === undefined ? [] : [contains.counted, contains.other])].flatMap(branchesOf);
}

function memberNodes(node: SchemaNode, name: string): readonly SchemaNode[] {
  if (node.kind !== 'object') return [];
  const declared = node.members.filter((member) => member.name === name);
  return (declared.length > 0 ? declared : node.open ?? []).flatMap((member) => branchesOf(member.node));
}
