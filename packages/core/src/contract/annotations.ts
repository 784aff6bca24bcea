/**
 * Words of a schema that its dialect gives no meaning: a contract refuses them, or reads them as JSON Schema does, as annotations. Then they are
 * set apart before judge and mask see the schema, and listed, so that a misspelt rule is seen. A word that another draft gives a meaning is none.
 * Reference: JSON Schema 2020-12 Core §4.3.1, §6.5 (unknown keywords), Validation §7.2.3 (unknown formats).
 */
import { isJsonArray, isJsonObject, memberOf, setMember, type JsonObject, type JsonValue } from '../json/value.ts';
import { childOf, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { FORMAT_NAMES } from '../validate/format.ts';
import { editsBetween } from '../validate/near-miss.ts';
import type { SchemaDialect } from './contract.ts';
import { knownKeywords, listSubSchemas } from './sub-schemas.ts';

/** A keyword or a format that binds nothing here. */
export interface SchemaAnnotation {
  readonly kind: 'keyword' | 'format';
  readonly name: string;
  readonly keywordLocation: JsonPointer;
  /** The known name it may have been meant for. */
  readonly resembles?: string;
}

export interface AnnotatedSchema {
  /** The schema without them; every other keyword stands where it stood. */
  readonly schema: JsonObject;
  /** In document order. */
  readonly annotations: readonly SchemaAnnotation[];
}

/** Rules, references or identifiers in another draft: whoever writes one means it. */
const OTHER_DRAFTS: ReadonlySet<string> = new Set([
  ...knownKeywords('draft-07'), ...knownKeywords('2020-12'), '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor', 'extends', 'disallow', 'divisibleBy',
]);

/** The longest known keyword has 21 letters; comparing a word of a million letters would cost a million steps for each. */
const MAX_WORD_LENGTH = 32;

/** Sets unknown keywords and formats apart. What stays unknown in `schema` is refused when it is loaded. O(schema). */
export function setAnnotationsApart(schema: JsonObject, dialect: SchemaDialect): AnnotatedSchema {
  const known = [...knownKeywords(dialect)];
  const annotations = listSubSchemas(schema, dialect).flatMap(({ schema: sub, pointer }): readonly SchemaAnnotation[] => {
    if (!isJsonObject(sub)) return [];
    const words = Object.keys(sub).filter((word) => !OTHER_DRAFTS.has(word) && (word !== 'id' || isIdentifierOnly(sub, pointer)));
    const found = words.map((name) => annotationOf('keyword', name, childOf(pointer, name), known));
    const format = memberOf(sub, 'format');
    if (typeof format === 'string' && !FORMAT_NAMES.has(format)) found.push(annotationOf('format', format, childOf(pointer, 'format'), [...FORMAT_NAMES]));
    return found;
  });
  const apart: ReadonlySet<string> = new Set(annotations.map(({ keywordLocation }) => keywordLocation));
  const copy = (value: JsonValue, pointer: JsonPointer): JsonValue => {
    if (isJsonArray(value)) return value.map((item, index) => copy(item, childOf(pointer, String(index))));
    if (!isJsonObject(value)) return value;
    const kept: Record<string, JsonValue> = {};
    for (const [name, member] of Object.entries(value)) {
      const place = childOf(pointer, name);
      if (!apart.has(place)) setMember(kept, name, copy(member, place));
    }
    return kept;
  };
  return { schema: apart.size === 0 ? schema : copy(schema, ROOT_POINTER) as JsonObject, annotations };
}

/** Draft-04's `id` is the base of the references below it: without any, and at the root, where all that are read are local, it only names. */
function isIdentifierOnly(schema: JsonObject, pointer: JsonPointer): boolean {
  const holdsReference = (value: JsonValue): boolean => (
    isJsonArray(value) ? value.some(holdsReference) : isJsonObject(value) && (Object.hasOwn(value, '$ref') || Object.values(value).some(holdsReference))
  );
  return pointer === ROOT_POINTER || !holdsReference(schema);
}

function annotationOf(kind: SchemaAnnotation['kind'], name: string, keywordLocation: JsonPointer, known: readonly string[]): SchemaAnnotation {
  // case, `-`, `_` and up to two letters: fewer in short words, which resemble each other anyway
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '');
  const [word, allowed] = [plain(name), Math.min(2, Math.floor(name.length / 4))];
  const resembles = known.find((other) => plain(other) === word)
    ?? known.find((other) => word.length <= MAX_WORD_LENGTH && editsBetween(word, plain(other)) <= allowed);
  return { kind, name, keywordLocation, ...(resembles === undefined ? {} : { resembles }) };
}
