/**
 * The judge for trainers in other languages: one process, requests as lines of JSON, one line back for each, in order. A request that is wrong in any item is
 * refused whole, with a code and the item: a reward that is made up would be learnt from. Nothing is sent anywhere and nothing is executed.
 */
import { err, isJsonArray, isJsonObject, ok, parseJson, type JsonObject, type JsonValue, type Result } from '@contractrl/core';
import { PROMPT_VERSION } from '@contractrl/runtime-webgpu';
import { labelOf, rewardOf, scoreEpisode, type RewardWeights } from '../grpo/reward.ts';
import { judgeEpisode, type Completion, type EpisodeIssue } from './judge-episode.ts';
import { readTask, type Task, type TaskIssue } from './task.ts';
import type { MaskAlong, MaskIssue } from './token-masks.ts';

export interface RewardServerParts {
  readonly weights: RewardWeights;
  /** Undefined where no model was named: the masks are over the ids of its tokenizer. */
  readonly masks: MaskAlong | undefined;
}

export type RequestIssue =
  /** `reason` is the JSON reader's own code. */
  | { readonly code: 'request/not-json'; readonly reason: string }
  | { readonly code: 'request/unknown-op'; readonly op: JsonValue }
  | { readonly code: 'request/bad-field'; readonly field: string }
  | { readonly code: 'masks/no-model' }
  /** The validator would have been passed by: nothing that follows can be trusted. */
  | { readonly code: 'reward/unsafe-dispatch' }
  | TaskIssue | EpisodeIssue | MaskIssue;

/** `item` where one of the request's items is at fault. */
type Refusal = RequestIssue & { readonly item?: number };
type Item = Readonly<Record<string, JsonValue>>;

/** Batches of a thousand completions with their tasks stay below. */
const LIMITS = { maxDepth: 16, maxLength: 268_435_456 };

/** Answers one line with one line: `{"id", "ok": true, "results": […]}` or `{"id", "ok": false, "error": {code, item?, …}}`; `id` is the request's own, null where it cannot be read. */
export async function answerLine(line: string, parts: RewardServerParts): Promise<string> {
  const parsed = parseJson(line, LIMITS);
  const request = parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
  const answer = parsed.ok ? await answerRequest(request, parts) : err<Refusal>({ code: 'request/not-json', reason: parsed.error.code });
  const id = request?.['id'] ?? null;
  return JSON.stringify(answer.ok ? { id, ok: true, results: answer.value } : { id, ok: false, error: answer.error });
}

async function answerRequest(request: JsonObject | undefined, parts: RewardServerParts): Promise<Result<readonly JsonObject[], Refusal>> {
  if (request === undefined) return err({ code: 'request/bad-field', field: '' });
  const { op = null, items = null } = request;
  if (op === 'about') return ok([{ promptVersion: PROMPT_VERSION, weights: { ...parts.weights }, masks: parts.masks !== undefined }]);
  if (op !== 'rewards' && op !== 'masks') return err({ code: 'request/unknown-op', op });
  if (!isJsonArray(items) || !items.every((item): item is Item => isJsonObject(item))) return err({ code: 'request/bad-field', field: 'items' });
  const results: JsonObject[] = [];
  for (const [index, item] of items.entries()) {
    const result = op === 'rewards' ? await rewardFor(item, parts.weights) : masksFor(item, parts.masks);
    if (!result.ok) return err({ ...result.error, item: index });
    results.push(result.value);
  }
  return ok(results);
}

async function rewardFor(item: Item, weights: RewardWeights): Promise<Result<JsonObject, RequestIssue>> {
  const task = taskOf(item);
  if (!task.ok) return task;
  const completions = readCompletions(item['completions'] ?? null);
  if (completions === undefined) return err({ code: 'request/bad-field', field: 'completions' });
  const outcome = await judgeEpisode(task.value, completions);
  if (!outcome.ok) return outcome;
  const score = scoreEpisode(outcome.value, labelOf(task.value));
  if (score.isUnsafe) return err({ code: 'reward/unsafe-dispatch' });
  const { isUnsafe: _, ...counts } = score;
  const { status } = outcome.value;
  return ok({ reward: rewardOf(score, weights), status, reason: 'reason' in outcome.value ? outcome.value.reason : null, ...counts });
}

function masksFor(item: Item, masks: MaskAlong | undefined): Result<JsonObject, RequestIssue> {
  if (masks === undefined) return err({ code: 'masks/no-model' });
  const task = taskOf(item);
  if (!task.ok) return task;
  const { ids = null, from = 0 } = item;
  if (!isJsonArray(ids) || !ids.every(isCount)) return err({ code: 'request/bad-field', field: 'ids' });
  if (!isCount(from) || from > ids.length) return err({ code: 'request/bad-field', field: 'from' });
  const along = masks(task.value, ids, from);
  return along.ok ? ok({ masks: along.value.map((bitmask) => Buffer.from(bitmask.buffer).toString('base64')) }) : along;
}

function taskOf(item: Item): Result<Task, TaskIssue | RequestIssue> {
  const { task = null } = item;
  return typeof task === 'string' ? readTask(task) : err({ code: 'request/bad-field', field: 'task' });
}

function readCompletions(value: JsonValue): readonly Completion[] | undefined {
  if (!isJsonArray(value) || value.length === 0) return undefined;
  const isCompletion = (each: JsonValue): boolean => isJsonObject(each) && typeof each['text'] === 'string' && isCount(each['tokenCount']);
  return value.every(isCompletion) ? (value as unknown as readonly Completion[]) : undefined;
}

function isCount(value: JsonValue | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
