/**
 * What the commands need from the runtime. A port, so that the commands are tested without a model; `runtime-services.ts` is the real one.
 */
import type { RepairOutcome, RepairRequest, Result } from '@contractrl/core';
import type { ProposerOptions } from '@contractrl/runtime-webgpu';
import type { NodeEngineChoice, NodeEngineWish } from '@contractrl/runtime-webgpu/node';
import type { ServerDialect } from '@contractrl/runtime-webgpu/server';
import type { Problem } from './problem.ts';

export interface SessionOptions {
  /** A GGUF file instead of the default model. */
  readonly model: string | undefined;
  /** An adapter that ships, by name, the folder of a PEFT adapter, `none` for the bare model; undefined for the default one, which only the default model takes. */
  readonly adapter: string | undefined;
  /** Nothing is fetched: the model is in the cache or the run fails. */
  readonly offline: boolean;
  /** Sampling: temperature 0 is greedy and ignores the seed. */
  readonly seed: number;
  readonly temperature: number;
  readonly maxTokens: number | undefined;
  readonly threads: number | undefined;
  /** Where the model runs: the processor, the graphics adapter, or the faster of the two. */
  readonly engine: NodeEngineWish;
  /** Whether written values must come of the request, the call or the schema. */
  readonly provenance: Provenance;
  /** Whether patches of low confidence are withheld: by the adapter's own calibration where it has one, with this threshold instead of its own, or never. */
  readonly release: 'auto' | 'off' | { readonly threshold: number };
  /** A server instead of a model in this process; model, adapter, threads, engine, provenance and release are then none of ours. */
  readonly server: ServerChoice | undefined;
}

export interface ServerChoice {
  readonly baseUrl: string;
  readonly dialect: ServerDialect;
  /** As the server names its model. */
  readonly model: string | undefined;
  readonly apiKey: string | undefined;
}

export type Provenance = NonNullable<ProposerOptions['provenance']>;
export const PROVENANCE: readonly Provenance[] = ['off', 'prefer', 'require'];

/** A step of getting ready, with byte counts where it has them, or something that went wrong without ending it. */
export type LoadProgress =
  | { readonly kind: 'step'; readonly label: string; readonly doneBytes?: number; readonly totalBytes?: number }
  | { readonly kind: 'note'; readonly text: string };

export interface LoadHooks {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: LoadProgress) => void;
}

/** A loaded policy. Repairs run one after the other. */
export interface RepairSession {
  repair(request: RepairRequest, signal: AbortSignal): Promise<RepairOutcome>;
  dispose(): Promise<void>;
}

export interface Services {
  openSession(options: SessionOptions, hooks: LoadHooks): Promise<Result<RepairSession, Problem>>;
  /** Makes sure that the verified model is in the cache; its path. */
  fetchModel(options: ModelOptions, hooks: LoadHooks): Promise<Result<string, Problem>>;
  /** Where the model is or would be. */
  modelPath(options: ModelOptions): Promise<Result<string, Problem>>;
  /** Compares the cached model with its pinned digest; its path. */
  verifyModel(options: ModelOptions, hooks: LoadHooks): Promise<Result<string, Problem>>;
  /** Which engine `auto` takes on this machine, and why not the other. */
  checkEngines(): Promise<NodeEngineChoice>;
  /** What `train` needs; a problem where it was left out of the installation. */
  loadTrainer(): Promise<Result<Trainer, Problem>>;
}

export type Trainer = Pick<typeof import('@contractrl/trainer/user'), 'trainForTools' | 'summariseEvaluation' | 'compareLooks' | 'formatComparison'>;

export type ModelOptions = Pick<SessionOptions, 'model' | 'offline'>;
