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
  | ObjectNode
  | { readonly kind: 'union'; readonly branches: readonly SchemaNode[] };

/** Declared (or required) members, required first, each group in schema order; then those of `open`. The counts are of all of them. */
export interface ObjectNode {
  readonly kind: 'object';
  readonly members: readonly ObjectMember[];
  readonly minProperties?: number | undefined;
  readonly maxProperties?: number | undefined;
  /** Undefined where undeclared names are not spelled. */
  readonly open?: readonly OpenMembers[] | undefined;
}

/** Members that nobody declares: each has a name of `names` that is not among those declared, and no two the same. No name is in two of these. */
export interface OpenMembers {
  readonly names: StringNode;
  readonly node: SchemaNode;
}

/** Lengths in code points; `maxLength` undefined where the schema sets none, `content` where `pattern` and `format` leave it free. */
export interface StringNode {
  readonly kind: 'string';
  readonly minLength: number;
  readonly maxLength: number | undefined;
  readonly content?: TextContent | undefined;
  /** What the schema names without binding: its `default` and `examples`. */
  readonly suggested?: readonly string[] | undefined;
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
  readonly suggested?: readonly number[] | undefined;
}

export interface ArrayNode {
  readonly kind: 'array';
  readonly prefix: readonly SchemaNode[];
  readonly rest: SchemaNode;
  readonly minItems: number;
  readonly maxItems: number | undefined;
  /** No two elements equal: then there is no prefix, and `rest` is a list of literals. */
  readonly uniqueItems?: boolean | undefined;
  /** The element that those literals were listed from. */
  readonly listedFrom?: SchemaNode | undefined;
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
