/** Sentences of the issues of a contract, which a repair tells where it cannot begin. All other issues have theirs in `issue.ts`. */
import type { ContractIssue } from './contract.ts';

/** `{name}` is filled from the issue's own members or its `params`. */
export const CONTRACT_SENTENCES: Readonly<Record<ContractIssue['code'], string>> = {
  'json/lone-surrogate': 'A string holds half of a surrogate pair, which UTF-8 cannot carry. Write the whole character.',
  'json/too-deep': 'Values are nested more than {limit} levels deep. Flatten them.',
  'json/too-large': 'The text or value is larger than the limit of {limit}. Send less, or raise the limit.',
  'json/not-json': 'Found {found}, which is not a JSON value. Pass plain objects, arrays, strings, finite numbers, booleans and null.',
  'contract/field-missing': 'A required field is missing. Add it.',
  'contract/field-type': 'A field must be of type {expected}. Correct it.',
  'contract/unknown-field': 'The field is not known. Remove it; known are: {known}.',
  'contract/unknown-operation': 'The operation is not known. Use: {known}.',
  'contract/bad-budget': 'A budget must be a whole number from {minimum} to {maximum}. Correct it.',
  'contract/bad-pointer': 'An immutable path is not a JSON Pointer. Begin it with "/", and escape "~" as "~0" and "/" as "~1".',
  'contract/forbidden-name': 'The names __proto__, prototype and constructor cannot be honoured. Rename the member.',
  'contract/unknown-dialect': 'The schema dialect is not supported. Use one of: {known}.',
  'contract/unknown-policy': 'The field names a way that is not known. Use one of: {known}.',
  'contract/unknown-version': 'The contract has another version than this reader. Use one of: {known}.',
  'contract/no-operations': 'No operation is allowed. Name at least one of {known}, or set the budgets to 0.',
  'contract/impossible-path': 'No arguments that the schema accepts have a place "{place}". Correct the pointer or the schema.',
  'contract/unknown-function': 'The function "{name}" of version "{version}" was not given. Pass it when the contract is loaded.',
  'contract/gate-invalid': 'A gate cannot be read ({issue}). Correct it.',
  'contract/cross-field-not-array': 'The checks across fields are not an array. Send an array.',
  'contract/cross-field-not-object': 'A check across fields is not an object. Send {"kind": …}.',
  'contract/cross-field-kind': 'The kind of check is not known. Use: {known}.',
  'contract/cross-field-member': 'The check\'s member "{name}" is missing, unknown or empty. Give exactly the members of its kind.',
  'contract/cross-field-pointer': 'The check\'s member "{name}" holds something that is not a JSON Pointer. Correct it.',
  'contract/schema-invalid': 'The schema is not valid in its dialect ({keyword}). Correct it.',
  'contract/unknown-keyword': 'The keyword "{keyword}" is not known in this dialect. Remove it, correct it, or set unknownKeywords to "annotate" if it binds nothing.',
  'contract/unknown-format': 'The format "{format}" is not known. Remove it, use a pattern, or set unknownKeywords to "annotate" if it binds nothing.',
  'contract/unsupported-keyword': 'The keyword "{keyword}" is not supported here. Rewrite the schema without it.',
  'contract/remote-reference': 'The reference "{reference}" leaves the document. Copy its target into $defs; nothing is fetched.',
  'contract/unresolved-reference': 'The reference "{reference}" leads nowhere. Correct it.',
  'contract/reference-cycle': 'The reference comes back to itself without reading anything. Break the cycle.',
  'contract/invalid-pattern': 'The pattern {source} is not an ECMAScript regular expression under the u flag. Correct it.',
  'contract/unsafe-pattern': 'The pattern {source} cannot be matched in bounded time ({reason}). Rewrite it.',
};

/** One plain sentence or two for an issue of a contract, with the place. */
export function formatContractIssue(issue: ContractIssue): string {
  return fillSentence(CONTRACT_SENTENCES[issue.code], issue);
}

interface AnyIssue {
  readonly code: string;
  readonly params?: object;
  readonly index?: number;
  readonly pointer?: string;
  readonly offset?: number;
}

/** `sentence` filled from `issue`, after the place where one is known. */
export function fillSentence(sentence: string, issue: AnyIssue): string {
  const fields = new Map<string, unknown>([...Object.entries(issue.params ?? {}), ...Object.entries(issue)]);
  const filled = sentence.replaceAll(/\{([a-zA-Z]+)\}/g, (placeholder, name: string) => {
    const value = fields.get(name);
    return value === undefined ? placeholder : Array.isArray(value) ? value.join(', ') : String(value);
  });
  const { code, index, pointer = '', offset } = issue;
  const places = [
    ...(index !== undefined && code.startsWith('patch/') ? [`operation ${index + 1}`] : []),
    ...(pointer === '' ? [] : [`"${pointer}"`]),
    ...(offset === undefined ? [] : [`character ${offset + 1}`]),
  ];
  return places.length === 0 ? filled : `At ${places.join(', ')}: ${filled}`;
}
