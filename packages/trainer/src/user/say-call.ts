/** A call as a request that asks for it: what is done from the name of the tool, and every value in the words a person would type. */
import { childOf, isJsonArray, isJsonObject, ROOT_POINTER, type JsonObject, type JsonPointer, type JsonValue } from '@contractrl/core';
import { wordsOf } from '../data/sentence.ts';
import { OPENINGS } from '../data/synthetic/words.ts';
import type { Random } from '../random.ts';

export interface SaidCall {
  readonly request: string;
  /** The words that say one scalar and nothing else, by its place. */
  readonly mentions: ReadonlyMap<JsonPointer, string>;
}

/** `clauses` say the top-level members that they name, in place of the plain "name value". */
export function sayCall(toolName: string, args: JsonObject, random: Random, clauses: readonly Clause[] = []): SaidCall {
  const mentions = new Map<JsonPointer, string>(clauses.flatMap((clause) => [...clause.mentions]));
  const said = new Set(clauses.flatMap(({ names }) => names));
  const rest = Object.entries(args).filter(([name]) => !said.has(name)).map(([name, value]) => sayMember(name, value, childOf(ROOT_POINTER, name), mentions));
  const parts = random.shuffled([...rest, ...clauses.map(({ words }) => words)].filter((words) => words !== ''));
  const action = wordsOf(toolName);
  const plain = `${action.slice(0, 1).toUpperCase()}${action.slice(1)}`;
  const request = random.pick([`${random.pick(OPENINGS)} ${action}, ${parts.join(', ')}.`, `${plain}: ${parts.join(', ')}.`, `I’d like to ${action}: ${parts.join(', ')}.`]);
  return { request, mentions };
}

export interface Clause {
  readonly names: readonly string[];
  readonly words: string;
  readonly mentions: ReadonlyMap<JsonPointer, string>;
}

function sayMember(name: string, value: JsonValue, pointer: JsonPointer, mentions: Map<JsonPointer, string>): string {
  return typeof value === 'boolean' ? `${value ? 'with' : 'without'} ${wordsOf(name)}` : `${wordsOf(name)} ${sayValue(value, pointer, mentions)}`;
}

function sayValue(value: JsonValue, pointer: JsonPointer, mentions: Map<JsonPointer, string>): string {
  if (isJsonArray(value)) {
    const elements = value.map((element, index) => sayValue(element, childOf(pointer, String(index)), mentions));
    return elements.length < 2 ? elements.join('') : `${elements.slice(0, -1).join(', ')} and ${elements.at(-1)!}`;
  }
  if (isJsonObject(value)) return `(${Object.entries(value).map(([name, member]) => sayMember(name, member, childOf(pointer, name), mentions)).join(', ')})`;
  const words = String(value);
  mentions.set(pointer, words);
  return words;
}
