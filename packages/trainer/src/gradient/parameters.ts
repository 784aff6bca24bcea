/**
 * What is trained: A and B of all seven linears of every layer, in the shapes that PEFT gives them and under the names of the graph's inputs. They
 * are changed in place by the optimiser; an adapter made of them is a copy.
 * Reference: Hu et al. 2021, "LoRA", §4.1; huggingface/peft `src/peft/tuners/lora/layer.py` (initialisation).
 */
import { err, ok, type Digest, type Result } from '@contractrl/core';
import { createRandom, LINEAR_NAMES, type LinearName, type LoraAdapter, type LoraMatrix, type ModelConfig } from '@contractrl/runtime-webgpu';
import { linearShape } from '@contractrl/runtime-webgpu/onnx';
import { loraA, loraB } from './names.ts';

export interface LoraParameters {
  readonly rank: number;
  readonly alpha: number;
  /** By layer, then by linear, A before B. */
  readonly tensors: readonly Parameter[];
}

export interface Parameter {
  readonly name: string;
  readonly shape: readonly [number, number];
  /** Row-major. */
  readonly data: Float32Array<ArrayBuffer>;
}

export interface InitialOptions {
  readonly rank: number;
  readonly alpha: number;
  /** From 0 to 2^32 − 1. */
  readonly seed: number;
}

/** A drawn from N(0, 1 / inputSize), B zero: an adapter that changes nothing yet. */
export function initialParameters(config: ModelConfig, { rank, alpha, seed }: InitialOptions): LoraParameters {
  if (!Number.isInteger(rank) || rank < 1) throw new RangeError('rank: a whole number from 1 up');
  if (!(alpha > 0 && Number.isFinite(alpha))) throw new RangeError('alpha: a positive number');
  const normal = createNormal(seed);
  const tensors = sites(config).flatMap(({ layer, linear, inputSize, outputSize }): readonly Parameter[] => {
    const spread = 1 / Math.sqrt(inputSize);
    return [
      { name: loraA(layer, linear), shape: [rank, inputSize], data: Float32Array.from({ length: rank * inputSize }, () => spread * normal()) },
      { name: loraB(layer, linear), shape: [outputSize, rank], data: new Float32Array(outputSize * rank) },
    ];
  });
  return { rank, alpha, tensors };
}

/** Why an adapter cannot be trained further: the layer and linear where it has another form than {@link initialParameters} would give it, in words. */
export interface ParametersIssue {
  readonly code: 'gradient/adapter-mismatch';
  readonly detail: string;
}

/** Copies of an adapter's matrices. Fails where it lacks one, or has a rank or factor of its own there. */
export function parametersOf(config: ModelConfig, adapter: LoraAdapter): Result<LoraParameters, ParametersIssue> {
  const mismatch = (detail: string): Result<never, ParametersIssue> => err({ code: 'gradient/adapter-mismatch', detail });
  const { rank, alpha, layers } = adapter;
  if (layers.length !== config.layerCount) return mismatch(`${layers.length} layers, the model has ${config.layerCount}`);
  const tensors: Parameter[] = [];
  for (const { layer, linear, inputSize, outputSize } of sites(config)) {
    const matrix = layers[layer]?.[linear];
    if (matrix === undefined) return mismatch(`layer ${layer} has no ${linear}`);
    if (matrix.inputSize !== inputSize || matrix.outputSize !== outputSize) return mismatch(`layer ${layer}, ${linear}: not the model’s size`);
    if ((matrix.rank ?? rank) !== rank || (matrix.scaling ?? alpha / rank) !== alpha / rank) return mismatch(`layer ${layer}, ${linear}: a rank or factor of its own`);
    tensors.push({ name: loraA(layer, linear), shape: [rank, inputSize], data: Float32Array.from(matrix.a) });
    tensors.push({ name: loraB(layer, linear), shape: [outputSize, rank], data: Float32Array.from(matrix.b) });
  }
  return ok({ rank, alpha, tensors });
}

/** The parameters as they are now as an adapter, under a digest that the caller gives: that of its file, or a name for one that is never written. */
export function adapterOf(config: ModelConfig, { rank, alpha, tensors }: LoraParameters, digest: Digest): LoraAdapter {
  const layers = Array.from({ length: config.layerCount }, (): Partial<Record<LinearName, LoraMatrix>> => ({}));
  for (const [index, { layer, linear, inputSize, outputSize }] of sites(config).entries()) {
    const [a, b] = [tensors[2 * index]!, tensors[2 * index + 1]!];
    layers[layer]![linear] = { inputSize, outputSize, a: a.data.slice(), b: b.data.slice() };
  }
  return { rank, alpha, digest, layers };
}

interface Site {
  readonly layer: number;
  readonly linear: LinearName;
  readonly inputSize: number;
  readonly outputSize: number;
}

function sites(config: ModelConfig): readonly Site[] {
  return Array.from({ length: config.layerCount }, (_, layer) => LINEAR_NAMES.map((linear) => ({ layer, linear, ...linearShape(config, linear) }))).flat();
}

/** Normal numbers, two from each pair of uniform ones. Reference: Box and Muller 1958. */
function createNormal(seed: number): () => number {
  const random = createRandom(seed);
  let spare: number | undefined;
  return () => {
    if (spare !== undefined) {
      const value = spare;
      spare = undefined;
      return value;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    const angle = 2 * Math.PI * random();
    spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
}
