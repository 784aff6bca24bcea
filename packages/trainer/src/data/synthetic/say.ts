/** What topics say things with: schemas of text, draws out of lists, days, addresses and lists in words. */
import type { JsonObject, JsonValue } from '@contractrl/core';
import type { Random } from '../../random.ts';
import type { Said, Topic } from './field.ts';
import { CITIES, FAMILY_NAMES, GIVEN_NAMES, MONTHS, STREETS } from './words.ts';

export const text = (description: string, more: JsonObject = {}): JsonObject => ({ type: 'string', description, ...more });

/** A value and the words that say it, of a topic with one field; `mention` where a part of the words carries the value alone. */
export interface Saying {
  readonly value: JsonValue;
  readonly clause: string;
  readonly mention?: string;
}

/** A topic with one field. */
export function oneField(name: string, schema: JsonObject, say: (draw: Random) => Saying): Topic {
  return { fields: [{ name, schema }], say: (draw): Said => {
    const { value, clause, mention } = say(draw);
    return { values: { [name]: value }, clause, ...(mention === undefined ? {} : { mentions: { [name]: mention } }) };
  } };
}

/** With a full stop, where no sentence ends yet. */
export function asSentence(words: string): string {
  return /[.!?]$/u.test(words) ? words : `${words}.`;
}

/** Prose that shows a value which no request asks for: whoever copies it is wrong. */
export function withExample(about: string, example: string, random: Random): string {
  return random.pick([
    `${about}, such as '${example}'.`, `${about}, e.g. ${example}`, `${about} (for example "${example}")`, `${about}. Example: ${example}.`, `${about}, like ${example}`, `${about}, in the form ${example}`,
  ]);
}

export function pickOf<T>(random: Random, items: readonly T[]): T {
  return items[random.whole(items.length)]!;
}

export function pickTwo<T>(random: Random, items: readonly T[]): readonly [T, T] {
  const first = random.whole(items.length);
  return [items[first]!, items[(first + 1 + random.whole(items.length - 1)) % items.length]!];
}

export function person(random: Random): string {
  return `${random.pick(GIVEN_NAMES)} ${random.pick(FAMILY_NAMES)}`;
}

export interface Day { readonly time: number }
export const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2026, 0, 1);

export function drawDay(random: Random): Day {
  return { time: FIRST_DAY + random.whole(1000) * DAY_MS };
}

export function isoOf({ time }: Day): string {
  return new Date(time).toISOString().slice(0, 10);
}

export function dayInWords({ time }: Day, random: Random): string {
  const day = new Date(time);
  const [month, number, year] = [MONTHS[day.getUTCMonth()]!, String(day.getUTCDate()), String(day.getUTCFullYear())];
  return random.pick([`${number} ${month} ${year}`, `${month} ${number}, ${year}`, isoOf({ time })]);
}

export function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)!}`;
}

export function plural(name: string): string {
  return /(?:s|sh|ch|x)$/u.test(name) ? `${name}es` : `${name}s`;
}

export function spoken(name: string): string {
  return name.replaceAll('_', ' ');
}

export type Address = { readonly street: string; readonly city: string; readonly postal_code: string } & { readonly [name: string]: JsonValue };

export function address(random: Random): Address {
  return { street: `${String(1 + random.whole(200))} ${random.pick(STREETS)}`, city: pickOf(random, CITIES)[0], postal_code: String(10_000 + random.whole(89_999)) };
}

export function addressInWords({ street, city, postal_code: postalCode }: Address): string {
  return `${street}, ${city} ${postalCode}`;
}
