/**
 * The whole-object arm (CHECKLIST K1, K2, K10): the bare base model writes the complete arguments once, under the grammar of the tool's
 * schema. Greedy, no patch, no retry, no abstention. It sees the request, the tool, its schema, the failed call and the verifier's report.
 */
import type { AbortSignalLike, Contract, RepairRequest, Violation } from '@contractrl/core';
import { compileValueMask, type TokenId, type Vocabulary } from '@contractrl/grammar-mask';
import { createSampler, generate, type Engine, type Tokenizer } from '@contractrl/runtime-webgpu';
import type { Arm, Clock } from './arm.ts';
import { NO_COST, singleShot, type Shot } from './single-shot.ts';

const REGENERATION_PROMPT_VERSION = '1';
/** Twice the longest gold call of the data sets; an answer that is cut here is no answer. */
const MAX_TOKENS = 256;
/** UTF-16 units, and entries of the report. */
const LIMITS = { request: 900, description: 160, schema: 2400, call: 2000, reports: 4 } as const;

export interface RegenerationParts {
  readonly engine: Engine;
  readonly tokenizer: Tokenizer;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
}

/** Takes the adapter off `parts.engine`, if one is on. */
export function fullRegeneration(parts: RegenerationParts): Arm {
  const { backend, modelDigest, format } = parts.engine.identity;
  return singleShot({
    name: 'full-regeneration',
    description:
      'the bare base model writes the whole arguments object once under the grammar of its schema: own prompt with request, tool, schema, failed call and report; ' +
      'greedy, no retry, no abstention.',
    identity: { method: 'full-regeneration', backend, modelDigest, format, prompt: REGENERATION_PROMPT_VERSION, maxTokens: MAX_TOKENS, sampling: 'greedy' },
    shoot: (contract, request, violations, signal) => regenerate(parts, contract, request, violations, signal),
  }, parts.clock);
}

async function regenerate(
  { engine, tokenizer, vocabulary, clock }: RegenerationParts, contract: Contract, request: RepairRequest, violations: readonly Violation[], signal: AbortSignalLike,
): Promise<Shot> {
  const compileAt = clock();
  const mask = compileValueMask(contract.schema, vocabulary);
  const compileMs = clock() - compileAt;
  if (!mask.ok) return { kind: 'failed', reason: mask.error.code, cost: { ...NO_COST, maskMs: compileMs } };
  const adapted = engine.useAdapter(undefined);
  if (!adapted.ok) return { kind: 'failed', reason: adapted.error.code, cost: NO_COST };
  const ids = encodeRegenerationPrompt(request, violations, tokenizer);
  const abort = signal instanceof AbortSignal ? signal : undefined;
  const prefillAt = clock();
  const prefilled = await engine.extend(engine.emptyCache, ids, abort);
  const cost = { tokens: { prompt: ids.length, generated: 0, forced: 0 }, prefillMs: clock() - prefillAt, decodeMs: 0, maskMs: compileMs };
  if (!prefilled.ok) return { kind: 'failed', reason: prefilled.error.code, cost };
  const sampler = createSampler({ kind: 'greedy' });
  const generation = await generate(engine, mask.value.createMatcher(), prefilled.value, { sampler, clock, maxTokens: MAX_TOKENS, ...(abort === undefined ? {} : { signal: abort }) });
  if (!generation.ok) return { kind: 'failed', reason: generation.error.code, cost };
  const { kind, text, generatedTokenCount, forcedTokenCount, decodeMs, maskMs } = generation.value;
  const tokens = { prompt: ids.length, generated: generatedTokenCount, forced: forcedTokenCount };
  return { kind: 'text', text, isComplete: kind === 'complete', cost: { ...cost, tokens, decodeMs, maskMs: compileMs + maskMs } };
}

/** Chat-formatted ids. What others wrote is encoded without special tokens, so none of it can end its turn. */
export function encodeRegenerationPrompt({ request, contract, call }: RepairRequest, violations: readonly Violation[], tokenizer: Tokenizer): readonly TokenId[] {
  const { name, description, parameters } = contract.tool;
  const content = [
    ` ${request.map((message) => message.content).join('\n').slice(-LIMITS.request)}`,
    `Tool: ${name}: ${description.slice(0, LIMITS.description)}`,
    `Schema: ${JSON.stringify(parameters).slice(0, LIMITS.schema)}`,
    `Failed arguments: ${call.argumentsText.slice(0, LIMITS.call)}`,
    `Errors: ${violations.slice(0, LIMITS.reports).map(({ code, pointer }) => `${code} at ${pointer}`).join('; ')}`,
  ].join('\n');
  return [
    ...tokenizer.encodeTrusted('<|im_start|>system\nWrite the corrected arguments of a failed tool call as one JSON object.<|im_end|>\n<|im_start|>user\nRequest:'),
    ...tokenizer.encodePlain(content),
    ...tokenizer.encodeTrusted('<|im_end|>\n<|im_start|>assistant\n'),
  ];
}
