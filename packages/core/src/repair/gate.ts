/**
 * Gates: pure, read-only decisions over the tool name, the arguments and the operational state.
 * A gate may refuse a call that is well-formed and still forbidden; it never makes one right. It is no validator (the schema has
 * already accepted), no reflection and no judgement by a model: a decision over data, the same on every machine.
 */
import { readEach, readFields, readRecord, type IntakeIssue } from '../intake/fields.ts';
import { isJsonArray, jsonEqual, memberOf, type JsonObject, type JsonValue } from '../json/value.ts';
import { childOf, parsePointer, resolvePointer, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { err, ok, type Result } from '../result.ts';

/** `reference_exists`: every value at `pointer` (each element, for an array) is a member of `context[in]`. An absent value refers to nothing. */
export type GateDocument = { readonly kind: 'reference_exists'; readonly pointer: string; readonly in: string };

export type GateReason = 'gate/reference-unknown' | 'gate/context-missing' | 'gate/undecided';

export type GateDecision = { readonly kind: 'allow' } | { readonly kind: 'reject'; readonly reason: GateReason; readonly params: JsonObject };

const ALLOW: GateDecision = { kind: 'allow' };

/** Reads a list of gates; an unknown kind, field or pointer is refused. Pointers of issues are inside the list. */
export function readGates(value: unknown): Result<readonly GateDocument[], IntakeIssue> {
  const json = readRecord(value);
  return json.ok ? readEach(json.value, ROOT_POINTER, readGate) : json;
}

function readGate(value: JsonValue, at: JsonPointer): Result<GateDocument, IntakeIssue> {
  const gate = readFields(value, at, { kind: 'string', pointer: 'string', in: 'string' });
  if (!gate.ok) return gate;
  const { kind, pointer } = gate.value;
  if (kind !== 'reference_exists') {
    return err({ code: 'request/bad-value', pointer: childOf(at, 'kind'), params: { found: kind, known: ['reference_exists'] } });
  }
  const parsed = parsePointer(pointer);
  if (!parsed.ok) return err({ code: 'request/bad-value', pointer: childOf(at, 'pointer'), params: { issue: parsed.error.code } });
  return ok({ kind, pointer, in: gate.value.in });
}

/** The first gate that does not allow decides. One that throws or cannot decide has not allowed. */
export function evaluateGates(gates: readonly GateDocument[], toolName: string, args: JsonObject, context: JsonObject): GateDecision {
  for (const gate of gates) {
    let decision: GateDecision;
    // The context comes from the host and may be live state: reading it can throw, and a throw must end as a refusal.
    try {
      decision = evaluate(gate, args, context);
    } catch (cause) {
      decision = { kind: 'reject', reason: 'gate/undecided', params: { tool: toolName, gate: gate.kind, cause: String(cause) } };
    }
    if (decision.kind === 'reject') return decision;
  }
  return ALLOW;
}

function evaluate(gate: GateDocument, args: JsonObject, context: JsonObject): GateDecision {
  const pointer = parsePointer(gate.pointer);
  if (gate.kind !== 'reference_exists' || !pointer.ok) return { kind: 'reject', reason: 'gate/undecided', params: { gate: gate.kind } };
  const known = memberOf(context, gate.in);
  if (!isJsonArray(known)) return { kind: 'reject', reason: 'gate/context-missing', params: { in: gate.in } };
  const target = resolvePointer(args, pointer.value);
  if (target === undefined) return ALLOW;
  const references = isJsonArray(target) ? target : [target];
  const stranger = references.find((reference) => !known.some((member) => jsonEqual(member, reference)));
  if (stranger === undefined) return ALLOW;
  return { kind: 'reject', reason: 'gate/reference-unknown', params: { pointer: gate.pointer, in: gate.in, value: stranger } };
}
