/**
 * Schema-first cases: a tool is drawn as a few topics, some of them inside objects, and calls of it with the request that asks for each. Everything is
 * ours and seeded; the audit looks at it like at any other data.
 */
import { ROOT_POINTER, childOf, type JsonObject, type JsonPointer, type JsonValue } from '@contractrl/core';
import { openRandom, type Random } from '../../random.ts';
import type { DataSource, SourceRow } from '../source.ts';
import type { Said, Topic } from './field.ts';
import { phrase } from './phrase.ts';
import { asSentence } from './say.ts';
import { TOPICS } from './topics.ts';
import { MODIFIERS, NOUNS, REMARKS, VERBS } from './words.ts';

export const SYNTHETIC = 'synthetic';
/** Calls of one tool: a contract costs more to load than a call to draw. */
const CALLS_A_TOOL = 4;

/** `toolCount` tools with {@link CALLS_A_TOOL} calls each. O(toolCount). */
export function syntheticSource(seed: number, toolCount: number): DataSource {
  const rows = Array.from({ length: toolCount }, (_, index) => toolRows(openRandom(seed, `tool:${String(index)}`), seed, index)).flat();
  return { name: SYNTHETIC, licence: 'Apache-2.0', attribution: 'templates of this package', rows };
}

/** A topic, and the objects around its fields. */
interface Placed {
  readonly topic: Topic;
  readonly path: readonly string[];
  /** What no call says is optional. */
  readonly isAsked: boolean;
}

const WRAPPERS = ['details', 'options', 'request', 'spec', 'settings', 'profile'] as const;

function toolRows(random: Random, seed: number, index: number): readonly SourceRow[] {
  const [verb, modifier, noun] = [random.pick(VERBS), random.pick(MODIFIERS), random.pick(NOUNS)];
  const name = nameOf([verb, modifier, noun], random);
  const topics = drawTopics(random);
  const placed = topics.filter(({ isAsked }) => isAsked);
  const tool = { name, description: `${verb.slice(0, 1).toUpperCase()}${verb.slice(1)} ${withArticle(modifier)} ${noun}.`, parameters: schemaOf(topics, random) };
  const crossField = placed.flatMap(({ topic, path }) => topic.checks?.((field) => pointerOf(path, field)) ?? []);
  return Array.from({ length: CALLS_A_TOOL }, (_, call): SourceRow => {
    const draw = openRandom(seed, `call:${String(index)}:${String(call)}`);
    const said = placed.map(({ topic, path }) => ({ path, ...topic.say(draw) }));
    const worded = draw.shuffled(said.filter(({ clause }) => clause !== ''));
    return {
      id: `${String(index)}-${String(call)}`, tool, crossField, request: phrase(`${verb} ${withArticle(modifier)} ${noun}`, worded, asideOf(placed, said, draw), draw),
      arguments: argumentsOf(said), mentions: new Map(said.flatMap(({ path, mentions = {} }) => Object.entries(mentions).map(([field, words]) => [pointerOf(path, field), words] as const))),
    };
  });
}

function withArticle(word: string): string {
  return `${/^[aeiou]/u.test(word) ? 'an' : 'a'} ${word}`;
}

function nameOf(words: readonly [string, string, string], random: Random): string {
  const [verb, ...rest] = words;
  return random.chance(0.6) ? words.join('_') : verb + rest.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
}

/** Two to four topics without a field in common, at most one of them nested, one in four of those twice; in one of three tools another one that no call says. */
function drawTopics(random: Random): readonly Placed[] {
  const topics: Topic[] = [];
  const names = new Set<string>();
  const asked = 2 + random.whole(3);
  const wanted = asked + (random.chance(1 / 3) ? 1 : 0);
  for (const kind of random.shuffled(TOPICS)) {
    const topic = kind(random);
    if (topics.length === wanted) break;
    if (topic.fields.some(({ name }) => names.has(name))) continue;
    topics.push(topic);
    topic.fields.forEach(({ name }) => names.add(name));
  }
  const nested = random.chance(0.4) ? random.whole(Math.min(asked, topics.length)) : -1;
  const path = random.shuffled(WRAPPERS).slice(0, random.chance(0.25) ? 2 : 1);
  return topics.map((topic, index) => ({ topic, path: index === nested ? path : [], isAsked: index < asked }));
}

function pointerOf(path: readonly string[], field: string): JsonPointer {
  return [...path, field].reduce(childOf, ROOT_POINTER);
}

function schemaOf(topics: readonly Placed[], random: Random): JsonObject {
  const members = topics.map(({ topic: { fields }, path, isAsked }) => path.reduceRight<{ readonly properties: JsonObject; readonly required: readonly string[] }>(
    ({ properties, required }, wrapper) => ({ properties: { [wrapper]: { type: 'object', properties, required, additionalProperties: false } }, required: [wrapper] }),
    {
      properties: Object.fromEntries(fields.map(({ name, schema }) => [name, withRemarks(schema, random)])),
      required: isAsked ? fields.filter(({ isOptional }) => isOptional !== true).map(({ name }) => name) : [],
    },
  ));
  return {
    type: 'object', properties: Object.assign({}, ...random.shuffled(members).map(({ properties }) => properties)) as JsonObject, required: members.flatMap(({ required }) => required),
    additionalProperties: false,
  };
}

/** One description in seven says more than what the value is. */
function withRemarks(schema: JsonObject, random: Random): JsonObject {
  const { description } = schema;
  if (typeof description !== 'string' || !random.chance(1 / 7)) return schema;
  const about = asSentence(description);
  const [first, second] = random.shuffled(REMARKS);
  return { ...schema, description: random.pick([`${about} ${first!}`, `${first!} ${about}`, `${first!} ${about} ${second!}`]) };
}

function argumentsOf(said: readonly (Said & { readonly path: readonly string[] })[]): JsonObject {
  return Object.assign({}, ...said.map(({ values, path }) => path.reduceRight<JsonValue>((inner, wrapper) => ({ [wrapper]: inner }), values))) as JsonObject;
}

/** In one of six calls the request speaks of another thing of the same kind too. */
function asideOf(placed: readonly Placed[], said: readonly Said[], draw: Random): string | undefined {
  const { clause } = draw.pickAny(placed)!.topic.say(draw);
  const words = said.flatMap(({ mentions = {} }) => Object.values(mentions));
  const isOther = clause !== '' && !said.some((each) => each.clause === clause) && !words.some((each) => clause.toLowerCase().includes(each.toLowerCase()));
  return isOther && draw.chance(1 / 6) ? clause : undefined;
}
