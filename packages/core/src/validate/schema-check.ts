/**
 * Reading a schema before Ajv does: whatever the judge could not honour is refused here with its place in the schema.
 * Unknown keywords and formats, references that leave the document or end nowhere, references that go round without consuming input,
 * and patterns that could hang. Reference: JSON Schema 2020-12 core §7–8 and validation; draft-07.
 */
import { FORBIDDEN_TOKENS, childOf, type JsonPointer } from '../pointer.ts';
import { isJsonArray, isJsonObject, memberOf, type JsonObject, type JsonValue } from '../json/value.ts';
import type { SchemaDialect } from '../contract/contract.ts';
import { childSchemas, isKnownKeyword, listSubSchemas, referenceTarget, type SubSchema } from '../contract/sub-schemas.ts';
import { FORMAT_NAMES } from './format.ts';
import { compilePattern } from './pattern.ts';

export type SchemaIssueCode =
  | 'contract/schema-invalid' | 'contract/unknown-keyword' | 'contract/unknown-format' | 'contract/unsupported-keyword'
  | 'contract/remote-reference' | 'contract/unresolved-reference' | 'contract/reference-cycle'
  | 'contract/invalid-pattern' | 'contract/unsafe-pattern' | 'contract/forbidden-name';

/** `pointer` addresses the keyword inside the schema. */
export interface SchemaIssue {
  readonly code: SchemaIssueCode;
  readonly pointer: JsonPointer;
  readonly params: JsonObject;
}

/**
 * Known words of a dialect that Ajv does not honour the way the dialect means them; each would silently widen or move a rule.
 * `unevaluatedItems`: Ajv misjudges 10 cases of the JSON-Schema-Test-Suite, mostly beside `contains`.
 */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor', '$vocabulary', 'unevaluatedItems',
]);

/** What the checks of one keyword need of the whole schema. */
interface Whole {
  readonly root: JsonObject;
  readonly dialect: SchemaDialect;
  /** Places of all sub-schemas. */
  readonly places: ReadonlySet<JsonPointer>;
  readonly usesUnevaluated: boolean;
}

/** The first issue of a schema in document order, or `undefined`. */
export function checkSchema(schema: JsonObject, dialect: SchemaDialect): SchemaIssue | undefined {
  const subSchemas = listSubSchemas(schema, dialect);
  const whole: Whole = {
    root: schema,
    dialect,
    places: new Set(subSchemas.map((sub) => sub.pointer)),
    usesUnevaluated: subSchemas.some((sub) => isJsonObject(sub.schema) && Object.hasOwn(sub.schema, 'unevaluatedProperties')),
  };
  for (const { schema: sub, pointer } of subSchemas) {
    const issue = isJsonObject(sub) ? checkKeywords(whole, sub, pointer) : undefined;
    if (issue !== undefined) return issue;
  }
  return findReferenceCycle(whole, subSchemas);
}

function checkKeywords(whole: Whole, schema: JsonObject, pointer: JsonPointer): SchemaIssue | undefined {
  for (const keyword of Object.keys(schema)) {
    const place = childOf(pointer, keyword);
    const refuse = (code: SchemaIssueCode, params: JsonObject = {}, at: JsonPointer = place): SchemaIssue => ({ code, pointer: at, params: { keyword, ...params } });
    if (UNSUPPORTED.has(keyword)) return refuse('contract/unsupported-keyword');
    if (!isKnownKeyword(whole.dialect, keyword)) return refuse('contract/unknown-keyword');
    const value = schema[keyword] as JsonValue;
    // Ajv drops a `__proto__` among these maps without a word
    if (isJsonObject(value) && Object.hasOwn(value, '__proto__')) return refuse('contract/forbidden-name', { name: '__proto__' });
    switch (keyword) {
      case '$id':
        // a nested base URI would change what every reference below means
        if (pointer !== '') return refuse('contract/unsupported-keyword');
        break;
      case '$ref': {
        if (typeof value !== 'string') break;
        const issue = checkReference(whole, value);
        if (issue !== undefined) return refuse(issue, { reference: value });
        break;
      }
      case 'if': {
        // Ajv skips an `if` that lacks a branch, and with it what the `if` evaluated
        const isHalf = !Object.hasOwn(schema, 'then') || !Object.hasOwn(schema, 'else');
        if (isHalf && whole.usesUnevaluated) return refuse('contract/unsupported-keyword');
        break;
      }
      case 'format':
        if (typeof value === 'string' && !FORMAT_NAMES.has(value)) return refuse('contract/unknown-format', { format: value });
        break;
      case 'required':
        if (isJsonArray(value) && value.some((name) => FORBIDDEN_TOKENS.has(String(name)))) return refuse('contract/forbidden-name', { names: value });
        break;
      case 'pattern': {
        const issue = typeof value === 'string' ? checkPattern(value) : undefined;
        if (issue !== undefined) return refuse(issue.code, issue.params);
        break;
      }
      case 'patternProperties':
        for (const source of isJsonObject(value) ? Object.keys(value) : []) {
          const issue = checkPattern(source);
          if (issue !== undefined) return refuse(issue.code, issue.params, childOf(place, source));
        }
        break;
      default:
    }
  }
  return undefined;
}

/** A target that is no sub-schema, inside a `default` say, was never checked: it leads nowhere. */
function checkReference({ root, places }: Whole, reference: string): SchemaIssueCode | undefined {
  const own = memberOf(root, '$id');
  const isLocal = reference.startsWith('#') || (typeof own === 'string' && reference.split('#')[0] === own.split('#')[0]);
  if (!isLocal) return 'contract/remote-reference';
  const target = referenceTarget(root, reference);
  return target === undefined || !places.has(target.keywordLocation) ? 'contract/unresolved-reference' : undefined;
}

function checkPattern(source: string): { readonly code: SchemaIssueCode; readonly params: JsonObject } | undefined {
  const pattern = compilePattern(source);
  if (pattern.ok) return undefined;
  const code = pattern.error.code === 'pattern/invalid' ? 'contract/invalid-pattern' : 'contract/unsafe-pattern';
  return { code, params: { source, reason: pattern.error.code } };
}

/** Sub-schemas of one instance inside each other; no schema met in practice has ten. Bounds the recursion here and in Ajv. */
const MAX_IN_PLACE_DEPTH = 256;

/** Depth-first search over the edges that stay at the same instance: a cycle among them would never end. */
function findReferenceCycle({ root, dialect }: Whole, subSchemas: readonly SubSchema[]): SchemaIssue | undefined {
  const done = new Set<JsonPointer>();
  const trail = new Set<JsonPointer>();
  const visit = ({ schema, pointer }: SubSchema): JsonPointer | undefined => {
    if (trail.has(pointer) || trail.size >= MAX_IN_PLACE_DEPTH) return pointer;
    if (done.has(pointer) || !isJsonObject(schema)) return undefined;
    trail.add(pointer);
    const inPlace: SubSchema[] = childSchemas(schema, pointer, dialect).filter((child) => child.inPlace);
    const target = referenceTarget(root, memberOf(schema, '$ref'));
    if (target !== undefined) inPlace.push({ schema: target.schema, pointer: target.keywordLocation });
    for (const next of inPlace) {
      const cycle = visit(next);
      if (cycle !== undefined) return cycle;
    }
    trail.delete(pointer);
    done.add(pointer);
    return undefined;
  };
  for (const sub of subSchemas) {
    const cycle = visit(sub);
    if (cycle !== undefined) return { code: 'contract/reference-cycle', pointer: cycle, params: { keyword: '$ref' } };
  }
  return undefined;
}
