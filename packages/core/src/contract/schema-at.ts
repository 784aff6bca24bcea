/**
 * Which sub-schemas of a contract speak about a place in the live document. Admission, the action mask, the grammar of values and
 * the prompt all read this one answer. Navigation follows the path through `properties`, `patternProperties`, `additionalProperties`,
 * `items`, `prefixItems`, and in place through local `$ref`, `allOf`, `anyOf` and `oneOf`.
 * What it does not follow (`if`, `not`, `dependentSchemas`, …) may constrain the place too: the answer is a guide, never the verdict.
 */
import { isJsonArray, isJsonObject, jsonEqual, memberOf, type JsonObject, type JsonValue } from '../json/value.ts';
import { arrayIndexOf, childOf, resolvePointer, ROOT_POINTER, tokensOf, type JsonPointer } from '../pointer.ts';
import { compilePattern } from '../validate/pattern.ts';
import type { Contract } from './contract.ts';
import { listSubSchemas, referenceTarget } from './sub-schemas.ts';

export { referenceTarget } from './sub-schemas.ts';

export interface SchemaSite {
  /** The sub-schema; `false` is given as `{ not: {} }`, `true` is not listed. */
  readonly schema: JsonObject;
  /** Its place in `contract.schema`. */
  readonly keywordLocation: JsonPointer;
  /** Reached through a branch of `anyOf` or `oneOf`: it binds only where that branch is the one meant. */
  readonly isConditional: boolean;
}

const IN_PLACE_KEYWORDS = ['$ref', 'allOf', 'anyOf', 'oneOf'] as const;

const NOTHING: JsonObject = Object.freeze({ not: Object.freeze({}) });

/** All sub-schemas that apply at `pointer` of `document`, in schema order. Empty where the schema says nothing of that place. O(schema × path). */
export function schemaAt(contract: Contract, document: JsonValue, pointer: JsonPointer): readonly SchemaSite[] {
  const tokens = tokensOf(pointer);
  let sites = expandSites(contract, [rootSiteOf(contract)], document, tokens[0]);
  let place = ROOT_POINTER;
  for (const [depth, token] of tokens.entries()) {
    const container = resolvePointer(document, place);
    place = childOf(place, token);
    sites = expandSites(contract, sitesBelow(sites, container, token), resolvePointer(document, place), tokens[depth + 1]);
  }
  return sites;
}

/** The steps of {@link schemaAt}: the whole document's site, … */
export function rootSiteOf({ schema }: Contract): SchemaSite {
  return { schema, keywordLocation: ROOT_POINTER, isConditional: false };
}

/** … those that apply in the same place, … */
export function expandSites({ schema }: Contract, sites: readonly SchemaSite[], value: JsonValue | undefined, nextToken: string | undefined): readonly SchemaSite[] {
  const [first] = sites;
  const isAlone = first === undefined || (sites.length === 1 && !IN_PLACE_KEYWORDS.some((keyword) => Object.hasOwn(first.schema, keyword)));
  return isAlone ? sites : expand(schema, sites, value, nextToken);
}

/** … and those of one member or element. */
export function sitesBelow(sites: readonly SchemaSite[], container: JsonValue | undefined, token: string): readonly SchemaSite[] {
  return sites.flatMap((site) => childSites(site, container, token));
}

/** Whether the schema declares plainly, outside any `anyOf` or `oneOf`, that nothing may stand at a place with these `sites`. */
export function prohibits(sites: readonly SchemaSite[]): boolean {
  return sites.some((site) => site.schema === NOTHING && !site.isConditional);
}

const unionFree = new WeakMap<Contract, boolean>();

/** Whether the contract's schema has no `anyOf` and no `oneOf`: then what applies at a place does not depend on the values beside it. */
export function isUnionFree(contract: Contract): boolean {
  const known = unionFree.get(contract);
  if (known !== undefined) return known;
  const free = !listSubSchemas(contract.schema, contract.dialect)
    .some(({ schema }) => isJsonObject(schema) && (Object.hasOwn(schema, 'anyOf') || Object.hasOwn(schema, 'oneOf')));
  unionFree.set(contract, free);
  return free;
}

/** Names that schemas at `pointer` declare as `properties`, in schema order, without repetition. */
export function declaredNames(sites: readonly SchemaSite[]): readonly string[] {
  return [...new Set(sites.flatMap(({ schema }) => Object.keys(objectMember(schema, 'properties') ?? {})))];
}

/** Adds what applies in place: references, conjunctions and branches. Sites met before are not entered again, so cycles end. */
function expand(root: JsonObject, sites: readonly SchemaSite[], value: JsonValue | undefined, nextToken: string | undefined): readonly SchemaSite[] {
  const found = new Map<string, SchemaSite>();
  const visit = (site: SchemaSite): void => {
    const known = found.get(site.keywordLocation);
    if (known !== undefined && (!known.isConditional || site.isConditional)) return;
    found.set(site.keywordLocation, site);
    const { schema, keywordLocation, isConditional } = site;
    const target = referenceTarget(root, memberOf(schema, '$ref'));
    if (target !== undefined) visitSchema(target.schema, target.keywordLocation, isConditional);
    const conjuncts = memberOf(schema, 'allOf');
    if (isJsonArray(conjuncts)) {
      conjuncts.forEach((item, index) => { visitSchema(item, childOf(childOf(keywordLocation, 'allOf'), String(index)), isConditional); });
    }
    for (const keyword of ['anyOf', 'oneOf']) {
      const branches = memberOf(schema, keyword);
      if (!isJsonArray(branches)) continue;
      const open = branches.map((branch) => !isExcluded(root, branch, value, nextToken));
      // where the siblings exclude every branch, one of them is wrong, and each branch is as good as another
      const noneOpen = !open.includes(true);
      branches.forEach((branch, index) => {
        if (noneOpen || open[index] === true) visitSchema(branch, childOf(childOf(keywordLocation, keyword), String(index)), true);
      });
    }
  };
  const visitSchema = (schema: JsonValue, keywordLocation: JsonPointer, isConditional: boolean): void => {
    const site = toSite(schema, keywordLocation, isConditional);
    if (site !== undefined) visit(site);
  };
  sites.forEach(visit);
  return [...found.values()];
}

function toSite(schema: JsonValue | undefined, keywordLocation: JsonPointer, isConditional: boolean): SchemaSite | undefined {
  if (schema === false) return { schema: NOTHING, keywordLocation, isConditional };
  return isJsonObject(schema) ? { schema, keywordLocation, isConditional } : undefined;
}

/** A branch is out when a present sibling contradicts the `const` or `enum` that the branch declares for it. */
function isExcluded(root: JsonObject, branch: JsonValue, value: JsonValue | undefined, nextToken: string | undefined): boolean {
  if (!isJsonObject(value) || !isJsonObject(branch)) return false;
  const schema = referenceTarget(root, memberOf(branch, '$ref'))?.schema ?? branch;
  const properties = isJsonObject(schema) ? objectMember(schema, 'properties') : undefined;
  return Object.entries(properties ?? {}).some(([name, member]) => {
    const present = memberOf(value, name);
    if (name === nextToken || present === undefined || !isJsonObject(member)) return false;
    const only = memberOf(member, 'const');
    const choices = memberOf(member, 'enum');
    if (only !== undefined && !jsonEqual(only, present)) return true;
    return isJsonArray(choices) && !choices.some((choice) => jsonEqual(choice, present));
  });
}

function childSites(site: SchemaSite, container: JsonValue | undefined, token: string): readonly SchemaSite[] {
  const { schema, keywordLocation, isConditional } = site;
  const child = (...path: readonly string[]): readonly SchemaSite[] => {
    const location = path.reduce(childOf, keywordLocation);
    const [keyword, key] = path as [string, string?];
    const holder = memberOf(schema, keyword);
    const member = key === undefined ? holder : isJsonArray(holder) ? holder[Number(key)] : isJsonObject(holder) ? memberOf(holder, key) : undefined;
    const found = toSite(member, location, isConditional);
    return found === undefined ? [] : [found];
  };

  if (isJsonArray(container)) {
    const index = token === '-' ? container.length : arrayIndexOf(token);
    if (index === undefined) return [];
    // draft-07 writes tuples as an array in `items`, followed by `additionalItems`
    const isDraft7Tuple = isJsonArray(memberOf(schema, 'items'));
    const tuple = isDraft7Tuple ? 'items' : 'prefixItems';
    const prefix = memberOf(schema, tuple);
    if (isJsonArray(prefix) && index < prefix.length) return child(tuple, String(index));
    return child(isDraft7Tuple ? 'additionalItems' : 'items');
  }
  if (!isJsonObject(container)) return [];
  const properties = objectMember(schema, 'properties');
  const isDeclared = properties !== undefined && Object.hasOwn(properties, token);
  const patterns = Object.keys(objectMember(schema, 'patternProperties') ?? {}).filter((source) => matches(source, token));
  return [
    ...(isDeclared ? child('properties', token) : []),
    ...patterns.flatMap((source) => child('patternProperties', source)),
    ...(isDeclared || patterns.length > 0 ? [] : child('additionalProperties')),
  ];
}

function matches(source: string, name: string): boolean {
  const pattern = compilePattern(source);
  // `loadContract` refused every pattern that does not compile
  return pattern.ok && pattern.value.test(name);
}

function objectMember(schema: JsonObject, keyword: string): JsonObject | undefined {
  const value = memberOf(schema, keyword);
  return isJsonObject(value) ? value : undefined;
}
