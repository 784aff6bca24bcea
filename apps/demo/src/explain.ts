/** Codes → plain sentences that say what to do. Codes are public and stable; wording lives here alone. */
import type { JsonValue } from '@contractrl/core';
import { formatEngineReason, type RemoteFailure } from '@contractrl/runtime-webgpu/web';
import { formatBytes } from './format.ts';

type Explanation = (params: RemoteFailure['params']) => string;

const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  'worker/aborted': () => 'Cancelled. Nothing was changed; you can start again.',
  'worker/died': () => 'The background worker stopped, most likely for want of memory. Close other tabs and load the model again.',
  'worker/no-answer': () => 'The background worker no longer answered, and the repair could not be done again elsewhere. Nothing was changed; load the model again.',
  'worker/not-data': ({ cause }) => `The call or its contract holds what cannot be sent to the worker, such as a function (${textOf(cause)}). Name functions in the contract and repair in the page itself.`,
  'worker/did-not-start': () => 'The background worker did not start. Reload the page.',
  'worker/exception': ({ cause }) => `The background worker met an error it did not expect (${textOf(cause)}). Load the model again; it needs about 1 GB of memory.`,
  'worker/not-loaded': () => 'No model is loaded yet. Load it first.',
  'worker/closed': () => 'The background worker was closed. Load the model again.',
  'worker/unreadable-message': () => 'The background worker sent something unreadable. Load the model again.',
  'web/insecure-context': () => 'The browser offers no digests here. Open the page over https or from 127.0.0.1.',
  'model/download-failed': ({ status }) =>
    status === 404
      ? 'The server has no model file. Run "npx contractrl model fetch", then load again.'
      : `The model could not be downloaded (status ${String(status)}). Check the connection and load again.`,
  'model/size-mismatch': ({ expectedBytes, actualBytes }) =>
    `The file has the wrong size: ${String(actualBytes)} bytes or more, where ${String(expectedBytes)} were expected. It was not used. Fetch the model anew and load again.`,
  'model/digest-mismatch': () => 'The file is damaged or is another model: its SHA-256 is not the pinned one. It was not used. Fetch the model anew and load again.',
  'engine/load-failed': () => 'The model could not be started, most likely for want of memory: it needs about 1 GB. Close other tabs and load the model again.',
  'engine/none-left': ({ rejected }) => `No engine can run the model here. ${rejectedText(rejected)} It needs about 1 GB of memory: close other tabs and load the model again.`,
  'model/not-kept': ({ neededBytes, storage }) => `The browser did not keep the model, so the next visit will download it again.${roomText(neededBytes, storage)}`,
};

/** A sentence for any failure; one that has none of its own is named by its code. */
export function explain(failure: RemoteFailure): string {
  const explanation = Object.hasOwn(EXPLANATIONS, failure.code) ? EXPLANATIONS[failure.code] : undefined;
  const message = failure.params['message'];
  return explanation?.(failure.params) ?? (typeof message === 'string' ? message : `It failed with the code ${failure.code}.`);
}

function textOf(cause: unknown): string {
  if (typeof cause !== 'object' || cause === null || !('message' in cause)) return 'no details';
  return String(cause.message);
}

/** Which engines were tried, and what became of each. */
function rejectedText(rejected: JsonValue | undefined): string {
  if (!Array.isArray(rejected)) return '';
  return rejected.map((each) => {
    const { engine, reason } = each as { readonly engine: string; readonly reason: { readonly code: string } };
    return `${engine === 'webgpu' ? 'WebGPU' : 'WASM'}: ${formatEngineReason(reason)}.`;
  }).join(' ');
}

function roomText(neededBytes: JsonValue | undefined, storage: JsonValue | undefined): string {
  if (typeof neededBytes !== 'number' || typeof storage !== 'object' || storage === null) return '';
  const { quotaBytes, usageBytes } = storage as { readonly quotaBytes: number; readonly usageBytes: number };
  return ` It takes ${formatBytes(neededBytes)}; this page may use ${formatBytes(quotaBytes)} and already uses ${formatBytes(usageBytes)}. A private window, or a disk that is nearly full, gives less.`;
}
