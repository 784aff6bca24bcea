/**
 * Topics whose description states how a value is written, while the request says it as people do: places, days, times, lengths of time, units, names in
 * another order or notation. No keyword of the schema checks the form, so only whoever reads the description is right.
 */
import type { JsonValue } from '@contractrl/core';
import type { Random } from '../../random.ts';
import type { TopicKind } from './field.ts';
import { dayInWords, drawDay, isoOf, listed, oneField, person, pickOf, spoken, text, twoDigits, type Saying } from './say.ts';
import { BIG_CITIES, CITIES, COLOURS, MONTHS, STREETS, THINGS, WORLD_CITIES } from './words.ts';

/** One form of a field: what the description says of it, and values with the words for them. */
interface Form {
  readonly names: readonly [string, ...string[]];
  readonly abouts: readonly [string, ...string[]];
  readonly say: (draw: Random, name: string) => Saying;
}

/** Said as `clause`, the part that carries the value named. */
const said = (value: JsonValue, mention: string, clause: (words: string) => string): Saying => ({ value, mention, clause: clause(mention) });

const PLACES: readonly Form[] = [
  { names: ['location', 'city', 'area'], abouts: ['City and state as "City, ST", e.g. Springfield, IL', 'The city and the state, in the format of Springfield, IL', 'US city with the abbreviation of its state (City, ST)'], say: (draw) => {
    const [city, state] = pickOf(draw, BIG_CITIES);
    return said(`${city}, ${state}`, city, (words) => draw.pick([`in ${words}`, `near ${words}`, `around ${words}`]));
  } },
  { names: ['place', 'departure', 'hometown'], abouts: ['As "City, Country", for example Bergen, Norway', 'City and country, separated by a comma'], say: (draw) => {
    const [city, country] = pickOf(draw, WORLD_CITIES);
    const words = draw.pick([city, city, `${city} in ${country}`]);
    return said(`${city}, ${country}`, words, (shown) => draw.pick([`from ${shown}`, `in ${shown}`]));
  } },
  { names: ['country', 'nationality', 'market'], abouts: ['ISO 3166-1 alpha-2 code, e.g. NZ', 'Two-letter code of the country in capitals'], say: (draw) => {
    const [, country, code] = pickOf(draw, WORLD_CITIES);
    return said(code, country, (words) => draw.pick([`for ${words}`, `in ${words}`]));
  } },
  { names: ['city', 'region', 'branch'], abouts: ['Name of the city alone, without its state', 'Only the city, for example San Jose'], say: (draw) => {
    const [city, state, code] = pickOf(draw, CITIES);
    return said(city, city, (words) => draw.pick([`in ${words}, ${state}`, `in ${words}, ${code}`, `at our ${words} branch`]));
  } },
  { names: ['site', 'depot', 'city_key'], abouts: ['Key of the city in lower case with underscores, for example san_jose', 'City as lower_snake_case, e.g. new_haven'], say: (draw) => {
    const city = pickOf(draw, [...CITIES, ...BIG_CITIES])[0];
    return said(city.toLowerCase().replaceAll(' ', '_'), city, (words) => `in ${words}`);
  } },
];

const TIMES: readonly Form[] = [
  { names: ['date', 'start_date', 'arrival'], abouts: ['The day as MM/DD/YYYY', 'Month first: MM/DD/YYYY, e.g. 02/28/2025'], say: (draw) => onDay(draw, (year, month, day) => `${month}/${day}/${year}`) },
  { names: ['date', 'issue_date'], abouts: ['The day as DD.MM.YYYY', 'Day first with dots, such as 28.02.2025'], say: (draw) => onDay(draw, (year, month, day) => `${day}.${month}.${year}`) },
  { names: ['date', 'due_day'], abouts: ['YYYY-MM-DD', 'A date such as 2025-02-28'], say: (draw) => onDay(draw, (year, month, day) => `${year}-${month}-${day}`) },
  { names: ['month', 'billing_month'], abouts: ['The month as YYYY-MM', 'Year and month, e.g. 2025-02'], say: (draw) => {
    const [month, year] = [draw.whole(12), 2024 + draw.whole(4)];
    return said(`${String(year)}-${twoDigits(month + 1)}`, `${MONTHS[month]!} ${String(year)}`, (words) => `for ${words}`);
  } },
  { names: ['weekday', 'day_of_week'], abouts: ['Three letters in lower case, e.g. mon', 'Day of the week as three small letters'], say: (draw) => {
    const day = draw.pick(['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']);
    return said(day.slice(0, 3).toLowerCase(), day, (words) => `on a ${words}`);
  } },
  { names: ['time', 'meeting_time'], abouts: ['12 hours with AM or PM, e.g. 9:05 AM', 'h:mm AM or h:mm PM'], say: (draw) => atTime(draw, (hour, minute) => `${String(hour % 12 || 12)}:${minute} ${hour < 12 ? 'AM' : 'PM'}`) },
  { names: ['time', 'departure_time'], abouts: ['24-hour clock, HH:MM, e.g. 09:05'], say: (draw) => atTime(draw, (hour, minute) => `${twoDigits(hour)}:${minute}`) },
  { names: ['duration', 'length'], abouts: ['ISO 8601 duration, e.g. PT15M', 'As an ISO 8601 duration such as PT2H'], say: (draw) => {
    const [value, words] = draw.pick(['hours', 'minutes', 'days']) === 'days' ? lasting(draw, 'P', 'D', 'days') : draw.chance(0.5) ? lasting(draw, 'PT', 'H', 'hours') : lasting(draw, 'PT', 'M', 'minutes');
    return said(value, words, (shown) => `for ${shown}`);
  } },
];

function onDay(draw: Random, write: (year: string, month: string, day: string) => string): Saying {
  const day = drawDay(draw);
  const [year = '', month = '', number = ''] = isoOf(day).split('-');
  return said(write(year, month, number), dayInWords(day, draw), (words) => `on ${words}`);
}

const PARTS_OF_DAY = ['in the morning', 'in the afternoon', 'in the evening'] as const;

function atTime(draw: Random, write: (hour: number, minute: string) => string): Saying {
  const [hour, minute] = [7 + draw.whole(15), draw.pick(['00', '15', '30', '45'])];
  const [clock, part] = [String(hour % 12 || 12), PARTS_OF_DAY[hour < 12 ? 0 : hour < 18 ? 1 : 2]];
  const spelt = { '00': clock, 15: `quarter past ${clock}`, 30: `half past ${clock}`, 45: `${clock}:45` }[minute];
  return said(write(hour, minute), draw.pick([`${spelt} ${part}`, `${clock}:${minute} ${hour < 12 ? 'am' : 'pm'}`, `${twoDigits(hour)}:${minute}`]), (words) => `at ${words}`);
}

function lasting(draw: Random, before: string, after: string, unit: string): readonly [string, string] {
  const size = 2 + draw.whole(unit === 'minutes' ? 58 : 10);
  return [`${before}${String(size)}${after}`, `${String(size)} ${unit}`];
}

/** Units: the schema takes one, the request says another or the same. */
const UNITS = [
  ['duration_seconds', 'In seconds', 'minutes', 60], ['duration_minutes', 'In minutes', 'hours', 60], ['distance', 'In metres', 'kilometres', 1000], ['weight', 'In grams', 'kilograms', 1000],
  ['price_cents', 'In cents', 'dollars', 100], ['timeout_ms', 'In milliseconds', 'seconds', 1000], ['volume', 'In millilitres', 'litres', 1000], ['stay_days', 'In days', 'weeks', 7],
] as const;

const unit: TopicKind = (random) => {
  const [name, about, other, factor] = random.pick(UNITS);
  const own = about.slice(3);
  return oneField(name, { type: random.pick(['integer', 'number', 'integer']), description: `${spoken(name).replace(/^\w/u, (letter) => letter.toUpperCase())}. ${about}.` }, (draw) => {
    const isConverted = draw.chance(0.6);
    const size = isConverted ? 2 + draw.whole(12) : factor * (1 + draw.whole(9)) + draw.whole(factor);
    const words = `${String(size)} ${isConverted ? other : own}`;
    return { value: isConverted ? size * factor : size, clause: draw.pick([`of ${words}`, `${words} in all`, `${spoken(name).split(' ')[0]!} ${words}`]), mention: words };
  });
};

const thing = (draw: Random): string => `${draw.pick(['spare', 'blue', 'old', 'second', 'heavy', 'folding'])} ${pickOf(draw, THINGS)}`;
const titled = (words: string): string => words.replaceAll(/(?<!\S)\p{L}/gu, (letter) => letter.toUpperCase());

const NOTATIONS: readonly Form[] = [
  { names: ['slug', 'key', 'tag'], abouts: ['Lower case, words joined by underscores, e.g. garden_chair', 'As lower_snake_case, such as garden_chair'], say: (draw, name) => {
    const words = titled(thing(draw));
    return said(words.toLowerCase().replaceAll(' ', '_'), words, (shown) => `${name} for ${shown}`);
  } },
  { names: ['slug', 'page', 'label_id'], abouts: ['Lower case with hyphens, for example garden-chair', 'kebab-case, like garden-chair'], say: (draw, name) => {
    const words = titled(thing(draw));
    return said(words.toLowerCase().replaceAll(' ', '-'), words, (shown) => `${spoken(name)} for ${shown}`);
  } },
  { names: ['constant', 'code_name'], abouts: ['Capitals with underscores, e.g. GARDEN_CHAIR', 'In UPPER_SNAKE_CASE'], say: (draw) => {
    const words = thing(draw);
    return said(words.toUpperCase().replaceAll(' ', '_'), words, (shown) => `called ${shown}`);
  } },
  { names: ['keyword', 'query', 'search_term'], abouts: ['In lower case', 'Lower case, no punctuation'], say: (draw) => {
    const words = titled(thing(draw));
    return said(words.toLowerCase(), words, (shown) => draw.pick([`about "${shown}"`, `for ${shown}`]));
  } },
  { names: ['author', 'sort_name', 'patient'], abouts: ['Last name first: "Doe, Jane"', 'As in "Doe, Jane"'], say: (draw, name) => {
    const who = person(draw);
    const [given, family] = who.split(' ') as [string, string];
    return said(`${family}, ${given}`, who, (shown) => `${spoken(name)} ${shown}`);
  } },
  { names: ['sort', 'order_by'], abouts: ['Field and direction, e.g. name:asc', 'field:asc or field:desc'], say: (draw) => {
    const [field, up, down] = draw.pick([['price', 'cheapest first', 'most expensive first'], ['date', 'oldest first', 'newest first'], ['rating', 'worst rated first', 'best rated first'], ['size', 'smallest first', 'largest first']] as const);
    const isUp = draw.chance(0.5);
    return said(`${field}:${isUp ? 'asc' : 'desc'}`, isUp ? up : down, (shown) => `sorted by ${field}, ${shown}`);
  } },
  { names: ['colour', 'background'], abouts: ['Hexadecimal, e.g. #808080 for grey', 'As #rrggbb, such as #808080'], say: (draw, name) => {
    const [words, value] = pickOf(draw, COLOURS);
    return said(value, words, (shown) => `with ${name} ${shown}`);
  } },
  { names: ['url', 'homepage'], abouts: ['With the scheme, e.g. https://example.com', 'Full address, beginning with https://'], say: (draw, name) => {
    const host = `${draw.pick(['www.', ''])}${pickOf(draw, THINGS)}${draw.pick(['-shop', 's', ''])}.example`;
    return said(`https://${host}`, host, (shown) => `${name} ${shown}`);
  } },
  { names: ['file_path', 'attachment'], abouts: ['Folder and file, e.g. drafts/plan.txt', 'Path below the home folder, such as drafts/plan.txt'], say: (draw) => {
    const [file, folder] = [`${pickOf(draw, THINGS)}.${draw.pick(['csv', 'pdf', 'txt', 'md'])}`, draw.pick(['archive', 'reports', 'inbox', 'scans'])];
    return said(`${folder}/${file}`, `${file} in the ${folder} folder`, (shown) => `using ${shown}`);
  } },
  { names: ['tags', 'labels', 'columns'], abouts: ['Separated by commas, without spaces', 'Comma-separated, no spaces, e.g. a,b,c'], say: (draw, name) => {
    const words = draw.shuffled(THINGS).slice(0, 2 + draw.whole(3));
    return said(words.join(','), listed(words), (shown) => `with the ${name} ${shown}`);
  } },
  { names: ['confirm', 'newsletter'], abouts: ['Y or N', 'One letter: Y for yes, N for no'], say: (draw, name) => {
    const isYes = draw.chance(0.5);
    return said(isYes ? 'Y' : 'N', isYes ? 'yes' : 'no', (shown) => `${name}: ${shown}`);
  } },
  { names: ['street_line', 'address'], abouts: ['Street before the number: "Elm Row 12"', 'As "Elm Row 12", the number behind the street'], say: (draw, name) => {
    const [street, house] = [pickOf(draw, STREETS), String(1 + draw.whole(200))];
    return said(`${street} ${house}`, `${house} ${street}`, (shown) => `${spoken(name)} ${shown}`);
  } },
];

/** A topic of one of `forms`; the form is the tool's, the value the call's. */
const oneOf = (forms: readonly Form[]): TopicKind => (random) => {
  const { names, abouts, say } = pickOf(random, forms);
  const name = random.pick(names);
  return oneField(name, text(random.pick(abouts)), (draw) => say(draw, name));
};

const places = oneOf(PLACES);
const times = oneOf(TIMES);
const notations = oneOf(NOTATIONS);

export const FORMAT_TOPICS: readonly TopicKind[] = [places, places, places, oneOf(PLACES.slice(0, 1)), times, times, times, unit, unit, notations, notations, notations];
