/** Streams that remember, and a repairer that is real but for its policy: core's own loop over texts written down in advance. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { err, ok, repairCall, type Proposal, type Proposer } from '@contractrl/core';
import { runCli, type ExitCode, type Io, type Problem, type Services, type SessionOptions } from '../src/index.ts';

export interface TestIo extends Io {
  output(): string;
  errors(): string;
  abort(): void;
  /** Moves the clock on. */
  advance(ms: number): void;
}

export function createTestIo({ isTerminal = false, env = {}, stdin = '' }: { readonly isTerminal?: boolean; readonly env?: Io['env']; readonly stdin?: string } = {}): TestIo {
  let output = '';
  let errors = '';
  let nowMs = 0;
  const controller = new AbortController();
  return {
    // bytes as one character each
    stdout: { isTerminal, write: async (chunk) => { output += Buffer.from(chunk as string).toString(typeof chunk === 'string' ? 'utf8' : 'latin1'); } },
    stderr: { isTerminal, write: async (chunk) => { errors += String(chunk); } },
    readStdin: async () => new TextEncoder().encode(stdin),
    env,
    signal: controller.signal,
    now: () => nowMs,
    output: () => output,
    errors: () => errors,
    abort: () => controller.abort(),
    advance: (ms) => { nowMs += ms; },
  };
}

export interface ScriptedServices extends Services {
  /** What `openSession` was called with, in order. */
  readonly opened: SessionOptions[];
  disposedCount(): number;
}

/** Each proposal answers one attempt. `beforeProposal` runs when the policy is asked, with the number of the attempt from 0. */
export function scriptedServices(texts: readonly string[], beforeProposal: (index: number) => void = () => undefined): ScriptedServices {
  const opened: SessionOptions[] = [];
  let disposedCount = 0;
  let asked = 0;
  const proposer: Proposer = {
    identity: { policy: 'scripted' },
    propose(_observation, signal) {
      beforeProposal(asked);
      if (signal.aborted) return Promise.resolve(err({ code: 'engine/aborted', message: 'Stopped.' }));
      const text = texts[asked++];
      if (text === undefined) throw new RangeError('the policy was asked more often than the test expects');
      return Promise.resolve(ok(toProposal(text)));
    },
  };
  return {
    opened,
    disposedCount: () => disposedCount,
    openSession: (options) => {
      opened.push(options);
      return Promise.resolve(ok({
        repair: (request, signal) => repairCall(request, proposer, { signal }),
        dispose: () => { disposedCount += 1; return Promise.resolve(); },
      }));
    },
    fetchModel: () => Promise.resolve(ok('/cache/model.gguf')),
    modelPath: () => Promise.resolve(ok('/cache/model.gguf')),
    verifyModel: () => Promise.resolve(ok('/cache/model.gguf')),
    checkEngines: () => Promise.resolve(ENGINES),
    loadTrainer: () => Promise.resolve(err(NO_TRAINER)),
  };
}

const NO_TRAINER: Problem = { code: 'train/not-installed', message: 'Not here.' };

export function failingServices(problem: Problem): Services {
  const fail = (): Promise<{ readonly ok: false; readonly error: Problem }> => Promise.resolve(err(problem));
  return { openSession: fail, fetchModel: fail, modelPath: fail, verifyModel: fail, checkEngines: () => Promise.resolve(ENGINES), loadTrainer: fail };
}

/** As on a machine without a graphics adapter. */
const ENGINES: Awaited<ReturnType<Services['checkEngines']>> = {
  engine: 'cpu', reason: { code: 'choice/fallback' }, rejected: [{ engine: 'webgpu', reason: { code: 'engine/load-failed' } }],
};

function toProposal(text: string): Proposal {
  const cost = { promptTokenCount: 120, generatedTokenCount: 18, forcedTokenCount: 11, prefillMs: 130, decodeMs: 90, maskMs: 4 };
  return { kind: 'text', text, confidence: 0.9, cost, maskDigest: undefined };
}

export async function runWith(words: readonly string[], io: TestIo, services: Services): Promise<{ readonly code: ExitCode; readonly output: string; readonly errors: string }> {
  const code = await runCli(words, io, services);
  return { code, output: io.output(), errors: io.errors() };
}

/** A folder for one test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'contractrl-cli-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function temporaryFile(name: string, text: string): Promise<string> {
  const path = join(await temporaryFolder(), name);
  await writeFile(path, text);
  return path;
}

export const RECORD = {
  id: 'tail',
  request: 'Run the unit tests and show me the last 10 lines.',
  tool: {
    name: 'run_command',
    description: 'Run a command',
    parameters: {
      type: 'object',
      properties: { command: { type: 'string' }, tail: { type: 'integer', minimum: 0 } },
      required: ['command'],
      additionalProperties: false,
    },
  },
  call: { name: 'run_command', arguments: { command: 'npm test', tail: '10 lines' } },
  contract: { immutablePaths: ['/command'] },
};

export const RIGHT_PATCH = '[{"op":"replace","path":"/tail","value":10}]';
export const WRONG_PATCH = '[{"op":"replace","path":"/tail","value":"ten"}]';
export const ABSTENTION = '{"abstain":"not-in-state"}';
