/**
 * The topics of synthetic tools. Chosen for what the public rows lack and the policy got wrong: formats that only the description states, lists in prose,
 * several numbers or names in one request, enumerations asked for in other words, nested objects, unions, checks across fields.
 * Reference: TRAINING § What goes wrong, 2 to 5.
 */
import type { JsonObject, JsonValue } from '@contractrl/core';
import type { Random } from '../../random.ts';
import type { Field, Said, TopicKind } from './field.ts';
import { FORMAT_TOPICS } from './format-topics.ts';
import { IDENTIFIER_TOPICS } from './identifier-topics.ts';
import { LIST_TOPICS } from './list-topics.ts';
import { NUMBER_TOPICS } from './number-topics.ts';
import { address, addressInWords, dayInWords, DAY_MS, drawDay, isoOf, listed, person, pickOf, pickTwo, plural, spoken, text, twoDigits } from './say.ts';
import { CHOICES, CITIES, FLAGS, GIVEN_NAMES, STREETS, THINGS } from './words.ts';

/** `City, ST`, told in the description alone; the request writes the state out, or not. */
const cityState: TopicKind = (random) => {
  const name = random.pick(['location', 'city', 'venue', 'place']);
  const description = random.pick(['City and state, as in "Springfield, IL"', 'The city with the two-letter state, e.g. Springfield, IL', 'Where it is, in the format City, ST']);
  return { fields: [{ name, schema: text(description) }], say: (draw) => {
    const [city, state, code] = pickOf(draw, CITIES);
    const words = draw.pick([`${city}, ${state}`, `${city}, ${code}`, `${city} (${state})`]);
    return { values: { [name]: `${city}, ${code}` }, clause: `in ${words}`, mentions: { [name]: words } };
  } };
};

/** Two of a kind: each is wrong where the other stands. */
const fromTo: TopicKind = (random) => {
  const [from, to] = random.pick([['origin', 'destination'], ['from_city', 'to_city'], ['pickup_city', 'dropoff_city']] as const);
  return { fields: [{ name: from, schema: text('City where it starts') }, { name: to, schema: text('City where it ends') }], say: (draw) => {
    const [[a], [b]] = pickTwo(draw, CITIES);
    return { values: { [from]: a, [to]: b }, clause: draw.pick([`from ${a} to ${b}`, `to ${b}, starting in ${a}`]), mentions: { [from]: a, [to]: b } };
  } };
};

const people: TopicKind = (random) => {
  const [one, other] = random.pick([['sender', 'recipient'], ['host', 'guest'], ['requested_by', 'approved_by'], ['trainer', 'trainee']] as const);
  return { fields: [{ name: one, schema: text(`Full name of the ${one.replaceAll('_', ' ')}`) }, { name: other, schema: text(`Full name of the ${other.replaceAll('_', ' ')}`) }], say: (draw) => {
    const [a, b] = [person(draw), person(draw)];
    return { values: { [one]: a, [other]: b }, clause: `${one.replaceAll('_', ' ')} ${a}, ${other.replaceAll('_', ' ')} ${b}`, mentions: { [one]: a, [other]: b } };
  } };
};

const date: TopicKind = (random) => {
  const name = random.pick(['date', 'due_date', 'day', 'delivery_date']);
  const about = random.pick(['Date in YYYY-MM-DD format', 'The day, written YYYY-MM-DD', 'ISO 8601 date']);
  const schema = random.chance(0.5) ? text('The day', { format: 'date' }) : text(about, random.chance(0.5) ? { pattern: '^\\d{4}-\\d{2}-\\d{2}$' } : {});
  return { fields: [{ name, schema }], say: (draw) => {
    const day = drawDay(draw);
    const words = dayInWords(day, draw);
    return { values: { [name]: isoOf(day) }, clause: `on ${words}`, mentions: { [name]: words } };
  } };
};

const period: TopicKind = (random) => {
  const [start, end] = random.pick([['start_date', 'end_date'], ['check_in', 'check_out'], ['valid_from', 'valid_until'], ['opens', 'closes']] as const);
  const schema = (about: string): JsonObject => text(about, { format: 'date' });
  return {
    fields: [{ name: start, schema: schema('First day, YYYY-MM-DD') }, { name: end, schema: schema('Last day, YYYY-MM-DD') }],
    checks: (at) => [{ kind: random.pick(['lt', 'lte']), a: at(start), b: at(end) }],
    say: (draw) => {
      const first = drawDay(draw);
      const last = { ...first, time: first.time + (1 + draw.whole(20)) * DAY_MS };
      const [a, b] = [dayInWords(first, draw), dayInWords(last, draw)];
      return { values: { [start]: isoOf(first), [end]: isoOf(last) }, clause: `from ${a} until ${b}`, mentions: { [start]: a, [end]: b } };
    },
  };
};

const clock: TopicKind = (random) => {
  const name = random.pick(['time', 'start_time', 'at', 'pickup_time']);
  const schema = text('Time of day, 24 hours, HH:MM', random.chance(0.7) ? { pattern: '^([01]\\d|2[0-3]):[0-5]\\d$' } : {});
  return { fields: [{ name, schema }], say: (draw) => {
    const [hour, minute] = [draw.whole(24), draw.pick([0, 10, 15, 30, 45])];
    const words = draw.pick([`${String(hour % 12 || 12)}:${twoDigits(minute)} ${hour < 12 ? 'am' : 'pm'}`, `${twoDigits(hour)}:${twoDigits(minute)}`]);
    return { values: { [name]: `${twoDigits(hour)}:${twoDigits(minute)}` }, clause: `at ${words}`, mentions: { [name]: words } };
  } };
};

const moment: TopicKind = (random) => {
  const name = random.pick(['starts_at', 'deadline', 'scheduled_for']);
  return { fields: [{ name, schema: text('Moment in UTC, RFC 3339', { format: 'date-time' }) }], say: (draw) => {
    const day = drawDay(draw);
    const time = `${twoDigits(draw.whole(24))}:${draw.pick(['00', '20', '30'])}`;
    const words = `${dayInWords(day, draw)} at ${time} UTC`;
    return { values: { [name]: `${isoOf(day)}T${time}:00Z` }, clause: `by ${words}`, mentions: { [name]: words } };
  } };
};

const count: TopicKind = (random) => {
  const [name, unit] = random.pick([['guests', 'guests'], ['copies', 'copies'], ['pieces', 'pieces'], ['nights', 'nights'], ['duration_minutes', 'minutes'], ['attendees', 'people']] as const);
  const maximum = random.pick([20, 40, 120]);
  const step = random.chance(0.2) ? 5 : 1;
  return { fields: [{ name, schema: { type: 'integer', description: `Number of ${unit}`, minimum: 1, maximum, ...(step === 1 ? {} : { multipleOf: step }) } }], say: (draw) => {
    const value = step * (1 + draw.whole(Math.floor(maximum / step)));
    return { values: { [name]: value }, clause: `for ${String(value)} ${unit}`, mentions: { [name]: String(value) } };
  } };
};

const money: TopicKind = (random) => {
  const name = random.pick(['budget', 'amount', 'price_limit', 'deposit']);
  return { fields: [{ name, schema: { type: 'number', description: `The ${name.replaceAll('_', ' ')} in dollars`, exclusiveMinimum: 0 } }], say: (draw) => {
    const value = (500 + draw.whole(90_000)) / 100;
    return { values: { [name]: value }, clause: `${name.replaceAll('_', ' ')} $${String(value)}`, mentions: { [name]: String(value) } };
  } };
};

const share: TopicKind = (random) => {
  const name = random.pick(['discount', 'tax_rate', 'tip_share']);
  return { fields: [{ name, schema: { type: 'number', description: 'As a fraction: 0.15 stands for 15 percent', minimum: 0, maximum: 1 } }], say: (draw) => {
    const percent = 1 + draw.whole(60);
    const words = draw.pick([`${String(percent)}%`, `${String(percent)} percent`]);
    return { values: { [name]: percent / 100 }, clause: `with a ${name.replaceAll('_', ' ')} of ${words}`, mentions: { [name]: words } };
  } };
};

/** Named numbers in a row: the neighbour's is the usual mistake. */
const numbers: TopicKind = (random) => {
  const names = random.pick([['a', 'b', 'c'], ['x', 'y', 'z'], ['width', 'height', 'depth'], ['red', 'green', 'blue'], ['latitude', 'longitude', 'altitude']] as const);
  const type = random.pick(['number', 'integer']);
  return { fields: names.map((name) => ({ name, schema: { type, description: `The ${name}` } })), say: (draw) => {
    const values = names.map(() => (draw.whole(240) - 60) / (type === 'number' && draw.chance(0.5) ? 4 : 1)).map((value) => (type === 'integer' ? Math.trunc(value) : value) + 0);
    const words = names.map((name, index) => draw.pick([`${name} = ${String(values[index])}`, `${name} ${String(values[index])}`]));
    const mentions = Object.fromEntries(names.map((name, index) => [name, String(values[index])]));
    return { values: Object.fromEntries(names.map((name, index) => [name, values[index]!])), clause: `with ${listed(words)}`, mentions };
  } };
};

const nameList: TopicKind = (random) => {
  const [name, words] = random.pick([['participants', 'with'], ['assignees', 'assigned to'], ['reviewers', 'reviewed by'], ['invitees', 'inviting']] as const);
  const minItems = random.pick([1, 2, 2, 3]);
  return { fields: [{ name, schema: { type: 'array', description: `First names of the ${name}`, items: { type: 'string' }, minItems, maxItems: 6 } }], say: (draw) => {
    const chosen = draw.shuffled(GIVEN_NAMES).slice(0, minItems + draw.whole(2));
    return { values: { [name]: chosen }, clause: `${words} ${listed(chosen)}` };
  } };
};

const numberList: TopicKind = (random) => {
  const name = random.pick(['scores', 'readings', 'weights', 'lengths']);
  return { fields: [{ name, schema: { type: 'array', description: `All ${name}, in the order given`, items: { type: 'number', minimum: 0 }, maxItems: random.pick([4, 5]) } }], say: (draw) => {
    const values = Array.from({ length: 2 + draw.whole(3) }, () => draw.whole(500) / draw.pick([1, 1, 10]));
    return { values: { [name]: values }, clause: `with ${name} ${listed(values.map(String))}` };
  } };
};

const choice: TopicKind = (random) => {
  const { name, about, values } = pickOf(random, CHOICES);
  const literals = random.shuffled(values.map(([value]) => value));
  const isList = random.chance(0.2);
  const one = { type: 'string', enum: literals };
  const schema = isList ? { type: 'array', description: `${about}, one or more`, items: one, uniqueItems: true } : { ...one, description: about };
  return { fields: [{ name, schema, isOptional: random.chance(0.3) }], say: (draw) => {
    const chosen = draw.shuffled(values).slice(0, isList ? 2 : 1);
    const [first] = chosen;
    return { values: { [name]: isList ? chosen.map(([value]) => value) : first![0] }, clause: listed(chosen.map(([, words]) => words)) };
  } };
};

const flag: TopicKind = (random) => {
  const [name, about, yes, no] = pickOf(random, FLAGS);
  return { fields: [{ name, schema: { type: 'boolean', description: about } }], say: (draw) => {
    const value = draw.chance(0.5);
    return { values: { [name]: value }, clause: value ? yes : no };
  } };
};

const contact: TopicKind = (random) => {
  const name = random.pick(['email', 'contact_email', 'reply_to']);
  return { fields: [{ name, schema: text('Address for questions', { format: 'email' }) }], say: (draw) => {
    const address = `${draw.pick(GIVEN_NAMES).toLowerCase()}.${String(10 + draw.whole(90))}@${draw.pick(['example.org', 'example.com', 'example.net'])}`;
    return { values: { [name]: address }, clause: `for questions write to ${address}`, mentions: { [name]: address } };
  } };
};

const link: TopicKind = (random) => {
  const [name, format] = random.pick([['server_address', 'ipv4'], ['gateway', 'ipv4'], ['reference_id', 'uuid']] as const);
  return { fields: [{ name, schema: text(`The ${name.replaceAll('_', ' ')}`, { format }) }], say: (draw) => {
    const hex = (length: number): string => Array.from({ length }, () => draw.whole(16).toString(16)).join('');
    const value = format === 'ipv4' ? [10, 1 + draw.whole(200), draw.whole(250), 1 + draw.whole(250)].join('.')
      : `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
    return { values: { [name]: value }, clause: `${name.replaceAll('_', ' ')} ${value}`, mentions: { [name]: value } };
  } };
};

const code: TopicKind = (random) => {
  const [name, letters, digits] = random.pick([['order_id', 'ORD', 5], ['customer_id', 'CU', 4], ['asset_tag', 'AT', 6], ['case_number', 'C', 7]] as const);
  return { fields: [{ name, schema: text(`Identifier such as ${letters}-${'0'.repeat(digits)}`, { pattern: `^${letters}-\\d{${String(digits)}}$` }) }], say: (draw) => {
    const value = `${letters}-${String(10 ** (digits - 1) + draw.whole(9 * 10 ** (digits - 1)))}`;
    return { values: { [name]: value }, clause: `${name.replaceAll('_', ' ')} ${value}`, mentions: { [name]: value } };
  } };
};

const phone: TopicKind = () => ({
  fields: [{ name: 'phone', schema: text('Phone number, E.164: plus, country code, digits without spaces', { pattern: '^\\+[1-9]\\d{7,14}$' }) }],
  say: (draw) => {
    const parts = [`+${draw.pick(['1', '44', '46', '49', '351'])}`, String(100 + draw.whole(900)), String(1000 + draw.whole(9000)), String(10 + draw.whole(90))];
    return { values: { phone: parts.join('') }, clause: `reachable at ${parts.join(' ')}`, mentions: { phone: parts.join(' ') } };
  },
});

const ADDRESS: JsonObject = {
  type: 'object', description: 'Postal address', required: ['street', 'city', 'postal_code'], additionalProperties: false,
  properties: { street: text('Street and number'), city: text('City'), postal_code: text('Five digits', { pattern: '^\\d{5}$' }) },
};

/** Two addresses, often the same: the second can be copied. */
const addresses: TopicKind = (random) => {
  const [one, other] = random.pick([['billing_address', 'shipping_address'], ['home_address', 'delivery_address']] as const);
  return { fields: [{ name: one, schema: ADDRESS }, { name: other, schema: ADDRESS }], say: (draw) => {
    const first = address(draw);
    const second = draw.chance(0.6) ? first : address(draw);
    const same = second === first ? `${spoken(one)} and ${spoken(other)} are both ${addressInWords(first)}` : `${spoken(one)} ${addressInWords(first)}, ${spoken(other)} ${addressInWords(second)}`;
    return { values: { [one]: first, [other]: second }, clause: same };
  } };
};

const lines: TopicKind = (random) => {
  const name = random.pick(['items', 'lines', 'parts']);
  const item: JsonObject = {
    type: 'object', required: ['name', 'quantity'], additionalProperties: false,
    properties: { name: text('Singular name of the thing'), quantity: { type: 'integer', description: 'How many', minimum: 1, maximum: 99 }, fragile: { type: 'boolean' } },
  };
  const hasCount = random.chance(0.5);
  const counted: readonly Field[] = hasCount ? [{ name: 'line_count', schema: { type: 'integer', description: 'Number of lines' } }] : [];
  const fields: readonly Field[] = [{ name, schema: { type: 'array', description: 'What is needed', items: item, minItems: 1 } }, ...counted];
  return { fields, checks: (at) => (hasCount ? [{ kind: 'list_length', pointer: at(name), compare: 'eq', to: at('line_count') }] : [{ kind: 'unique_by', pointer: at(name), by: '/name' }]), say: (draw) => {
    const drawn = draw.shuffled(THINGS).slice(0, 2 + draw.whole(2)).map((thing) => ({ name: thing, quantity: 2 + draw.whole(40) }));
    return { values: { [name]: drawn, ...(hasCount ? { line_count: drawn.length } : {}) }, clause: `with ${listed(drawn.map((each) => `${String(each.quantity)} ${plural(each.name)}`))}` };
  } };
};

const bounds: TopicKind = (random) => {
  const [name, unit] = random.pick([['temperature', 'degrees'], ['price_range', 'dollars'], ['age_range', 'years']] as const);
  const number: JsonObject = { type: 'number' };
  return {
    fields: [{ name, schema: { type: 'object', description: `Limits in ${unit}`, required: ['min', 'max'], additionalProperties: false, properties: { min: number, max: number } } }],
    checks: (at) => [{ kind: 'lte', a: `${at(name)}/min`, b: `${at(name)}/max` }],
    say: (draw) => {
      const min = draw.whole(60);
      const max = min + 1 + draw.whole(60);
      return { values: { [name]: { min, max } }, clause: `${spoken(name)} between ${String(min)} and ${String(max)} ${unit}` };
    },
  };
};

const seats: TopicKind = () => ({
  fields: ['adults', 'children', 'total_seats'].map((name) => ({ name, schema: { type: 'integer', description: `Number of ${spoken(name)}`, minimum: 0 } })),
  checks: (at) => [{ kind: 'sum', pointers: [at('adults'), at('children')], total: at('total_seats') }],
  say: (draw) => {
    const [adults, children] = [1 + draw.whole(8), 1 + draw.whole(6)];
    return { values: { adults, children, total_seats: adults + children }, clause: `for ${String(adults)} adults and ${String(children)} children` };
  },
});

/** Two ways to say one thing, of which a call takes one: `exactly_one_of` or `excludes` holds them apart. */
const eitherOr: TopicKind = (random) => {
  const [[one, aboutOne, draws], [other, aboutOther, drawsOther]] = random.pick([
    [['account_number', 'Account to charge', digits], ['voucher_code', 'Voucher to redeem', capitals]], [['member_number', 'For members', digits], ['guest_name', 'For all others: first and last name', person]],
    [['shelf', 'Where it stands', capitals], ['pallet', 'If it stands on a pallet', digits]], [['pickup_point', 'Where it is fetched', (draw) => pickOf(draw, STREETS)], ['courier_code', 'If it is brought', capitals]],
  ] as const satisfies readonly (readonly [EitherField, EitherField])[]);
  const kind = random.pick(['exactly_one_of', 'excludes']);
  const check = (at: (name: string) => string): JsonValue => (kind === 'excludes' ? { kind, pointer: at(one), excluded: [at(other)] } : { kind, pointers: [at(one), at(other)] });
  const field = (name: string, about: string): Field => ({ name, schema: text(about), isOptional: true });
  return { fields: [field(one, aboutOne), field(other, aboutOther)], checks: (at) => [check(at)], say: (draw) => {
    const [name, value] = draw.chance(0.5) ? [one, draws(draw)] : [other, drawsOther(draw)];
    return { values: { [name]: value }, clause: `${spoken(name)} ${value}`, mentions: { [name]: value } };
  } };
};
type EitherField = readonly [name: string, about: string, draws: (draw: Random) => string];

function digits(draw: Random): string {
  return String(100_000 + draw.whole(900_000));
}

function capitals(draw: Random): string {
  return `${draw.pick(['KR', 'LM', 'TQ', 'VX'])}${String(10 + draw.whole(90))}`;
}

/** Tagged branches, and a number or a word. */
const union: TopicKind = (random) => {
  if (random.chance(0.5)) {
    const name = random.pick(['limit', 'timeout', 'retries']);
    return { fields: [{ name, schema: { description: 'A number, or "auto"', anyOf: [{ type: 'integer', minimum: 1, maximum: 500 }, { type: 'string', enum: ['auto', 'none'] }] } }], say: (draw) => {
      const value = draw.chance(0.7) ? 1 + draw.whole(500) : draw.pick(['auto', 'none']);
      return { values: { [name]: value }, clause: `${name} ${String(value)}`, mentions: { [name]: String(value) } };
    } };
  }
  const branch = (kind: string, field: string, schema: JsonObject): JsonObject => ({
    type: 'object', required: ['kind', field], additionalProperties: false, properties: { kind: { const: kind }, [field]: schema },
  });
  const branches = [branch('email', 'address', text('Email address', { format: 'email' })), branch('desk', 'number', { type: 'integer', minimum: 1, maximum: 60 })];
  const schema: JsonObject = { description: 'How to reach the customer', oneOf: branches };
  return { fields: [{ name: 'reach_by', schema }], say: (draw): Said => {
    const number = 1 + draw.whole(60);
    const mail = `${draw.pick(GIVEN_NAMES).toLowerCase()}@example.org`;
    return draw.chance(0.5) ? { values: { reach_by: { kind: 'email', address: mail } }, clause: `to be reached by email at ${mail}` }
      : { values: { reach_by: { kind: 'desk', number } }, clause: `to be reached at desk ${String(number)}` };
  } };
};

const version: TopicKind = (random) => {
  const [name, value] = random.pick([['api_version', 'v3'], ['mode', 'live'], ['schema', '2026-01']] as const);
  return { fields: [{ name, schema: { const: value, description: `Always ${value}` } }], say: () => ({ values: { [name]: value }, clause: '' }) };
};

const note: TopicKind = (random) => {
  const name = random.pick(['note', 'title', 'label']);
  const maxLength = random.pick([24, 40, 60]);
  return { fields: [{ name, schema: text(`Short ${name}`, { minLength: 3, maxLength }) }], say: (draw) => {
    const words = `${draw.pick(['spare', 'blue', 'old', 'second', 'heavy'])} ${draw.pick(THINGS)} ${draw.pick(['by the door', 'for stage two', 'as agreed', ''])}`.trim().slice(0, maxLength);
    return { values: { [name]: words }, clause: `${name} "${words}"`, mentions: { [name]: words } };
  } };
};

/** Every kind, with how often it is drawn. */
export const TOPICS: readonly TopicKind[] = [
  cityState, cityState, fromTo, people, date, date, period, clock, moment, count, count, money, share, numbers, numbers, nameList, nameList, numberList,
  choice, choice, choice, choice, choice, flag, contact, link, code, code, phone, phone, addresses, addresses, lines, lines, bounds, seats, eitherOr, eitherOr, eitherOr, union, union, union, union, union, version, version, note, note, note,
  ...IDENTIFIER_TOPICS, ...IDENTIFIER_TOPICS, ...FORMAT_TOPICS, ...FORMAT_TOPICS, ...NUMBER_TOPICS, ...LIST_TOPICS, ...LIST_TOPICS,
];
