/** How far a document is from one that the contract's judge accepts, as far as that can be told from the violations before a value is written. */
import type { Contract } from '../contract/contract.ts';
import { isJsonArray, type JsonValue } from '../json/value.ts';
import { isPrefix, parentOf, resolvePointer, tokensOf, type JsonPointer } from '../pointer.ts';
import { validateValue } from '../validate/validate.ts';

/** Keywords whose verdict on a place depends on nothing but what stands there. */
const LOCAL_KEYWORDS: ReadonlySet<string> = new Set([
  'type', 'enum', 'const', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength', 'pattern', 'format',
  'minItems', 'maxItems', 'required', 'additionalProperties',
]);
/** Keywords under which a sub-schema may bind or not, depending on other places. As a member's name they only make the answer more careful. */
const CONDITIONAL_KEYWORDS = ['anyOf', 'oneOf', 'not', 'if', 'dependentSchemas', 'dependencies', 'contains', 'unevaluatedProperties', 'unevaluatedItems', '$dynamicRef', '$recursiveRef'];

/**
 * How many further operations the document needs at least once a value was written at a path: violations that this leaves alone stay what
 * they are, and lie in so many members of the root, of which one operation reaches one, a move two. 0 where that cannot be told.
 */
export function createDistance(contract: Contract, document: JsonValue): (path: JsonPointer) => number {
  const schemaText = JSON.stringify(contract.schema);
  if (CONDITIONAL_KEYWORDS.some((keyword) => schemaText.includes(`"${keyword}":`))) return () => 0;
  const report = validateValue(contract, document);
  const local = report.kind === 'valid' ? [] : report.violations.filter(({ keyword, pointer }) => LOCAL_KEYWORDS.has(keyword) && pointer !== '');
  const reachOfOne = contract.document.allowedOperations.includes('move') ? 2 : 1;
  return (path) => {
    const parent = parentOf(path) as JsonPointer;
    // an insertion moves the other elements to places with other sub-schemas
    const moved = isJsonArray(resolvePointer(document, parent)) ? parent : path;
    const left = local.filter(({ pointer }) => !isPrefix(moved, pointer) && !isPrefix(pointer, path));
    return Math.ceil(new Set(left.map(({ pointer }) => tokensOf(pointer)[0])).size / reachOfOne);
  };
}
