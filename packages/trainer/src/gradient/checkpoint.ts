/**
 * Everything that a later step depends on, as one safetensors file: the parameters, both moments of the optimiser and its count of steps. A run that is
 * resumed from it goes on with the same bytes. Rank and alpha stand in the file too, so that it cannot be resumed as another adapter.
 */
import { err, ok, type Result } from '@contractrl/core';
import { readSafetensors, writeSafetensors, type FloatTensor } from '@contractrl/runtime-webgpu/onnx';
import type { OptimiserState } from './adamw.ts';
import type { LoraParameters, Parameter } from './parameters.ts';

export interface Checkpoint {
  readonly parameters: LoraParameters;
  readonly state: OptimiserState;
}

export type CheckpointIssue =
  /** Not a whole safetensors file of finite numbers. */
  | { readonly code: 'checkpoint/unreadable'; readonly detail: string }
  /** Tensors that a checkpoint of the run to be resumed would not have, or not in that form. */
  | { readonly code: 'checkpoint/mismatch'; readonly detail: string };

/** `[stepCount, rank, alpha]`. */
const RUN = 'run';
const KINDS = ['parameter', 'first_moment', 'second_moment'] as const;

export function writeCheckpoint({ parameters, state }: Checkpoint): Uint8Array<ArrayBuffer> {
  const { rank, alpha } = parameters;
  const files = new Map<string, FloatTensor>([[RUN, { shape: [3], data: Float32Array.of(state.stepCount, rank, alpha) }]]);
  for (const [index, { name, shape, data }] of parameters.tensors.entries()) {
    const parts = [data, state.firstMoments[index]!, state.secondMoments[index]!];
    for (const [kind, part] of parts.entries()) files.set(`${KINDS[kind]!}.${name}`, { shape, data: part });
  }
  return writeSafetensors(files);
}

/** Reads a checkpoint of a run like `like`, which says rank, alpha, names and shapes and is not changed. */
export function readCheckpoint(file: Uint8Array, like: LoraParameters): Result<Checkpoint, CheckpointIssue> {
  const read = readSafetensors(file);
  if (!read.ok) return err({ code: 'checkpoint/unreadable', detail: read.error.code });
  const mismatch = (detail: string): Result<never, CheckpointIssue> => err({ code: 'checkpoint/mismatch', detail });
  const tensors = read.value;
  const [stepCount, rank, alpha] = tensors.get(RUN)?.data ?? [];
  if (stepCount === undefined || !Number.isInteger(stepCount) || stepCount < 0) return mismatch('no count of steps');
  if (rank !== like.rank || alpha !== Math.fround(like.alpha)) return mismatch(`rank ${rank} and alpha ${alpha}`);
  if (tensors.size !== 1 + KINDS.length * like.tensors.length) return mismatch(`${tensors.size} tensors`);
  const parts = new Map<string, Float32Array<ArrayBuffer>>();
  for (const { name, shape } of like.tensors) {
    for (const kind of KINDS) {
      const tensor = tensors.get(`${kind}.${name}`);
      if (tensor?.shape.length !== 2 || tensor.shape.some((size, axis) => size !== shape[axis])) return mismatch(`${kind}.${name}`);
      parts.set(`${kind}.${name}`, Float32Array.from(tensor.data));
    }
  }
  const all = (kind: (typeof KINDS)[number]): readonly Float32Array<ArrayBuffer>[] => like.tensors.map(({ name }) => parts.get(`${kind}.${name}`)!);
  const values = all('parameter');
  const restored = like.tensors.map(({ name, shape }, index): Parameter => ({ name, shape, data: values[index]! }));
  return ok({ parameters: { rank, alpha: like.alpha, tensors: restored }, state: { stepCount, firstMoments: all('first_moment'), secondMoments: all('second_moment') } });
}
