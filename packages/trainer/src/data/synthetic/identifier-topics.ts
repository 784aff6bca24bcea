/**
 * Topics of identifiers whose description shows an example value. The right value is another one, in the request or in an earlier turn, and where it stands
 * nowhere the right answer is to decline: a policy that copies the example is wrong each time.
 */
import type { JsonObject } from '@contractrl/core';
import type { Random } from '../../random.ts';
import type { TopicKind } from './field.ts';
import { asSentence, listed, oneField, person, pickOf, spoken, text, withExample } from './say.ts';
import { GIVEN_NAMES } from './words.ts';

/** `prefix` stands as it is; of `body` each `0` is a digit, each `a` a small and each `A` a capital letter. */
interface Shape {
  readonly name: string;
  readonly about: string;
  readonly prefix: string;
  readonly body: string;
}

const SHAPES: readonly Shape[] = [
  { name: 'order_id', about: 'Identifier of the order', prefix: '#K', body: '000000' }, { name: 'order_number', about: 'The order it concerns', prefix: '#', body: '00000' },
  { name: 'account_id', about: 'The account', prefix: 'acct_', body: 'aaaa00' }, { name: 'wallet_id', about: 'Wallet that it is paid from', prefix: 'wallet_', body: '0000000' },
  { name: 'voucher_id', about: 'The voucher to charge', prefix: 'voucher_card_', body: '000000' }, { name: 'sku', about: 'Stock keeping unit', prefix: 'SK-', body: 'AA-0000' },
  { name: 'tracking_code', about: 'Code on the parcel', prefix: '', body: 'AA000000000' }, { name: 'member_id', about: 'Who it is for', prefix: 'mbr_', body: 'aaa_0000' },
  { name: 'ticket_id', about: 'The ticket', prefix: 'TCK-', body: '0000' }, { name: 'booking_reference', about: 'Reference of the booking', prefix: '', body: 'AAAAAA' },
  { name: 'room_code', about: 'Code of the room', prefix: '', body: 'A00' }, { name: 'item_id', about: 'The item', prefix: '', body: '0000000000' },
  { name: 'train_number', about: 'Number of the train', prefix: 'IC', body: '000' }, { name: 'project_key', about: 'Key of the project', prefix: '', body: 'AAA-00' },
  { name: 'invoice_number', about: 'Number on the invoice', prefix: 'INV/2026/', body: '0000' }, { name: 'device_serial', about: 'Serial number of the device', prefix: 'SN', body: '00AA000' },
];

const DIGITS = '0123456789';
const SMALL = 'abcdefghijklmnopqrstuvwxyz';

function bodyOf(body: string, random: Random): string {
  return body.replaceAll(/[0aA]/gu, (kind) => {
    const letter = SMALL[random.whole(SMALL.length)]!;
    return kind === '0' ? DIGITS[random.whole(DIGITS.length)]! : kind === 'a' ? letter : letter.toUpperCase();
  });
}

/** Half of the examples are made of zeros, as in many manuals; the others could be real. */
function exampleOf({ prefix, body }: Shape, random: Random): string {
  return prefix + (random.chance(0.5) ? body.replaceAll('a', 'x').replaceAll('A', 'X') : bodyOf(body, random));
}

function otherThan(example: string, draw: () => string): string {
  const drawn = draw();
  return drawn === example ? otherThan(example, draw) : drawn;
}

function patternOf({ prefix, body }: Shape): JsonObject {
  const classes: Readonly<Record<string, string>> = { 0: '\\d', a: '[a-z]', A: '[A-Z]' };
  return { pattern: `^${prefix}${Array.from(body, (character) => classes[character] ?? character).join('')}$` };
}

/** An identifier that the request says in full or, where the description tells the prefix, without it. */
const identifier: TopicKind = (random) => {
  const shape = pickOf(random, SHAPES);
  const { name, about, prefix, body } = shape;
  const example = exampleOf(shape, random);
  const isTold = prefix !== '' && random.chance(0.5);
  const shown = withExample(about, example, random);
  const description = isTold ? `${asSentence(shown)} Always begins with "${prefix}".` : shown;
  return oneField(name, text(description, random.chance(0.4) ? patternOf(shape) : {}), (draw) => {
    const value = otherThan(example, () => prefix + bodyOf(body, draw));
    const words = isTold && draw.chance(0.4) ? value.slice(prefix.length) : value;
    return { value, clause: draw.pick([`${spoken(name)} ${words}`, `my ${spoken(name)} is ${words}`, `under ${words}`]), mention: words };
  });
};

/** Two of one shape: the old and the new one. */
const exchange: TopicKind = (random) => {
  const [old, fresh] = random.pick([['item_id', 'new_item_id'], ['seat_code', 'new_seat_code'], ['old_part', 'new_part'], ['source_bin', 'target_bin']] as const);
  const body = random.pick(['00000000', 'AA-000', 'A000']);
  const [exampleA, exampleB] = [bodyOf(body, random), bodyOf(body, random)];
  const about = (which: string, example: string): JsonObject => text(withExample(`The one ${which}`, example, random));
  return { fields: [{ name: old, schema: about('that is given back', exampleA) }, { name: fresh, schema: about('that takes its place', exampleB) }], say: (draw) => {
    const [a, b] = [otherThan(exampleA, () => bodyOf(body, draw)), otherThan(exampleB, () => bodyOf(body, draw))];
    const clause = draw.pick([`exchanging ${a} for ${b}`, `with ${b} instead of ${a}`, `swapping ${a} with ${b}`, `where I return ${a} and take ${b}`]);
    return { values: { [old]: a, [fresh]: b }, clause, mentions: { [old]: a, [fresh]: b } };
  } };
};

/** Several in one list. */
const identifierList: TopicKind = (random) => {
  const shape = random.pick([
    { name: 'item_ids', about: 'Every item, each an identifier', prefix: '', body: '00000000' }, { name: 'ticket_ids', about: 'All tickets', prefix: 'TCK-', body: '0000' },
    { name: 'skus', about: 'Stock keeping units', prefix: 'SK-', body: 'AA-00' },
  ] as const);
  const items: JsonObject = { type: 'string', ...(random.chance(0.4) ? patternOf(shape) : {}) };
  const schema: JsonObject = { type: 'array', description: withExample(shape.about, exampleOf(shape, random), random), items, minItems: 1 };
  return oneField(shape.name, schema, (draw) => {
    const value = Array.from({ length: 1 + draw.whole(4) }, () => shape.prefix + bodyOf(shape.body, draw));
    return { value, clause: draw.pick([`for ${spoken(shape.name)} ${listed(value)}`, `it concerns ${listed(value)}`]) };
  });
};

/** Who somebody is, by an account made of the name. */
const login: TopicKind = (random) => {
  const name = random.pick(['user_id', 'login', 'username', 'owner']);
  const accountOf = (whole: string, number: number): string => `${whole.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase().replace(' ', '.')}.${String(number)}`;
  const example = accountOf(person(random), 10 + random.whole(90));
  return oneField(name, text(withExample('Account of the person', example, random)), (draw) => {
    const who = person(draw);
    const value = otherThan(example, () => accountOf(who, 10 + draw.whole(90)));
    return { value, clause: draw.pick([`I am ${who} and my ${spoken(name)} is ${value}`, `${spoken(name)} ${value}`, `for ${who} (${value})`]), mention: value };
  });
};

/** How somebody is reached, with an example that looks like any other value. */
const reach: TopicKind = (random) => {
  const [name, about, kind] = random.pick([
    ['email', 'Mail address of the customer', 'mail'], ['customer_email', 'Where the receipt goes', 'mail'], ['phone_number', 'Number to call', 'phone'], ['callback_number', 'Phone for questions', 'phone'],
    ['website', 'Page of the customer', 'page'], ['document_url', 'Link to the document', 'page'], ['device_uuid', 'The device', 'uuid'], ['session_id', 'The session', 'uuid'],
  ] as const);
  const valueOf = (draw: Random): string => {
    const who = pickOf(draw, GIVEN_NAMES).toLowerCase();
    switch (kind) {
      case 'mail': return `${who}${String(draw.whole(90))}@${draw.pick(['example.org', 'example.com', 'mail.example'])}`;
      case 'phone': return `${draw.pick(['', '212-', '(503) '])}555-01${bodyOf('00', draw)}`;
      case 'page': return `https://${who}.example/${bodyOf('aaa00', draw)}`;
      case 'uuid': return `${bodyOf('00a0aa00', draw)}-${bodyOf('0aa0', draw)}-4${bodyOf('000', draw)}-a${bodyOf('0a0', draw)}-${bodyOf('000000000000', draw)}`.replaceAll(/[g-z]/gu, 'c');
    }
  };
  const example = valueOf(random);
  return oneField(name, text(withExample(about, example, random)), (draw) => {
    const value = otherThan(example, () => valueOf(draw));
    return { value, clause: draw.pick([`${spoken(name)} ${value}`, `the ${spoken(name)} is ${value}`]), mention: value };
  });
};

/** Names of people and things in texts without any form, with an example. */
const named: TopicKind = (random) => {
  const [name, about, draws] = random.pick([
    ['full_name', 'First and last name', person], ['passenger', 'Name of the passenger as in the passport', person], ['team', 'Name of the team', (draw: Random): string => `Team ${pickOf(draw, GIVEN_NAMES)}`],
    ['contact_person', 'Who to talk to', person],
  ] as const);
  const example = draws(random);
  return oneField(name, text(withExample(about, example, random)), (draw) => {
    const value = otherThan(example, () => draws(draw));
    return { value, clause: draw.pick([`${spoken(name)} ${value}`, `for ${value}`]), mention: value };
  });
};

export const IDENTIFIER_TOPICS: readonly TopicKind[] = [identifier, identifier, identifier, identifier, exchange, exchange, identifierList, login, reach, reach, named];
