/**
 * Topics of numbers and truth values in prose: several in one request with the neighbour's as the usual mistake, in words, as shares, below zero, with
 * separators, and yes or no said without either word.
 */
import type { JsonObject } from '@contractrl/core';
import type { TopicKind } from './field.ts';
import { listed, oneField, pickOf, spoken } from './say.ts';

const number = (description: string, more: JsonObject = {}): JsonObject => ({ type: 'number', description, ...more });
const integer = (description: string, more: JsonObject = {}): JsonObject => ({ type: 'integer', description, ...more });

const IN_WORDS: readonly (readonly [string, number])[] = [
  ['two', 2], ['three', 3], ['four', 4], ['five', 5], ['six', 6], ['seven', 7], ['eight', 8], ['nine', 9], ['ten', 10], ['eleven', 11], ['a dozen', 12], ['twelve', 12], ['fifteen', 15], ['twenty', 20],
  ['two dozen', 24], ['thirty', 30], ['forty', 40], ['fifty', 50], ['a hundred', 100], ['two hundred', 200], ['half a dozen', 6], ['a couple of', 2],
];

const countInWords: TopicKind = (random) => {
  const [name, unit] = random.pick([['quantity', 'boxes'], ['seats', 'seats'], ['rooms', 'rooms'], ['num_tickets', 'tickets'], ['days', 'days'], ['hours', 'hours'], ['team_size', 'helpers']] as const);
  return oneField(name, integer(`Number of ${unit}`, random.chance(0.5) ? { minimum: 1 } : {}), (draw) => {
    const [words, value] = pickOf(draw, IN_WORDS);
    return { value, clause: `${draw.pick(['with', 'for', 'about'])} ${words} ${unit}`, mention: words };
  });
};

const SHARES: readonly (readonly [string, number])[] = [['half', 0.5], ['a quarter', 0.25], ['three quarters', 0.75], ['a tenth', 0.1], ['a fifth', 0.2], ['two fifths', 0.4], ['all', 1]];

/** The description says what 1 stands for. */
const shareInWords: TopicKind = (random) => {
  const [name, whole] = random.pick([['fill_level', 'the tank'], ['portion', 'the stock'], ['occupancy', 'the hall'], ['completion', 'the work'], ['share', 'the profit']] as const);
  const isPercent = random.chance(0.5);
  const schema = isPercent ? number('In percent: 15 stands for 15 %', { minimum: 0, maximum: 100 }) : number('As a fraction between 0 and 1', { minimum: 0, maximum: 1 });
  return oneField(name, schema, (draw) => {
    const [words, share] = pickOf(draw, SHARES);
    const percent = 1 + draw.whole(99);
    const isSpelt = draw.chance(0.5);
    const said = isSpelt ? words : draw.pick([`${String(percent)}%`, `${String(percent)} percent`, `${String(percent)} per cent`]);
    const value = isSpelt ? share * (isPercent ? 100 : 1) : isPercent ? percent : percent / 100;
    return { value, clause: `${said} of ${whole}`, mention: said };
  });
};

const large: TopicKind = (random) => {
  const [name, about, unit] = random.pick([
    ['population', 'Number of people', 'people'], ['principal', 'Amount of the loan in dollars', 'dollars'], ['salary', 'Yearly pay in dollars', 'dollars'], ['distance_m', 'Distance in metres', 'metres'],
    ['investment', 'Amount to invest', 'dollars'], ['print_run', 'Copies to print', 'copies'],
  ] as const);
  return oneField(name, random.chance(0.5) ? integer(about) : number(about), (draw) => {
    const thousands = 1 + draw.whole(900);
    const [value, words] = draw.pick([
      [thousands * 1000, `${String(thousands)},000`], [thousands * 1000 + 250, `${String(thousands)},250`], [thousands * 1000, `${String(thousands)}k`], [thousands * 1000, `${String(thousands)} thousand`],
      [thousands * 1_000_000, `${String(thousands)} million`], [thousands * 1000 + 5, String(thousands * 1000 + 5)], [thousands * 100_000, `${(thousands / 10).toFixed(1)} million`],
    ] as const);
    return { value, clause: `${spoken(name)} of ${words} ${unit}`, mention: words };
  });
};

const belowZero: TopicKind = (random) => {
  const [name, about, unit] = random.pick([['min_temperature', 'In degrees Celsius', 'degrees'], ['elevation', 'Metres above the sea', 'metres'], ['balance_change', 'Dollars, below zero for a loss', 'dollars']] as const);
  return oneField(name, number(about), (draw) => {
    const size = 1 + draw.whole(60);
    const [value, words] = draw.pick([
      [-size, `minus ${String(size)} ${unit}`], [-size, `-${String(size)} ${unit}`], [-size, `${String(size)} ${unit} below zero`], [size, `${String(size)} ${unit}`], [-size - 0.5, `-${String(size)}.5 ${unit}`],
    ] as const);
    return { value, clause: `${spoken(name)} ${words}`, mention: words };
  });
};

/** Coefficients, told apart by what stands beside them. */
const polynomial: TopicKind = (random) => {
  const names = random.pick([['a', 'b', 'c'], ['slope', 'intercept'], ['p', 'q', 'r', 's']] as const);
  const type = random.pick(['integer', 'number', 'integer']);
  const power = (index: number): string => ['', 'x', 'x²', 'x³'][names.length - 1 - index]!;
  const about = (index: number): string => (power(index) === '' ? 'The constant' : `Coefficient of ${power(index)}`);
  const fields = names.map((name, index) => ({ name, schema: { type, description: about(index) } }));
  return { fields, say: (draw) => {
    const values = names.map(() => draw.pick([1, -1]) * (2 + draw.whole(18)));
    const terms = values.map((value, index) => `${value < 0 ? (index === 0 ? '-' : '- ') : index === 0 ? '' : '+ '}${String(Math.abs(value))}${power(index)}`);
    const plain = draw.chance(0.4) ? terms.map((term) => term.replace('²', '^2').replace('³', '^3')) : terms;
    return { values: Object.fromEntries(names.map((name, index) => [name, values[index]!])), clause: draw.pick([`for y = ${plain.join(' ')}`, `with the curve ${plain.join(' ')}`, `of ${plain.join(' ')} = 0`]) };
  } };
};

/** Measures of one thing of which the tool takes some: the others are in the way. */
const MEASURES = [
  [['age', 'years old', 18, 60], ['height_cm', 'cm tall', 140, 60], ['weight_kg', 'kg', 45, 70]],
  [['principal_amount', 'dollars', 5000, 90_000], ['rate_percent', 'percent interest', 1, 12], ['term_years', 'years to pay', 2, 30]],
  [['mass', 'kg', 1, 90], ['velocity', 'metres a second', 1, 80], ['seconds', 'seconds long', 1, 50]],
  [['bedrooms', 'bedrooms', 1, 6], ['bathrooms', 'bathrooms', 1, 4], ['area_sqm', 'square metres', 30, 200], ['floor', 'floors up', 1, 20]],
  [['calories', 'calories', 1200, 1500], ['protein_g', 'grams of protein', 20, 150], ['meals', 'meals a day', 2, 4]],
] as const;

const measures: TopicKind = (random) => {
  const all = random.shuffled(random.pick(MEASURES) as readonly (readonly [name: string, unit: string, from: number, span: number])[]);
  const taken = all.slice(0, 2);
  const type = random.pick(['integer', 'number']);
  return { fields: taken.map(([name, unit]) => ({ name, schema: { type, description: `The ${spoken(name)} (${unit})` } })), say: (draw) => {
    const values = new Map(all.map(([name, , from, span]) => [name, from + draw.whole(span)]));
    const clause = listed(draw.shuffled(all).map(([name, unit]) => `${String(values.get(name))} ${unit}`));
    return { values: Object.fromEntries(taken.map(([name]) => [name, values.get(name)!])), clause, mentions: Object.fromEntries(taken.map(([name]) => [name, String(values.get(name))])) };
  } };
};

const limits: TopicKind = (random) => {
  const [low, high, unit] = random.pick([['min_price', 'max_price', 'dollars'], ['min_rating', 'max_rating', 'stars'], ['lower', 'upper', 'units'], ['start_year', 'end_year', '']] as const);
  const schema = (which: string): JsonObject => ({ type: unit === '' ? 'integer' : 'number', description: `The ${which} limit` });
  return { fields: [{ name: low, schema: schema('lower') }, { name: high, schema: schema('upper') }], checks: (at) => [{ kind: 'lte', a: at(low), b: at(high) }], say: (draw) => {
    const a = (unit === '' ? 1950 : 1) + draw.whole(40);
    const b = a + 1 + draw.whole(40);
    const words = draw.pick([`between ${String(a)} and ${String(b)} ${unit}`, `at least ${String(a)} and no more than ${String(b)} ${unit}`, `up to ${String(b)} ${unit}, from ${String(a)} on`, `${String(a)} to ${String(b)} ${unit}`]);
    return { values: { [low]: a, [high]: b }, clause: words.trim().replace(' ,', ','), mentions: { [low]: String(a), [high]: String(b) } };
  } };
};

/** Yes and no in other words: the name and the description say what true stands for. */
const TRUTHS: readonly (readonly [name: string, about: string, yes: readonly string[], no: readonly string[]])[] = [
  ['round_trip', 'True if there is a way back', ['and back again', 'there and back'], ['one way only', 'without a return']],
  ['include_tax', 'Whether tax is part of the price', ['tax included', 'with the tax in it'], ['before tax', 'net of tax']],
  ['ascending', 'From small to large', ['smallest first', 'going up'], ['largest first', 'going down']],
  ['is_student', 'Whether the price for students holds', ['I still study', 'at the student price'], ['nobody of us is a student', 'at the full price']],
  ['metric', 'Metric units, else imperial ones', ['in metric units', 'in metres and kilograms'], ['in feet and pounds', 'in imperial units']],
  ['pets_allowed', 'Whether animals may come', ['my dog comes along', 'pets welcome'], ['no animals please', 'without pets']],
  ['urgent', 'If it cannot wait', ['it is urgent', 'as soon as possible'], ['there is no hurry', 'whenever it suits you']],
  ['anonymous', 'Hide who sent it', ['my name must not show', 'without my name'], ['with my name on it', 'signed by me']],
  ['active', 'Only those in use', ['only those in use', 'leave out the retired ones'], ['the retired ones too', 'no matter whether in use']],
];

const truth: TopicKind = (random) => {
  const [name, about, yes, no] = pickOf(random, TRUTHS);
  return oneField(name, { type: 'boolean', description: about }, (draw) => {
    const value = draw.chance(0.5);
    return { value, clause: pickOf(draw, value ? yes : no) };
  });
};

export const NUMBER_TOPICS: readonly TopicKind[] = [countInWords, countInWords, shareInWords, large, large, belowZero, polynomial, measures, measures, limits, truth, truth];
