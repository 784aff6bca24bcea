/** The places of a legal call with what the schema says of each: what the families of corruption look at. */
import {
  childOf, isJsonArray, isJsonObject, ROOT_POINTER, schemaAt, type Contract, type JsonObject, type JsonPointer, type JsonValue, type SchemaSite,
} from '@contractrl/core';

export interface Place {
  readonly pointer: JsonPointer;
  readonly parent: JsonPointer;
  readonly token: string;
  readonly value: JsonValue;
  readonly isElement: boolean;
  /** The parent's schema asks for this member. False of elements. */
  readonly isRequired: boolean;
  /** The first sub-schema's that has the keyword; undefined where none has it. */
  keyword(name: string): JsonValue | undefined;
}

/** Every place below the root, in document order. O(document × schema). */
export function placesOf(contract: Contract, document: JsonObject): readonly Place[] {
  const visit = (container: JsonValue, parent: JsonPointer): readonly Place[] => {
    if (!isJsonArray(container) && !isJsonObject(container)) return [];
    const required = isJsonArray(container) ? [] : schemaAt(contract, document, parent).flatMap(requiredNames);
    return Object.entries(container).flatMap(([token, value]) => {
      const pointer = childOf(parent, token);
      const sites = schemaAt(contract, document, pointer);
      const place: Place = {
        pointer, parent, token, value, isElement: isJsonArray(container), isRequired: required.includes(token),
        keyword: (name) => sites.find(({ schema }) => Object.hasOwn(schema, name))?.schema[name],
      };
      return [place, ...visit(value, pointer)];
    });
  };
  return visit(document, ROOT_POINTER);
}

/** Members that a branch of a union asks for are required only where that branch is meant: left out here. */
function requiredNames({ schema, isConditional }: SchemaSite): readonly string[] {
  const names = schema['required'];
  return !isConditional && isJsonArray(names) ? names.filter((name): name is string => typeof name === 'string') : [];
}
