/**
 * Ajv, the judge of values: draft-07 and 2020-12, formats, own members only. Its error objects do not leave this folder.
 * A schema is read by `checkSchema` first, so Ajv sees only what it honours; where it still refuses, the schema is refused.
 */
import { Ajv, type Options, type SchemaValidateFunction, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import type { SchemaDialect } from '../contract/contract.ts';
import { listSubSchemas, referenceTarget } from '../contract/sub-schemas.ts';
import { canonicalText } from '../json/canonical.ts';
import { isMultipleOf } from '../json/decimal.ts';
import { isJsonObject, memberOf, type JsonArray, type JsonObject, type JsonValue } from '../json/value.ts';
import { parsePointer, ROOT_POINTER, toUriFragment, type JsonPointer } from '../pointer.ts';
import { err, ok, type Result } from '../result.ts';
import { toViolations, type SchemaIndex } from './from-ajv.ts';
import { compilePattern, type Pattern } from './pattern.ts';
import { checkSchema, type SchemaIssue } from './schema-check.ts';
import type { Violation } from './violation.ts';

/** Decides one value against one schema; an empty list means valid. A judge that fails reports `undecided`. */
export interface Judge {
  judge(value: JsonValue): readonly Violation[];
}

const ROOT_KEY = 'contract:schema';

/** Builds the judge of a schema, or names the first thing in it that cannot be honoured. Compiling costs milliseconds: keep the judge. */
export function createJudge(schema: JsonObject, dialect: SchemaDialect): Result<Judge, SchemaIssue> {
  const ajv = createJudgingAjv(dialect);
  const issue = checkAgainstMetaSchema(schema, dialect) ?? checkSchema(schema, dialect);
  if (issue !== undefined) return err(issue);

  const compiled = compile(ajv, schema);
  if (!compiled.ok) return compiled;
  const validate = compiled.value;
  const index = indexSchema(ajv, schema, dialect);
  return ok({
    judge: (value) => {
      try {
        return validate(value) === true ? [] : toViolations(validate.errors ?? [], index);
      } catch (cause) {
        // a crash, an exhausted pattern budget or an exhausted stack decides nothing, and what is not decided is not accepted
        return [{ code: 'undecided', pointer: ROOT_POINTER, keyword: '', keywordLocation: '', params: { reason: cause instanceof Error ? cause.name : 'unknown' } }];
      }
    },
  });
}

function indexSchema(ajv: Ajv, root: JsonObject, dialect: SchemaDialect): SchemaIndex {
  const locations = new Map<unknown, JsonPointer>(listSubSchemas(root, dialect).map((sub) => [sub.schema, sub.pointer]));
  const reachable = new Map<unknown, ReadonlySet<unknown>>();
  return {
    locationOf: (schema) => locations.get(schema),
    reachableFrom: (keywordValue) => {
      const known = reachable.get(keywordValue) ?? collectReachable(root, keywordValue as JsonValue);
      reachable.set(keywordValue, known);
      return known;
    },
    judgeAt: (location, value) => {
      const validate = ajv.getSchema(`${ROOT_KEY}#${toUriFragment(location)}`);
      return validate === undefined || validate(value) === true ? [] : validate.errors ?? [];
    },
    resolve: (schema) => (isJsonObject(schema) && Object.hasOwn(schema, '$ref') ? referenceTarget(root, schema['$ref'])?.schema : schema),
  };
}

function collectReachable(root: JsonObject, start: JsonValue): ReadonlySet<unknown> {
  const found = new Set<unknown>();
  const visit = (value: JsonValue | undefined): void => {
    if (typeof value !== 'object' || value === null || found.has(value)) return;
    found.add(value);
    Object.values(value).forEach(visit);
    if (isJsonObject(value)) visit(referenceTarget(root, memberOf(value, '$ref'))?.schema);
  };
  visit(start);
  return found;
}

const OPTIONS: Options = {
  allErrors: true,
  // without it inherited members satisfy `required`
  ownProperties: true,
  // error objects then carry their sub-schema, the one sure way to its place: Ajv's own path starts anew behind a `$ref`
  verbose: true,
  // `checkSchema` is stricter where it matters; Ajv's own strictness would also refuse legal style, such as `if` without `then`
  strict: false,
  strictNumbers: true,
  messages: false,
  logger: false,
  validateSchema: false,
};

function createAjv(dialect: SchemaDialect, options: Options): Ajv {
  return dialect === 'draft-07' ? new Ajv({ ...OPTIONS, ...options }) : new Ajv2020({ ...OPTIONS, ...options }) as unknown as Ajv;
}

/**
 * The instance that judges one contract's values. The meta-schema is not compiled into it: that alone would cost 15 ms a contract. Nor does Ajv tidy
 * its code before it compiles it: that is half of what a contract costs, and the host runs the untidied code as fast.
 */
function createJudgingAjv(dialect: SchemaDialect): Ajv {
  const ajv = createAjv(dialect, { meta: false, code: { regExp: safeRegExp, optimize: false } });
  ajvFormats.default(ajv, { mode: 'full', keywords: false });
  ajv.addFormat('url', { type: 'string', validate: isUrl });
  // Ajv compares all pairs of non-scalar items: 300,000 empty arrays, 1 MiB of text, would take hours
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', validate: (isOn: boolean, items: JsonArray) => !isOn || areDistinct(items) });
  // Ajv divides doubles: to it 19.99 is no multiple of 0.01
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({ keyword: 'multipleOf', type: 'number', schemaType: 'number', validate: isMultiple, errors: 'full' });
  return ajv;
}

/** Leaves its error in the property Ajv reads it from, with the parameter Ajv's own keyword reports. */
const isMultiple: SchemaValidateFunction = (divisor: number, value: number): boolean => {
  const accepted = isMultipleOf(value, divisor);
  isMultiple.errors = accepted ? [] : [{ keyword: 'multipleOf', params: { multipleOf: divisor } }];
  return accepted;
};

/** The one format of ajv-formats measured to take quadratic time (0.2 s at 20,000 characters): longer texts are no URL that a server would take. */
const MAX_URL_LENGTH = 8_192;

function isUrl(text: string): boolean {
  const format = ajvFormats.default.get('url', 'full');
  return text.length <= MAX_URL_LENGTH && format instanceof RegExp && format.test(text);
}

function areDistinct(items: JsonArray): boolean {
  return new Set(items.map(canonicalText)).size === items.length;
}

const metaSchemas = new Map<SchemaDialect, Ajv>();

/** The dialect's own meta-schema, compiled once: whether `schema` is a schema at all. */
function checkAgainstMetaSchema(schema: JsonObject, dialect: SchemaDialect): SchemaIssue | undefined {
  const ajv = metaSchemas.get(dialect) ?? createAjv(dialect, {});
  metaSchemas.set(dialect, ajv);
  // validated as a value, so that a wrong `$schema` or `$id` inside cannot choose another meta-schema
  if (ajv.validate(META_SCHEMA_IDS[dialect], schema) === true) return undefined;
  const first = ajv.errors?.[0];
  return { code: 'contract/schema-invalid', pointer: toPointer(first?.instancePath), params: { keyword: first?.keyword ?? '' } };
}

const META_SCHEMA_IDS: Readonly<Record<SchemaDialect, string>> = {
  'draft-07': 'http://json-schema.org/draft-07/schema',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
};

const safeRegExp = Object.assign(
  (source: string): RegExp => {
    const pattern = compilePattern(source);
    if (!pattern.ok) throw new RangeError(pattern.error.code);
    return pattern.value as Pattern & RegExp;
  },
  // the code Ajv would print for standalone use; this judge never prints it
  { code: 'new RegExp' },
);

/** What Ajv still cannot compile it reports by throwing. */
function compile(ajv: Ajv, schema: JsonObject): Result<ValidateFunction, SchemaIssue> {
  try {
    ajv.addSchema(schema, ROOT_KEY);
    const validate = ajv.getSchema(ROOT_KEY);
    if (validate !== undefined) return ok(validate);
    return err({ code: 'contract/schema-invalid', pointer: ROOT_POINTER, params: { keyword: '' } });
  } catch (cause) {
    return err({ code: 'contract/schema-invalid', pointer: ROOT_POINTER, params: { keyword: '', reason: cause instanceof Error ? cause.message : 'unknown' } });
  }
}

function toPointer(text: string | undefined): JsonPointer {
  const pointer = parsePointer(text ?? '');
  return pointer.ok ? pointer.value : ROOT_POINTER;
}
