/**
 * Canonical JSON numbers within bounds, as an automaton over prefixes. A prefix lives exactly while some canonical number in range
 * begins with it: decided by integer arithmetic on intervals, never by digit patterns. Prefixes whose futures cannot differ share a
 * state, so free numbers need a few dozen states and only prefixes of a bound keep their own text.
 * Spelled: integers below 2^53 without fraction or exponent; where no integer is asked for, also decimals of at most 15 digits from the
 * first that is not zero, magnitude at least 1e-6 or zero, no `-0`. A double holds each exactly enough to give it back. A fraction may end
 * in zeros (`multipleOf` and excluded values look at the value alone): a model that has begun `4.` or `4.50` would otherwise be led on to `4.00000000000001`, and the judge sees the value alone.
 */
import { rescale, toDecimal, type Decimal, type NumberNode } from '@contractrl/core/schema';

/** What a number must satisfy, as core reads it from a schema. */
export type NumberSpec = Omit<NumberNode, 'kind'>;

const MAX_INTEGER = BigInt(Number.MAX_SAFE_INTEGER);
const MAX_INTEGER_DIGITS = 16;
/** Every decimal of up to 15 digits survives the way through a double. */
const MAX_SIGNIFICANT_DIGITS = 15;
/** Below 1e-6 `JSON.stringify` writes an exponent. */
const MAX_LEADING_ZEROS = 5;
const MIN_SCALE = MAX_LEADING_ZEROS + MAX_SIGNIFICANT_DIGITS;

const DEAD = -1;
const UNKNOWN = -2;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
/** Column of a byte in the transition table: ten digits, minus, point. */
const COLUMN_COUNT = 12;

/** An end of a range of magnitudes, scaled to an integer. */
interface Limit {
  readonly value: bigint;
  readonly exclusive: boolean;
}

interface Prefix {
  readonly isNegative: boolean;
  readonly whole: string;
  /** Digits after the point, undefined before it. */
  readonly fraction: string | undefined;
}

/** Their states are dear and depend on nothing else, so that contracts share them. Insertion order is age. */
const machines = new Map<string, NumberMachine>();
const MAX_MACHINE_COUNT = 64;

/** The machine of a specification. */
export function numberMachine(spec: NumberSpec): NumberMachine {
  const key = JSON.stringify(spec);
  let machine = machines.get(key);
  if (machine === undefined) {
    machines.set(key, machine = new NumberMachine(spec));
    const [oldest] = machines.keys();
    if (machines.size > MAX_MACHINE_COUNT && oldest !== undefined) machines.delete(oldest);
  }
  return machine;
}

export class NumberMachine {
  /** The empty prefix. */
  readonly start = 0;
  readonly isEmpty: boolean;
  readonly #integer: boolean;
  readonly #unit: bigint;
  /** Ranges of magnitudes, for positive and for negative numbers. */
  readonly #positive: readonly [Limit | undefined, Limit | undefined];
  readonly #negative: readonly [Limit | undefined, Limit | undefined];
  /** Scaled: every number is a multiple of the first and of none of the others. 1 is the scale itself and asks nothing. */
  readonly #step: bigint;
  readonly #holes: readonly bigint[];
  /** Scaled values left out, with their sign. */
  readonly #excluded: ReadonlySet<bigint>;
  /** What two prefixes must have in common with their values: remainders by this. */
  readonly #period: bigint;
  /** Upper bound on the multiples in a row that holes and left-out values can take away. */
  readonly #maxGap: number;
  readonly #states = new Map<string, number>([['', 0]]);
  readonly #texts: string[] = [''];
  readonly #complete: boolean[] = [];
  readonly #table: number[] = Array<number>(COLUMN_COUNT).fill(UNKNOWN);

  constructor({ integer, lower, upper, multiplesOf = [], notMultiplesOf = [], excluded = [] }: NumberSpec) {
    this.#integer = integer;
    const [low, high] = [lower, upper].map((bound) => (bound === undefined ? undefined : toDecimal(bound.value)));
    const [steps, holes, values] = [multiplesOf, notMultiplesOf, excluded].map((numbers) => numbers.map(toDecimal)) as [Decimal[], Decimal[], Decimal[]];
    const scale = Math.max(MIN_SCALE, low?.scale ?? 0, high?.scale ?? 0, ...[...steps, ...holes, ...values].map((decimal) => decimal.scale));
    this.#unit = powerOfTen(scale);
    const scaled = (decimal: Decimal): bigint => rescale(decimal, scale);
    this.#step = steps.map(scaled).reduce(leastCommonMultiple, 1n);
    this.#holes = holes.map(scaled);
    this.#excluded = new Set(values.map(scaled));
    this.#period = [this.#step, ...this.#holes].reduce(leastCommonMultiple, 1n);
    this.#maxGap = 2 ** (this.#holes.length + 1) * (this.#excluded.size + 1);
    const limitOf = (decimal: Decimal | undefined, exclusive: boolean | undefined): Limit | undefined => (
      decimal === undefined ? undefined : { value: scaled(decimal), exclusive: exclusive === true }
    );
    const [from, to] = [limitOf(low, lower?.exclusive), limitOf(high, upper?.exclusive)];
    this.#positive = [from, to];
    this.#negative = [mirrored(to), mirrored(from)];
    this.isEmpty = ![MINUS, ...Array.from({ length: 10 }, (_, digit) => ZERO + digit)].some((byte) => this.next(this.start, byte) !== DEAD);
  }

  /** The state after one more byte, −1 where no number in range continues so. */
  next(state: number, byte: number): number {
    const column = byte >= ZERO && byte <= NINE ? byte - ZERO : byte === MINUS ? 10 : byte === POINT ? 11 : DEAD;
    if (column === DEAD) return DEAD;
    const cell = state * COLUMN_COUNT + column;
    if (this.#table[cell] === UNKNOWN) this.#table[cell] = this.#compute(this.#texts[state] as string, byte);
    return this.#table[cell] as number;
  }

  /** Whether the prefix is itself a number in range. */
  isComplete(state: number): boolean {
    const known = this.#complete[state];
    if (known !== undefined) return known;
    const prefix = readPrefix(this.#texts[state] as string);
    return this.#complete[state] = prefix !== undefined && this.#isComplete(prefix);
  }

  #compute(text: string, byte: number): number {
    const longer = text + String.fromCharCode(byte);
    if (!this.#isViable(longer)) return DEAD;
    const key = this.#keyOf(longer);
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const state = this.#texts.push(longer) - 1;
    this.#states.set(key, state);
    for (let column = 0; column < COLUMN_COUNT; column += 1) this.#table.push(UNKNOWN);
    return state;
  }

  #isViable(text: string): boolean {
    if (text === '-') return Array.from({ length: 10 }, (_, digit) => `-${digit}`).some((longer) => this.#isViable(longer));
    const prefix = readPrefix(text);
    if (prefix === undefined || (this.#integer && prefix.fraction !== undefined)) return false;
    const { whole, fraction } = prefix;
    if (fraction !== undefined) return this.#hasFraction(prefix, fraction);
    if (this.#isComplete(prefix)) return true;
    if (whole === '0') return !this.#integer && this.#hasFraction(prefix, '');
    for (let more = 0; whole.length + more <= MAX_INTEGER_DIGITS; more += 1) {
      const [low, high] = extended(whole, more);
      if (this.#isBeyond(prefix.isNegative, low)) return false;
      if (this.#hasMultiple(prefix.isNegative, low * this.#unit, min(high, MAX_INTEGER) * this.#unit, this.#unit)) return true;
      if (!this.#integer && this.#hasBroken(prefix.isNegative, low, high, MAX_SIGNIFICANT_DIGITS - whole.length - more)) return true;
    }
    return false;
  }

  /** Whether a number with an integer part in [low, high] and 1 to `digits` digits after the point, not all zero, is in range. */
  #hasBroken(isNegative: boolean, low: bigint, high: bigint, digits: number): boolean {
    if (digits < 1) return false;
    const grid = this.#unit / powerOfTen(digits);
    return this.#hasMultiple(isNegative, low * this.#unit, (high + 1n) * this.#unit - grid, grid, this.#unit);
  }

  /** Whether a number in range begins with `whole`, the point and `fraction`. */
  #hasFraction({ isNegative, whole }: Prefix, fraction: string): boolean {
    const significant = significantDigits(whole, fraction);
    if (significant === 0) {
      if (fraction.length <= MAX_LEADING_ZEROS && !isNegative && this.#hasMultiple(isNegative, 0n, 0n, 1n)) return true;
      // 0.000…: the first digit that is not zero is still to come, at one of these places
      for (let zeros = fraction.length; zeros <= MAX_LEADING_ZEROS; zeros += 1) {
        const grid = this.#unit / powerOfTen(zeros + MAX_SIGNIFICANT_DIGITS);
        const [low, high] = [this.#unit / powerOfTen(zeros + 1), this.#unit / powerOfTen(zeros)];
        if (this.#hasMultiple(isNegative, low, high - grid, grid)) return true;
      }
      return false;
    }
    if (significant > MAX_SIGNIFICANT_DIGITS || isTooSmall(whole, fraction)) return false;
    // a point needs a digit after it
    if (fraction === '' && significant === MAX_SIGNIFICANT_DIGITS) return false;
    const grid = this.#unit / powerOfTen(fraction.length + MAX_SIGNIFICANT_DIGITS - significant);
    const value = this.#valueOf(whole, fraction);
    return this.#hasMultiple(isNegative, value, value + this.#unit / powerOfTen(fraction.length) - grid, grid);
  }

  #isComplete({ isNegative, whole, fraction }: Prefix): boolean {
    if (fraction === undefined) {
      const value = BigInt(whole);
      return !(isNegative && value === 0n) && value <= MAX_INTEGER && this.#hasMultiple(isNegative, value * this.#unit, value * this.#unit, this.#unit);
    }
    if (fraction === '' || significantDigits(whole, fraction) > MAX_SIGNIFICANT_DIGITS || isTooSmall(whole, fraction)) return false;
    const value = this.#valueOf(whole, fraction);
    return !(isNegative && value === 0n) && this.#hasMultiple(isNegative, value, value, 1n);
  }

  /**
   * Equal keys mean equal futures. Where every set of continuations of one length lies wholly inside or wholly outside the range, only
   * the number of digits counts; where a bound cuts through one, the text itself is the key.
   */
  #keyOf(text: string): string {
    const prefix = readPrefix(text);
    if (prefix === undefined || prefix.whole === '0' && significantDigits('0', prefix.fraction ?? '') === 0) return text;
    const { isNegative, whole, fraction } = prefix;
    const sign = isNegative ? '-' : '+';
    if (fraction !== undefined) {
      const value = this.#valueOf(whole, fraction);
      const place = this.#placeOf(isNegative, value, value + this.#unit / powerOfTen(fraction.length));
      // with a period the place of the next digit counts too
      const remainder = this.#period === 1n ? '' : `@${fraction.length}%${value % this.#period}`;
      return place === 'inside' ? `${sign}.${significantDigits(whole, fraction)}${fraction === '' ? 'open' : ''}${remainder}` : text;
    }
    let places = '';
    for (let more = 0; whole.length + more <= MAX_INTEGER_DIGITS; more += 1) {
      const [low, high] = extended(whole, more);
      if (this.#isBeyond(isNegative, low)) break;
      const place = this.#placeOf(isNegative, low * this.#unit, (this.#integer ? high : high + 1n) * this.#unit);
      // 16 digits: 2^53 is a bound too
      if (place === 'cut' || (whole.length + more === MAX_INTEGER_DIGITS && low <= MAX_INTEGER && high > MAX_INTEGER)) return text;
      places += place === 'inside' && low <= MAX_INTEGER ? '1' : '0';
    }
    return `${sign}${whole.length}:${places}%${(BigInt(whole) * this.#unit) % this.#period}`;
  }

  /** Whether neither the magnitude `low` nor any larger one is in range. */
  #isBeyond(isNegative: boolean, low: bigint): boolean {
    const [, to] = isNegative ? this.#negative : this.#positive;
    return low > MAX_INTEGER || (to !== undefined && low * this.#unit > to.value);
  }

  #placeOf(isNegative: boolean, low: bigint, high: bigint): 'inside' | 'outside' | 'cut' {
    const [from, to] = isNegative ? this.#negative : this.#positive;
    for (const value of this.#excluded) if (low <= (isNegative ? -value : value) && (isNegative ? -value : value) <= high) return 'cut';
    if ((from !== undefined && high < from.value) || (to !== undefined && low > to.value)) return 'outside';
    const startsInside = from === undefined || low > from.value || (low === from.value && !from.exclusive);
    const endsInside = to === undefined || high < to.value || (high === to.value && !to.exclusive);
    return startsInside && endsInside ? 'inside' : 'cut';
  }

  /** Whether some multiple of `grid` in [low, high] is a number in range; one that is no multiple of `hole`, where that is given. */
  #hasMultiple(isNegative: boolean, low: bigint, high: bigint, grid: bigint, hole?: bigint): boolean {
    const step = leastCommonMultiple(grid, this.#step);
    const [first, last] = this.#multiples(isNegative, low, high, step);
    const holes = hole === undefined ? this.#holes : [...this.#holes, hole];
    if (first > last || holes.some((each) => step % each === 0n)) return false;
    for (let value = first, tries = 0; value <= last && tries <= this.#maxGap; value += step, tries += 1) {
      if (!holes.some((each) => value % each === 0n) && !this.#excluded.has(isNegative ? -value : value)) return true;
    }
    return false;
  }

  /** First and last multiple of `grid` in [low, high] and in range; `low` is not negative. */
  #multiples(isNegative: boolean, low: bigint, high: bigint, grid: bigint): readonly [bigint, bigint] {
    const [from, to] = isNegative ? this.#negative : this.#positive;
    const roundedUp = (value: bigint): bigint => ((value + grid - 1n) / grid) * grid;
    let [first, last] = [roundedUp(low), (high / grid) * grid];
    if (from !== undefined && from.value >= low) {
      first = roundedUp(from.value);
      if (from.exclusive && first === from.value) first += grid;
    }
    if (to !== undefined && to.value < 0n) return [1n, 0n];
    if (to !== undefined && to.value <= high) {
      last = (to.value / grid) * grid;
      if (to.exclusive && last === to.value) last -= grid;
    }
    return [first, last];
  }

  #valueOf(whole: string, fraction: string): bigint {
    return BigInt(whole) * this.#unit + BigInt(fraction === '' ? '0' : fraction) * (this.#unit / powerOfTen(fraction.length));
  }
}

function readPrefix(text: string): Prefix | undefined {
  const match = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]*))?$/.exec(text);
  return match === null ? undefined : { isNegative: match[1] === '-', whole: match[2] as string, fraction: match[3] };
}

/** The integers that begin with `whole` and have `more` further digits. */
function extended(whole: string, more: number): readonly [bigint, bigint] {
  const step = powerOfTen(more);
  const low = BigInt(whole) * step;
  return [low, low + step - 1n];
}

/** Digits from the first that is not zero on. */
function significantDigits(whole: string, fraction: string): number {
  return whole === '0' ? fraction.replace(/^0*/, '').length : whole.length + fraction.length;
}

function isTooSmall(whole: string, fraction: string): boolean {
  return whole === '0' && fraction.length - significantDigits(whole, fraction) > MAX_LEADING_ZEROS;
}

const POWERS = Array.from({ length: MIN_SCALE + 1 }, (_, exponent) => 10n ** BigInt(exponent));

function powerOfTen(exponent: number): bigint {
  return POWERS[exponent] ?? 10n ** BigInt(exponent);
}

function mirrored(limit: Limit | undefined): Limit | undefined {
  return limit === undefined ? undefined : { value: -limit.value, exclusive: limit.exclusive };
}

function leastCommonMultiple(a: bigint, b: bigint): bigint {
  // what nearly every number asks
  if (b === 1n) return a;
  let [larger, smaller] = [a, b];
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller];
  return (a / larger) * b;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
