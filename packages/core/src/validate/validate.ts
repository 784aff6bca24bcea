/**
 * The verdict on the exact text that would be dispatched: read it, then judge the object read back from it, by schema and then by the
 * checks across fields. Fail-closed: whatever cannot be read or decided is invalid.
 */
import type { Contract } from '../contract/contract.ts';
import { parseJsonWithLosses, type JsonIssue } from '../json/parse.ts';
import { deepFreeze, isJsonArray, isJsonObject, jsonTypeOf, type JsonObject, type JsonValue } from '../json/value.ts';
import { childOf, FORBIDDEN_TOKENS, namesForbidden, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { checkCrossField } from './cross-field.ts';
import type { ValidationReport, Violation, ViolationCode } from './violation.ts';

export interface Validation {
  readonly report: ValidationReport;
  /** The frozen value the text holds, also where it is invalid; absent where the text is not one JSON value. */
  readonly value?: JsonValue;
}

/**
 * Judges the argument text of a call. Reading issues come first and, when they leave no value, alone. Then the schema; the checks across
 * fields only speak on arguments the schema accepts, since they assume its types. Same text and contract, same report.
 */
export function validateArguments(contract: Contract, argumentsText: string): Validation {
  const json = parseJsonWithLosses(argumentsText);
  if (!json.ok) return { report: toReport([jsonViolation(json.error)]) };
  const value = deepFreeze(json.value.value);
  const reading = [...json.value.losses.map(jsonViolation), ...forbiddenNames(value, ROOT_POINTER)];
  return { report: toReport([...reading, ...judgeValue(contract, value)]), value };
}

/** As {@link validateArguments}, for a value already read. */
export function validateValue(contract: Contract, value: JsonValue): ValidationReport {
  return toReport([...forbiddenNames(value, ROOT_POINTER), ...judgeValue(contract, value)]);
}

function judgeValue(contract: Contract, value: JsonValue): readonly Violation[] {
  if (!isJsonObject(value)) {
    return [{ code: 'wrong_type', pointer: ROOT_POINTER, keyword: 'type', keywordLocation: '/type', params: { type: 'object', found: jsonTypeOf(value) } }];
  }
  const violations = contract.judge.judge(value);
  return violations.length > 0 ? violations : checkCrossField(contract.document.crossField, value, contract.functions);
}

/** A report is read by a policy and kept in a ledger: a list of 300,000 wrong items says no more than its first hundred. */
export const MAX_VIOLATIONS = 100;

function toReport(violations: readonly Violation[]): ValidationReport {
  const [first, ...rest] = violations.slice(0, MAX_VIOLATIONS);
  return deepFreeze(first === undefined ? { kind: 'valid' } : { kind: 'invalid', violations: [first, ...rest] });
}

const READING_CODES: Readonly<Record<JsonIssue['code'], ViolationCode>> = {
  'json/empty': 'json_empty', 'json/syntax': 'json_syntax', 'json/truncated': 'json_truncated', 'json/trailing': 'json_trailing',
  'json/duplicate-name': 'duplicate_key', 'json/precision-loss': 'precision_loss', 'json/too-deep': 'json_too_deep', 'json/too-large': 'json_too_large',
  // a string that no UTF-8 text can carry
  'json/lone-surrogate': 'json_syntax',
};

function jsonViolation(issue: JsonIssue): Violation {
  const { code, ...params } = issue;
  // the text as a whole is at fault, save where one member or number is
  const isLocal = code === 'json/duplicate-name' || code === 'json/precision-loss';
  return { code: READING_CODES[code], pointer: isLocal ? issue.pointer : ROOT_POINTER, keyword: '', keywordLocation: '', params: params as JsonObject };
}

/** Members whose names reach a prototype in host languages: an executor may read them as something else than data. */
function forbiddenNames(value: JsonValue, pointer: JsonPointer): readonly Violation[] {
  if (!namesForbidden(value)) return [];
  if (isJsonArray(value)) return value.flatMap((item, index) => forbiddenNames(item, childOf(pointer, String(index))));
  if (!isJsonObject(value)) return [];
  return Object.keys(value).flatMap((name) => {
    const place = childOf(pointer, name);
    const here: readonly Violation[] = FORBIDDEN_TOKENS.has(name)
      ? [{ code: 'forbidden_name', pointer: place, keyword: '', keywordLocation: '', params: { name } }] : [];
    return [...here, ...forbiddenNames((value as JsonObject)[name] as JsonValue, place)];
  });
}
