/**
 * How well a policy repairs examples, through the runtime that users have: its engine, its mask, its deterministic step. Nothing is withheld for low confidence:
 * an adapter that was just trained has no calibration, and one that has would be held against it with fewer answers.
 */
import { err, ok, type Result } from '@contractrl/core';
import { createMaskedProposer, createProposerMemory } from '@contractrl/runtime-webgpu';
import { openRuntime } from '@contractrl/runtime-webgpu/node';
import type { Example } from '../data/example.ts';
import { evaluateExamples, type EvaluateIssue, type EvaluationRow } from '../evaluate/evaluate-examples.ts';

export interface MeasureOptions {
  /** GGUF file; undefined for the base model. */
  readonly model: string | undefined;
  /** As a repair takes it; undefined for what a repair takes when none is named, which may be the bare model. */
  readonly adapter: string | undefined;
  readonly clock: () => number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface Measured {
  /** SHA-256 of the adapter; null for the bare model. */
  readonly adapter: string | null;
  readonly rows: readonly EvaluationRow[];
}

export type MeasureIssue = EvaluateIssue
  /** The runtime does not start; `message` says what to do. */
  | { readonly code: 'train/no-runtime'; readonly cause: string; readonly message: string };

/** Loads, repairs each example, frees. Seconds to load, then about a third of a second an example on two cores. */
export async function measureExamples(examples: readonly Example[], { model, adapter, clock, signal, onProgress }: MeasureOptions): Promise<Result<Measured, MeasureIssue>> {
  const where = { release: 'off' as const, ...(model === undefined ? {} : { model }), ...(signal === undefined ? {} : { signal }) };
  const named = await openRuntime({ ...where, ...(adapter === undefined ? {} : { adapter }) });
  // the adapter that ships may be one for another prompt: then a user has the bare model
  const opened = !named.ok && adapter === undefined && named.error.code.startsWith('adapter/') ? await openRuntime({ ...where, adapter: 'none' }) : named;
  if (!opened.ok) return err({ code: 'train/no-runtime', cause: opened.error.code, message: opened.error.message });
  const { engine } = opened.value;
  const proposer = createMaskedProposer({ ...opened.value, clock, memory: createProposerMemory(engine) });
  const rows = await evaluateExamples(examples, { proposer, deterministic: true, clock, ...(signal === undefined ? {} : { signal }), ...(onProgress === undefined ? {} : { onProgress }) });
  await engine.dispose();
  return rows.ok ? ok({ adapter: opened.value.adapter?.digest ?? null, rows: rows.value }) : rows;
}
