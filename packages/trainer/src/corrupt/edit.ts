/** Spoiling a call: edits that no contract admits, on a copy of the containers on the way. Members keep their place, as they do in a caller's slip. */
import { isJsonArray, isJsonObject, setMember, tokensOf, type JsonObject, type JsonPointer, type JsonValue } from '@contractrl/core';

/** `document` with `value` at `pointer`, which exists or is the next member or element of what exists. */
export function withValueAt(document: JsonValue, pointer: JsonPointer, value: JsonValue): JsonValue {
  return editAt(document, tokensOf(pointer), (container, token) => {
    if (isJsonArray(container)) return container.toSpliced(Number(token), 1, value);
    const copy: Record<string, JsonValue> = { ...container };
    setMember(copy, token, value);
    return copy;
  });
}

export function withoutValueAt(document: JsonValue, pointer: JsonPointer): JsonValue {
  return editAt(document, tokensOf(pointer), (container, token) => (
    isJsonArray(container) ? container.toSpliced(Number(token), 1) : Object.fromEntries(Object.entries(container).filter(([name]) => name !== token))
  ));
}

/** The member at `pointer` under another name, where it stood. */
export function withNameAt(document: JsonValue, pointer: JsonPointer, name: string): JsonValue {
  return editAt(document, tokensOf(pointer), (container, token) => (
    Object.fromEntries(Object.entries(container as JsonObject).map(([each, value]) => [each === token ? name : each, value]))
  ));
}

type Container = JsonObject | readonly JsonValue[];

/** A place that the document does not have is left as it is: what comes of it is judged anyway. */
function editAt(value: JsonValue, [token, ...rest]: readonly string[], edit: (container: Container, token: string) => JsonValue): JsonValue {
  if (token === undefined || (!isJsonArray(value) && !isJsonObject(value))) return value;
  if (rest.length === 0) return edit(value, token);
  const member = (value as JsonObject)[token];
  if (member === undefined) return value;
  const edited = editAt(member, rest, edit);
  return isJsonArray(value) ? value.with(Number(token), edited) : { ...value, [token]: edited };
}
