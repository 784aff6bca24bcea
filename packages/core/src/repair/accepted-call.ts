/**
 * The only way to an executable call: text is read back from its exact bytes, judged by the validator, then shown to the gates.
 * An executor that takes an {@link AcceptedCall} cannot be handed anything else: this file holds the single cast to that brand.
 */
import type { Brand } from '../brand.ts';
import type { Contract } from '../contract/contract.ts';
import { deepFreeze, isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { childOf, resolvePointer, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { validateArguments } from '../validate/validate.ts';
import type { Violation } from '../validate/violation.ts';
import { evaluateGates, type GateReason } from './gate.ts';
import type { InvalidReport } from './state.ts';

/** Deep-frozen. `argumentsText` is the exact text to dispatch, `arguments` the object read back from it. */
export type AcceptedCall = Brand<{ readonly name: string; readonly argumentsText: string; readonly arguments: JsonObject }, 'AcceptedCall'>;

export type Judgement =
  | { readonly kind: 'accepted'; readonly call: AcceptedCall }
  /** `value` is absent where the text could not be read as one JSON value. */
  | { readonly kind: 'invalid'; readonly report: InvalidReport; readonly value: JsonValue | undefined }
  /** Valid, and refused by a gate; the report says so as `policy_reject`. */
  | { readonly kind: 'rejected'; readonly reason: GateReason; readonly params: JsonObject; readonly report: InvalidReport };

const NONE: ReadonlySet<number> = new Set();

/**
 * Judges the exact text of the arguments of the contract's tool. `lossy` are numbers that an earlier reading had to round: a value that
 * still holds one of them is not what the model wrote, however well it fits the schema. O(text.length) plus the schema's own cost.
 */
export function judgeArguments(
  contract: Contract, argumentsText: string, context: JsonObject, lossy: ReadonlySet<number> = NONE,
): Judgement {
  const { report, value } = validateArguments(contract, argumentsText);
  const rounded = value === undefined ? [] : roundedNumbers(value, lossy);
  const [first, ...rest] = [...rounded, ...(report.kind === 'invalid' ? report.violations : [])];
  if (first !== undefined) return { kind: 'invalid', report: deepFreeze({ kind: 'invalid', violations: [first, ...rest] }), value };
  if (!isJsonObject(value)) throw new TypeError('validateArguments accepted what is no object');
  const { name } = contract.document.tool;
  const decision = evaluateGates(contract.document.gates, name, value, context);
  if (decision.kind === 'reject') {
    const { reason, params } = decision;
    const violation: Violation = { code: 'policy_reject', pointer: ROOT_POINTER, keyword: 'gate', keywordLocation: '', params: { reason, ...params } };
    return { kind: 'rejected', reason, params, report: deepFreeze({ kind: 'invalid', violations: [violation] }) };
  }
  return { kind: 'accepted', call: deepFreeze({ name, argumentsText, arguments: value }) as AcceptedCall };
}

/** The rounded values that stand where the report says a number lost precision. */
export function lossyNumbers(report: InvalidReport, value: JsonValue): ReadonlySet<number> {
  const losses = report.violations.filter((violation) => violation.code === 'precision_loss');
  return new Set(losses.map((loss) => resolvePointer(value, loss.pointer)).filter((number) => typeof number === 'number'));
}

function roundedNumbers(value: JsonValue, lossy: ReadonlySet<number>, at: JsonPointer = ROOT_POINTER): readonly Violation[] {
  if (lossy.size === 0) return [];
  if (isJsonArray(value)) return value.flatMap((element, index) => roundedNumbers(element, lossy, childOf(at, String(index))));
  if (isJsonObject(value)) return Object.entries(value).flatMap(([name, member]) => roundedNumbers(member, lossy, childOf(at, name)));
  return typeof value === 'number' && lossy.has(value) ? [{ code: 'precision_loss', pointer: at, keyword: '', keywordLocation: '', params: {} }] : [];
}
