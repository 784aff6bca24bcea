/**
 * Gates: pure, read-only decisions over the tool name, the arguments and the operational state, before anything is run.
 * A gate may refuse a call that is well-formed and still forbidden; it never makes one right. It is no reflection (no model looks again at its
 * own answer), no output guardrail (it reads structured arguments and state, not text) and no judgement by a model: a decision over data.
 * Most gates are data and part of the contract's digest. A rule that data cannot say is a function of the host, named there by version.
 */
import { runBounded, type TimeBound } from '../execute/bounded.ts';
import { readEach, readFields, readRecord, type FieldSpec, type IntakeIssue } from '../intake/fields.ts';
import { isJsonArray, isJsonObject, jsonEqual, memberOf, readJsonValue, type JsonArray, type JsonObject, type JsonValue } from '../json/value.ts';
import { childOf, parsePointer, resolvePointer, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { assertNever, err, ok, type Result } from '../result.ts';
import { compares, type Comparison } from '../validate/cross-field.ts';
import { compareInstants, parseInstant } from '../validate/instant.ts';

/**
 * What a gate compares. `argument` and `state` are pointers; with `by`, the member of the object at `state` whose name is the string at the
 * argument `by`, and of that the value at `then`: `{ state: '/orders', by: '/order_id', then: '/status' }`. `count` takes a list's length.
 */
export type GateOperand = { readonly count?: true } & (
  | { readonly argument: string }
  | { readonly state: string; readonly by?: string; readonly then?: string }
  | { readonly value: JsonValue }
);

/** Whatever a gate needs and does not find is a refusal; `any` of `absent` and another says that an argument is optional. */
export type GateRule =
  /** Every value at `pointer` (each element, for an array) is a member of `state[in]`. Alone among gates: an absent value refers to nothing. */
  | { readonly kind: 'reference_exists'; readonly pointer: string; readonly in: string }
  /** Every value at `pointer` was read: `state[log]` has `{ tool, arguments, … }` with this tool, and this value at its `argument`. */
  | { readonly kind: 'read_before_write'; readonly pointer: string; readonly log: string; readonly tool: string; readonly argument: string }
  | { readonly kind: Comparison; readonly a: GateOperand; readonly b: GateOperand }
  /** `b` is a list. Of an array `a`, every element is a member, or none is. */
  | { readonly kind: 'in' | 'not_in'; readonly a: GateOperand; readonly b: GateOperand }
  /** Instants: `b` is not before `a`, and at most `seconds` after it. */
  | { readonly kind: 'within'; readonly a: GateOperand; readonly b: GateOperand; readonly seconds: number }
  | { readonly kind: 'absent'; readonly pointer: string }
  | { readonly kind: 'all' | 'any'; readonly gates: readonly GateRule[] }
  | { readonly kind: 'function'; readonly name: string; readonly version: string };

/** `mayShow`: the policy may see the reason and try again; a refusal by any other gate ends the repair. */
export type GateDocument = GateRule & { readonly mayShow?: true };

export type GateReason =
  | 'gate/reference-unknown' | 'gate/not-read' | 'gate/comparison' | 'gate/not-member' | 'gate/excluded-member' | 'gate/outside-window' | 'gate/present' | 'gate/none-of'
  // what the gate needs is not there
  | 'gate/context-missing' | 'gate/argument-missing' | 'gate/undecided'
  // a function of the host: refused, or gave no usable answer
  | 'gate/refused' | 'gate/function-missing' | 'gate/threw' | 'gate/timeout' | 'gate/bad-answer';

interface Rejection {
  readonly kind: 'reject';
  readonly reason: GateReason;
  readonly params: JsonObject;
  /** The argument at fault; the root where there is none. */
  readonly pointer: JsonPointer;
}
export type GateDecision = { readonly kind: 'allow' } | (Rejection & { readonly mayShow: boolean });
type Decision = { readonly kind: 'allow' } | Rejection;

/** All deep-frozen. */
export interface GateInput {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly state: JsonObject;
}

/** A host's rule: pure, and only reading. Gives `{ kind: 'allow' }` or `{ kind: 'reject', params? }`, at once or as a promise; all else refuses. */
export interface GateFunction {
  readonly name: string;
  readonly version: string;
  decide(input: GateInput): unknown;
}

export interface GateHost {
  readonly functions: readonly GateFunction[];
  readonly bound: TimeBound;
}

/** What the functions answered, by {@link keyOf}. */
export type GateVerdicts = ReadonlyMap<string, Decision>;

const ALLOW = { kind: 'allow' } as const;
const NO_VERDICTS: GateVerdicts = new Map();

const BINARY: Readonly<Record<string, FieldSpec>> = { a: 'object', b: 'object' };
const FIELDS: ReadonlyMap<string, Readonly<Record<string, FieldSpec>>> = new Map<string, Readonly<Record<string, FieldSpec>>>([
  ['reference_exists', { pointer: 'string', in: 'string' }],
  ['read_before_write', { pointer: 'string', log: 'string', tool: 'string', argument: 'string' }],
  ...['lt', 'lte', 'gt', 'gte', 'eq', 'ne', 'in', 'not_in'].map((kind) => [kind, BINARY] as const),
  ['within', { ...BINARY, seconds: 'number' }],
  ['absent', { pointer: 'string' }],
  ['all', { gates: 'array' }],
  ['any', { gates: 'array' }],
  ['function', { name: 'string', version: 'string' }],
]);
const POINTERS = ['pointer', 'argument', 'state', 'by', 'then'];

/** Reads a list of gates; an unknown kind, field or pointer is refused. Pointers of issues are inside the list. */
export function readGates(value: unknown): Result<readonly GateDocument[], IntakeIssue> {
  const json = readRecord(value);
  return json.ok ? readEach(json.value, ROOT_POINTER, (gate, at) => readRule(gate, at, { mayShow: '?any' })) : json;
}

/** A rule inside `all` or `any` has no `mayShow` of its own. */
function readRule(value: JsonValue, at: JsonPointer, more: Readonly<Record<string, FieldSpec>> = {}): Result<GateDocument, IntakeIssue> {
  const kind = isJsonObject(value) ? memberOf(value, 'kind') : undefined;
  const specs = typeof kind === 'string' ? FIELDS.get(kind) : undefined;
  if (specs === undefined && kind !== undefined) return badValue(childOf(at, 'kind'), { found: kind, known: [...FIELDS.keys()] });
  const read = readFields(value, at, { kind: 'string', ...specs, ...more });
  if (!read.ok) return read;
  const gate = value as JsonObject;
  if ('mayShow' in gate && gate['mayShow'] !== true) return badValue(childOf(at, 'mayShow'), { known: [true] });
  const fault = pointerFault(gate, at);
  if (fault !== undefined) return fault;
  for (const name of ['a', 'b']) {
    const operand = memberOf(gate, name);
    const readOperand = operand === undefined ? ok(operand) : readOperandAt(operand, childOf(at, name));
    if (!readOperand.ok) return readOperand;
  }
  const seconds = memberOf(gate, 'seconds') ?? 0;
  if (!Number.isSafeInteger(seconds) || (seconds as number) < 0) return badValue(childOf(at, 'seconds'), { minimum: 0 });
  const parts = memberOf(gate, 'gates');
  if (parts === undefined) return ok(gate as unknown as GateDocument);
  if ((parts as JsonArray).length === 0) return badValue(childOf(at, 'gates'), { minItems: 1 });
  const rules = readEach(parts, childOf(at, 'gates'), (rule, place) => readRule(rule, place));
  return rules.ok ? ok(gate as unknown as GateDocument) : rules;
}

function readOperandAt(value: JsonValue, at: JsonPointer): Result<unknown, IntakeIssue> {
  const read = readFields(value, at, { argument: '?string', state: '?string', by: '?string', then: '?string', value: '?any', count: '?any' });
  if (!read.ok) return read;
  const { argument, state, by, then, value: literal, count } = read.value;
  const sources = [argument, state, literal].filter((source) => source !== undefined).length;
  const isTied = (by === undefined || state !== undefined) && (then === undefined || by !== undefined);
  if (sources !== 1 || !isTied || (count ?? true) !== true) return badValue(at, { oneOf: ['argument', 'state', 'value'] });
  return pointerFault(value as JsonObject, at) ?? ok(value);
}

function pointerFault(object: JsonObject, at: JsonPointer): Result<never, IntakeIssue> | undefined {
  for (const name of POINTERS) {
    const parsed = parsePointer(String(memberOf(object, name) ?? ''));
    if (!parsed.ok) return badValue(childOf(at, name), { issue: parsed.error.code });
  }
  return undefined;
}

function badValue(pointer: JsonPointer, params: JsonObject): Result<never, IntakeIssue> {
  return err({ code: 'request/bad-value', pointer, params });
}

/**
 * The first gate that does not allow decides. One that throws or cannot decide has not allowed; a `function` decides by what
 * {@link askGateFunctions} brought back as `verdicts`, and refuses where nobody was asked.
 */
export function evaluateGates(
  gates: readonly GateDocument[], toolName: string, args: JsonObject, context: JsonObject, verdicts: GateVerdicts = NO_VERDICTS,
): GateDecision {
  for (const gate of gates) {
    let decision: Decision;
    // The context comes from the host and may be live state: reading it can throw, and a throw must end as a refusal.
    try {
      decision = evaluate(gate, { tool: toolName, arguments: args, state: context }, verdicts);
    } catch {
      decision = rejection('gate/undecided', { tool: toolName, gate: String(gate.kind) });
    }
    if (decision.kind === 'reject') return { ...decision, mayShow: gate.mayShow === true };
  }
  return ALLOW;
}

/** Asks every host function that the gates name, on a frozen copy of the state, one after another. Never rejects: no usable answer is a refusal. */
export async function askGateFunctions(gates: readonly GateRule[], host: GateHost | undefined, input: GateInput): Promise<GateVerdicts> {
  const verdicts = new Map<string, Decision>();
  const named = functionsIn(gates);
  const state = named.length === 0 || host === undefined ? undefined : readJsonValue(input.state);
  for (const { name, version } of named) {
    const params = { name, version };
    const known = host?.functions.find((each) => each.name === name && each.version === version);
    const decide = async (): Promise<Decision> => {
      if (host === undefined || known === undefined) return rejection('gate/function-missing', params);
      if (state?.ok !== true) return rejection('gate/undecided', params);
      const answer = await runBounded(() => known.decide({ ...input, state: state.value as JsonObject }), host.bound);
      if (answer.kind !== 'done') return rejection(`gate/${answer.kind}`, answer.kind === 'threw' ? { ...params, cause: answer.cause } : params);
      return readAnswer(answer.value, params);
    };
    verdicts.set(keyOf(params), await decide());
  }
  return verdicts;
}

/** Reads a foreign value: only exactly the two answers count. */
function readAnswer(value: unknown, params: { readonly name: string; readonly version: string }): Decision {
  const bad = rejection('gate/bad-answer', params);
  let json: ReturnType<typeof readRecord>;
  // a proxy may throw from any of its traps
  try {
    json = readRecord(value);
  } catch {
    return bad;
  }
  if (!json.ok || !isJsonObject(json.value)) return bad;
  const { kind, params: given = {}, ...rest } = json.value;
  if (Object.keys(rest).length > 0 || !isJsonObject(given)) return bad;
  if (kind === 'allow' && Object.keys(json.value).length === 1) return ALLOW;
  return kind === 'reject' ? rejection('gate/refused', { ...given, ...params }) : bad;
}

/** Every pointer into the arguments that a gate reads, with the place in the gate that holds it. */
export function gatePointers(gate: GateRule, at: JsonPointer): readonly { readonly at: JsonPointer; readonly pointer: JsonPointer }[] {
  const members = (object: object, place: JsonPointer, names: readonly string[]): readonly { readonly at: JsonPointer; readonly pointer: JsonPointer }[] => (
    Object.entries(object).filter(([name]) => names.includes(name)).map(([name, value]) => ({ at: childOf(place, name), pointer: value as JsonPointer }))
  );
  if ('gates' in gate) return gate.gates.flatMap((part, index) => gatePointers(part, childOf(childOf(at, 'gates'), String(index))));
  if (!('a' in gate)) return members(gate, at, ['pointer']);
  return (['a', 'b'] as const).flatMap((name) => members(gate[name], childOf(at, name), ['argument', 'by']));
}

export function hasFunctions(gates: readonly GateRule[]): boolean {
  return functionsIn(gates).length > 0;
}

function functionsIn(gates: readonly GateRule[]): readonly Extract<GateRule, { readonly kind: 'function' }>[] {
  return gates.flatMap((gate) => (gate.kind === 'function' ? [gate] : 'gates' in gate ? functionsIn(gate.gates) : []));
}

function keyOf({ name, version }: { readonly name: string; readonly version: string }): string {
  return JSON.stringify([name, version]);
}

function evaluate(gate: GateRule, input: GateInput, verdicts: GateVerdicts): Decision {
  switch (gate.kind) {
    case 'reference_exists': {
      const known = memberOf(input.state, gate.in);
      if (!isJsonArray(known)) return rejection('gate/context-missing', { in: gate.in });
      const target = valueAt(input.arguments, gate.pointer);
      const stranger = elementsOf(target).find((reference) => !isMember(reference, known));
      return stranger === undefined ? ALLOW : rejection('gate/reference-unknown', { pointer: gate.pointer, in: gate.in, value: stranger }, gate.pointer);
    }
    case 'read_before_write': {
      const log = memberOf(input.state, gate.log);
      if (!isJsonArray(log)) return rejection('gate/context-missing', { in: gate.log });
      const target = valueAt(input.arguments, gate.pointer);
      if (target === undefined) return rejection('gate/argument-missing', { pointer: gate.pointer }, gate.pointer);
      const reads = log.filter((read) => isJsonObject(read) && memberOf(read, 'tool') === gate.tool).map((read) => valueAt(read, `/arguments${gate.argument}`));
      const unread = elementsOf(target).find((value) => !isMember(value, reads));
      return unread === undefined ? ALLOW : rejection('gate/not-read', { pointer: gate.pointer, tool: gate.tool, value: unread }, gate.pointer);
    }
    case 'absent':
      return valueAt(input.arguments, gate.pointer) === undefined ? ALLOW : rejection('gate/present', { pointer: gate.pointer }, gate.pointer);
    case 'all':
      return gate.gates.map((part) => evaluate(part, input, verdicts)).find(({ kind }) => kind === 'reject') ?? ALLOW;
    case 'any': {
      const rejected: Rejection[] = [];
      for (const part of gate.gates) {
        const decision = evaluate(part, input, verdicts);
        if (decision.kind === 'allow') return ALLOW;
        rejected.push(decision);
      }
      return rejection('gate/none-of', { reasons: rejected.map(({ reason, params }) => ({ reason, params })) }, rejected[0]?.pointer);
    }
    case 'function':
      return verdicts.get(keyOf(gate)) ?? rejection('gate/function-missing', { name: gate.name, version: gate.version });
    case 'lt': case 'lte': case 'gt': case 'gte': case 'eq': case 'ne': case 'in': case 'not_in': case 'within':
      return evaluateBinary(gate, input);
    default:
      return assertNever(gate);
  }
}

function evaluateBinary(gate: Extract<GateRule, { readonly a: GateOperand }>, input: GateInput): Decision {
  const at = placeOf(gate.a) ?? placeOf(gate.b) ?? ROOT_POINTER;
  const a = operandValue(gate.a, input);
  const b = operandValue(gate.b, input);
  for (const [operand, value] of [[gate.a, a], [gate.b, b]] as const) {
    if (value === undefined) return rejection('argument' in operand ? 'gate/argument-missing' : 'gate/context-missing', { ...operand }, at);
  }
  if (a === undefined || b === undefined) return rejection('gate/undecided', {}, at);
  const params = { gate: gate.kind, a, b };
  switch (gate.kind) {
    case 'in': case 'not_in': {
      if (!isJsonArray(b)) return rejection('gate/context-missing', { ...gate.b }, at);
      const isIn = gate.kind === 'in';
      const fault = elementsOf(a).find((element) => isMember(element, b) !== isIn);
      return fault === undefined ? ALLOW : rejection(isIn ? 'gate/not-member' : 'gate/excluded-member', { gate: gate.kind, value: fault }, at);
    }
    case 'within': {
      const [from, to] = [a, b].map((text) => (typeof text === 'string' ? parseInstant(text) : undefined));
      const isWithin = from !== undefined && to !== undefined && from.kind === to.kind
        && compareInstants(from, to) <= 0 && compareInstants(to, { ...from, seconds: from.seconds + gate.seconds }) <= 0;
      return isWithin ? ALLOW : rejection('gate/outside-window', { ...params, seconds: gate.seconds }, at);
    }
    default:
      return compares(gate.kind, a, b) ? ALLOW : rejection('gate/comparison', params, at);
  }
}

function operandValue(operand: GateOperand, { arguments: args, state }: GateInput): JsonValue | undefined {
  const value = 'value' in operand ? operand.value : 'argument' in operand ? valueAt(args, operand.argument) : stateValue(operand, args, state);
  if (operand.count !== true) return value;
  return isJsonArray(value) ? value.length : undefined;
}

function stateValue({ state: pointer, by, then = '' }: Extract<GateOperand, { readonly state: string }>, args: JsonObject, state: JsonObject): JsonValue | undefined {
  const value = valueAt(state, pointer);
  if (by === undefined) return value;
  const name = valueAt(args, by);
  const member = isJsonObject(value) && typeof name === 'string' ? memberOf(value, name) : undefined;
  return member === undefined ? undefined : valueAt(member, then);
}

function placeOf(operand: GateOperand): string | undefined {
  return 'argument' in operand ? operand.argument : 'state' in operand ? operand.by : undefined;
}

/** A pointer that {@link readGates} would have refused throws: the gate cannot decide. */
function valueAt(document: JsonValue, pointer: string): JsonValue | undefined {
  const parsed = parsePointer(pointer);
  if (!parsed.ok) throw new RangeError(`gate: ${parsed.error.code}`);
  return resolvePointer(document, parsed.value);
}

function elementsOf(value: JsonValue | undefined): JsonArray {
  return value === undefined ? [] : isJsonArray(value) ? value : [value];
}

function isMember(value: JsonValue, list: readonly (JsonValue | undefined)[]): boolean {
  return list.some((each) => each !== undefined && jsonEqual(each, value));
}

function rejection(reason: GateReason, params: JsonObject, pointer: string = ROOT_POINTER): Rejection {
  return { kind: 'reject', reason, params, pointer: pointer as JsonPointer };
}
