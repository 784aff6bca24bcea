/**
 * Which engine a machine gets, and why not another: as data, so that a page, a log and a test read the same. The order is by speed where
 * speed is known: a real GPU, then WASM. What is tried and fails later (no memory, a wrong self-test) joins the list of the rejected.
 */
import { ok, err, type Result } from '@contractrl/core';
import type { GpuIssue, MachineProfile } from './machine.ts';

export type WebEngineName = 'webgpu' | 'wasm';

/** A code, with the figures it is about. */
export interface EngineReason {
  readonly code: string;
  readonly [param: string]: unknown;
}

export interface RejectedEngine<Name extends string = WebEngineName> {
  readonly engine: Name;
  readonly reason: EngineReason;
}

export interface EngineChoice<Name extends string = WebEngineName> {
  readonly engine: Name;
  /** `choice/asked-for`, `choice/gpu`, or `choice/fallback` where others were rejected. */
  readonly reason: EngineReason;
  readonly rejected: readonly RejectedEngine<Name>[];
}

export interface EngineNeeds {
  /** Engines whose runtime the page serves. */
  readonly served: readonly WebEngineName[];
  /** The largest matrix: one buffer on the GPU. */
  readonly largestWeightBytes: number;
  /** Tried first whatever the probe says about its speed. */
  readonly preferred?: WebEngineName;
}

export type ChoiceIssue = { readonly code: 'engine/none-left'; readonly rejected: readonly RejectedEngine[] };

const BY_SPEED: readonly WebEngineName[] = ['webgpu', 'wasm'];

/** The first engine that is not among `failed` and that the machine can run. Fails where none is left. */
export function chooseEngine(machine: MachineProfile, needs: EngineNeeds, failed: readonly RejectedEngine[] = []): Result<EngineChoice, ChoiceIssue> {
  const { preferred } = needs;
  const order = preferred === undefined ? BY_SPEED : [preferred, ...BY_SPEED.filter((engine) => engine !== preferred)];
  const rejected: RejectedEngine[] = [];
  for (const engine of order) {
    const known = failed.find((each) => each.engine === engine);
    const reason = known?.reason ?? findObstacle(engine, machine, needs);
    if (reason === undefined) return ok({ engine, reason: reasonFor(engine, preferred, rejected), rejected });
    rejected.push({ engine, reason });
  }
  return err({ code: 'engine/none-left', rejected });
}

function findObstacle(engine: WebEngineName, { gpu }: MachineProfile, needs: EngineNeeds): EngineReason | undefined {
  if (!needs.served.includes(engine)) return { code: 'engine/not-served' };
  if (engine === 'wasm') return undefined;
  if ('code' in gpu) return { ...gpu } satisfies GpuIssue;
  const limitBytes = Math.min(gpu.maxBufferBytes, gpu.maxBindingBytes);
  if (needs.largestWeightBytes > limitBytes) return { code: 'gpu/buffer-too-small', neededBytes: needs.largestWeightBytes, limitBytes };
  if (gpu.isSoftware && needs.preferred !== 'webgpu') return { code: 'gpu/software-adapter', adapter: gpu.architecture };
  return undefined;
}

function reasonFor(engine: WebEngineName, preferred: WebEngineName | undefined, rejected: readonly RejectedEngine[]): EngineReason {
  if (engine === preferred) return { code: 'choice/asked-for' };
  return { code: rejected.length === 0 ? 'choice/gpu' : 'choice/fallback' };
}

/** More threads than this bring little at these matrix sizes, and take cores from the page. */
const MAX_THREADS = 4;

/** WASM threads: `wanted`, or by the machine; one where the page is not isolated. */
export function chooseThreads({ isIsolated, coreCount }: Pick<MachineProfile, 'isIsolated' | 'coreCount'>, wanted: number = MAX_THREADS): number {
  return Math.max(1, Math.min(wanted, isIsolated ? coreCount : 1));
}

const SENTENCES: Readonly<Record<string, string>> = {
  'choice/asked-for': 'it was asked for',
  'choice/gpu': 'the graphics adapter can run the model',
  'choice/fallback': 'no faster engine can be used here',
  'gpu/slower-than-cpu': 'the graphics adapter is no faster than the processor, and may be software',
  'gpu/no-webgpu': 'this browser has no WebGPU',
  'gpu/no-adapter': 'the browser offers no graphics adapter: none in the machine, or it is blocked or switched off',
  'gpu/no-device': 'the graphics adapter refused to be used',
  'gpu/software-adapter': 'the graphics adapter is software, and slower than WASM',
  'gpu/buffer-too-small': 'the graphics adapter takes no buffer as large as the model needs',
  'engine/not-served': 'this page does not serve its runtime',
  'engine/self-test-failed': 'its numbers are wrong on this machine',
  'engine/out-of-memory': 'there was not enough memory',
  'engine/device-lost': 'the graphics device went away',
  'engine/load-failed': 'it could not be started',
  'engine/run-failed': 'a run failed',
  'worker/died': 'its worker stopped, most likely for want of memory',
  'worker/no-answer': 'its worker no longer answered',
};

/** A clause that gives the reason; a code without one is named. */
export function formatEngineReason({ code }: { readonly code: string }): string {
  return Object.hasOwn(SENTENCES, code) ? SENTENCES[code]! : `it ended with ${code}`;
}
