/**
 * A repair request as it arrives from outside: the failed call, the tool it was meant for, what the user asked, and the contract.
 * `readRepairRequest` is the parser at this edge. It checks the shape of the record; what the contract says is judged by `loadContract`.
 */
import { DEFAULT_ATTEMPT_BUDGET, DEFAULT_OPERATION_BUDGET, type ContractDocument, type ToolDefinition } from '../contract/contract.ts';
import { parseJson, type JsonLimits } from '../json/parse.ts';
import { DEFAULT_MAX_DEPTH, isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { OPERATION_KINDS } from '../patch/operation.ts';
import { childOf, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { err, ok, type Result } from '../result.ts';
import { readEach, readFields, readRecord, type IntakeIssue } from './fields.ts';

export interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

/** The failed call: `argumentsText` holds the text exactly as the model wrote it, or the serialised object it was given as. */
export interface FailedCall {
  readonly name: string;
  readonly argumentsText: string;
}

export interface RepairRequest {
  readonly id: string;
  readonly request: readonly ChatMessage[];
  readonly contract: ContractDocument;
  /** Names of the tools on offer. A record without `tools` offers the contract's own tool alone. */
  readonly toolNames: readonly string[];
  readonly call: FailedCall;
  readonly finishReason: string | undefined;
  /** Public operational state, such as the time now. Gates and the policy may read it. */
  readonly context: JsonObject;
}

/** A record may be longer than the arguments it carries: those have their own, smaller limit, and too long a text is then a report. */
const RECORD_LIMITS: JsonLimits = { maxDepth: DEFAULT_MAX_DEPTH, maxLength: 67_108_864 };

/** Parses one record strictly (`request/not-json` carries the parser's code in `params.issue`), then reads it. */
export function readRequestText(text: string): Result<RepairRequest, IntakeIssue> {
  const parsed = parseJson(text, RECORD_LIMITS);
  if (parsed.ok) return readRepairRequest(parsed.value);
  const { code, ...params } = parsed.error;
  return err({ code: 'request/not-json', pointer: ROOT_POINTER, params: { issue: code, ...params } });
}

/**
 * Reads `{id, request, tool, tools?, call, finishReason?, context?, contract?}`. Unknown fields are refused: a misspelt `contract`
 * would otherwise drop a restriction. Arguments given as text are kept as they are; an object is serialised in its member order.
 */
export function readRepairRequest(value: unknown): Result<RepairRequest, IntakeIssue> {
  const json = readRecord(value);
  if (!json.ok) return json;
  const record = readFields(json.value, ROOT_POINTER, {
    id: 'string', request: 'any', tool: 'any', tools: '?any', call: 'any', finishReason: '?string', context: '?object', contract: '?any',
  });
  if (!record.ok) return record;
  const at = (field: string): JsonPointer => childOf(ROOT_POINTER, field);
  const request = readMessages(record.value.request, at('request'));
  if (!request.ok) return request;
  const tool = readTool(record.value.tool, at('tool'));
  if (!tool.ok) return tool;
  const { tools } = record.value;
  const toolNames = tools === undefined ? ok([tool.value.name]) : readEach(tools, at('tools'), readToolName);
  if (!toolNames.ok) return toolNames;
  const call = readCall(record.value.call, at('call'));
  if (!call.ok) return call;
  const contract = readContract(record.value.contract ?? {}, at('contract'), tool.value);
  if (!contract.ok) return contract;
  const { id, finishReason, context = {} } = record.value;
  return ok({ id, request: request.value, contract: contract.value, toolNames: toolNames.value, call: call.value, finishReason, context });
}

function readMessages(value: JsonValue, at: JsonPointer): Result<readonly ChatMessage[], IntakeIssue> {
  if (typeof value === 'string') return ok([{ role: 'user', content: value }]);
  if (!isJsonArray(value)) return err({ code: 'request/wrong-type', pointer: at, params: { expected: 'text or messages' } });
  return readEach(value, at, (message, place) => readFields(message, place, { role: 'string', content: 'string' }));
}

function readTool(value: JsonValue, at: JsonPointer): Result<ToolDefinition, IntakeIssue> {
  const tool = readFields(value, at, { name: 'string', description: '?string', parameters: 'object' });
  return tool.ok ? ok({ ...tool.value, description: tool.value.description ?? '' }) : tool;
}

function readToolName(value: JsonValue, at: JsonPointer): Result<string, IntakeIssue> {
  if (typeof value === 'string') return ok(value);
  const tool = readFields(value, at, { name: 'string', description: '?string', parameters: '?object' });
  return tool.ok ? ok(tool.value.name) : tool;
}

function readCall(value: JsonValue, at: JsonPointer): Result<FailedCall, IntakeIssue> {
  const call = readFields(value, at, { name: 'string', arguments: 'any' });
  if (!call.ok) return call;
  const { name, arguments: given } = call.value;
  if (typeof given === 'string') return ok({ name, argumentsText: given });
  if (!isJsonObject(given)) return err({ code: 'request/wrong-type', pointer: childOf(at, 'arguments'), params: { expected: 'object or text' } });
  return ok({ name, argumentsText: JSON.stringify(given) });
}

function readContract(value: JsonValue, at: JsonPointer, tool: ToolDefinition): Result<ContractDocument, IntakeIssue> {
  const contract = readFields(value, at, {
    version: '?number', allowedOperations: '?array', operationBudget: '?number', attemptBudget: '?number',
    immutablePaths: '?array', crossField: '?array', gates: '?array', provenance: '?any', unknownKeywords: '?string', toolNames: '?string',
  });
  if (!contract.ok) return contract;
  const defaults = {
    allowedOperations: OPERATION_KINDS, operationBudget: DEFAULT_OPERATION_BUDGET, attemptBudget: DEFAULT_ATTEMPT_BUDGET, immutablePaths: [], crossField: [], gates: [],
  };
  // What the fields hold is not read here: `loadContract` takes any document and refuses what it cannot honour, with its own codes.
  return ok({ tool, ...defaults, ...(value as JsonObject) } as unknown as ContractDocument);
}
