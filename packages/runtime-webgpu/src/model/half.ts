/** 16-bit floats to numbers through tables of all 65,536 values, which is several times faster than shifting per weight. */
const EXPONENT_BIAS = 15;

function decodeHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** (1 - EXPONENT_BIAS - 10);
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - EXPONENT_BIAS);
}

/** IEEE 754 binary16: `HALF_VALUES[bits]` is the number that the 16 bits stand for. */
export const HALF_VALUES: Float32Array = Float32Array.from({ length: 65_536 }, (_, bits) => decodeHalf(bits));

/** bfloat16, the upper half of a float32. */
export const BFLOAT_VALUES: Float32Array = new Float32Array(Uint32Array.from({ length: 65_536 }, (_, bits) => bits << 16).buffer);
