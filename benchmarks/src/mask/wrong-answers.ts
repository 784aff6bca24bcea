/**
 * Texts that a peer was seen to answer wrongly (`what` says how), asked again in every run: what the peer answers, what our value mask
 * answers, and what Ajv says of the value that a strict JSON reader finds in the text. Our language has one spelling a value, so a valid
 * text that is not the canonical one is refused by design; its canonical spelling is asked as well.
 */
import { createJudge, parseJson, type JsonObject, type JsonValue } from '@contractrl/core';
import { contractrlJudge } from './peers/contractrl.ts';
import type { EngineName, TextJudge } from './peers/engine.ts';
import { structuredOutputJudge } from './peers/structured-output.ts';
import { xgrammarJudge } from './peers/xgrammar.ts';

type Peer = Exclude<EngineName, 'contractrl'>;

interface Question {
  readonly peer: Peer;
  readonly what: string;
  readonly schema: JsonObject;
  readonly text: string;
}

type TextAnswer = Awaited<ReturnType<TextJudge>>;

export interface WrongAnswer extends Question {
  readonly peerSays: TextAnswer;
  readonly weSay: TextAnswer;
  /** Of the same value in its canonical spelling; absent where the text is no JSON value, or canonical as it stands. */
  readonly weSayCanonically?: TextAnswer;
  readonly judgeSays: 'valid' | 'invalid' | 'no strict JSON';
}

const object = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({ type: 'object', properties, required: [...required], additionalProperties: false });
const both = (what: string, schema: JsonObject, text: string): readonly Question[] => [{ peer: 'web-xgrammar', what, schema, text }, { peer: 'structured-output', what, schema, text }];
const xgrammar = (what: string, schema: JsonObject, ...texts: readonly string[]): readonly Question[] => texts.map((text) => ({ peer: 'web-xgrammar', what, schema, text }));
const structured = (what: string, schema: JsonObject, ...texts: readonly string[]): readonly Question[] => texts.map((text) => ({ peer: 'structured-output', what, schema, text }));

const QUESTIONS: readonly Question[] = [
  ...xgrammar('a slash in a literal', { const: '/city' }, '"/city"'),
  ...xgrammar('a decimal in an enum', { enum: [0.07] }, '0.07', '0.070000000000000007'),
  ...xgrammar('bounds of a number', { type: 'number', minimum: 0, maximum: 1 }, '1.5', '5e-1'),
  ...xgrammar('an escape under maxLength', { type: 'string', maxLength: 8 }, '"a\\nb"', '"a\u0001b"'),
  ...xgrammar('pattern means somewhere', { type: 'string', pattern: 'a' }, '"xay"'),
  ...xgrammar('a length beside pattern', { type: 'string', pattern: '^a+$', maxLength: 2 }, '"aaaa"'),
  ...xgrammar('a lone surrogate', { type: 'string' }, '"\\ud83d"'),
  ...xgrammar('integers by value', { type: 'integer' }, '1.0', '1e3', '-0'),
  ...xgrammar('multipleOf', { type: 'integer', multipleOf: 5 }, '7'),
  ...xgrammar('uniqueItems', { type: 'array', items: { type: 'boolean' }, uniqueItems: true }, '[true,true]'),
  ...xgrammar('a name twice', { type: 'object', additionalProperties: { type: 'integer' } }, '{"a":1,"a":2}'),
  ...xgrammar('not', { not: { const: 1 }, type: 'integer' }, '1'),
  ...xgrammar('patternProperties', { type: 'object', patternProperties: { '^x': { type: 'integer' } }, additionalProperties: false }, '{"x1":1}'),
  ...xgrammar('allOf of two objects', { allOf: [object({ a: { type: 'integer' } }), { type: 'object' }] }, '3'),
  ...xgrammar('required without properties', { type: 'object', required: ['a'] }, '{}', '{"a":1}'),
  ...structured('a slash, escaped', { const: '/city' }, '"\\/city"'),
  ...structured('pattern', { type: 'string', pattern: '^[a-z]+$' }, '"abc"'),
  ...structured('format', { type: 'string', format: 'date' }, '"2026-02-28"', '"2026-02-30"'),
  ...both('exact decimal bounds', { type: 'number', minimum: 0.1, maximum: 0.3 }, '0.30000000000000004'),
  ...both('a surrogate pair counts as one', { type: 'string', minLength: 2, maxLength: 2 }, '"😀"'),
];

/** Asks all engines. Schemas that one of them cannot take are an answer too. */
export async function askWrongAnswers(): Promise<readonly WrongAnswer[]> {
  const judges: Readonly<Record<Peer, TextJudge>> = { 'web-xgrammar': xgrammarJudge, 'structured-output': structuredOutputJudge };
  const answers: WrongAnswer[] = [];
  for (const question of QUESTIONS) {
    const { peer, schema, text } = question;
    const read = parseJson(text);
    const canonical = read.ok ? JSON.stringify(read.value) : undefined;
    answers.push({
      ...question,
      peerSays: await judges[peer](schema, text),
      weSay: await contractrlJudge(schema, text),
      ...(canonical === undefined || canonical === text ? {} : { weSayCanonically: await contractrlJudge(schema, canonical) }),
      judgeSays: read.ok ? judge(schema, read.value) : 'no strict JSON',
    });
  }
  return answers;
}

function judge(schema: JsonObject, value: JsonValue): 'valid' | 'invalid' {
  const created = createJudge(schema, '2020-12');
  if (!created.ok) throw new Error(created.error.code);
  return created.value.judge(value).length === 0 ? 'valid' : 'invalid';
}

/** Whether an answer about a text agrees with the judge. */
export function isRight(says: TextAnswer, judgeSays: WrongAnswer['judgeSays']): boolean {
  return says !== 'refuses the schema' && (says === 'accepts') === (judgeSays === 'valid');
}
