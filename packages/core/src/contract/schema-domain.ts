/** Schema nodes that accept few enough values to list them, for `uniqueItems`: the set of elements already used is then a register. */
import { jsonEqual, type JsonValue } from '../json/value.ts';
import { numberFits } from './schema-fits.ts';
import type { NumberNode, SchemaNode } from './schema-node.ts';

/** Larger domains come from generated lists; a tree of their texts would outweigh the rest of a contract. */
export const MAX_DOMAIN_SIZE = 1024;

/** All values a node accepts, each once; undefined where they are too many to list. */
export function finiteDomainOf(node: SchemaNode): readonly JsonValue[] | undefined {
  switch (node.kind) {
    case 'literals': return node.values.length <= MAX_DOMAIN_SIZE ? node.values : undefined;
    case 'number': return integersOf(node);
    case 'union': {
      const domains = node.branches.map(finiteDomainOf);
      if (domains.includes(undefined)) return undefined;
      const values = domains.flatMap((domain) => domain ?? []);
      const distinct = values.filter((value, index) => !values.slice(0, index).some((earlier) => jsonEqual(earlier, value)));
      return distinct.length <= MAX_DOMAIN_SIZE ? distinct : undefined;
    }
    default: return undefined;
  }
}

function integersOf(node: NumberNode): readonly JsonValue[] | undefined {
  if (!node.integer || node.lower === undefined || node.upper === undefined) return undefined;
  const [first, last] = [Math.ceil(node.lower.value), Math.floor(node.upper.value)];
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last) || last - first >= MAX_DOMAIN_SIZE) return undefined;
  // `+ 0` turns −0 into 0
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index + 0).filter((value) => numberFits(value, node));
}
