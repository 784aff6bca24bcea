/** The process around the commands: real streams, Ctrl-C, a closed pipe, and the exit code. */
import { addAbortSignal, type Writable } from 'node:stream';
import { EXIT } from './exit-code.ts';
import type { Io, Output } from './io.ts';
import { runCli } from './program.ts';
import { runtimeServices } from './runtime-services.ts';

const abort = new AbortController();
let endCode: number | undefined;

/** The first signal ends the work in good order; the second ends it at once. The ledger survives both: its rows are whole or reported. */
function onSignal(code: number): void {
  if (endCode !== undefined) process.exit(code);
  endCode = code;
  abort.abort();
}
process.on('SIGINT', () => onSignal(EXIT.interrupted));
process.on('SIGTERM', () => onSignal(128 + 15));

function toOutput(stream: Writable & { readonly isTTY?: boolean }): Output {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    // `… | head -1`: nobody reads any more. Stop, quietly.
    endCode ??= EXIT.brokenPipe;
    abort.abort();
  });
  return {
    isTerminal: stream.isTTY === true,
    // An error is dealt with once, above; here a write that failed just ends.
    write: (chunk) => new Promise((resolve) => { stream.write(chunk, () => resolve()); }),
  };
}

async function readStdin(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of addAbortSignal(abort.signal, process.stdin)) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}

const io: Io = {
  stdout: toOutput(process.stdout),
  stderr: toOutput(process.stderr),
  readStdin,
  env: process.env,
  signal: abort.signal,
  now: () => performance.now(),
};

const code = await runCli(process.argv.slice(2), io, runtimeServices);
process.exitCode = endCode ?? code;
