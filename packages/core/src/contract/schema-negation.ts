/**
 * The complement of a schema as schemas: `not`, the branch of `if` that fails, overlapping `oneOf` and the elements that `contains` does not
 * count are all read through it. De Morgan on keywords: whatever breaks one of them breaks the schema. A keyword whose complement has no
 * schema among those the mask constrains makes the whole complement unknown, never wider or narrower.
 * Reference: JSON Schema 2020-12 Core §10.2, Validation §6.
 */
import { isJsonArray, isJsonObject, type JsonObject, type JsonTypeName, type JsonValue } from '../json/value.ts';
import { ROOT_POINTER } from '../pointer.ts';
import { ANNOTATIONS, isWellFormed, numberFormatIn, objectIn, stringsIn, TYPE_KEYWORDS, typesOf } from './schema-keywords.ts';
import { referenceTarget } from './sub-schemas.ts';

/** Nesting of the schema negated, references included: beyond it only recursive schemas go, which have no finite complement. */
const MAX_DEPTH = 16;

const ALL_TYPES: readonly JsonTypeName[] = ['null', 'boolean', 'number', 'string', 'array', 'object'];

/**
 * Schemas of which a value satisfies at least one exactly if it does not satisfy `schema`; undefined where no such list is known. Local
 * references resolve in `root`. The result may hold `not` in a form that is read as it stands.
 */
export function complementOf(root: JsonObject, schema: JsonValue, depth = 0): readonly JsonValue[] | undefined {
  if (schema === true) return [];
  if (schema === false) return [true];
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return undefined;
  const { names } = typesOf([{ schema, location: ROOT_POINTER, trail: [] }]);
  const found: JsonValue[] = [];
  for (const keyword of Object.keys(schema)) {
    const bound = keyword === 'format' && numberFormatIn(schema) !== undefined ? undefined : TYPE_KEYWORDS.get(keyword);
    // a value of another type already breaks `type`, so what binds that type alone adds nothing
    if (ANNOTATIONS.has(keyword) || keyword === 'nullable' || (bound !== undefined && !names.has(bound.type))) continue;
    const broken = complementOfKeyword(root, schema, keyword, depth + 1);
    if (broken === undefined) return undefined;
    found.push(...broken);
  }
  return found;
}

function complementOfKeyword(root: JsonObject, schema: JsonObject, keyword: string, depth: number): readonly JsonValue[] | undefined {
  const value = schema[keyword] as JsonValue;
  const ofAll = (schemas: readonly JsonValue[]): readonly JsonValue[] | undefined => {
    const complements = schemas.map((sub) => complementOf(root, sub, depth));
    return complements.includes(undefined) ? undefined : complements.flatMap((each) => each as readonly JsonValue[]);
  };
  const limit = (type: JsonTypeName, opposite: string, step: number): readonly JsonValue[] | undefined => (
    typeof value !== 'number' ? undefined : value + step < 0 ? [] : [{ type, [opposite]: value + step }]
  );
  switch (keyword) {
    case 'type': return complementOfType(schema);
    case 'enum': return isJsonArray(value) ? [{ not: { enum: value } }] : undefined;
    case 'const': return [{ not: { enum: [value] } }];
    case 'not': return [value];
    case 'allOf': return isJsonArray(value) ? ofAll(value) : undefined;
    case 'anyOf': {
      if (!isJsonArray(value)) return undefined;
      const complements = value.map((branch) => complementOf(root, branch, depth));
      return complements.includes(undefined) ? undefined : [{ allOf: complements.map((each) => ({ anyOf: each as readonly JsonValue[] })) }];
    }
    case 'oneOf': {
      if (!isJsonArray(value)) return undefined;
      const complements = value.map((branch) => complementOf(root, branch, depth));
      // none of them, or two
      const pairs = value.flatMap((left, index) => value.slice(index + 1).map((right) => ({ allOf: [left, right] })));
      return complements.includes(undefined) ? undefined : [{ allOf: complements.map((each) => ({ anyOf: each as readonly JsonValue[] })) }, ...pairs];
    }
    case 'if': {
      const branches: readonly (readonly [JsonValue, JsonValue])[] = [[value, schema['then'] ?? true], [{ not: value }, schema['else'] ?? true]];
      const broken = branches.map(([met, asked]) => complementOf(root, asked, depth)?.map((found) => ({ allOf: [met, found] })));
      return broken.includes(undefined) ? undefined : broken.flatMap((each) => each as readonly JsonValue[]);
    }
    case 'then': case 'else': return [];
    case 'dependentRequired':
      return Object.entries(objectIn(schema, keyword) ?? {}).flatMap(([name, names]) => (
        isJsonArray(names) ? names.map((other) => ({ type: 'object', required: [name], properties: { [other as string]: false } })) : []
      ));
    case '$ref': {
      const target = referenceTarget(root, value);
      return target === undefined ? undefined : complementOf(root, target.schema, depth);
    }
    case 'minimum': return typeof value === 'number' ? [{ type: 'number', exclusiveMaximum: value }] : undefined;
    case 'maximum': return typeof value === 'number' ? [{ type: 'number', exclusiveMinimum: value }] : undefined;
    case 'exclusiveMinimum': return typeof value === 'number' ? [{ type: 'number', maximum: value }] : undefined;
    case 'exclusiveMaximum': return typeof value === 'number' ? [{ type: 'number', minimum: value }] : undefined;
    case 'pattern': return isWellFormed(schema, keyword) ? [{ type: 'string', not: { pattern: value } }] : undefined;
    case 'format': {
      const asked = numberFormatIn(schema);
      return asked === undefined ? undefined : complementOf(root, asked, depth);
    }
    case 'multipleOf': return typeof value === 'number' ? [{ type: 'number', not: { multipleOf: value } }] : undefined;
    case 'minLength': return limit('string', 'maxLength', -1);
    case 'maxLength': return limit('string', 'minLength', 1);
    case 'minItems': return limit('array', 'maxItems', -1);
    case 'maxItems': return limit('array', 'minItems', 1);
    case 'minProperties': return limit('object', 'maxProperties', -1);
    case 'maxProperties': return limit('object', 'minProperties', 1);
    case 'required': return stringsIn(schema, keyword).map((name) => ({ type: 'object', properties: { [name]: false } }));
    case 'properties': {
      const broken = Object.entries(objectIn(schema, keyword) ?? {}).map(([name, member]) => {
        const complement = complementOf(root, member, depth);
        return complement === undefined || complement.length === 0 ? complement : [{ type: 'object', required: [name], properties: { [name]: { anyOf: complement } } }];
      });
      return broken.includes(undefined) ? undefined : broken.flatMap((each) => each as readonly JsonValue[]);
    }
    case 'additionalProperties': {
      const complement = complementOf(root, value, depth);
      return complement?.length === 0 ? [] : undefined;
    }
    case 'items': {
      if (isJsonArray(value) || Object.hasOwn(schema, 'prefixItems')) return undefined;
      const complement = complementOf(root, value, depth);
      return complement === undefined || complement.length === 0 ? complement : [{ type: 'array', contains: { anyOf: complement } }];
    }
    case 'contains': {
      if (Object.hasOwn(schema, 'minContains') || Object.hasOwn(schema, 'maxContains')) return undefined;
      const complement = complementOf(root, value, depth);
      return complement === undefined ? undefined : [{ type: 'array', items: complement.length === 0 ? false : { anyOf: complement } }];
    }
    default: return undefined;
  }
}

/** Integers are told from other numbers by `multipleOf`: no type is "a number that is not whole". */
function complementOfType(schema: JsonObject): readonly JsonValue[] {
  const { names, integer } = typesOf([{ schema, location: ROOT_POINTER, trail: [] }]);
  const others = ALL_TYPES.filter((name) => !names.has(name));
  return [...(others.length === 0 ? [] : [{ type: others }]), ...(integer && names.has('number') ? [{ type: 'number', not: { multipleOf: 1 } }] : [])];
}
