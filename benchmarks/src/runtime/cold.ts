/** A fresh process with its files in the cache, up to its first repair: how long, and how much memory at its peak. Runs in a process of its own. */
import { performance } from 'node:perf_hooks';
import type { RepairRequest } from '@contractrl/core';
import type { RepairRecord } from '@contractrl/core/records';
import { createRepairer } from '@contractrl/runtime-webgpu';
import { openRuntime } from '@contractrl/runtime-webgpu/node';
import { openWasmRuntime, taken } from './wasm-runtime.ts';

export type ColdEngine = 'node' | 'wasm';

export interface ColdStart {
  readonly engine: ColdEngine;
  readonly format: string;
  /** From the start of the process to the cases read. */
  readonly startMs: number;
  /** Model, graph and session. */
  readonly loadMs: number;
  readonly firstRepairMs: number;
  readonly secondRepairMs: number;
  readonly status: RepairRecord['status'];
  /** Or the reason of none, by case. */
  readonly patches: readonly string[];
  /** Before anything of the model was read. */
  readonly bareBytes: number;
  readonly peakBytes: number;
}

/** `requests`: two or more. */
export async function startCold(engine: ColdEngine, requests: readonly RepairRequest[], threads: number, model: string | undefined): Promise<ColdStart> {
  const bareBytes = process.memoryUsage.rss();
  const startMs = performance.now();
  const opened = engine === 'wasm' ? await openWasmRuntime(threads, model) : taken(await openRuntime({ threads, ...(model === undefined ? {} : { model }) }));
  const loadMs = performance.now() - startMs;
  const repairer = createRepairer({ ...opened, clock: () => performance.now() });
  const records: RepairRecord[] = [];
  for (const request of requests) records.push((await repairer.repairToRecord(request, { deterministic: false })).record);
  const { format } = opened.engine.identity;
  await repairer.dispose();
  const [first, second] = records;
  return {
    engine, format, startMs, loadMs, firstRepairMs: first!.timing.totalMs, secondRepairMs: second!.timing.totalMs, status: first!.status,
    patches: records.map(({ patch = null, reason = null }) => JSON.stringify(patch ?? reason)), bareBytes, peakBytes: process.resourceUsage().maxRSS * 1024,
  };
}
