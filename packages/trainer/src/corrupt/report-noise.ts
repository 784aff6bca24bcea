/**
 * A verifier that speaks wrongly: what the policy is shown differs from what the judge says, while call, contract and right answer stay. For training a
 * policy that reads the call too, and for the noise study (CHECKLIST M-NOISE). Nothing here touches the judge: a wrong report can cost an attempt, and no more.
 */
import { childOf, isJsonArray, isJsonObject, ROOT_POINTER, type JsonPointer, type JsonValue, type Violation, type ViolationCode } from '@contractrl/core';
import type { Random } from '../random.ts';
import type { Corruption } from './corrupt.ts';

export const REPORT_NOISE = ['wrong-pointer', 'ambiguous-pointer', 'wrong-code', 'missing-report', 'duplicated', 'stale'] as const;
export type ReportNoise = (typeof REPORT_NOISE)[number];

export type ShownReport = readonly [Violation, ...Violation[]];

/**
 * The report that is shown in place of the judge's; undefined where this noise would change nothing. `earlier` is another corruption of the same call,
 * whose report is the stale one.
 */
export function noisyReport(corruption: Corruption, noise: ReportNoise, random: Random, earlier?: Corruption): ShownReport | undefined {
  const [first, ...rest] = corruption.report.violations;
  switch (noise) {
    case 'wrong-pointer': {
      const pointer = random.pickAny(pointersIn(corruption.candidate, ROOT_POINTER).filter((each) => corruption.report.violations.every((violation) => violation.pointer !== each)));
      return pointer === undefined ? undefined : [{ ...first, pointer }, ...rest];
    }
    case 'ambiguous-pointer': return first.pointer === ROOT_POINTER ? undefined : [{ ...first, pointer: ROOT_POINTER }, ...rest];
    case 'wrong-code': return [{ ...first, code: random.pick(OTHER_CODES[first.code] ?? ['schema_violation']), params: {} }, ...rest];
    case 'missing-report': return [{ code: 'undecided', pointer: ROOT_POINTER, keyword: '', keywordLocation: '', params: {} }];
    case 'duplicated': return [first, first, ...rest];
    case 'stale': {
      const isOther = earlier !== undefined && earlier.report.violations.every(({ code, pointer }) => code !== first.code || pointer !== first.pointer);
      return isOther ? earlier.report.violations : undefined;
    }
  }
}

/** Codes that a careless verifier takes for each other. */
const OTHER_CODES: Partial<Record<ViolationCode, readonly [ViolationCode, ...ViolationCode[]]>> = {
  missing_required: ['wrong_type', 'additional_property'], wrong_type: ['missing_required', 'format_mismatch'], enum_mismatch: ['wrong_type', 'const_mismatch'],
  additional_property: ['missing_required', 'wrong_type'], format_mismatch: ['pattern_mismatch', 'wrong_type'], pattern_mismatch: ['format_mismatch', 'length_violation'],
  range_violation: ['wrong_type', 'length_violation'], length_violation: ['range_violation', 'pattern_mismatch'],
};

function pointersIn(value: JsonValue, pointer: JsonPointer): readonly JsonPointer[] {
  if (!isJsonArray(value) && !isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([token, member]) => [childOf(pointer, token), ...pointersIn(member as JsonValue, childOf(pointer, token))]);
}
