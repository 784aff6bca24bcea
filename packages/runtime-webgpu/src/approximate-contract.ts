/**
 * Generate and validate, where the caller asks for it: a schema that says what the mask can constrain and no more. Keywords that it cannot are taken
 * out of a copy, so the policy may write the places they bind; the judge of the contract stays the whole one and decides as ever.
 */
import { isJsonArray, isJsonObject, ROOT_POINTER, setMember, tokensOf, type Contract, type JsonObject, type JsonValue } from '@contractrl/core';
import { surveySchema, type UnsupportedKeyword } from '@contractrl/core/schema';

export interface ApproximateContract {
  /** The given one itself where nothing had to be taken out. Its `schema` is for masks alone. */
  readonly contract: Contract;
  /** What was taken out, and is left to the judge. */
  readonly approximated: readonly UnsupportedKeyword[];
}

/** Taking out one keyword can show another (a `oneOf` whose branches now overlap); a schema with more of them is left as it is from there on. */
const MAX_KEYWORDS = 256;

/** O(keywords taken out × schema). */
export function approximateContract(contract: Contract): ApproximateContract {
  const approximated: UnsupportedKeyword[] = [];
  let { schema } = contract;
  while (approximated.length < MAX_KEYWORDS) {
    const [next] = surveySchema(schema).unsupported.filter(({ keywordLocation }) => keywordLocation !== ROOT_POINTER);
    const without = next === undefined ? undefined : withoutMember(schema, tokensOf(next.keywordLocation));
    if (next === undefined || without === undefined) break;
    approximated.push(next);
    schema = without as JsonObject;
  }
  return { contract: approximated.length === 0 ? contract : { ...contract, schema }, approximated };
}

/** A copy that shares what it can; undefined where nothing stands there. */
function withoutMember(value: JsonValue, [token, ...rest]: readonly string[]): JsonValue | undefined {
  if (token === undefined) return undefined;
  if (isJsonArray(value)) {
    const item = value[Number(token)];
    const inner = item === undefined ? undefined : withoutMember(item, rest);
    return inner === undefined ? undefined : value.map((each, index) => (index === Number(token) ? inner : each));
  }
  if (!isJsonObject(value) || !Object.hasOwn(value, token)) return undefined;
  const inner = rest.length === 0 ? undefined : withoutMember(value[token] as JsonValue, rest);
  if (rest.length > 0 && inner === undefined) return undefined;
  const copy: Record<string, JsonValue> = {};
  for (const [name, member] of Object.entries(value)) {
    if (name !== token) setMember(copy, name, member);
    else if (inner !== undefined) setMember(copy, name, inner);
  }
  return copy;
}
