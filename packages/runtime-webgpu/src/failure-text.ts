/** Sentences for what ends a repair from below the loop: engine, mask and prompt. Codes are the interface; these are for people. */
import type { ProposerFailure } from '@contractrl/core';

const SENTENCES: Readonly<Record<string, string>> = {
  'engine/aborted': 'The repair was cancelled. The original call is unchanged; run it again to repair it.',
  'engine/context-full': 'The prompt and the answer do not fit the model’s context. Shorten the request or the tool’s description.',
  'engine/bad-logits': 'The model answered with numbers that are none. Its file or the graph built from it may be damaged: run "contractrl model verify".',
  'engine/disposed': 'The model was closed while the repair was running. Open it again.',
  'engine/adapter-mismatch': 'The adapter does not fit the base model. Use an adapter that was trained for it.',
  'engine/device-lost': 'The graphics device went away while the repair was running. The original call is unchanged; load the model again, or run it without the GPU.',
  'engine/out-of-memory': 'There was not enough memory to run the model. The original call is unchanged; close other programs and try again.',
  'engine/run-failed': 'The model could not be run, perhaps for lack of memory. Close other programs and try again.',
  'prompt/too-long': 'The prompt leaves no room for an answer in the model’s context. Shorten the tool’s parameters.',
  'mask/unsupported-keyword': 'The tool’s schema uses a keyword that the mask cannot honour, and nothing else is left to repair. See docs/limits.md.',
  'mask/empty': 'The mask allows no token here: a fault of this library, please report the contract. The original call is unchanged.',
  'mask/vocabulary-mismatch': 'The tokenizer does not belong to the model. Use the tokenizer of the model’s own file.',
  'provenance/too-long': 'Request and call are too long for a mask of their own words. Shorten the request, or repair without requiring provenance.',
  'calibration/other-adapter': 'The calibration was fitted for another adapter. Use the one that came with this adapter, or repair with the release rule off.',
  'calibration/other-prompt': 'The calibration was fitted for another version of the prompt. Use one that was fitted for this version, or repair with the release rule off.',
  'mask/token-budget': 'Not even an abstention fits the token budget. Raise it.',
};

/** Any issue from below as the port's failure: its parameters stay data, a `cause` stays a cause. `sentences` of a module's own codes come first. */
export function toProposerFailure(issue: { readonly code: string; readonly cause?: unknown }, sentences: Readonly<Record<string, string>> = {}): ProposerFailure {
  const { code, cause, ...params } = issue;
  const message = sentences[code] ?? SENTENCES[code] ?? `The policy could not answer (${code}). The original call is unchanged.`;
  return { code, message, params: JSON.parse(JSON.stringify(params)) as NonNullable<ProposerFailure['params']>, ...(cause === undefined ? {} : { cause }) };
}
