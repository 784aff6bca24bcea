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

/** IEEE 754 binary16 of each value, the nearest one and of two equally near the even. Values beyond its range are a RangeError. */
export function toHalves(values: Float32Array): Uint16Array {
  return Uint16Array.from(values, encodeHalf);
}

function encodeHalf(value: number): number {
  const size = Math.abs(value);
  // below the smallest normal number all steps are the same
  const exponent = Math.max(1, Math.floor(Math.log2(size)) + EXPONENT_BIAS);
  const steps = roundToEven(size * 2 ** (10 + EXPONENT_BIAS - exponent));
  // the leading bit of a normal number is the exponent's own 1, and a rounding up to the next power carries into it
  const bits = ((exponent - 1) << 10) + steps;
  if (!(bits < 0x7c00)) throw new RangeError(`no 16-bit float for ${String(value)}`);
  return bits | (value < 0 || Object.is(value, -0) ? 0x8000 : 0);
}

function roundToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest < 0.5 || (rest === 0.5 && below % 2 === 0) ? below : below + 1;
}
