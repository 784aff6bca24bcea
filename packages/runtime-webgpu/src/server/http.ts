/** One request to a server that is trusted in nothing: bounded in time and size, never redirected, every way it can fail told apart. */
import { err, isJsonObject, ok, type JsonObject, type JsonValue, type Result } from '@contractrl/core';

export type ServerFailure =
  | { readonly code: 'engine/aborted' }
  | { readonly code: 'server/timeout'; readonly timeoutMs: number }
  /** No answer at all: refused, unknown host, no route, redirected. */
  | { readonly code: 'server/unreachable'; readonly cause: unknown }
  /** `detail`: the beginning of what it said, as it said it. */
  | { readonly code: 'server/http-status'; readonly status: number; readonly detail: string }
  /** The connection ended before the answer did. */
  | { readonly code: 'server/response-cut'; readonly cause: unknown }
  | { readonly code: 'server/response-too-large'; readonly limitBytes: number }
  | { readonly code: 'server/bad-response'; readonly detail: string };

export interface PostOptions {
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly fetch: typeof globalThis.fetch;
}

/** Of an answer of a few kilobytes; what is longer is not one. */
const MAX_RESPONSE_BYTES = 1_048_576;
const DETAIL_LIMIT = 300;

/** Posts JSON and reads a JSON object. Fails with a {@link ServerFailure}; an abort closes the connection, on which servers stop their work. */
export async function postJson(url: string, body: JsonObject, options: PostOptions): Promise<Result<JsonObject, ServerFailure>> {
  const { apiKey, timeoutMs, signal } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  const failure = (fallback: ServerFailure): Result<never, ServerFailure> => {
    if (signal?.aborted === true) return err({ code: 'engine/aborted' });
    return err(timeout.aborted ? { code: 'server/timeout', timeoutMs } : fallback);
  };
  let response: Response;
  try {
    response = await options.fetch(url, {
      method: 'POST', body: JSON.stringify(body), signal: either,
      // elsewhere the request and the key would go to somebody else
      redirect: 'error',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json', ...(apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` }) },
    });
  } catch (cause) {
    return failure({ code: 'server/unreachable', cause });
  }
  let text: string | undefined;
  try {
    text = await readText(response);
  } catch (cause) {
    return failure({ code: 'server/response-cut', cause });
  }
  if (text === undefined) return err({ code: 'server/response-too-large', limitBytes: MAX_RESPONSE_BYTES });
  if (!response.ok) return err({ code: 'server/http-status', status: response.status, detail: text.slice(0, DETAIL_LIMIT) });
  const parsed = readJson(text);
  return parsed !== undefined && isJsonObject(parsed) ? ok(parsed) : err({ code: 'server/bad-response', detail: parsed === undefined ? 'not JSON' : 'not an object' });
}

/** Undefined where it is too large; the rest is then not read. */
async function readText({ body }: Response): Promise<string | undefined> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = '';
  let sizeBytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    sizeBytes += value.length;
    if (sizeBytes > MAX_RESPONSE_BYTES) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Laxer than core's reader on purpose: servers add figures with more digits than a double holds. */
function readJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
