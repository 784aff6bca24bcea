/**
 * Repair state → prompt text, from public state only. The wording is what the adapters were trained on, so it is versioned: another wording
 * needs another {@link PROMPT_VERSION} and other adapters. Three parts by how long they stay the same: static (every repair), task (every
 * attempt of one repair), state (one attempt); a cache is kept of what two prompts share.
 */
import { schemaAt, type JsonObject, type JsonValue, type Observation, type Result, type SchemaSite, type ViolationCode } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import type { Tokenizer } from './tokenizer.ts';

export const PROMPT_VERSION = '1';

/** Limits in code points, as in training. The call had no limit there; ours keeps a huge call from filling the context. */
const REQUEST_LIMIT = 900;
const DESCRIPTION_LIMIT = 160;
const FIELD_LIMIT = 400;
const CALL_LIMIT = 4000;
const PARAMETER_LIMIT = 24;

/** Ends in the colon, and the text after it begins with a space: no pre-tokenizer joins the two, so the static ids never depend on the request. */
const STATIC_TEXT =
  '<|im_start|>system\nRepair a failed tool call with a JSON Patch, or abstain.<|im_end|>\n<|im_start|>user\nRequest:';
const END_TEXT = '<|im_end|>\n<|im_start|>assistant\n';

/** What the adapters were trained to read; every other code goes by its own name. */
const PROMPT_CODES: Partial<Record<ViolationCode, string>> = { enum_mismatch: 'enum' };

/** Keywords of the field line, in this order. */
const FIELD_KEYWORDS = [
  'type', 'enum', 'description', 'format', 'items',
  'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength', 'pattern', 'minItems', 'maxItems',
  'properties', 'required', 'default',
] as const;

export interface PromptSegment {
  readonly text: string;
  /** Trusted text may hold special tokens; in untrusted text their spelling is plain characters. */
  readonly trusted: boolean;
}

export interface Prompt {
  readonly staticText: string;
  /** Untrusted: request, tool and parameters. Request, call and schema are all written by others. */
  readonly taskText: string;
  /** Untrusted: call, error, field, locked pointers and budgets. */
  readonly stateText: string;
  readonly endText: string;
}

export interface EncodedPrompt {
  readonly ids: readonly TokenId[];
  /** How many of `ids` are the static part, the same in every repair. */
  readonly staticLength: number;
}

export type PromptIssue = { readonly code: 'prompt/too-long'; readonly tokenCount: number; readonly limit: number };

/** O(size of the request, the candidate and the schema). Text beyond the limits above is cut, never summarised. */
export function buildPrompt(observation: Observation): Prompt {
  const { contract, state } = observation;
  const { tool } = contract.document;
  const locked = contract.immutablePaths.length === 0 ? '' : `\nLocked: ${contract.immutablePaths.join(', ')}`;
  return {
    staticText: STATIC_TEXT,
    taskText: ` ${requestText(observation)}\nTool: ${tool.name}: ${firstCharacters(tool.description, DESCRIPTION_LIMIT)}\nParameters: ${parameterList(tool.parameters)}`,
    stateText:
      `\nCall: ${firstCharacters(spacedJson(state.candidate), CALL_LIMIT)}\nError: ${PROMPT_CODES[state.code] ?? state.code} at ${state.pointer}` +
      `\nField: ${firstCharacters(fieldText(schemaAt(contract, state.candidate, state.pointer)), FIELD_LIMIT)}${locked}\nLeft: ${state.operationsLeft} operations, ${state.attemptsLeft} attempts`,
    endText: END_TEXT,
  };
}

/** In order; adjoining segments of one kind are one segment, so that the tokenizer sees no seam that the text does not have. */
export function promptSegments(prompt: Prompt): readonly PromptSegment[] {
  return [
    { text: prompt.staticText, trusted: true },
    { text: prompt.taskText + prompt.stateText, trusted: false },
    { text: prompt.endText, trusted: true },
  ];
}

/** Fails with `prompt/too-long` where the prompt has more than `limit` tokens: it leaves no room for the answer. */
export function encodePrompt(prompt: Prompt, tokenizer: Tokenizer, limit: number): Result<EncodedPrompt, PromptIssue> {
  const encode = ({ text, trusted }: PromptSegment): readonly TokenId[] => (trusted ? tokenizer.encodeTrusted(text) : tokenizer.encodePlain(text));
  const ids = promptSegments(prompt).flatMap(encode);
  if (ids.length > limit) return { ok: false, error: { code: 'prompt/too-long', tokenCount: ids.length, limit } };
  return { ok: true, value: { ids, staticLength: tokenizer.encodeTrusted(prompt.staticText).length } };
}

/** The whole text, as a reader or a trainer sees it. */
export function promptText(prompt: Prompt): string {
  return promptSegments(prompt).map((segment) => segment.text).join('');
}

/** One user message stands alone, as in training; in a longer dialogue every other speaker is named. */
function requestText({ request }: Observation): string {
  return lastCharacters(request.map(({ role, content }) => (role === 'user' ? content : `${role}: ${content}`)).join('\n'), REQUEST_LIMIT);
}

function parameterList(parameters: JsonObject): string {
  const required = Array.isArray(parameters['required']) ? parameters['required'] : [];
  const properties = asObject(parameters['properties']);
  return Object.entries(properties)
    .slice(0, PARAMETER_LIMIT)
    .map(([name, schema]) => `${name}${required.includes(name) ? '*' : ''}:${typeName(schema)}`)
    .join(', ');
}

function typeName(schema: JsonValue): string {
  const type = asObject(schema)['type'];
  if (typeof type === 'string') return type;
  return Array.isArray(type) ? type.join('|') : 'any';
}

/** What binds at the place for certain, and of `anyOf` and `oneOf` the first branch that siblings leave open; a keyword is read where it stands first. */
function fieldText(sites: readonly SchemaSite[]): string {
  const read = [...sites.filter((site) => !site.isConditional), ...sites.filter((site) => site.isConditional).slice(0, 1)];
  const shown: Record<string, JsonValue> = {};
  for (const keyword of FIELD_KEYWORDS) {
    const value = read.find(({ schema }) => Object.hasOwn(schema, keyword))?.schema[keyword];
    if (value !== undefined) shown[keyword] = value;
  }
  return JSON.stringify(shown);
}

/** JSON with a space after `,` and `:`, the form the adapters have seen. */
function spacedJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${spacedJson(member as JsonValue)}`).join(', ')}}`;
}

function asObject(value: JsonValue | undefined): JsonObject {
  return value !== undefined && value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** Cuts between code points, never inside a surrogate pair; reads at most `2 · limit` UTF-16 units. */
function firstCharacters(text: string, limit: number): string {
  return text.length <= limit ? text : Array.from(text.slice(0, 2 * limit)).slice(0, limit).join('');
}

function lastCharacters(text: string, limit: number): string {
  return text.length <= limit ? text : Array.from(text.slice(-2 * limit)).slice(-limit).join('');
}
