/**
 * What a completion is judged by, as one text that travels through other trainers' data sets untouched: the failed call with its contract, what the policy
 * is shown of it, and the right answer. A reward is computed from this text and the completion alone, so that a cluster needs nothing else of this package's
 * data. Columns of a table would not do: Arrow gives all rows one schema, and every tool has its own.
 */
import { err, isJsonArray, isJsonObject, ok, parseJson, type JsonLimits, type JsonObject, type Result } from '@contractrl/core';
import type { Example } from '../data/example.ts';

export type Task = Pick<Example, 'record' | 'noise' | 'answer' | 'target'>;

export type TaskIssue =
  /** `reason` is the JSON reader's own code. */
  | { readonly code: 'task/not-json'; readonly reason: string }
  /** Missing, unknown, or not of its type. */
  | { readonly code: 'task/bad-field'; readonly field: string };

/** A record may hold long arguments; deeper or longer than this is none of ours. */
const LIMITS: JsonLimits = { maxDepth: 64, maxLength: 16_777_216 };
const FIELDS: Readonly<Record<keyof Task, (value: unknown) => boolean>> = {
  record: isObject,
  noise: (value) => value === null || (isObject(value) && typeof value['kind'] === 'string' && isJsonArray(value['shown'] ?? null) && (value['shown'] as readonly unknown[]).every(isObject)),
  answer: (value) => typeof value === 'string',
  target: (value) => value === null || isObject(value),
};

function isObject(value: unknown): value is JsonObject {
  return isJsonObject(value as JsonObject);
}

/** Members in a fixed order, those of the record as they stand: the order of a schema's properties is part of the prompt. */
export function taskText({ record, noise, answer, target }: Example): string {
  return JSON.stringify({ record, noise, answer, target });
}

/** The form only; record and contract are judged by their own readers where they are used. */
export function readTask(text: string): Result<Task, TaskIssue> {
  const parsed = parseJson(text, LIMITS);
  if (!parsed.ok) return err({ code: 'task/not-json', reason: parsed.error.code });
  if (!isJsonObject(parsed.value)) return err({ code: 'task/bad-field', field: '' });
  const task = parsed.value;
  const unknown = Object.keys(task).find((name) => !Object.hasOwn(FIELDS, name));
  const wrong = unknown ?? Object.entries(FIELDS).find(([name, isValid]) => !Object.hasOwn(task, name) || !isValid(task[name]))?.[0];
  return wrong === undefined ? ok(task as unknown as Task) : err({ code: 'task/bad-field', field: wrong });
}
