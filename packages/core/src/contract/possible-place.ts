/**
 * Whether a place can exist in any arguments that a schema accepts. A lock, a check or a gate on one that cannot is a mistake in the contract: it would
 * guard nothing and look as if it did. Says no only where the schema is certain; `not`, `if` and relations between members are not consulted.
 * Reference: JSON Schema 2020-12 core §10 (applicators), draft-07 validation §6.4 (tuples).
 */
import { isJsonArray, isJsonObject, memberOf, type JsonObject, type JsonValue } from '../json/value.ts';
import { arrayIndexOf, FORBIDDEN_TOKENS, formatPointer, resolvePointer, ROOT_POINTER, tokensOf, type JsonPointer } from '../pointer.ts';
import { prohibits, sitesBelow } from './schema-at.ts';
import { referenceTarget } from './sub-schemas.ts';

/** False where no object that `root` accepts has a value at `pointer`. O(schema × tokens). */
export function canExist(root: JsonObject, pointer: JsonPointer): boolean {
  const tokens = tokensOf(pointer);
  // members of these names are refused wherever they stand
  if (tokens.some((token) => FORBIDDEN_TOKENS.has(token))) return false;
  const known = Array.from({ length: tokens.length + 1 }, () => new Map<JsonValue, boolean>());

  /** Whether a value that `schema` accepts can have one below it at `tokens` from `depth` on. */
  const visit = (schema: JsonValue | undefined, depth: number): boolean => {
    if (!isJsonObject(schema)) return schema !== false;
    const answers = known[depth] as Map<JsonValue, boolean>;
    const done = answers.get(schema);
    if (done !== undefined) return done;
    // a reference that comes back here adds nothing
    answers.set(schema, true);
    const possible = inPlaceAllows(schema, depth) && literalsAllow(schema, depth) && (depth === tokens.length || objectAllows(schema, depth) || arrayAllows(schema, depth));
    answers.set(schema, possible);
    return possible;
  };

  const inPlaceAllows = (schema: JsonObject, depth: number): boolean => {
    const list = (keyword: string): readonly JsonValue[] | undefined => {
      const value = memberOf(schema, keyword);
      return isJsonArray(value) ? value : undefined;
    };
    return visit(referenceTarget(root, memberOf(schema, '$ref'))?.schema, depth)
      && (list('allOf') ?? []).every((branch) => visit(branch, depth))
      && [list('anyOf'), list('oneOf')].every((branches) => branches?.some((branch) => visit(branch, depth)) ?? true);
  };

  const literalsAllow = (schema: JsonObject, depth: number): boolean => {
    const below = formatPointer(tokens.slice(depth));
    const only = memberOf(schema, 'const');
    const choices = memberOf(schema, 'enum');
    return (only === undefined || resolvePointer(only, below) !== undefined)
      && (!isJsonArray(choices) || choices.some((choice) => resolvePointer(choice, below) !== undefined));
  };

  /** Whether what the schema says of the next token's place lets a value be there; `container` stands for any of its type. */
  const below = (schema: JsonObject, container: JsonValue, depth: number): boolean => (
    sitesBelow([{ schema, keywordLocation: ROOT_POINTER, isConditional: false }], container, tokens[depth] as string)
      .every((site) => !prohibits([site]) && visit(site.schema, depth + 1))
  );

  const objectAllows = (schema: JsonObject, depth: number): boolean => (
    allowsType(schema, 'object') && memberOf(schema, 'maxProperties') !== 0 && below(schema, {}, depth)
  );

  const arrayAllows = (schema: JsonObject, depth: number): boolean => {
    // the arguments themselves are an object
    const index = depth === 0 ? undefined : arrayIndexOf(tokens[depth] as string);
    const most = memberOf(schema, 'maxItems');
    return index !== undefined && allowsType(schema, 'array') && !(typeof most === 'number' && index >= most) && below(schema, [], depth);
  };
  return visit(root, 0);
}

function allowsType(schema: JsonObject, type: 'object' | 'array'): boolean {
  const declared = memberOf(schema, 'type');
  return declared === undefined || declared === type || (isJsonArray(declared) && declared.includes(type));
}
