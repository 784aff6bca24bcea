/**
 * Testing an engine on a reader's own machine: one task for one worker, which reports as it goes and is ended afterwards, so that what one
 * engine leaves behind (a heap, a crash, a hung device) cannot touch the next. Everything here survives the structured clone.
 */
import type { EngineChoice, WebEngineName } from '../probe/choice.ts';
import type { MachineProfile } from '../probe/machine.ts';
import type { ConformanceResult } from '../self-test/conformance.ts';
import type { SelfTestReport } from '../self-test/self-test.ts';
import { afterAwakeMs } from './awake-timer.ts';
import type { EngineRuntimes, RemoteFailure } from './protocol.ts';

export type CheckTask =
  | { readonly kind: 'probe'; readonly runtimes: EngineRuntimes }
  | { readonly kind: 'check'; readonly engine: WebEngineName; readonly threads: number; readonly runtimes: EngineRuntimes };

/** `choice` is what would be used here, or why nothing can be. */
export interface ProbeReport {
  readonly machine: MachineProfile;
  readonly choice: EngineChoice | RemoteFailure;
}

export interface EngineReport {
  readonly selfTest?: SelfTestReport;
  readonly results: readonly ConformanceResult[];
  /** How many results there will be. */
  readonly checkCount: number;
  /** From nothing to a tested engine, runtime included, on the check model. */
  readonly loadMs?: number;
  /** Median of one decode step on the check model. */
  readonly stepMs?: number;
  /** Why the engine could not be tested, or not to the end. */
  readonly failure?: RemoteFailure;
}

export type CheckEvent =
  | { readonly kind: 'probed'; readonly report: ProbeReport }
  | { readonly kind: 'progress'; readonly report: EngineReport }
  | { readonly kind: 'done' };

/** The half of a `Worker` that is needed here. */
export interface CheckEndpoint {
  postMessage(task: CheckTask): void;
  addEventListener(type: string, listener: (event: unknown) => void): void;
  terminate(): void;
}

export interface RunTaskOptions {
  /** Hears each report as it grows. */
  readonly onReport?: (report: EngineReport) => void;
  readonly timeoutMs?: number;
}

/** Compiling shaders on a slow machine takes half a minute. */
const TIMEOUT_MS = 180_000;

export async function probeInWorker(worker: CheckEndpoint, runtimes: EngineRuntimes): Promise<ProbeReport | RemoteFailure> {
  let report: ProbeReport | undefined;
  const failure = await runTask(worker, { kind: 'probe', runtimes }, TIMEOUT_MS, (event) => { if (event.kind === 'probed') ({ report } = event); });
  return failure ?? report ?? { code: 'worker/unreadable-message', params: {} };
}

/** Takes ownership of `worker`. Never rejects: a worker that dies or hangs is a report with its `failure`. */
export async function checkInWorker(worker: CheckEndpoint, task: Extract<CheckTask, { kind: 'check' }>, options: RunTaskOptions = {}): Promise<EngineReport> {
  let report: EngineReport = { results: [], checkCount: 0 };
  const failure = await runTask(worker, task, options.timeoutMs ?? TIMEOUT_MS, (event) => {
    if (event.kind !== 'progress') return;
    ({ report } = event);
    options.onReport?.(report);
  });
  return failure === undefined ? report : { ...report, failure };
}

function runTask(worker: CheckEndpoint, task: CheckTask, timeoutMs: number, onEvent: (event: CheckEvent) => void): Promise<RemoteFailure | undefined> {
  return new Promise((resolve) => {
    const end = (failure?: RemoteFailure): void => {
      stop();
      worker.terminate();
      resolve(failure);
    };
    const stop = afterAwakeMs(timeoutMs, () => end({ code: 'worker/no-answer', params: { timeoutMs } }));
    worker.addEventListener('error', (event) => end({ code: 'worker/died', params: { detail: (event as { readonly message?: string }).message ?? '' } }));
    worker.addEventListener('messageerror', () => end({ code: 'worker/unreadable-message', params: {} }));
    worker.addEventListener('message', (event) => {
      const { data } = event as { readonly data: CheckEvent };
      if (data.kind === 'done') end();
      else onEvent(data);
    });
    worker.postMessage(task);
  });
}
