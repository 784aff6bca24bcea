/** What the mask's grammar knows of a schema: a finite tree of plain kinds, and the refusal that names what has no such tree. */
import type { JsonValue } from '../json/value.ts';
import type { JsonPointer } from '../pointer.ts';
import type { NumberBound } from './schema-keywords.ts';
import type { TextContent } from './schema-text.ts';

export interface ObjectMember {
  readonly name: string;
  readonly required: boolean;
  readonly node: SchemaNode;
}

/** The values a schema accepts, as far as the mask can spell them. A union without branches accepts nothing. */
export type SchemaNode =
  | { readonly kind: 'literals'; readonly values: readonly JsonValue[] }
  | StringNode
  | NumberNode
  | ArrayNode
  /** Declared (or required) members only, required first, each group in schema order. Undeclared names are never spelled. */
  | { readonly kind: 'object'; readonly members: readonly ObjectMember[]; readonly minProperties?: number | undefined; readonly maxProperties?: number | undefined }
  | { readonly kind: 'union'; readonly branches: readonly SchemaNode[] };

/** Lengths in code points; `maxLength` undefined where the schema sets none, `content` where `pattern` and `format` leave it free. */
export interface StringNode {
  readonly kind: 'string';
  readonly minLength: number;
  readonly maxLength: number | undefined;
  readonly content?: TextContent | undefined;
}

/** Divisors are exact decimals: a number is a whole multiple of each in `multiplesOf` and of none in `notMultiplesOf`. */
export interface NumberNode {
  readonly kind: 'number';
  readonly integer: boolean;
  readonly lower: NumberBound | undefined;
  readonly upper: NumberBound | undefined;
  readonly multiplesOf?: readonly number[] | undefined;
  readonly notMultiplesOf?: readonly number[] | undefined;
  /** Values left out. */
  readonly excluded?: readonly number[] | undefined;
}

export interface ArrayNode {
  readonly kind: 'array';
  readonly prefix: readonly SchemaNode[];
  readonly rest: SchemaNode;
  readonly minItems: number;
  readonly maxItems: number | undefined;
  /** No two elements equal: then there is no prefix, and `rest` is a list of literals. */
  readonly uniqueItems?: boolean | undefined;
  /** `rest` split into the elements that count and the others; there is no prefix, and `max` is undefined where any number may count. */
  readonly contains?: { readonly counted: SchemaNode; readonly other: SchemaNode; readonly min: number; readonly max: number | undefined } | undefined;
}

/** `keywordLocation` is a pointer inside the schema, `instanceLocation` one inside the value (`-` stands for any further element). */
export interface UnsupportedKeyword {
  readonly code: 'mask/unsupported-keyword';
  readonly keyword: string;
  readonly keywordLocation: JsonPointer;
  readonly instanceLocation: JsonPointer;
}
