/**
 * The only way to an executable call: text is read back from its exact bytes, judged by the validator, then shown to the gates.
 * An executor that takes an {@link AcceptedCall} cannot be handed anything else: this file holds the single cast to that brand, and
 * remembers what it made for callers without types.
 */
import type { Brand } from '../brand.ts';
import { isLoadedContract, type Contract } from '../contract/contract.ts';
import { deepFreeze, isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { childOf, resolvePointer, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { validateArguments } from '../validate/validate.ts';
import type { Violation } from '../validate/violation.ts';
import { askGateFunctions, evaluateGates, hasFunctions, type GateHost, type GateReason, type GateVerdicts } from './gate.ts';
import type { InvalidReport } from './state.ts';

/**
 * Deep-frozen. `argumentsText` is the exact text to dispatch, and stands for its bytes: without lone surrogates, which no reader lets through,
 * it has one spelling in UTF-8. `arguments` is the object read back from it.
 */
export type AcceptedCall = Brand<{ readonly name: string; readonly argumentsText: string; readonly arguments: JsonObject }, 'AcceptedCall'>;

export type Judgement =
  | { readonly kind: 'accepted'; readonly call: AcceptedCall }
  /** `value` is absent where the text could not be read as one JSON value. */
  | { readonly kind: 'invalid'; readonly report: InvalidReport; readonly value: JsonValue | undefined }
  /** Valid, and refused by a gate; the report says so as `policy_reject`, and where, if the gate's reason may be shown to the policy. */
  | (Refused & { readonly mayShow: true })
  | (Refused & { readonly mayShow: false });

interface Refused {
  readonly kind: 'rejected';
  readonly reason: GateReason;
  readonly params: JsonObject;
  readonly report: InvalidReport;
  readonly value: JsonValue;
}

/** Every call accepted here, with the contract that accepted it. */
const acceptedUnder = new WeakMap<AcceptedCall, Contract>();

/** The contract a call was accepted under; undefined for whatever {@link judgeArguments} did not make. */
export function contractOfAccepted(call: AcceptedCall): Contract | undefined {
  return acceptedUnder.get(call);
}

const NONE: ReadonlySet<number> = new Set();

/**
 * Judges the exact text of the arguments of the contract's tool. `lossy` are numbers that an earlier reading had to round: a value that
 * still holds one of them is not what the model wrote, however well it fits the schema. A `contract` that was not loaded accepts nothing: TypeError. `verdicts` is what the host's gate functions said of
 * these arguments; without them such gates refuse. O(text.length) plus the schema's own cost.
 */
export function judgeArguments(
  contract: Contract, argumentsText: string, context: JsonObject, lossy: ReadonlySet<number> = NONE, verdicts?: GateVerdicts,
): Judgement {
  const { report, value } = validateArguments(contract, argumentsText);
  const rounded = value === undefined ? [] : roundedNumbers(value, lossy);
  const [first, ...rest] = [...rounded, ...(report.kind === 'invalid' ? report.violations : [])];
  if (first !== undefined) return { kind: 'invalid', report: deepFreeze({ kind: 'invalid', violations: [first, ...rest] }), value };
  if (!isJsonObject(value)) throw new TypeError('validateArguments accepted what is no object');
  const { name } = contract.document.tool;
  const decision = evaluateGates(contract.document.gates, name, value, context, verdicts);
  if (decision.kind === 'reject') {
    const { reason, params, mayShow } = decision;
    const pointer = mayShow ? decision.pointer : ROOT_POINTER;
    const violation: Violation = { code: 'policy_reject', pointer, keyword: 'gate', keywordLocation: '', params: { reason, ...params } };
    return { kind: 'rejected', reason, params, mayShow, value, report: deepFreeze({ kind: 'invalid', violations: [violation] }) };
  }
  if (!isLoadedContract(contract)) throw new TypeError('contract must come from loadContract()');
  const call = deepFreeze({ name, argumentsText, arguments: value }) as AcceptedCall;
  acceptedUnder.set(call, contract);
  return { kind: 'accepted', call };
}

/** As {@link judgeArguments}, where gates may be functions of the host: those are asked first, and only about arguments that are valid. */
export async function judgeWithHost(
  contract: Contract, argumentsText: string, context: JsonObject, host: GateHost | undefined, lossy: ReadonlySet<number> = NONE,
): Promise<Judgement> {
  const { tool, gates } = contract.document;
  if (!hasFunctions(gates)) return judgeArguments(contract, argumentsText, context, lossy);
  const { report, value } = validateArguments(contract, argumentsText);
  const isAsked = report.kind === 'valid' && isJsonObject(value);
  const verdicts = isAsked ? await askGateFunctions(gates, host, { tool: tool.name, arguments: value, state: context }) : undefined;
  return judgeArguments(contract, argumentsText, context, lossy, verdicts);
}

/** The rounded values that stand where the report says a number lost precision. */
export function lossyNumbers(report: InvalidReport, value: JsonValue): ReadonlySet<number> {
  const losses = report.violations.filter((violation) => violation.code === 'precision_loss');
  return new Set(losses.map((loss) => resolvePointer(value, loss.pointer)).filter((number) => typeof number === 'number'));
}

/** `precision_loss` wherever a rounded number still stands. */
export function roundedNumbers(value: JsonValue, lossy: ReadonlySet<number>, at: JsonPointer = ROOT_POINTER): readonly Violation[] {
  if (lossy.size === 0) return [];
  if (isJsonArray(value)) return value.flatMap((element, index) => roundedNumbers(element, lossy, childOf(at, String(index))));
  if (isJsonObject(value)) return Object.entries(value).flatMap(([name, member]) => roundedNumbers(member, lossy, childOf(at, name)));
  return typeof value === 'number' && lossy.has(value) ? [{ code: 'precision_loss', pointer: at, keyword: '', keywordLocation: '', params: {} }] : [];
}
