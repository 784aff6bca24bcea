/**
 * Cosines and sines of rotary position embedding in the half-split form: `[contextLength, ropeSize / 2]`, angle = position · frequency, where the
 * frequency of pair i is `base^(−2i / ropeSize)`, stretched as the model says. Frequencies and angles are rounded to float32 where the reference
 * implementation rounds, so that long prompts agree with it too.
 * Reference: Su et al. 2021, "RoFormer", §3.2.2; Peng et al. 2023, "YaRN", §3.1–3.4; ONNX Runtime contrib operators, GroupQueryAttention.
 */
import { assertNever } from '@contractrl/core';
import type { RopeScaling } from '../model/rope-scaling.ts';

interface RotaryTables {
  readonly cos: Float32Array<ArrayBuffer>;
  readonly sin: Float32Array<ArrayBuffer>;
}

export interface RotaryShape {
  readonly ropeSize: number;
  readonly ropeBase: number;
  readonly ropeScaling: RopeScaling;
  /** A divisor for each frequency, `[ropeSize / 2]`, where the file has them. */
  readonly frequencyDivisors?: Float32Array;
}

export function rotaryTables(contextLength: number, shape: RotaryShape): RotaryTables {
  const frequencies = rotaryFrequencies(shape);
  const magnitude = rotaryMagnitude(shape.ropeScaling);
  const half = frequencies.length;
  const cos = new Float32Array(contextLength * half);
  const sin = new Float32Array(contextLength * half);
  for (let position = 0; position < contextLength; position++) {
    for (let i = 0; i < half; i++) {
      const angle = Math.fround(position * frequencies[i]!);
      cos[position * half + i] = magnitude * Math.cos(angle);
      sin[position * half + i] = magnitude * Math.sin(angle);
    }
  }
  return { cos, sin };
}

/** Radians a position, one a pair. */
export function rotaryFrequencies({ ropeSize, ropeBase, ropeScaling, frequencyDivisors }: RotaryShape): Float32Array {
  const plain = Float32Array.from({ length: ropeSize / 2 }, (_, i) => 1 / Math.fround(ropeBase ** Math.fround((2 * i) / ropeSize)));
  const divided = frequencyDivisors === undefined ? plain : plain.map((frequency, i) => frequency / frequencyDivisors[i]!);
  switch (ropeScaling.kind) {
    case 'none':
      return divided;
    case 'linear':
      return divided.map((frequency) => frequency / ropeScaling.factor);
    case 'yarn': {
      const share = interpolatedShare(ropeSize, ropeBase, ropeScaling.originalContextLength);
      return divided.map((frequency, i) => (frequency / ropeScaling.factor) * share(i) + frequency * (1 - share(i)));
    }
    default:
      return assertNever(ropeScaling);
  }
}

/** What cosines and sines are multiplied by: YaRN sharpens the attention that its stretched positions blur (its eq. 22). */
export function rotaryMagnitude(scaling: RopeScaling): number {
  return scaling.kind === 'yarn' ? 1 + 0.1 * Math.log(Math.max(1, scaling.factor)) : 1;
}

/** Turns within the original context above which YaRN leaves a frequency as it is, and below which it divides it whole. */
const YARN_FAST_TURNS = 32;
const YARN_SLOW_TURNS = 1;

/** For each pair the share that is divided: 0 where it turns often, 1 where it turns less than once, a ramp between. */
function interpolatedShare(ropeSize: number, base: number, originalContextLength: number): (pair: number) => number {
  /** The pair, not whole, that makes so many turns in the original context. */
  const pairOf = (turns: number): number => (ropeSize * Math.log(originalContextLength / (turns * 2 * Math.PI))) / (2 * Math.log(base));
  const first = Math.max(Math.floor(pairOf(YARN_FAST_TURNS)), 0);
  const last = Math.min(Math.ceil(pairOf(YARN_SLOW_TURNS)), ropeSize - 1);
  return (pair) => Math.min(1, Math.max(0, (pair - first) / Math.max(last - first, 0.001)));
}
