/** Topics of lists in prose: two to five elements, said with commas, "and", semicolons or on lines of their own; of texts, numbers, objects and points. */
import type { JsonObject, JsonValue } from '@contractrl/core';
import type { Random } from '../../random.ts';
import type { TopicKind } from './field.ts';
import { listed, oneField, person, pickOf, plural, text } from './say.ts';
import { CITIES, DISHES, GIVEN_NAMES, SUBJECTS, THINGS } from './words.ts';

/** The elements one after the other, as people join them. */
function joined(words: readonly string[], draw: Random): string {
  const [last, first] = [words.at(-1)!, words.slice(0, -1)];
  if (first.length === 0) return last;
  return draw.pick([
    listed(words), `${first.join(', ')}, and ${last}`, words.join(' and '), words.join(', '), words.join('; '), `\n- ${words.join('\n- ')}\n`, `${first.join(', ')} as well as ${last}`, `first ${first.join(', then ')}, finally ${last}`,
    `${first.join(', ')} & ${last}`,
  ]);
}

const size = (draw: Random): number => draw.pick([1, 2, 2, 2, 3, 3, 3, 4, 4, 5]);

const LISTS: readonly (readonly [name: string, about: string, lead: string, words: readonly string[]])[] = [
  ['ingredients', 'What goes into it', 'made of', DISHES], ['dishes', 'What is served', 'with', DISHES], ['topics', 'What it is about', 'about', SUBJECTS], ['subjects', 'Subjects that are taught', 'covering', SUBJECTS],
  ['cities', 'Cities on the way', 'through', CITIES.map(([city]) => city)], ['stops', 'Where it stops', 'stopping in', CITIES.map(([city]) => city)], ['members', 'First names', 'together with', GIVEN_NAMES],
  ['keywords', 'Words to look for', 'with the keywords', THINGS], ['equipment', 'What has to be brought', 'bringing', THINGS], ['excluded', 'What must not be in it', 'but without', DISHES],
];

const words: TopicKind = (random) => {
  const [name, about, lead, all] = pickOf(random, LISTS);
  const minItems = random.pick([0, 0, 1, 2]);
  return oneField(name, { type: 'array', description: about, items: { type: 'string' }, ...(minItems === 0 ? {} : { minItems }) }, (draw) => {
    const value = draw.shuffled(all).slice(0, Math.max(minItems, size(draw)));
    return { value, clause: `${lead} ${joined(value, draw)}` };
  });
};

const numbers: TopicKind = (random) => {
  const [name, about] = random.pick([['values', 'All values, in their order'], ['marks', 'Marks of the pupils'], ['samples', 'Measured samples'], ['sizes', 'Sizes on order'], ['offsets', 'Offsets, below zero too'], ['years', 'The years to look at']] as const);
  const type = name === 'samples' || name === 'values' ? 'number' : 'integer';
  return oneField(name, { type: 'array', description: about, items: { type } }, (draw) => {
    const one = (): number => {
      const whole = name === 'years' ? 1980 + draw.whole(50) : 1 + draw.whole(200);
      return name === 'offsets' && draw.chance(0.4) ? -whole : type === 'number' && draw.chance(0.4) ? whole / 4 : whole;
    };
    const value = Array.from({ length: Math.max(2, size(draw)) }, one);
    return { value, clause: `${draw.pick(['with', 'for', 'using'])} the ${name} ${joined(value.map(String), draw)}` };
  });
};

/** Lists of objects with two members each, in the order of the request. */
const OBJECTS: readonly { readonly name: string; readonly about: string; readonly item: JsonObject; readonly say: (draw: Random) => readonly [JsonValue, string] }[] = [
  { name: 'legs', about: 'Parts of the journey', item: objectOf({ city: text('Where'), nights: { type: 'integer', description: 'How long' } }), say: (draw) => {
    const [city, nights] = [pickOf(draw, CITIES)[0], 2 + draw.whole(8)];
    return [{ city, nights }, `${String(nights)} nights in ${city}`];
  } },
  { name: 'guests', about: 'Who comes', item: objectOf({ name: text('First and last name'), age: { type: 'integer', description: 'In years' } }), say: (draw) => {
    const [name, age] = [person(draw), 3 + draw.whole(80)];
    return [{ name, age }, `${name} (${String(age)})`];
  } },
  { name: 'basket', about: 'What is bought', item: objectOf({ product: text('Singular'), count: { type: 'integer', description: 'How many', minimum: 1 } }), say: (draw) => {
    const [product, count] = [pickOf(draw, THINGS), 2 + draw.whole(30)];
    return [{ product, count }, `${String(count)} ${plural(product)}`];
  } },
  { name: 'expenses', about: 'Each with its amount in dollars', item: objectOf({ what: text('In one word'), amount: { type: 'number', description: 'Dollars' } }), say: (draw) => {
    const [what, amount] = [pickOf(draw, THINGS), (100 + draw.whole(9000)) / 100];
    return [{ what, amount }, draw.pick([`$${String(amount)} for the ${what}`, `the ${what} at $${String(amount)}`])];
  } },
  { name: 'points', about: 'Corners of the area', item: objectOf({ x: { type: 'number' }, y: { type: 'number' } }), say: (draw) => {
    const [x, y] = [draw.whole(80) - 20, draw.whole(80) - 20];
    return [{ x, y }, `(${String(x)}, ${String(y)})`];
  } },
];

function objectOf(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

const objects: TopicKind = (random) => {
  const { name, about, item, say } = pickOf(random, OBJECTS);
  return oneField(name, { type: 'array', description: about, items: item, minItems: 1 }, (draw) => {
    const drawn = Array.from({ length: 1 + draw.whole(3) }, () => say(draw));
    return { value: drawn.map(([value]) => value), clause: `${name}: ${joined(drawn.map(([, clause]) => clause), draw)}` };
  });
};

/** Lists inside lists: pairs of numbers. */
const pairs: TopicKind = (random) => {
  const [name, about] = random.pick([['coordinates', 'Pairs of x and y'], ['intervals', 'Pairs of start and end'], ['matrix', 'Rows of numbers']] as const);
  return oneField(name, { type: 'array', description: about, items: { type: 'array', items: { type: 'integer' } } }, (draw) => {
    const value = Array.from({ length: 2 + draw.whole(2) }, () => [draw.whole(30), 30 + draw.whole(30)]);
    return { value, clause: `with the ${name} ${joined(value.map(([a, b]) => (name === 'intervals' ? `${String(a)} to ${String(b)}` : `(${String(a)}, ${String(b)})`)), draw)}` };
  });
};

export const LIST_TOPICS: readonly TopicKind[] = [words, words, words, words, numbers, numbers, objects, objects, pairs];
