/**
 * When two branches of a `oneOf` provably have no value in common: then it is read as a plain union. What is not provable here may still
 * be told apart by complements, or is refused.
 */
import { isJsonObject, jsonTypeOf, memberOf } from '../json/value.ts';
import { ROOT_POINTER } from '../pointer.ts';
import { literalsOf, memberSchemasOf, numberBoundsOf, objectIn, stringsIn, typesOf, type Conjunct } from './schema-keywords.ts';

/**
 * Whether no value satisfies both lists of conjuncts: their types, literals or ranges have nothing in common, one requires a member that
 * the other forbids, or the literals of a member that both require have nothing in common.
 */
export function areDisjoint(left: readonly Conjunct[], right: readonly Conjunct[]): boolean {
  const all = [...left, ...right];
  const both = typesOf(all).names;
  if (both.size === 0) return true;
  const literals = literalsOf(all);
  if (literals !== undefined && !literals.some((value) => both.has(jsonTypeOf(value)))) return true;
  if (both.size !== 1) return false;
  if (both.has('number')) {
    const { lower, upper } = numberBoundsOf(all);
    return lower !== undefined && upper !== undefined && (lower.value > upper.value || (lower.value === upper.value && (lower.exclusive || upper.exclusive)));
  }
  return both.has('object') && (forbidsWhatIsRequired(left, right) || forbidsWhatIsRequired(right, left) || requiresOtherLiterals(left, right));
}

function forbidsWhatIsRequired(forbidding: readonly Conjunct[], requiring: readonly Conjunct[]): boolean {
  return requiredIn(requiring).some((name) => forbidding.some((conjunct) => memberSchemasOf(conjunct, name).some(({ schema }) => schema === false)));
}

function requiresOtherLiterals(left: readonly Conjunct[], right: readonly Conjunct[]): boolean {
  const requiredInBoth = requiredIn(left).filter((name) => requiredIn(right).includes(name));
  return requiredInBoth.some((name) => {
    const members = [...left, ...right].flatMap(({ schema, trail }) => {
      const member = memberOf(objectIn(schema, 'properties') ?? {}, name);
      return isJsonObject(member) ? [{ schema: member, location: ROOT_POINTER, trail }] : [];
    });
    return literalsOf(members)?.length === 0;
  });
}

function requiredIn(conjuncts: readonly Conjunct[]): readonly string[] {
  return conjuncts.flatMap(({ schema }) => stringsIn(schema, 'required'));
}
