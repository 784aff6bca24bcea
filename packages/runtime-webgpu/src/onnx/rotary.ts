/**
 * Cosines and sines of rotary position embedding in the half-split form: `[contextLength, headSize / 2]`, angle = position · base^(−2i / headSize).
 * Each step is rounded to float32 where the reference implementation rounds, so that long prompts agree with it too.
 * Reference: Su et al. 2021, "RoFormer", §3.2.2; ONNX Runtime contrib operators, GroupQueryAttention (`cos_cache`, `sin_cache`).
 */
interface RotaryTables {
  readonly cos: Float32Array<ArrayBuffer>;
  readonly sin: Float32Array<ArrayBuffer>;
}

export function rotaryTables(contextLength: number, headSize: number, base: number): RotaryTables {
  const half = headSize / 2;
  const cos = new Float32Array(contextLength * half);
  const sin = new Float32Array(contextLength * half);
  const frequencies = Float32Array.from({ length: half }, (_, i) => 1 / Math.fround(base ** Math.fround((2 * i) / headSize)));
  for (let position = 0; position < contextLength; position++) {
    for (let i = 0; i < half; i++) {
      const angle = Math.fround(position * frequencies[i]!);
      cos[position * half + i] = Math.cos(angle);
      sin[position * half + i] = Math.sin(angle);
    }
  }
  return { cos, sin };
}
