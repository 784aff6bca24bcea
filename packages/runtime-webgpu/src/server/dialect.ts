/**
 * How the servers that speak the OpenAI protocol take a grammar: each in fields of its own beside the common ones.
 * Reference: llama.cpp tools/server/README.md (`grammar`, `json_schema`); vLLM "Structured Outputs" (`structured_outputs`, before 0.12 `guided_…`);
 * SGLang "Structured Outputs" (`ebnf`, `json_schema`).
 */
import type { JsonObject, JsonValue } from '@contractrl/core';
import type { ExportFormat } from '@contractrl/grammar-mask/export';
import type { Sampling } from '../sampling.ts';

export const SERVER_DIALECTS = ['llama.cpp', 'vllm', 'vllm-guided', 'sglang'] as const;
/** `vllm-guided`: the names that vLLM had until 0.11. */
export type ServerDialect = (typeof SERVER_DIALECTS)[number];

interface Dialect {
  constraint(text: string, format: ExportFormat): JsonObject;
  /** Samplers that the server would add of its own, off. */
  readonly neutral: JsonObject;
}

/** vLLM and SGLang tell the two grammar formats apart by what is written in them, or by the engine they were started with. */
const DIALECTS: Readonly<Record<ServerDialect, Dialect>> = {
  'llama.cpp': {
    // Lark for a build with llguidance, which knows it by the first line
    constraint: (text, format) => (format === 'json-schema' ? { json_schema: toJson(text) } : { grammar: text }),
    neutral: { top_k: 0, min_p: 0, repeat_penalty: 1 },
  },
  vllm: {
    constraint: (text, format) => ({ structured_outputs: format === 'json-schema' ? { json: toJson(text) } : { grammar: text } }),
    neutral: { top_k: -1, min_p: 0, repetition_penalty: 1 },
  },
  'vllm-guided': {
    constraint: (text, format) => (format === 'json-schema' ? { guided_json: toJson(text) } : { guided_grammar: text }),
    neutral: { top_k: -1, min_p: 0, repetition_penalty: 1 },
  },
  sglang: {
    constraint: (text, format) => (format === 'json-schema' ? { json_schema: text } : { ebnf: text }),
    neutral: { top_k: -1, min_p: 0, repetition_penalty: 1 },
  },
};

export interface CompletionRequest {
  readonly model: string | undefined;
  readonly prompt: string | readonly number[];
  readonly maxTokens: number;
  readonly sampling: Sampling;
  readonly grammar: { readonly text: string; readonly format: ExportFormat };
}

/** The body of `POST /completions`. */
export function completionBody(dialect: ServerDialect, { model, prompt, maxTokens, sampling, grammar }: CompletionRequest): JsonObject {
  const { constraint, neutral } = DIALECTS[dialect];
  const shaping = sampling.kind === 'greedy' ? { temperature: 0 } : { temperature: sampling.temperature, top_p: sampling.topP, seed: sampling.seed };
  return {
    ...(model === undefined ? {} : { model }), prompt: prompt as JsonValue, max_tokens: maxTokens, n: 1, stream: false,
    frequency_penalty: 0, presence_penalty: 0, ...neutral, ...shaping, ...constraint(grammar.text, grammar.format),
  };
}

function toJson(text: string): JsonValue {
  return JSON.parse(text) as JsonValue;
}
