import { describe, expect, test, vi, type Mock } from 'vitest';
import { checkInWorker, probeInWorker, type CheckEndpoint, type CheckEvent, type CheckTask, type EngineReport } from './engine-check.ts';

const TASK: CheckTask & { readonly kind: 'check' } = { kind: 'check', engine: 'wasm', threads: 1, runtimes: {} };

/** A worker that does `act` with what it is asked. */
function workerOf(act: (task: CheckTask, emit: (type: string, event: unknown) => void) => void): CheckEndpoint & { readonly terminate: Mock<() => void> } {
  const listeners = new Map<string, (event: unknown) => void>();
  return {
    postMessage: (task) => act(task, (type, event) => listeners.get(type)?.(event)),
    addEventListener: (type, listener) => listeners.set(type, listener),
    terminate: vi.fn(),
  };
}

const report = (passed: number): EngineReport => ({ results: Array.from({ length: passed }, (_, i) => ({ name: String(i), fault: undefined })), checkCount: 3 });
const message = (data: CheckEvent): { readonly data: CheckEvent } => ({ data });

describe('checkInWorker', () => {
  test('hands on every report, resolves with the last, and ends the worker', async () => {
    const seen: number[] = [];
    const worker = workerOf((task, emit) => {
      expect(task).toBe(TASK);
      for (const passed of [0, 1, 3]) emit('message', message({ kind: 'progress', report: report(passed) }));
      emit('message', message({ kind: 'done' }));
    });
    expect(await checkInWorker(worker, TASK, { onReport: ({ results }) => seen.push(results.length) })).toEqual(report(3));
    expect(seen).toEqual([0, 1, 3]);
    expect(worker.terminate).toHaveBeenCalledOnce();
  });

  test.each([
    ['error', { message: 'out of memory' }, { code: 'worker/died', params: { detail: 'out of memory' } }],
    ['messageerror', {}, { code: 'worker/unreadable-message', params: {} }],
  ])('keeps what was found before an %s event, and names the failure', async (type, event, failure) => {
    const worker = workerOf((_task, emit) => {
      emit('message', message({ kind: 'progress', report: report(2) }));
      emit(type, event);
    });
    expect(await checkInWorker(worker, TASK)).toEqual({ ...report(2), failure });
    expect(worker.terminate).toHaveBeenCalledOnce();
  });

  test('an engine that hangs is given up', async () => {
    const worker = workerOf(() => undefined);
    expect(await checkInWorker(worker, TASK, { timeoutMs: 5 })).toEqual({ results: [], checkCount: 0, failure: { code: 'worker/no-answer', params: { timeoutMs: 5 } } });
    expect(worker.terminate).toHaveBeenCalledOnce();
  });
});

test('a probe that dies is a failure', async () => {
  expect(await probeInWorker(workerOf((_task, emit) => emit('error', {})), {})).toEqual({ code: 'worker/died', params: { detail: '' } });
});
