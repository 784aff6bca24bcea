/** How far a document is from one that the contract's judge accepts, and which operations lead no nearer, as far as that can be told from the violations before a value is written. */
import type { Contract } from '../contract/contract.ts';
import { isJsonArray, type JsonValue } from '../json/value.ts';
import { lockBrokenBy } from '../patch/locked.ts';
import { childOf, isPrefix, parentOf, resolvePointer, ROOT_POINTER, tokensOf, type JsonPointer } from '../pointer.ts';
import { MAX_VIOLATIONS, validateValue } from '../validate/validate.ts';
import type { Violation } from '../validate/violation.ts';
import type { Move } from './churn.ts';

/** Keywords whose verdict on a place depends on nothing but what stands there. */
const LOCAL_KEYWORDS: ReadonlySet<string> = new Set([
  'type', 'enum', 'const', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength', 'pattern', 'format',
  'minItems', 'maxItems', 'required', 'additionalProperties',
]);
/** Keywords under which a sub-schema may bind or not, depending on other places. As a member's name they only make the answer more careful. */
const CONDITIONAL_KEYWORDS = ['anyOf', 'oneOf', 'not', 'if', 'dependentSchemas', 'dependencies', 'contains', 'unevaluatedProperties', 'unevaluatedItems', '$dynamicRef', '$recursiveRef'];

export interface Distance {
  /**
   * How many further operations the document needs at least once a value was written at `path`: violations that this leaves alone stay what
   * they are, and lie in so many members of the root, of which one operation reaches one, a move two. 0 where that cannot be told.
   */
  afterWrite(path: JsonPointer): number;
  /**
   * Whether the operation leads no nearer to the call that was meant: it reaches none of the places at fault, where all of them are known, or it takes a
   * member away that the report holds for a misnamed one.
   */
  isStray(move: Move): boolean;
}

export function createDistance(contract: Contract, document: JsonValue): Distance {
  const report = validateValue(contract, document);
  const violations = report.kind === 'invalid' ? report.violations : [];
  const misnamed = misnamedIn(contract, document, violations);
  const atFault = violations.flatMap((violation) => [violation.pointer, ...meantPlace(violation)]);
  const schemaText = JSON.stringify(contract.schema);
  const isConditional = CONDITIONAL_KEYWORDS.some((keyword) => schemaText.includes(`"${keyword}":`));
  const local = isConditional ? [] : violations.filter(({ keyword, pointer }) => LOCAL_KEYWORDS.has(keyword) && pointer !== ROOT_POINTER);
  const isAllKnown = local.length > 0 && local.length === violations.length && violations.length < MAX_VIOLATIONS;
  const reachOfOne = contract.document.allowedOperations.includes('move') ? 2 : 1;

  const reaches = (path: JsonPointer): ((place: JsonPointer) => boolean) => {
    const parent = parentOf(path) as JsonPointer;
    // an insertion moves the other elements to places with other sub-schemas
    const moved = isJsonArray(resolvePointer(document, parent)) ? parent : path;
    return (place) => isPrefix(moved, place) || isPrefix(place, path);
  };
  // one place is asked about with each that it may be moved to
  const known = new Map<JsonPointer, boolean>();
  const isAtFault = (path: JsonPointer): boolean => {
    let answer = known.get(path);
    if (answer === undefined) known.set(path, answer = atFault.some(reaches(path)));
    return answer;
  };
  return {
    afterWrite(path) {
      const isReached = reaches(path);
      return Math.ceil(new Set(local.filter(({ pointer }) => !isReached(pointer)).map(({ pointer }) => tokensOf(pointer)[0])).size / reachOfOne);
    },
    isStray(move) {
      if (move.op === 'remove' && misnamed.has(move.path)) return true;
      return isAllKnown && !isAtFault(move.path) && !(move.op === 'move' && isAtFault(move.from));
    },
  };
}

/** The additional members that may be moved to the absent one that was meant. */
function misnamedIn(contract: Contract, document: JsonValue, violations: readonly Violation[]): ReadonlySet<JsonPointer> {
  const mayGo = (place: JsonPointer): boolean => lockBrokenBy(contract.immutablePaths, document, 'insert', place) === undefined;
  return new Set(contract.document.allowedOperations.includes('move') ? violations.filter((violation) => meantPlace(violation).some(mayGo)).map(({ pointer }) => pointer) : []);
}

/** Of an additional member: where the declared one would stand that is absent and whose name is nearest. */
function meantPlace({ code, pointer, params: { closestName } }: Violation): readonly JsonPointer[] {
  return code === 'additional_property' && typeof closestName === 'string' ? [childOf(parentOf(pointer) ?? ROOT_POINTER, closestName)] : [];
}
