/**
 * Whether a place can exist in any arguments that a schema accepts. A lock, a check or a gate on one that cannot is a mistake in the contract: it would
 * guard nothing and look as if it did. Says no only where the schema is certain; `not`, `if` and relations between members are not consulted.
 * Reference: JSON Schema 2020-12 core §10 (applicators), draft-07 validation §6.4 (tuples).
 */
import { isJsonArray, isJsonObject, memberOf, type JsonObject, type JsonValue } from '../json/value.ts';
import { arrayIndexOf, FORBIDDEN_TOKENS, formatPointer, resolvePointer, tokensOf, type JsonPointer } from '../pointer.ts';
import { compilePattern } from '../validate/pattern.ts';
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

  const objectAllows = (schema: JsonObject, depth: number): boolean => {
    if (!allowsType(schema, 'object') || memberOf(schema, 'maxProperties') === 0) return false;
    const token = tokens[depth] as string;
    const properties = memberOf(schema, 'properties');
    const patterns = memberOf(schema, 'patternProperties');
    const declared = isJsonObject(properties) ? memberOf(properties, token) : undefined;
    const matched = isJsonObject(patterns) ? Object.keys(patterns).filter((source) => matches(source, token)).map((source) => memberOf(patterns, source)) : [];
    const applying = [...(declared === undefined ? [] : [declared]), ...matched];
    return (applying.length === 0 ? [memberOf(schema, 'additionalProperties')] : applying).every((member) => visit(member, depth + 1));
  };

  const arrayAllows = (schema: JsonObject, depth: number): boolean => {
    // the arguments themselves are an object
    const index = depth === 0 ? undefined : arrayIndexOf(tokens[depth] as string);
    const most = memberOf(schema, 'maxItems');
    if (index === undefined || !allowsType(schema, 'array') || (typeof most === 'number' && index >= most)) return false;
    // draft-07 writes tuples as an array in `items`, followed by `additionalItems`
    const items = memberOf(schema, 'items');
    const tuple = isJsonArray(items) ? items : memberOf(schema, 'prefixItems');
    const rest = isJsonArray(items) ? memberOf(schema, 'additionalItems') : items;
    return visit(isJsonArray(tuple) && index < tuple.length ? tuple[index] : rest, depth + 1);
  };
  return visit(root, 0);
}

function allowsType(schema: JsonObject, type: 'object' | 'array'): boolean {
  const declared = memberOf(schema, 'type');
  return declared === undefined || declared === type || (isJsonArray(declared) && declared.includes(type));
}

function matches(source: string, name: string): boolean {
  const pattern = compilePattern(source);
  return pattern.ok && pattern.value.test(name);
}
