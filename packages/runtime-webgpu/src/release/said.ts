/**
 * What the request says of a value that does not stand in it: the same day, time of day, number or thing in other words, or a part of the text. Closed lists of
 * English words and nothing else, so that it is the same in every runtime; other languages have none of it, and their values count as made up.
 */
import type { JsonPrimitive } from '@contractrl/core';

/**
 * `spoken`: all of it, in another form that a reader can redo: `2023-04-22` for "April 22nd, 2023", `19:30` for "7:30 pm", 5 for "five", 50000000 for
 * "50 million", `sneaker` for "sneakers". `completed`: half of its words or more and not all, numerals alone not counting, as `Paris, France` for "Paris".
 */
export type Saying = 'spoken' | 'completed';

/** Undefined where the texts say nothing of it, or all its words and yet not the value: that is a copy gone wrong. O(texts). */
export function sayingOf(value: JsonPrimitive, texts: readonly string[]): Saying | undefined {
  if (typeof value === 'number') return texts.some((text) => numbersIn(text).includes(value)) ? 'spoken' : undefined;
  if (typeof value !== 'string') return undefined;
  if (texts.some((text) => saysMoment(value, text)) || saysSeveral(value, texts)) return 'spoken';
  const words = wordsOf(value);
  const said = new Set(texts.flatMap(wordsOf));
  const found = words.filter((word) => said.has(word));
  // digits alone are of another date or time as likely
  return found.length < words.length && found.length * 2 >= words.length && found.some((word) => /\p{L}/u.test(word)) ? 'completed' : undefined;
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** How often a text in lower case stands in others as whole words, in letters of either case. O(texts). */
export function timesSaid(text: string, texts: readonly string[]): number {
  let count = 0;
  for (const each of texts) {
    const said = each.toLowerCase();
    for (let at = said.indexOf(text); at !== -1; at = said.indexOf(text, at + text.length)) {
      if (!WORD_CHARACTER.test(said.charAt(at - 1)) && !WORD_CHARACTER.test(said.charAt(at + text.length))) count += 1;
    }
  }
  return count;
}

const WORD_CHARACTER = /[\p{L}\p{N}]/u;

/** Several for one. */
function saysSeveral(value: string, texts: readonly string[]): boolean {
  const one = value.trim().toLowerCase();
  if (!/\p{L}$/u.test(one)) return false;
  return [`${one}s`, `${one}es`, ...(one.endsWith('y') ? [`${one.slice(0, -1)}ies`] : [])].some((many) => timesSaid(many, texts) > 0);
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] as const;
const MONTH = '(?<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?';
const DAY = '(?<day>\\d{1,2})(?:st|nd|rd|th)?';
const YEAR = '(?<year>\\d{4})';
/** Each with a year: a day of any year is not yet a date. */
const DATES: readonly string[] = [
  `${MONTH}\\s+(?:the\\s+)?${DAY}(?:\\s*,\\s*|\\s+)(?:of\\s+)?${YEAR}`,
  `${DAY}\\s+(?:of\\s+)?(?:this\\s+)?${MONTH}(?:\\s*,\\s*|\\s+)(?:of\\s+)?${YEAR}`,
  `${YEAR}[-/.](?<month>\\d{1,2})[-/.](?<day>\\d{1,2})`,
  // either may come first
  `(?<month>\\d{1,2})[-/.](?<day>\\d{1,2})[-/.]${YEAR}`,
  `(?<day>\\d{1,2})[-/.](?<month>\\d{1,2})[-/.]${YEAR}`,
];
/** With what tells the half of the day, where there is any. */
const TIMES: readonly string[] = [
  '(?<hour>\\d{1,2})(?::(?<minute>\\d{2})(?::00)?)?\\s*(?:(?<half>[ap])\\.?m\\b\\.?|in\\s+the\\s+(?<part>morning|afternoon|evening))',
  '(?<hour>\\d{1,2}):(?<minute>\\d{2})(?::00)?(?!:\\d|\\s*(?:[ap]\\.?m\\b|in\\s+the\\s+(?:morning|afternoon|evening)))',
  '(?<name>noon|midnight)',
];
const [IN_TEXT, AS_A_WHOLE] = [
  (form: string): RegExp => new RegExp(`(?<![\\p{L}\\p{N}.:/-])${form}(?![\\p{L}\\p{N}])`, 'giu'), (form: string): RegExp => new RegExp(`^${form}$`, 'giu'),
];
const [DATES_SAID, TIMES_SAID] = [DATES.map(IN_TEXT), TIMES.map(IN_TEXT)];
const [DATES_WRITTEN, TIMES_WRITTEN] = [DATES.map(AS_A_WHOLE), TIMES.map(AS_A_WHOLE)];

/** Whether the value is a date, a time, or both with `T` or a space between, and the text says each in some form. */
function saysMoment(value: string, text: string): boolean {
  // the text, which may be long, is read only where the value is a date or time, which hardly any is
  const isDay = (written: string): boolean => daysIn(written, DATES_WRITTEN).some((day) => daysIn(text, DATES_SAID).includes(day));
  const isTime = (written: string): boolean => timesIn(written, TIMES_WRITTEN).some((time) => timesIn(text, TIMES_SAID).includes(time));
  const both = /^(?<date>.*\d)[T ](?<time>\d{1,2}:.*)$/u.exec(value)?.groups;
  return isDay(value) || isTime(value) || (both !== undefined && isDay(both['date'] ?? '') && isTime(both['time'] ?? ''));
}

/** Days as `year-month-day`, one that can be read in two ways as both. */
function daysIn(text: string, patterns: readonly RegExp[]): readonly string[] {
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].flatMap(({ groups = {} }) => {
    const name = groups['month'] ?? '';
    const month = /^\d/u.test(name) ? Number(name) : MONTHS.findIndex((each) => name.toLowerCase().startsWith(each)) + 1;
    const day = Number(groups['day']);
    return month >= 1 && month <= 12 && day >= 1 && day <= 31 ? [`${groups['year'] ?? ''}-${String(month)}-${String(day)}`] : [];
  }));
}

/** Minutes after midnight. */
function timesIn(text: string, patterns: readonly RegExp[]): readonly number[] {
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].flatMap(({ groups = {} }) => {
    const { name, half, part } = groups;
    if (name !== undefined) return [name.toLowerCase() === 'noon' ? 12 * 60 : 0];
    const [hour, minute] = [Number(groups['hour']), Number(groups['minute'] ?? 0)];
    const isHalf = half !== undefined || part !== undefined;
    if (minute > 59 || hour > (isHalf ? 12 : 23) || (isHalf && hour === 0)) return [];
    const isLater = half?.toLowerCase() === 'p' || part?.toLowerCase() === 'afternoon' || part?.toLowerCase() === 'evening';
    return [(isHalf ? (hour % 12) + (isLater ? 12 : 0) : hour) * 60 + minute];
  }));
}

const SMALL: ReadonlyMap<string, number> = new Map([
  'zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve', 'thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen',
].map((word, value) => [word, value]));
const TENS: ReadonlyMap<string, number> = new Map(['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'].map((word, index) => [word, (index + 2) * 10]));
/** As powers of ten. */
const SCALES: ReadonlyMap<string, number> = new Map([['hundred', 2], ['thousand', 3], ['million', 6], ['billion', 9], ['trillion', 12]]);
const HUNDRED = 100;
const NUMBER_WORD = [...SMALL.keys(), ...TENS.keys(), ...SCALES.keys(), 'dozen'].join('|');
const NUMBER_WORDS = new RegExp(`(?<![\\p{L}\\p{N}])(?:${NUMBER_WORD})(?:(?:\\s+and\\s+|\\s+|-)(?:${NUMBER_WORD}))*(?![\\p{L}\\p{N}])`, 'giu');
const SCALED = new RegExp(`(?<![\\p{L}\\p{N}.,])(?<digits>\\d+(?:\\.\\d+)?)\\s*(?<scale>${[...SCALES.keys()].join('|')})(?![\\p{L}\\p{N}])`, 'giu');

/** Numbers in words, and numerals with the word of a power of ten. */
function numbersIn(text: string): readonly number[] {
  // the decimal point moves: no arithmetic on doubles
  const scaled = [...text.matchAll(SCALED)].map(({ groups = {} }) => Number(`${groups['digits'] ?? ''}e${String(SCALES.get((groups['scale'] ?? '').toLowerCase()))}`));
  return [...scaled, ...[...text.matchAll(NUMBER_WORDS)].flatMap(([run]) => numbersOf(run.toLowerCase().split(/[\s-]+/u)))];
}

/** A run of number words may be several numbers, as "two five" is. */
function numbersOf(words: readonly string[]): readonly number[] {
  const found: number[] = [];
  let [total, current, isOpen] = [0, 0, false];
  const close = (): void => {
    if (isOpen) found.push(total + current);
    [total, current, isOpen] = [0, 0, false];
  };
  for (const word of words) {
    const [small, tens, scale] = [SMALL.get(word), TENS.get(word), SCALES.get(word)];
    if (word === 'dozen') [current, isOpen] = [Math.max(1, current) * 12, true];
    else if (scale !== undefined && scale > 2) [total, current, isOpen] = [total + Math.max(1, current) * 10 ** scale, 0, true];
    else if (scale !== undefined) [current, isOpen] = [Math.max(1, current) * HUNDRED, true];
    else if (small !== undefined || tens !== undefined) {
      const hasRoom = current % HUNDRED === 0 || (small !== undefined && small > 0 && small < 10 && current % 10 === 0 && current % HUNDRED >= 20);
      if (isOpen && !hasRoom) close();
      [current, isOpen] = [current + (small ?? tens ?? 0), true];
    }
  }
  close();
  return found;
}
