import { err, ok, type JsonObject, type RepairOutcome } from '@contractrl/core';
import { describe, expect, test, vi } from 'vitest';
import type { RejectedEngine, WebEngineName } from '../probe/choice.ts';
import type { HostedRepairer } from '../worker/host.ts';
import { createFailoverRepairer, type StartedRepairer } from './failover.ts';

const RECORD: JsonObject = { id: 'x', request: 'r', tool: { name: 't', description: 'd', parameters: { type: 'object' } }, call: { name: 't', arguments: {} } };
const signal = new AbortController().signal;

function failedWith(reason: string): RepairOutcome {
  return { status: 'failed', reason, message: '' } as unknown as RepairOutcome;
}
const repaired = { status: 'repaired' } as unknown as RepairOutcome;

function started(engine: WebEngineName, outcomes: readonly RepairOutcome[], rejected: readonly RejectedEngine[] = []): StartedRepairer & { readonly repair: ReturnType<typeof vi.fn>; readonly dispose: ReturnType<typeof vi.fn> } {
  const rest = [...outcomes];
  const repair = vi.fn(() => Promise.resolve(rest.shift()!));
  const dispose = vi.fn(() => Promise.resolve());
  const loaded = { choice: { engine, reason: { code: 'choice/gpu' }, rejected } } as never;
  return { repairer: { repair, dispose }, loaded, repair, dispose };
}

/** A repairer over `engines` in turn, and which failed engines each start was told of. */
async function over(...engines: readonly StartedRepairer[]): Promise<{ readonly hosted: HostedRepairer; readonly asked: (readonly RejectedEngine[])[] }> {
  const rest = [...engines];
  const asked: (readonly RejectedEngine[])[] = [];
  const opened = await createFailoverRepairer((failed) => {
    asked.push(failed);
    const next = rest.shift();
    return Promise.resolve(next === undefined ? err({ code: 'engine/none-left' }) : ok(next));
  }, signal);
  if (!opened.ok) throw new Error(opened.error.code);
  return { hosted: opened.value, asked };
}

describe('a repair whose engine is lost', () => {
  test.each(['engine/device-lost', 'engine/out-of-memory', 'engine/run-failed', 'engine/bad-logits'])('by %s is done again, once, on the next engine', async (code) => {
    const [gpu, wasm] = [started('webgpu', [failedWith(code)]), started('wasm', [repaired])];
    const { hosted, asked } = await over(gpu, wasm);
    const before = hosted.loaded;
    expect(await hosted.repair(RECORD, signal)).toEqual(ok(repaired));
    expect(asked).toEqual([[], [{ engine: 'webgpu', reason: { code } }]]);
    expect(gpu.dispose).toHaveBeenCalledOnce();
    expect(wasm.repair.mock.calls[0]).toEqual(gpu.repair.mock.calls[0]);
    expect([before, hosted.loaded]).toEqual([gpu.loaded, wasm.loaded]);
    await hosted.dispose();
    expect(wasm.dispose).toHaveBeenCalledOnce();
  });

  test('is not done a third time', async () => {
    const second = failedWith('engine/out-of-memory');
    const { hosted, asked } = await over(started('webgpu', [failedWith('engine/device-lost')]), started('wasm', [second]));
    expect(await hosted.repair(RECORD, signal)).toEqual(ok(second));
    expect(asked).toHaveLength(2);
  });

  test('keeps its own outcome where no other engine can be had', async () => {
    const lost = failedWith('engine/device-lost');
    const { hosted } = await over(started('webgpu', [lost]));
    expect(await hosted.repair(RECORD, signal)).toEqual(ok(lost));
  });
});

test('a move that was cancelled is made up for by the next repair', async () => {
  const gpu = started('webgpu', [failedWith('engine/device-lost'), failedWith('engine/disposed')]);
  const wasm = started('wasm', [repaired]);
  const starts = [ok(gpu), err({ code: 'worker/aborted' }), ok(wasm)] as const;
  let startCount = 0;
  const hosted = await createFailoverRepairer(() => Promise.resolve(starts[startCount++]!), signal);
  if (!hosted.ok) throw new Error(hosted.error.code);
  expect(await hosted.value.repair(RECORD, signal)).toEqual(ok(failedWith('engine/device-lost')));
  expect(await hosted.value.repair(RECORD, signal)).toEqual(ok(repaired));
});

test.each(['engine/aborted', 'engine/context-full', 'mask/empty'])('a repair that fails by %s would fail on any engine', async (code) => {
  const { hosted, asked } = await over(started('webgpu', [failedWith(code)]), started('wasm', []));
  expect(await hosted.repair(RECORD, signal)).toEqual(ok(failedWith(code)));
  expect(asked).toHaveLength(1);
});

test('an unreadable record is refused before any engine sees it', async () => {
  const gpu = started('webgpu', []);
  const { hosted } = await over(gpu);
  expect((await hosted.repair({ nonsense: true }, signal)).ok).toBe(false);
  expect(gpu.repair).not.toHaveBeenCalled();
});
