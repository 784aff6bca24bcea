/**
 * A server that speaks the OpenAI protocol as a policy: the prompt and the exported grammar go out, text comes back and is trusted in nothing. An
 * export may be wider than the mask, and a server may not keep to it: the text is spelled under the mask here before it counts as a proposal, and
 * core's gate judges it as ever.
 */
import {
  err, isJsonObject, judgeArguments, loadContract, ok, openRepair, parseJson,
  type AbortSignalLike, type CheckFunction, type JsonObject, type JsonValue, type Observation, type Proposal, type Proposer, type ProposerFailure, type RepairRequest, type Result,
} from '@contractrl/core';
import { exportGrammar, type ExportFormat, type Omission } from '@contractrl/grammar-mask/export';
import { toProposerFailure } from '../failure-text.ts';
import type { Clock } from '../generate.ts';
import { buildPrompt, encodePrompt, PROMPT_VERSION, promptSegments, type Prompt } from '../prompt.ts';
import { createMaskMemory, DEFAULT_MAX_ANSWER_TOKENS, samplingOfAttempt, type MaskMemory, type ProposerOptions } from '../proposer.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { BYTE_VOCABULARY, checkText } from './check-text.ts';
import { completionBody, type ServerDialect } from './dialect.ts';
import { postJson, type ServerFailure } from './http.ts';

/** A repair on a laptop's CPU takes seconds; a server that needs longer is overloaded. */
export const DEFAULT_SERVER_TIMEOUT_MS = 60_000;

export interface ServerParts {
  /** Where `/completions` is, such as `http://127.0.0.1:8080/v1`. */
  readonly baseUrl: string;
  readonly dialect: ServerDialect;
  /** Default GBNF. Lark is for servers whose constraint engine is llguidance. */
  readonly format?: ExportFormat;
  /** As the server names it; servers of one model need none. */
  readonly model?: string;
  /** Sent as a bearer token, and written nowhere. */
  readonly apiKey?: string;
  /** For one answer; default {@link DEFAULT_SERVER_TIMEOUT_MS}. */
  readonly timeoutMs?: number;
  /**
   * Of the server's model: the prompt is then sent as token ids, in which no text of a request can be a special token. Without it the prompt is
   * text, and a space keeps what looks like a marker of ChatML apart.
   */
  readonly tokenizer?: Tokenizer;
  readonly clock: Clock;
  readonly fetch?: typeof globalThis.fetch;
  /** Compiled masks kept between repairs. */
  readonly memory?: MaskMemory;
}

export type ServerProposerOptions = Pick<ProposerOptions, 'sampling' | 'maxAnswerTokens' | 'excludeNoOps' | 'goal'>;

const SENTENCES: Readonly<Record<string, string>> = {
  'server/timeout': 'The server did not answer in time. The original call is unchanged; try again, or allow it more time.',
  'server/unreachable': 'The server could not be reached. Look at its address and whether it runs.',
  'server/http-status': 'The server refused the request or failed. Its own words are in the parameters; a grammar that it cannot read is among the usual reasons.',
  'server/response-cut': 'The connection ended before the answer did. The original call is unchanged; try again.',
  'server/response-too-large': 'The server sent far more than an answer. The original call is unchanged.',
  'server/bad-response': 'The server’s answer is not one of the OpenAI protocol. Look at its address and dialect.',
  'export/too-large': 'The contract’s grammar is too large for a server. Repair in process instead.',
};

/**
 * A server tells no probabilities, so its proposals have no confidence, and none is withheld for want of it.
 * `identity` names the options, not what the grammar leaves out, which depends on the contract: pass `notCarried`, or use {@link createServerRepairer}.
 * Throws `TypeError` for a `baseUrl` that is not one of HTTP.
 */
export function createServerProposer(parts: ServerParts, options: ServerProposerOptions = {}, notCarried: readonly Omission[] = []): Proposer {
  const { dialect, format = 'gbnf', model, tokenizer, timeoutMs = DEFAULT_SERVER_TIMEOUT_MS, fetch = globalThis.fetch, memory = createMaskMemory() } = parts;
  const { sampling = { kind: 'greedy' }, maxAnswerTokens = DEFAULT_MAX_ANSWER_TOKENS, excludeNoOps = true, goal = false } = options;
  const url = completionsUrl(parts.baseUrl);
  const ready: Ready = { ...parts, url: url.href, format, timeoutMs, fetch, memory, sampling, maxAnswerTokens, excludeNoOps, goal };
  return {
    identity: {
      backend: 'openai-compatible', origin: url.origin, dialect, format, model: model ?? null, promptVersion: PROMPT_VERSION, promptForm: tokenizer === undefined ? 'text' : 'ids',
      vocabulary: BYTE_VOCABULARY.digest, jumpForward: true, sampling: { ...sampling }, maxAnswerTokens, excludeNoOps, goal, notCarried: toData(notCarried),
    },
    propose: (observation, signal) => propose(ready, observation, signal),
  };
}

type Ready = Omit<ServerParts, 'baseUrl'> & Required<Pick<ServerParts, 'format' | 'timeoutMs' | 'fetch' | 'memory'>> & Required<ServerProposerOptions> & { readonly url: string };

async function propose(ready: Ready, observation: Observation, signalLike: AbortSignalLike): Promise<Result<Proposal, ProposerFailure>> {
  const { dialect, format, model, clock, memory, maxAnswerTokens, excludeNoOps, goal, url, apiKey, timeoutMs, fetch } = ready;
  const { contract, state } = observation;
  const fail = (issue: { readonly code: string }): Result<never, ProposerFailure> => err(toProposerFailure(issue, SENTENCES));
  const signal = signalLike instanceof AbortSignal ? signalLike : undefined;

  const startedAt = clock();
  const kept = memory.maskFor(contract, BYTE_VOCABULARY, { excludeNoOps, goal, unmaskable: 'refuse' });
  if (!kept.ok) return fail(kept.error);
  const matcher = kept.value.mask.bind(state, {});
  if (!matcher.ok) return fail(matcher.error);
  const grammar = exportGrammar(contract, state, format);
  if (!grammar.ok) return fail(grammar.error);
  const prompt = promptFor(buildPrompt(observation), ready.tokenizer);

  const askedAt = clock();
  const body = completionBody(dialect, {
    model, prompt, maxTokens: maxAnswerTokens, sampling: samplingOfAttempt(ready.sampling, state.history.length), grammar: { text: grammar.value.text, format },
  });
  const response = await postJson(url, body, { apiKey, timeoutMs, signal, fetch });
  if (!response.ok) return fail(response.error);
  const answer = readCompletion(response.value);
  if (!answer.ok) return fail(answer.error);

  const answeredAt = clock();
  const { finishReason, promptTokenCount, generatedTokenCount } = answer.value;
  const text = format === 'json-schema' ? respell(answer.value.text) : answer.value.text;
  const checked = answer.value.isRefusal || finishReason === 'length' ? undefined : checkText(matcher.value, text);
  const given = {
    text,
    cost: { promptTokenCount, generatedTokenCount, forcedTokenCount: 0, prefillMs: 0, decodeMs: answeredAt - askedAt, maskMs: askedAt - startedAt + clock() - answeredAt },
    signals: { notCarried: toData(grammar.value.notCarried), finishReason, ...(checked?.ok === false ? { outsideAtByte: checked.error.byteIndex } : {}) },
  };
  if (checked === undefined) return ok({ kind: 'incomplete', code: answer.value.isRefusal ? 'server/refusal' : 'generate/token-budget', ...given });
  return ok(checked.ok ? { kind: 'text', confidence: undefined, ...checked.value, ...given } : { kind: 'incomplete', code: checked.error.code, ...given });
}

interface Completion {
  readonly text: string;
  readonly finishReason: string | null;
  /** The server declined for reasons of its own. */
  readonly isRefusal: boolean;
  readonly promptTokenCount: number;
  readonly generatedTokenCount: number;
}

function readCompletion({ choices, usage }: JsonObject): Result<Completion, ServerFailure> {
  const [choice] = Array.isArray(choices) ? (choices as readonly JsonValue[]) : [];
  if (!isObject(choice)) return err({ code: 'server/bad-response', detail: 'no choice' });
  const { text = null, finish_reason: finishReason = null, refusal = null } = choice;
  const isRefusal = finishReason === 'content_filter' || typeof refusal === 'string';
  if (typeof text !== 'string' && !isRefusal) return err({ code: 'server/bad-response', detail: 'the choice has no text' });
  const count = (value: JsonValue | undefined): number => (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0);
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = isObject(usage) ? usage : {};
  return ok({
    text: typeof text === 'string' ? text : '', finishReason: typeof finishReason === 'string' ? finishReason : null, isRefusal,
    promptTokenCount: count(promptTokens), generatedTokenCount: count(completionTokens),
  });
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return value !== undefined && isJsonObject(value);
}

/** A JSON Schema leaves white space free, the mask writes none. Text that is no JSON stays as it is. */
function respell(text: string): string {
  const parsed = parseJson(text);
  return parsed.ok ? JSON.stringify(parsed.value) : text;
}

function promptFor(prompt: Prompt, tokenizer: Tokenizer | undefined): string | readonly number[] {
  if (tokenizer !== undefined) {
    const encoded = encodePrompt(prompt, tokenizer, Infinity);
    if (encoded.ok) return encoded.value.ids;
  }
  return promptSegments(prompt).map(({ text, trusted }) => (trusted ? text : text.replaceAll('<|', '< |'))).join('');
}

function completionsUrl(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new TypeError(`baseUrl must be an http or https address, got ${baseUrl}`);
  url.pathname = `${url.pathname.replace(/\/+$/u, '')}/completions`;
  return url;
}

function toData(omissions: readonly Omission[]): readonly JsonObject[] {
  return omissions.map((omission) => ({ ...omission }));
}

/** What the grammar leaves to the judge, for the call as it arrived; empty where there is nothing to repair. An attempt's own list is in its signals. */
export function notCarriedBy(request: RepairRequest, format: ExportFormat, functions: readonly CheckFunction[] = []): readonly Omission[] {
  const contract = loadContract(request.contract, { functions });
  const judgement = contract.ok ? judgeArguments(contract.value, request.call.argumentsText, request.context) : undefined;
  if (!contract.ok || judgement?.kind !== 'invalid' || judgement.value === undefined) return [];
  const grammar = exportGrammar(contract.value, openRepair(contract.value, judgement.report, judgement.value), format);
  return grammar.ok ? grammar.value.notCarried : [];
}
