/**
 * Calls drawn from nothing but a tool's schema, with requests that say them: what there is to train on before anything was recorded. Where members of the tool
 * are those of a topic that the synthetic data know (a day in words, a choice asked for otherwise, a city with its state), they are said as there. It is
 * practice in the tool's names, types and forms, not in how its users speak: that is in traces alone.
 */
import { childOf, err, isJsonObject, ok, ROOT_POINTER, validateArguments, type Contract, type JsonObject, type Result } from '@contractrl/core';
import { readSchemaNode } from '@contractrl/core/schema';
import type { Topic } from '../data/synthetic/field.ts';
import { SYNTHETIC } from '../data/synthetic/synthetic-source.ts';
import { TOPICS } from '../data/synthetic/topics.ts';
import type { LegalCall } from '../legal-call.ts';
import { openRandom, type Random } from '../random.ts';
import { drawMembers, type ObjectNode } from './draw-value.ts';
import { sayCall, type Clause } from './say-call.ts';

export type DrawIssue =
  /** The mask cannot constrain it, and then what it allows is not known here. */
  | { readonly code: 'train/schema-not-drawn'; readonly keyword: string; readonly keywordLocation: string }
  /** Takes no arguments, or the judge refused every draw. */
  | { readonly code: 'train/nothing-drawn' };

/** Draws of one call before it is given up, and kinds of topics tried for a tool. */
const MAX_TRIES = 8;
const TOPIC_ROUNDS = 12;
/** Of the calls that use a topic that fits. */
const TOPIC_SHARE = 0.6;

/** At most `count` legal calls of one tool, no two with the same arguments; fewer where its schema has no more to give. O(count × judge). */
export function drawCalls(contract: Contract, count: number, seed: number): Result<readonly LegalCall[], DrawIssue> {
  const { name } = contract.document.tool;
  const read = readSchemaNode(contract.schema, contract.schema, ROOT_POINTER);
  if (!read.ok) return err({ code: 'train/schema-not-drawn', keyword: read.error.keyword, keywordLocation: read.error.keywordLocation });
  const objects = (read.value.kind === 'union' ? read.value.branches : [read.value]).filter((node): node is ObjectNode => node.kind === 'object' && node.members.length > 0);
  const topics = topicsOf(contract, objects, openRandom(seed, `topics:${name}`));
  const calls = new Map<string, LegalCall>();
  for (let number = 0; number < count * 2 && calls.size < count; number += 1) {
    const call = drawCall(contract, objects, topics, openRandom(seed, `drawn:${name}:${String(number)}`), number);
    const key = call === undefined ? undefined : JSON.stringify(call.arguments);
    if (call !== undefined && key !== undefined && !calls.has(key)) calls.set(key, call);
  }
  return calls.size === 0 ? err({ code: 'train/nothing-drawn' }) : ok([...calls.values()]);
}

function drawCall(contract: Contract, objects: readonly ObjectNode[], topics: readonly Topic[], random: Random, number: number): LegalCall | undefined {
  const { name } = contract.document.tool;
  for (let tried = 0; tried < MAX_TRIES; tried += 1) {
    const object = random.pickAny(objects);
    if (object === undefined) return undefined;
    const { values, clauses } = random.chance(TOPIC_SHARE) ? sayTopics(topics, random) : { values: {}, clauses: [] };
    const args = drawMembers(object, random, values);
    if (args === undefined || Object.keys(args).length === 0 || !isLegal(contract, args)) continue;
    const said = sayCall(name, args, random, clauses);
    return { id: `${SYNTHETIC}:${name}-${String(number)}`, source: SYNTHETIC, request: said.request, contract, arguments: args, mentions: said.mentions };
  }
  return undefined;
}

function isLegal(contract: Contract, args: JsonObject): boolean {
  return validateArguments(contract, JSON.stringify(args)).report.kind === 'valid';
}

/** Topics whose members are all members of the tool, and whose values its schema takes. */
function topicsOf(contract: Contract, objects: readonly ObjectNode[], random: Random): readonly Topic[] {
  const found = new Map<string, Topic>();
  for (let round = 0; round < TOPIC_ROUNDS; round += 1) {
    for (const kind of TOPICS) {
      const topic = kind(random);
      const key = topic.fields.map(({ name }) => name).sort().join();
      if (!found.has(key) && objects.some((object) => takes(contract, object, topic, random))) found.set(key, topic);
    }
  }
  return [...found.values()];
}

function takes(contract: Contract, object: ObjectNode, topic: Topic, random: Random): boolean {
  if (!topic.fields.every(({ name }) => object.members.some((member) => member.name === name))) return false;
  // a text that fits every schema says nothing of whether it is what the member means: the kinds must agree too
  const isAlike = topic.fields.every(({ name, schema }) => isJsonObject(contract.schema['properties']) && typeAt(contract.schema['properties'], name) === JSON.stringify(schema['type'] ?? null));
  const args = isAlike ? drawMembers(object, random, topic.say(random).values) : undefined;
  return args !== undefined && isLegal(contract, args);
}

function typeAt(properties: JsonObject, name: string): string {
  const member = properties[name];
  return JSON.stringify(isJsonObject(member) ? member['type'] ?? null : null);
}

/** As many topics as have no member in common. */
function sayTopics(topics: readonly Topic[], random: Random): { readonly values: JsonObject; readonly clauses: readonly Clause[] } {
  let values: JsonObject = {};
  const clauses: Clause[] = [];
  for (const topic of random.shuffled(topics)) {
    if (topic.fields.some(({ name }) => Object.hasOwn(values, name))) continue;
    const said = topic.say(random);
    values = { ...values, ...said.values };
    const mentions = new Map(Object.entries(said.mentions ?? {}).map(([field, words]) => [childOf(ROOT_POINTER, field), words]));
    clauses.push({ names: Object.keys(said.values), words: said.clause, mentions });
  }
  return { values, clauses };
}
