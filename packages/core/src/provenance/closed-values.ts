/**
 * Schema nodes with their free leaves closed: a string becomes one of the closed texts that its schema accepts, a number one that stands in the
 * sources. What the schema lists itself (`enum`, `const`, `default`, `examples`), null and booleans stay. A leaf without any such value accepts
 * nothing, and the grammar then leaves out whatever would lead there.
 */
import { finiteDomainOf } from '../contract/schema-domain.ts';
import { numberFits, textFits } from '../contract/schema-fits.ts';
import type { ArrayNode, SchemaNode, StringNode } from '../contract/schema-node.ts';
import { ok, type Result } from '../result.ts';
import { closedTexts, type ClosedTexts, type ProvenanceIssue } from './closed-texts.ts';
import { sourceNumbers, type ProvenanceSources } from './sources.ts';

/** What strings and numbers may be. */
export interface ClosedValues extends ClosedTexts {
  /** Each once. */
  readonly numbers: readonly number[];
}

/** Fails with a {@link ProvenanceIssue}. O(sources), some milliseconds for a text of 1,000 characters. */
export function closedValues(sources: ProvenanceSources): Result<ClosedValues, ProvenanceIssue> {
  const texts = closedTexts(sources);
  return texts.ok ? ok({ ...texts.value, numbers: [...new Set(sourceNumbers(sources).map(({ value }) => value))] }) : texts;
}

/** Reference tokens from a node to a place in it; `-` is any element. */
export type NodePath = readonly string[];

const EVERYWHERE: readonly NodePath[] = [[]];

/**
 * A function that closes what stands in a node at or below `at`, by default all of it; where one element or open name is meant, all that share its node are
 * closed. Strings without a `maxLength` end at `maxStringLength` code points, those that the schema suggests too. Strings of which the same is asked
 * become one node, so that a grammar reads it once.
 */
export function nodeCloser({ automaton, numbers }: ClosedValues, maxStringLength: number): (node: SchemaNode, at?: readonly NodePath[]) => SchemaNode {
  const strings = new Map<string, SchemaNode>();
  const close = (node: SchemaNode): SchemaNode => {
    switch (node.kind) {
      case 'literals': return node;
      case 'string': {
        const key = JSON.stringify(node);
        const closed = strings.get(key) ?? closeString(node);
        strings.set(key, closed);
        return closed;
      }
      case 'number': return { kind: 'literals', values: [...new Set([...numbers, ...node.suggested ?? []])].filter((value) => isSpelled(value) && numberFits(value, node)) };
      case 'array': return closeArray(node, close);
      case 'object': return { ...node, members: node.members.map(closeMember), open: node.open?.map(closeMember) };
      case 'union': return { ...node, branches: node.branches.map(close) };
    }
  };
  const closeString = (node: StringNode): SchemaNode => {
    const { content, minLength, maxLength = Math.max(maxStringLength, minLength) } = node;
    const closed: StringNode = { ...node, maxLength, content: { patterns: [], formats: [], ...content, within: automaton } };
    const values = node.suggested?.filter((text) => textFits(text, { ...node, maxLength })) ?? [];
    return values.length === 0 ? closed : { kind: 'union', branches: [closed, { kind: 'literals', values }] };
  };
  /** Names are not values. */
  const closeMember = <Member extends { readonly node: SchemaNode }>(member: Member): Member => ({ ...member, node: close(member.node) });
  const closeArray = (node: ArrayNode, closeItem: (item: SchemaNode, token?: string) => SchemaNode): ArrayNode => {
    const { prefix, rest, listedFrom, contains } = node;
    return {
      ...node,
      prefix: prefix.map((item, index) => closeItem(item, String(index))),
      rest: listedFrom === undefined ? closeItem(rest) : { kind: 'literals', values: finiteDomainOf(closeItem(listedFrom)) ?? [] },
      contains: contains === undefined ? undefined : { ...contains, counted: closeItem(contains.counted), other: closeItem(contains.other) },
    };
  };
  const closeAt = (node: SchemaNode, at: readonly NodePath[] = EVERYWHERE): SchemaNode => {
    if (at.some(({ length }) => length === 0)) return close(node);
    if (at.length === 0) return node;
    const below = (child: SchemaNode, token?: string): SchemaNode => closeAt(child, at.filter(([first]) => token === undefined || first === token || first === '-').map(([, ...rest]) => rest));
    switch (node.kind) {
      case 'union': return { ...node, branches: node.branches.map((branch) => closeAt(branch, at)) };
      case 'object': return { ...node, members: node.members.map((member) => ({ ...member, node: below(member.node, member.name) })), open: node.open?.map((member) => ({ ...member, node: below(member.node) })) };
      case 'array': return closeArray(node, below);
      default: return node;
    }
  };
  return closeAt;
}

/** The mask spells no exponents, no integers beyond 2^53 and no more than 15 digits from the first that is not zero. */
function isSpelled(value: number): boolean {
  const text = String(value);
  return Number.isInteger(value) ? Number.isSafeInteger(value) : !text.includes('e') && text.replace(/^-?0?\.?0*/, '').replace('.', '').length <= 15;
}
