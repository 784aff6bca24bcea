/** Exact decimals for sums and multiples: a double is read as the decimal its shortest text spells, so that 0.1 + 0.2 is 0.3. */

/** `units` × 10^−`scale`. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

/** Reads a finite number as the decimal that ECMAScript prints for it (ECMA-262 §6.1.6.1.20). */
export function toDecimal(value: number): Decimal {
  const match = /^(-?[0-9]+)(?:\.([0-9]+))?(?:e([+-][0-9]+))?$/.exec(String(value));
  if (match === null) throw new RangeError('value must be a finite number');
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const scale = fraction.length - Number(exponent);
  const units = BigInt(whole + fraction);
  return scale < 0 ? { units: units * 10n ** BigInt(-scale), scale: 0 } : { units, scale };
}

/** Doubles hold every decimal of 15 digits apart from its neighbours. */
const EXACT = 1e15;

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { units: rescale(a, scale) + rescale(b, scale), scale };
}

export function decimalsEqual(a: Decimal, b: Decimal): boolean {
  const scale = Math.max(a.scale, b.scale);
  return rescale(a, scale) === rescale(b, scale);
}

/** Whether `value` is a whole number of `divisor`, which is above zero: 19.99 is one of 0.01, whatever their doubles divide to. */
export function isMultipleOf(value: number, divisor: number): boolean {
  for (let power = 1; power <= EXACT; power *= 10) {
    const step = Math.round(divisor * power);
    if (step / power !== divisor) continue;
    // up to 15 digits a double has one decimal, and dividing rounds to it: no big integers, which take ten times as long
    const units = Math.round(value * power);
    if (step < EXACT && Math.abs(units) < EXACT) return units / power === value && units % step === 0;
    break;
  }
  const [dividend, step] = [toDecimal(value), toDecimal(divisor)];
  const scale = Math.max(dividend.scale, step.scale);
  return rescale(dividend, scale) % rescale(step, scale) === 0n;
}

/** The units of `value` at a scale that is not below its own. */
export function rescale(value: Decimal, scale: number): bigint {
  return value.units * 10n ** BigInt(scale - value.scale);
}
