/**
 * Where a written value comes from: the span of the request, the leaf of the candidate or the literal of the schema that it repeats, or the named
 * derivation that leads from one of them to it; else the model alone. It reads the tracks that the closed set is made of, so that a string or
 * number is in the set exactly where its origin is not the model (where all cases of letters fitted the set; here they always do).
 */
import type { SchemaNode } from '../contract/schema-node.ts';
import { isJsonArray, isJsonObject, jsonEqual, type JsonPrimitive, type JsonValue } from '../json/value.ts';
import { childOf, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { sourceNumbers, type Derivation, type ProvenanceSources, type SourceSpan } from './sources.ts';
import { tracksOf, type Track } from './tracks.ts';

export type Origin = (SourceSpan & { readonly derivation: Derivation }) | { readonly kind: 'schema-literal' } | { readonly kind: 'model' };

export interface LeafOrigin {
  /** Inside the value. */
  readonly pointer: JsonPointer;
  readonly origin: Origin;
}

/** Numbers have no other way out of a text. */
const DIRECT: ReadonlySet<Derivation> = new Set(['verbatim', 'string-to-number']);

/**
 * Names the origin of every scalar of a value. The first that holds: as it stands in a request, then in the candidate; a literal of the schema, read
 * as `node` at the value's place (null and booleans always are); a derivation, requests first. O(sources) for each scalar.
 */
export function originFinder(sources: ProvenanceSources): (value: JsonValue, node?: SchemaNode) => readonly LeafOrigin[] {
  const tracks = tracksOf(sources, true);
  const numbers = sourceNumbers(sources);
  const originOf = (value: JsonPrimitive, isLiteral: boolean): Origin => {
    const found = typeof value === 'string' ? spansOf(value, tracks)
      : typeof value === 'number' ? numbers.filter((number) => number.value === value).map(({ span, derivation }) => ({ ...span, derivation })) : [];
    return found.find(({ derivation }) => DIRECT.has(derivation)) ?? (isLiteral ? { kind: 'schema-literal' } : found[0] ?? { kind: 'model' });
  };
  const leavesOf = (value: JsonValue, nodes: readonly SchemaNode[], isListed: boolean, pointer: JsonPointer): readonly LeafOrigin[] => {
    const isLiteral = isListed || nodes.some((node) => literalsIn(node).some((literal) => jsonEqual(literal, value)));
    if (isJsonArray(value)) return value.flatMap((item, index) => leavesOf(item, nodes.flatMap((node) => itemNodes(node, index)), isLiteral, childOf(pointer, String(index))));
    if (isJsonObject(value)) return Object.entries(value).flatMap(([name, member]) => leavesOf(member, nodes.flatMap((node) => memberNodes(node, name)), isLiteral, childOf(pointer, name)));
    return [{ pointer, origin: originOf(value, isLiteral || value === null || typeof value === 'boolean') }];
  };
  return (value, node) => leavesOf(value, node === undefined ? [] : branchesOf(node), false, ROOT_POINTER);
}

/** Every way in which the text stands in a track. */
function spansOf(text: string, tracks: readonly Track[]): readonly (SourceSpan & { readonly derivation: Derivation })[] {
  const points = Array.from(text, (character) => character.codePointAt(0) as number);
  return tracks.flatMap(({ place, derivation, points: source, starts, ends, offsets, capitals }) => starts.flatMap((start) => {
    const end = start + points.length;
    const isCapital = points[0] !== source[start] && points[0] === capitals?.[start];
    const isThere = (ends[end] === 1) && (points.length > 0 || source.length === 0) && points.every((point, index) => point === source[start + index] || (isCapital && index === 0));
    return isThere ? [{ ...place, start: offsets[start] as number, end: offsets[end] as number, derivation: isCapital ? 'capitalised' : derivation }] : [];
  }));
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
