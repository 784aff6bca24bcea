/**
 * What a page and the worker that runs WebLLM for it say to each other. The mask is compiled in the worker, beside the engine: what crosses is the
 * contract's document and the state, and a proposal comes back. The loop that judges it stays with the page.
 */
import type { ContractDocument, JsonObject, Observation, Proposal } from '@contractrl/core';
import type { RemoteFailure } from '../worker/protocol.ts';
import type { WebLlmProposerOptions } from './proposer.ts';

export interface OpenParams {
  readonly modelId: string;
  /** Where the model's `tokenizer.json` and `mlc-chat-config.json` are, as in WebLLM's `ModelRecord.model`. */
  readonly modelUrl: string;
}

export interface OpenedWebLlm {
  readonly modelId: string;
  /** Digest of the vocabulary. */
  readonly vocabulary: string;
  readonly logitWidth: number;
  readonly contextLength: number;
}

export interface ProposeParams {
  readonly document: ContractDocument;
  /** Of the page's contract: the worker's must be the same. */
  readonly contractDigest: string;
  readonly observation: Omit<Observation, 'contract'>;
  readonly options: WebLlmProposerOptions;
}

export type RemoteResult<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: RemoteFailure & { readonly message?: string } };

export type ToWebLlm =
  | { readonly webllm: 'open'; readonly id: number; readonly params: OpenParams }
  | { readonly webllm: 'propose'; readonly id: number; readonly params: ProposeParams }
  | { readonly webllm: 'cancel'; readonly id: number };

export type FromWebLlm =
  /** The worker holds this lock for as long as it lives, see `life-lock.ts`. */
  | { readonly webllm: 'holds'; readonly id: number; readonly lock: string }
  | { readonly webllm: 'progress'; readonly id: number; readonly progress: LoadReport }
  | { readonly webllm: 'opened'; readonly id: number; readonly result: RemoteResult<OpenedWebLlm> }
  | { readonly webllm: 'proposed'; readonly id: number; readonly result: RemoteResult<Proposal> };

/** As WebLLM's `InitProgressReport`: `progress` in [0, 1], `text` for a person. */
export interface LoadReport {
  readonly progress: number;
  readonly text: string;
}

/** Both ends are ours, yet others may post too: anything else is ignored. */
export function isWebLlmMessage(data: unknown): data is JsonObject {
  return typeof data === 'object' && data !== null && 'webllm' in data && 'id' in data && typeof data.id === 'number';
}
