/** The one place that makes sentences of issues and notes about tool definitions. Wording may change, codes may not. */
import type { ContractIssue } from '../contract/contract.ts';
import { formatIssue } from '../issue.ts';
import type { SourceIssue, SourceNote } from './source.ts';

const SENTENCES: Readonly<Record<(SourceIssue | SourceNote)['code'], string>> = {
  'source/not-json': 'The definition is not JSON as it must be ({issue}). Pass plain objects, arrays, strings, finite numbers, booleans and null.',
  'source/wrong-type': 'A field must be of type {expected}. Correct it.',
  'source/missing-field': 'A required field is missing ({expected}). Add it.',
  'source/not-a-function': 'A tool of type "{found}" is run by its provider and has no schema of arguments. Leave it out.',
  'source/not-a-call': 'This is "{found}", not a call of a tool. Pass the call itself.',
  'source/not-convertible': 'This cannot be converted exactly from {from} to {to}. Write it in the newer dialect.',
  'source/no-converter': 'The library "{vendor}" brings no JSON Schema converter. Pass its own as toJsonSchema.',
  'source/unknown-field': 'The member "{name}" comes from each tool\'s definition. Leave it out here.',
  'source/not-locked': 'The defaults do not lock {pointer}. Unlock only what they lock.',
  'source/duplicate-tool': 'Two tools are named "{name}". Rename one.',
  'source/field-not-carried': 'The member "{name}" says nothing about the arguments and is not in the contract.',
  'source/name-refused': 'The name "{name}" is refused by {by}, which wants {pattern}.',
  'source/no-parameters': 'Without a schema the tool takes an empty object.',
  'source/dialect-converted': 'The schema was converted from {from} to {to}.',
  'source/type-mapped': 'The type "{found}" was read as {as}.',
  'source/nullable': 'nullable (OpenAPI) is honoured: null is a value here.',
  'source/nullable-optional': '"{name}" is required and may be null: strict mode\'s way to say optional. Null is sent as a value.',
  'source/not-strict': 'The definition says strict, but the object is open or has optional members ({optional}).',
  'source/rules-beyond-schema': 'Refinements and transforms of {vendor} are not in the contract. Add checkFromStandardSchema for them.',
  'source/lock-without-place': 'The default lock {pointer} was left out: this tool\'s arguments cannot have that place.',
  'source/origin-without-place': 'The default place {pointer} for values with an origin was left out: this tool\'s arguments cannot have it.',
};

/** One plain sentence or two for an issue or a note, with its place. */
export function formatSource(found: SourceIssue | SourceNote | ContractIssue): string {
  if (!isOfSource(found)) return formatIssue(found);
  const sentence = SENTENCES[found.code].replaceAll(/\{([a-zA-Z]+)\}/g, (placeholder, name: string) => {
    const value = found.params[name];
    return value === undefined ? placeholder : value === null ? 'any value' : Array.isArray(value) ? value.join(', ') : String(value);
  });
  return found.pointer === '' ? sentence : `At "${found.pointer}": ${sentence}`;
}

function isOfSource(found: SourceIssue | SourceNote | ContractIssue): found is SourceIssue | SourceNote {
  return found.code.startsWith('source/');
}
