/**
 * Repair state → prompt text, from public state only. The wording is what the adapters were trained on, so it is versioned: another wording
 * needs another {@link PROMPT_VERSION} and other adapters. Three parts by how long they stay the same: static (every repair), task (every
 * attempt of one repair), state (one attempt); a cache is kept of what two prompts share.
 */
import { ROOT_POINTER, schemaAt, type JsonObject, type JsonPointer, type Observation, type Result, type Violation } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import { fieldText, firstCharacters, shortDescription } from './field-text.ts';
import type { Tokenizer } from './tokenizer.ts';

export const PROMPT_VERSION = '2';

/** Limits in code points, as in training; a huge call or request does not fill the context. */
const REQUEST_LIMIT = 900;
const TOOL_DESCRIPTION_LIMIT = 100;
const CALL_LIMIT = 2000;
/** Of the verifier's report; the first is the one that the attempt is about. */
const VIOLATION_LIMIT = 3;

/** Ends in the colon, and the text after it begins with a space: no pre-tokenizer joins the two, so the static ids never depend on the request. */
const STATIC_TEXT =
  '<|im_start|>system\nRepair a failed tool call with a JSON Patch, or abstain.<|im_end|>\n<|im_start|>user\nRequest:';
const END_TEXT = '<|im_end|>\n<|im_start|>assistant\n';

export interface PromptSegment {
  readonly text: string;
  /** Trusted text may hold special tokens; in untrusted text their spelling is plain characters. */
  readonly trusted: boolean;
}

export interface Prompt {
  readonly staticText: string;
  /** Untrusted: request and tool. Request, call and schema are all written by others. */
  readonly taskText: string;
  /** Untrusted: call, errors with what the schema says there, locked pointers and budgets. */
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
  const request = requestText(observation);
  return {
    staticText: STATIC_TEXT,
    taskText: ` ${request}\nTool: ${tool.name}: ${shortDescription(tool.description, TOOL_DESCRIPTION_LIMIT)}`,
    stateText: [
      `\nCall: ${firstCharacters(JSON.stringify(state.candidate), CALL_LIMIT)}`,
      ...firstPlaces(observation.violations).map((violation) => `\nError: ${errorText(observation, violation, request)}`),
      ...(contract.immutablePaths.length === 0 ? [] : [`\nLocked: ${contract.immutablePaths.join(', ')}`]),
      ...(state.operationsLeft === 1 ? ['\nLeft: 1 operation'] : []),
      ...(state.history.length === 0 ? [] : [`\nAttempt: ${String(state.history.length + 1)}`]),
    ].join(''),
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

/** The first violation of each of the first places; a huge call has more than could be compared with each other. */
function firstPlaces(violations: readonly Violation[]): readonly Violation[] {
  const places = new Map<JsonPointer, Violation>();
  for (const violation of violations) {
    if (!places.has(violation.pointer)) places.set(violation.pointer, violation);
    if (places.size === VIOLATION_LIMIT) break;
  }
  return [...places.values()];
}

/** Code and place, and what binds there: of a check across fields the check itself, of a member that may not stand there nothing. */
function errorText({ contract, state }: Observation, { code, pointer, params }: Violation, request: string): string {
  const place = pointer === ROOT_POINTER ? 'the whole call' : pointer;
  const field = code === 'additional_property' ? '' : fieldText(schemaAt(contract, state.candidate, pointer), request);
  const check = code === 'cross_field' ? ` ${checkText(params)}` : '';
  return `${code} at ${place}${check}${field === '' ? '' : `: ${field}`}`;
}

/** The check as the contract has it; its number in the list and the outcome say nothing. */
function checkText(params: JsonObject): string {
  return JSON.stringify(Object.fromEntries(Object.entries(params).filter(([name]) => name !== 'check' && name !== 'outcome')));
}

function lastCharacters(text: string, limit: number): string {
  return text.length <= limit ? text : Array.from(text.slice(-2 * limit)).slice(-limit).join('');
}
