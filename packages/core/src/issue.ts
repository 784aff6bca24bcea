/**
 * Issues are data; this is the one place that makes a sentence of one. Wording may change freely, codes may not: tests and callers
 * read codes. Each sentence says what is wrong, where, and what to do.
 */
import type { ContractIssue } from './contract/contract.ts';
import { CONTRACT_SENTENCES } from './contract/contract-sentences.ts';
import type { IntakeIssue } from './intake/fields.ts';
import type { JsonIssue } from './json/parse.ts';
import type { JsonValueIssue } from './json/value.ts';
import type { LedgerIssue } from './ledger/ledger.ts';
import type { ReplayIssue } from './ledger/replay.ts';
import type { PatchFault } from './patch/operation.ts';
import type { PointerIssue } from './pointer.ts';
import type { ProvenanceIssue } from './provenance/closed-texts.ts';
import type { PatternIssue } from './validate/pattern.ts';

export { BUGCASE_PATCH_CODES } from './patch/bugcase-codes.ts';
export { formatOrigin } from './provenance/origin-text.ts';
export { VIOLATION_CODES } from './validate/violation.ts';

export type CoreIssue = JsonIssue | JsonValueIssue | PointerIssue | PatchFault | ContractIssue | PatternIssue | IntakeIssue | LedgerIssue | ReplayIssue | ProvenanceIssue;

const SENTENCES: Readonly<Record<CoreIssue['code'], string>> = {
  ...CONTRACT_SENTENCES,
  'json/empty': 'The text holds no JSON value. Send one JSON value, such as {}.',
  'json/syntax': 'The text is not JSON: expected {expected}. Correct the text there.',
  'json/truncated': 'The text ends inside a value. Send it whole; a cut text is never completed by guessing.',
  'json/trailing': 'The text goes on after a whole JSON value. Send exactly one value.',
  'json/duplicate-name': 'The member "{name}" occurs twice. Keep one of them.',
  'json/precision-loss': 'The number {literal} cannot be held exactly as a double. Write it as a string, or with fewer digits.',
  'pointer/no-leading-slash': 'The pointer "{text}" does not begin with "/". Write "/{text}", or "" for the whole document.',
  'pointer/bad-escape': 'In the pointer "{text}" a "~" is not followed by 0 or 1. Write "~0" for "~" and "~1" for "/".',
  'pattern/invalid': 'The pattern {source} is not an ECMAScript regular expression under the u flag. Correct it.',
  'pattern/look-around': 'The pattern {source} uses look-around, which cannot be matched in linear time. Rewrite it without.',
  'pattern/back-reference': 'The pattern {source} uses a back-reference, which cannot be matched in linear time. Rewrite it without.',
  'pattern/too-large': 'The pattern {source} unfolds to more than {limit} steps. Use smaller repetition counts, or maxLength.',
  'provenance/too-long': 'The texts and the call together need more than {limit} states. Pass a shorter text, or leave provenance off.',
  'provenance/lone-surrogate': 'A text holds half of a surrogate pair, which UTF-8 cannot carry. Write the whole character.',
  'patch/not-array': 'The patch is not an array. Send a JSON array of operations.',
  'patch/empty': 'The patch has no operation. Send at least one, or abstain.',
  'patch/not-object': 'An operation is not an object. Send {"op": …, "path": …}.',
  'patch/op-missing': 'An operation has no "op". Name one of add, remove, replace, move, copy.',
  'patch/op-unknown': 'The operation is not one of add, remove, replace, move, copy. Use one of these.',
  'patch/path-missing': 'The operation has no "path". Add one.',
  'patch/path-syntax': 'The "path" is not a JSON Pointer. Begin it with "/", and escape "~" as "~0" and "/" as "~1".',
  'patch/from-missing': 'The operation has no "from". Say where the value is taken.',
  'patch/from-syntax': 'The "from" is not a JSON Pointer. Begin it with "/", and escape "~" as "~0" and "/" as "~1".',
  'patch/value-missing': 'The operation has no "value". Add one.',
  'patch/forbidden-token': 'The path names __proto__, prototype or constructor. Such members are never read or written.',
  'patch/forbidden-name': 'The value has a member named __proto__, prototype or constructor. Leave it out.',
  'patch/root-target': 'The operation writes the whole document. Write the members that need it instead.',
  'patch/root-source': 'The operation takes the whole document as its source. Take one member instead.',
  'patch/from-unresolved': 'Nothing stands at the "from" pointer. Take a value that exists.',
  'patch/no-effect': 'The value is moved or copied to where it already is. Leave the operation out.',
  'patch/move-into-child': 'The value is moved into itself. Choose a place outside it.',
  'patch/path-unresolved': 'The "path" leads nowhere in the document. Use a path that exists; add needs its parent to exist.',
  'patch/bad-index': 'The "path" names an array element by something that is no index. Use 0, 1, …, or "-" to append.',
  'patch/index-out-of-range': 'The index lies beyond the end of the array. Use "-" to append.',
  'patch/locked-path': 'The operation would change an immutable place. Repair another way, or abstain.',
  'patch/operation-budget': 'No operation is left in the budget. Use fewer operations, or abstain.',
  'patch/operation-not-allowed': 'The contract does not allow this kind of operation. Use an allowed one.',
  'patch/schema-prohibited': 'The schema allows nothing at this place. Use a declared name.',
  'request/not-json': 'The record is not JSON as it must be ({issue}). Write one JSON object a line, strictly by RFC 8259.',
  'request/wrong-type': 'A field must be of type {expected}. Correct it.',
  'request/missing-field': 'A required field is missing ({expected}). Add it.',
  'request/unknown-field': 'The field is not known. Correct its name or remove it; known are: {known}.',
  'request/bad-value': 'The value cannot be honoured. Correct it.',
  'ledger/torn-row': 'Row {index} was written only in part. Cut the file after the row before it, then append again.',
  'ledger/bad-json': 'Row {index} is not JSON ({issue}). The ledger was changed from there on; restore it from a copy.',
  'ledger/not-canonical': 'Row {index} is not spelled as the ledger writes it. It was changed; restore it from a copy.',
  'ledger/bad-row': 'Row {index} is no row of this ledger version: {detail}. Restore it from a copy.',
  'ledger/bad-sequence': 'Row {index} has the sequence number {found} where {expected} belongs. A row was removed, added or moved; restore the ledger from a copy.',
  'ledger/broken-link': 'Row {index} does not follow from the row before it. One of them was replaced; restore the ledger from a copy.',
  'ledger/digest-mismatch': 'Row {index} does not match its own digest. It was changed; restore the ledger from a copy.',
  'ledger/truncated': 'The ledger ends before row {index}, and {expectedCount} rows are expected. Restore the missing rows from a copy.',
  'ledger/wrong-head': 'The ledger does not end in the expected digest. Compare it with a copy.',
  'ledger/open-repair': 'The repair of case "{caseId}" at row {index} was never closed, or its rows are mixed with those of another. Run that case again.',
  'ledger/other-version': 'The repair was recorded under version {found} of the ledger and this program judges by version {known}. Replay it with the program that recorded it; its chain is verified all the same.',
  'replay/contract-mismatch': 'The trace was recorded under another contract. Replay it with the contract of its digest.',
  'replay/contract-refused': 'The recorded contract cannot be loaded ({issue}). Replay it with the version that recorded it.',
  'replay/inconsistent': 'Entry {index} contradicts the others: {detail}. The trace was not written by a repair.',
  'replay/text-not-recorded': 'Entry {index} is recorded by digest alone and cannot be replayed. Replay needs the whole text.',
  'replay/difference': 'Entry {index} comes out otherwise than it was recorded. Compare the two; the code or the trace has changed.',
};

/** One plain sentence or two for an issue, with the place where one is known. */
export function formatIssue(issue: CoreIssue): string {
  return fillSentence(SENTENCES[issue.code], issue);
}

interface AnyIssue {
  readonly code: string;
  readonly params?: object;
  readonly index?: number;
  readonly pointer?: string;
  readonly offset?: number;
}

/** `sentence` filled from `issue`, after the place where one is known. */
function fillSentence(sentence: string, issue: AnyIssue): string {
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
