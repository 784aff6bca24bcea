/**
 * Failed calls as they stand in a provider's answer, and the repaired call in the same form: identifier and every other member as they were, arguments as
 * text where they were text. Reference: OpenAI chat completions and responses, Anthropic messages, Model Context Protocol `tools/call`.
 */
import type { FailedCall } from '../intake/request.ts';
import { parseJson } from '../json/parse.ts';
import { isJsonObject, memberOf, type JsonObject } from '../json/value.ts';
import { childOf, formatPointer, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { ok, type Result } from '../result.ts';
import { issueAt, readMember, readSource, requireMember, type SourceIssue } from './source.ts';

/** `original` is the whole of what was given, frozen. */
export interface WireCall {
  readonly form: 'openai-chat' | 'openai-responses' | 'anthropic' | 'mcp-params' | 'mcp-request';
  /** The identifier that an answer must name; absent where the form has none. */
  readonly id: string | number | undefined;
  readonly call: FailedCall;
  readonly original: JsonObject;
}

/** One element of `tool_calls`, or one `function_call` item of a response. The argument text is kept to the letter. */
export function callFromOpenAi(input: unknown): Result<WireCall, SourceIssue> {
  const source = readSource(input);
  if (!source.ok) return source;
  const original = source.value;
  const type = memberOf(original, 'type') ?? 'function';
  if (type === 'function') {
    const called = requireMember(original, 'function', 'object');
    return called.ok ? withText('openai-chat', 'id', original, called.value, formatPointer(['function'])) : called;
  }
  return type === 'function_call' ? withText('openai-responses', 'call_id', original, original, ROOT_POINTER) : issueAt('source/not-a-call', formatPointer(['type']), { found: type });
}

/** One `tool_use` block. */
export function callFromAnthropic(input: unknown): Result<WireCall, SourceIssue> {
  const source = readSource(input);
  if (!source.ok) return source;
  const type = memberOf(source.value, 'type') ?? null;
  if (type !== 'tool_use') return issueAt('source/not-a-call', formatPointer(['type']), { found: type });
  const id = requireMember(source.value, 'id', 'string');
  const name = requireMember(source.value, 'name', 'string');
  const args = requireMember(source.value, 'input', 'object');
  if (!id.ok) return id;
  if (!name.ok) return name;
  if (!args.ok) return args;
  return ok({ form: 'anthropic', id: id.value, original: source.value, call: { name: name.value, argumentsText: JSON.stringify(args.value) } });
}

/** The parameters of `tools/call`, or the whole request. Absent arguments are none: `{}`. */
export function callFromMcp(input: unknown): Result<WireCall, SourceIssue> {
  const source = readSource(input);
  if (!source.ok) return source;
  const original = source.value;
  const method = memberOf(original, 'method');
  if (method !== undefined && method !== 'tools/call') return issueAt('source/not-a-call', formatPointer(['method']), { found: method });
  const isRequest = method !== undefined;
  const params = isRequest ? requireMember(original, 'params', 'object') : ok(original);
  if (!params.ok) return params;
  const place = isRequest ? formatPointer(['params']) : ROOT_POINTER;
  const name = requireMember(params.value, 'name', 'string', place);
  if (!name.ok) return name;
  const args = readMember(params.value, 'arguments', 'object', place);
  if (!args.ok) return args;
  const id = isRequest ? memberOf(original, 'id') : undefined;
  if (id !== undefined && typeof id !== 'string' && typeof id !== 'number') return issueAt('source/wrong-type', formatPointer(['id']), { expected: 'string or number' });
  return ok({ form: isRequest ? 'mcp-request' : 'mcp-params', id, original, call: { name: name.value, argumentsText: JSON.stringify(args.value ?? {}) } });
}

/** The element or item with the repaired name and argument text in place of the failed ones. Another form's call is a RangeError. */
export function toOpenAi(wire: WireCall, { name, argumentsText }: FailedCall): JsonObject {
  if (wire.form === 'openai-responses') return { ...wire.original, name, arguments: argumentsText };
  if (wire.form !== 'openai-chat') throw new RangeError(`wire is a call of form ${wire.form}`);
  return { ...wire.original, function: { ...wire.original['function'] as JsonObject, name, arguments: argumentsText } };
}

/** As {@link toOpenAi}, for a `tool_use` block: the arguments are the object that the text holds. */
export function toAnthropic(wire: WireCall, { name, argumentsText }: FailedCall): JsonObject {
  if (wire.form !== 'anthropic') throw new RangeError(`wire is a call of form ${wire.form}`);
  return { ...wire.original, name, input: argumentsIn(argumentsText) };
}

/** As {@link toOpenAi}, for the parameters of `tools/call` or the whole request. */
export function toMcp(wire: WireCall, { name, argumentsText }: FailedCall): JsonObject {
  const repaired = { name, arguments: argumentsIn(argumentsText) };
  if (wire.form === 'mcp-params') return { ...wire.original, ...repaired };
  if (wire.form !== 'mcp-request') throw new RangeError(`wire is a call of form ${wire.form}`);
  return { ...wire.original, params: { ...wire.original['params'] as JsonObject, ...repaired } };
}

function withText(form: WireCall['form'], idName: string, original: JsonObject, called: JsonObject, place: JsonPointer): Result<WireCall, SourceIssue> {
  const id = requireMember(original, idName, 'string');
  if (!id.ok) return id;
  const name = requireMember(called, 'name', 'string', place);
  if (!name.ok) return name;
  const text = memberOf(called, 'arguments');
  if (typeof text !== 'string') return issueAt('source/wrong-type', childOf(place, 'arguments'), { expected: 'string' });
  return ok({ form, id: id.value, original, call: { name: name.value, argumentsText: text } });
}

/** Of text that a validator accepted. */
function argumentsIn(text: string): JsonObject {
  const value = parseJson(text);
  if (!value.ok || !isJsonObject(value.value)) throw new RangeError('argumentsText holds no JSON object');
  return value.value;
}
