/**
 * The goal of a patch, as the contract's own judge sees it: a document that the schema and the checks across fields accept. Asked once
 * an operation is complete, and before it only where nothing about it is open.
 */
import {
  isJsonArray, isPrefix, parentOf, resolvePointer, tokensOf, validateValue,
  type Contract, type JsonPointer, type JsonValue, type Operation, type Violation,
} from '@contractrl/core';

/** The operation that a text of the mask's own spelling stands for. */
export function operationIn(text: string): Operation {
  // the strict reader costs ten times as much, and answers for what is sent when the patch is judged
  return JSON.parse(text) as Operation;
}

/** Whether schema and cross-field checks accept the document. */
export function isGoal(contract: Contract, document: JsonValue): boolean {
  return validateValue(contract, document).kind === 'valid';
}

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
  const { allowedOperations } = contract.document;
  const schemaText = JSON.stringify(contract.schema);
  if (CONDITIONAL_KEYWORDS.some((keyword) => schemaText.includes(`"${keyword}":`))) return () => 0;
  const report = validateValue(contract, document);
  const local = report.kind === 'valid' ? [] : report.violations.filter(isLocal);
  const reachOfOne = allowedOperations.includes('move') ? 2 : 1;
  return (path) => {
    const parent = parentOf(path) as JsonPointer;
    // an insertion moves the other elements to places with other sub-schemas
    const moved = isJsonArray(resolvePointer(document, parent)) ? parent : path;
    const left = local.filter(({ pointer }) => !isPrefix(moved, pointer) && !isPrefix(pointer, path));
    return Math.ceil(new Set(left.map(({ pointer }) => tokensOf(pointer)[0])).size / reachOfOne);
  };
}

function isLocal({ keyword, pointer }: Violation): boolean {
  return LOCAL_KEYWORDS.has(keyword) && pointer !== '';
}
