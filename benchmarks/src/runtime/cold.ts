/** A fresh process with its files in the cache, up to its first repair: how long, and how much memory at its peak. Runs in a process of its own. */
import { performance } from 'node:perf_hooks';
import type { RepairRequest } from '@contractrl/core';
import type { RepairRecord } from '@contractrl/core/records';
import { createRepairer } from '@contractrl/runtime-webgpu';
import { openRuntime, type Runtime } from '@contractrl/runtime-webgpu/node';
import { createMemoryLog, type MemoryLog, type MemoryPhase } from './memory-log.ts';
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
  /** The first is the bare process, before anything of the model was read. */
  readonly memory: readonly MemoryPhase[];
}

/** The most that the process ever took. */
export function peakOf({ memory }: ColdStart): number {
  return Math.max(...memory.map(({ peakBytes }) => peakBytes));
}

/** `requests`: two or more. */
export async function startCold(engine: ColdEngine, requests: readonly RepairRequest[], threads: number, model: string | undefined): Promise<ColdStart> {
  const memory = createMemoryLog();
  memory.end('process and packages');
  const startMs = performance.now();
  const opened = await openEngine(engine, threads, model, memory);
  const loadMs = performance.now() - startMs;
  memory.end('session');
  const repairer = createRepairer({ ...opened, clock: () => performance.now() });
  const records: RepairRecord[] = [];
  for (const request of requests) {
    records.push((await repairer.repairToRecord(request, { deterministic: false })).record);
    memory.end(`repair ${String(records.length)}`);
  }
  const { format } = opened.engine.identity;
  await repairer.dispose();
  const [first, second] = records;
  return {
    engine, format, startMs, loadMs, firstRepairMs: first!.timing.totalMs, secondRepairMs: second!.timing.totalMs, status: first!.status,
    patches: records.map(({ patch = null, reason = null }) => JSON.stringify(patch ?? reason)), memory: memory.phases,
  };
}

async function openEngine(engine: ColdEngine, threads: number, model: string | undefined, memory: MemoryLog): Promise<Pick<Runtime, 'engine' | 'tokenizer' | 'vocabulary'>> {
  if (engine === 'wasm') {
    return openWasmRuntime(threads, model, (phase) => {
      if (phase === 'build-graph') memory.end('model file, tokenizer, vocabulary');
      if (phase === 'load-session') memory.end('graph');
    });
  }
  const opened = await openRuntime({
    threads, ...(model === undefined ? {} : { model }),
    onProgress({ stage }) {
      if (stage === 'load') memory.end('tables, tokenizer, vocabulary');
    },
  });
  return taken(opened);
}
