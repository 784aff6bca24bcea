/**
 * Dates and date-times as ordered values, without the host's clock or `Date`. Leap seconds are accepted as in RFC 3339 §5.7 and order
 * after second 59. Reference: RFC 3339 §5.6; days from civil after H. Hinnant, chrono-Compatible Low-Level Date Algorithms.
 */
const TEXT = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2})))?$/;
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

/** A date has `kind: 'date'` and is compared with dates only: it names a day somewhere, not a moment. */
export interface Instant {
  readonly kind: 'date' | 'date-time';
  /** Whole seconds from 1970-01-01T00:00:00Z. */
  readonly seconds: number;
  /** Decimal digits of the fraction, without trailing zeros. */
  readonly fraction: string;
}

/** Reads an RFC 3339 full-date or date-time; `undefined` for all else, impossible days included. */
export function parseInstant(text: string): Instant | undefined {
  const match = TEXT.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? '0')) as [number, number, number, number, number, number];
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const dayCount = month === 2 && isLeap ? 29 : DAYS_IN_MONTH[month - 1];
  if (dayCount === undefined || day < 1 || day > dayCount || hour > 23 || minute > 59 || second > 60) return undefined;
  const [offsetHour, offsetMinute] = [Number(match[9] ?? '0'), Number(match[10] ?? '0')];
  if (offsetHour > 23 || offsetMinute > 59) return undefined;
  const offsetSeconds = (match[8] === '-' ? -1 : 1) * (offsetHour * 3_600 + offsetMinute * 60);
  return {
    kind: match[4] === undefined ? 'date' : 'date-time',
    seconds: daysFromCivil(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offsetSeconds,
    fraction: (match[7] ?? '').replace(/0+$/, ''),
  };
}

/** Negative, zero or positive as `a` is before, at or after `b`. */
export function compareInstants(a: Instant, b: Instant): number {
  if (a.seconds !== b.seconds) return a.seconds - b.seconds;
  // digit strings without trailing zeros order like the fractions they spell
  return a.fraction === b.fraction ? 0 : a.fraction < b.fraction ? -1 : 1;
}

function daysFromCivil(year: number, month: number, day: number): number {
  // years start in March, so that the leap day is the last one
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468;
}
