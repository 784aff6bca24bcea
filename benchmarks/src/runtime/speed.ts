/**
 * Time per repair, case by case, arms in turn: our engine with mask, jump-forward and the shipped adapter; the same with the bare base model;
 * full regeneration on the same engine; node-llama-cpp with the same model file and the exported grammar. The deterministic step is off in all of
 * them, so that every case reaches the model. An answer's time counts only after the answer was checked.
 */
import { performance } from 'node:perf_hooks';
import { repairCall, type RepairRequest } from '@contractrl/core';
import { toRepairRecord, type RepairRecord } from '@contractrl/core/records';
import { createRepairer, type Repairer } from '@contractrl/runtime-webgpu';
import type { Runtime } from '@contractrl/runtime-webgpu/node';
import { contractRepair } from '../arms/contract-repair.ts';
import { fullRegeneration } from '../arms/full-regeneration.ts';
import { refusal } from '../scoring/revalidate.ts';
import { allCases, rotated, SEEDS, spread } from './cases.ts';
import { meteredEngine, type EngineFigures } from './metered-engine.ts';
import { NODE_LLAMA_CPP_VERSION, openNodeLlamaCpp, type LlamaPeer } from './peers/node-llama-cpp.ts';

export const ARM_NAMES = ['adapter', 'base', 'full-regeneration', 'node-llama-cpp'] as const;
export type ArmName = (typeof ARM_NAMES)[number];

export interface SpeedRow {
  readonly arm: ArmName;
  readonly id: string;
  readonly status: RepairRecord['status'];
  readonly reason: string | null;
  /** Dispatched arguments pass the second validation, or nothing is dispatched and no engine failed. */
  readonly isChecked: boolean;
  readonly attempts: number;
  readonly tokens: RepairRecord['tokens'];
  readonly timing: RepairRecord['timing'];
  /** Null where the engine is not ours. */
  readonly engine: EngineFigures | null;
}

export interface SpeedRun {
  readonly seeds: readonly number[];
  readonly caseCount: number;
  readonly availableCases: number;
  readonly threads: number;
  readonly rows: readonly SpeedRow[];
  /** Why an arm has no rows. */
  readonly absent: Readonly<Partial<Record<ArmName, string>>>;
  readonly peerVersion: string;
}

export interface SpeedOptions {
  readonly caseCount: number;
  readonly threads: number;
  /** Where node-llama-cpp was installed, or why it was not. */
  readonly peer: { readonly folder: string } | { readonly reason: string };
  readonly log: (line: string) => void;
}

interface TimedArm {
  readonly name: ArmName;
  readonly isOurs: boolean;
  answer(request: RepairRequest): Promise<RepairRecord>;
}

const clock = (): number => performance.now();
/** Untimed answers of each arm before the first that counts. */
const WARM_UP = 2;

export async function measureSpeed(runtime: Runtime, { caseCount, threads, peer, log }: SpeedOptions): Promise<SpeedRun> {
  const { tokenizer, vocabulary, adapter, model } = runtime;
  const metered = meteredEngine(runtime.engine, clock);
  const { engine } = metered;
  // an arm's own memory: in production no other adapter pushes the kept prompt prefixes out
  const newRepairer = (): Repairer => createRepairer({ engine, tokenizer, vocabulary, clock, memory: metered.newMemory() });
  const signal = new AbortController().signal;
  const ours = [
    contractRepair({ name: 'adapter', description: '' }, { repairer: newRepairer(), engine, adapter, deterministic: false }),
    contractRepair({ name: 'base', description: '' }, { repairer: newRepairer(), engine, adapter: undefined, deterministic: false }),
    fullRegeneration({ engine, tokenizer, vocabulary, clock }),
  ].map((arm): TimedArm => ({ name: arm.name as ArmName, isOurs: true, answer: async (request) => (await arm.answer(request, signal)).record }));
  const llama = 'reason' in peer ? { ok: false as const, error: peer.reason } : await openNodeLlamaCpp({ folder: peer.folder, modelPath: model.path, tokenizer, threads, clock });
  if (!llama.ok) log(`node-llama-cpp: ${llama.error}`);
  const arms = llama.ok ? [...ours, llamaArm(llama.value)] : ours;

  const cases = spread(allCases(), caseCount);
  for (const arm of arms) for (const request of cases.slice(0, WARM_UP)) await arm.answer(request);
  const rows: SpeedRow[] = [];
  for (const [index, request] of cases.entries()) {
    for (const { name, isOurs, answer } of rotated(arms, index)) {
      metered.take();
      const record = await answer(request);
      rows.push(rowOf(name, request, record, isOurs ? metered.take() : null));
    }
    log(`${String(index + 1)} of ${String(cases.length)}: ${rows.slice(-arms.length).map((row) => `${row.arm} ${row.status} ${row.timing.totalMs.toFixed(0)} ms`).join(', ')}`);
  }
  if (llama.ok) await llama.value.dispose();
  return {
    seeds: SEEDS, caseCount: cases.length, availableCases: allCases().length, threads, rows,
    absent: llama.ok ? {} : { 'node-llama-cpp': llama.error }, peerVersion: NODE_LLAMA_CPP_VERSION,
  };
}

function llamaArm({ proposer }: LlamaPeer): TimedArm {
  return {
    name: 'node-llama-cpp', isOurs: false,
    async answer(request) {
      const from = clock();
      const outcome = await repairCall(request, proposer, { deterministic: false });
      return toRepairRecord(outcome, { totalMs: clock() - from });
    },
  };
}

function rowOf(arm: ArmName, request: RepairRequest, record: RepairRecord, engine: EngineFigures | null): SpeedRow {
  const { status, reason = null, attempts, tokens, timing } = record;
  const isChecked = record.arguments === undefined ? reason?.startsWith('engine/') !== true : refusal(request, record.arguments) === undefined;
  return { arm, id: request.id, status, reason, isChecked, attempts, tokens, timing, engine };
}
