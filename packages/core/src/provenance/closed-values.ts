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

/**
 * A function that closes nodes; strings without a `maxLength` end at `maxStringLength` code points, those that the schema suggests too. Strings of which
 * the same is asked become one node, so that a grammar reads it once.
 */
export function nodeCloser({ automaton, numbers }: ClosedValues, maxStringLength: number): (node: SchemaNode) => SchemaNode {
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
      case 'array': return closeArray(node);
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
  const closeArray = (node: ArrayNode): ArrayNode => {
    const { prefix, rest, listedFrom, contains } = node;
    return {
      ...node,
      prefix: prefix.map(close),
      rest: listedFrom === undefined ? close(rest) : { kind: 'literals', values: finiteDomainOf(close(listedFrom)) ?? [] },
      contains: contains === undefined ? undefined : { ...contains, counted: close(contains.counted), other: close(contains.other) },
    };
  };
  return close;
}

/** The mask spells no exponents, no integers beyond 2^53 and no more than 15 digits from the first that is not zero. */
function isSpelled(value: number): boolean {
  const text = String(value);
  return Number.isInteger(value) ? Number.isSafeInteger(value) : !text.includes('e') && text.replace(/^-?0?\.?0*/, '').replace('.', '').length <= 15;
}
