import { err, NO_POLICY, ok, repairCall, type RepairOutcome, type RepairRequest } from '@contractrl/core';
import { describe, expect, test, vi } from 'vitest';
import { REFERENCE_REPAIRS, requestOf } from '../../tests/support/repair-prompts.ts';
import type { Repairer } from '../repairer.ts';
import { createFallbackRepairer } from './fallback-repairer.ts';

const request: RepairRequest = requestOf(REFERENCE_REPAIRS[0]!);
/** What a policy without a model makes of it: a real outcome. */
const answered = await repairCall(request, NO_POLICY);
const lost = (reason: string): RepairOutcome => ({ ...answered, status: 'failed', reason, message: '' }) as RepairOutcome;

function fake(name: string, outcomes: readonly RepairOutcome[]): Repairer & { readonly repair: ReturnType<typeof vi.fn<Repairer['repair']>>; readonly dispose: ReturnType<typeof vi.fn<Repairer['dispose']>> } {
  const rest = [...outcomes];
  const repair = vi.fn<Repairer['repair']>(() => Promise.resolve(rest.shift()!));
  return { repair, repairToRecord: () => Promise.reject(new Error('not asked for')), identity: () => ({ name }), dispose: vi.fn<Repairer['dispose']>(() => Promise.resolve()) };
}

describe('a repair whose graphics adapter is lost', () => {
  test.each(['engine/device-lost', 'engine/out-of-memory', 'engine/run-failed'])('by %s is done again on the processor, and so are those after it', async (code) => {
    const [gpu, cpu] = [fake('gpu', [lost(code)]), fake('cpu', [answered, answered])];
    const openNext = vi.fn(() => Promise.resolve(ok(cpu)));
    const repairer = createFallbackRepairer(gpu, () => 0, openNext);
    expect(repairer.identity()).toEqual({ name: 'gpu' });
    expect(await repairer.repair(request)).toBe(answered);
    expect(openNext.mock.calls).toEqual([[code]]);
    expect(gpu.dispose).toHaveBeenCalledOnce();
    expect(cpu.repair.mock.calls[0]).toEqual(gpu.repair.mock.calls[0]);
    expect((await repairer.repairToRecord(request)).outcome).toBe(answered);
    expect(repairer.identity()).toEqual({ name: 'cpu' });
    await repairer.dispose();
    expect(cpu.dispose).toHaveBeenCalledOnce();
    expect(gpu.dispose).toHaveBeenCalledOnce();
  });

  test('under several repairs at once opens one processor for all of them', async () => {
    const cpu = fake('cpu', [answered, answered]);
    const openNext = vi.fn(() => Promise.resolve(ok(cpu)));
    const repairer = createFallbackRepairer(fake('gpu', [lost('engine/device-lost'), lost('engine/device-lost')]), () => 0, openNext);
    expect(await Promise.all([repairer.repair(request), repairer.repair(request)])).toEqual([answered, answered]);
    expect(openNext).toHaveBeenCalledOnce();
  });

  test('is not done a third time, and keeps its outcome where no processor can be had', async () => {
    const memory = lost('engine/out-of-memory');
    const twice = createFallbackRepairer(fake('gpu', [lost('engine/device-lost')]), () => 0, () => Promise.resolve(ok(fake('cpu', [memory]))));
    expect(await twice.repair(request)).toBe(memory);
    const gone = lost('engine/device-lost');
    const alone = createFallbackRepairer(fake('gpu', [gone]), () => 0, () => Promise.resolve(err({ code: 'engine/load-failed' })));
    expect(await alone.repair(request)).toBe(gone);
  });
});

test.each(['engine/aborted', 'engine/context-full', 'mask/empty'])('a repair that fails by %s would fail on any engine', async (code) => {
  const openNext = vi.fn(() => Promise.reject(new Error('not asked for')));
  const failed = lost(code);
  expect(await createFallbackRepairer(fake('gpu', [failed]), () => 0, openNext).repair(request)).toBe(failed);
  expect(openNext).not.toHaveBeenCalled();
});
