/**
 * The trajectories of the sandbox: legal ones of tau2-bench's retail tasks, each with one spoilt call (data/README.md says which tasks and
 * tables). Everything follows from SHA-256 of seed, task and trial.
 *
 * The rule. In trial 1 to {@link TRIALS} of a task, forms are ordered by SHA-256 of `<seed>:<task>:<trial>:<form>`, those that no earlier trial of the
 * task has before the others, and in each form the places by SHA-256 of `<seed>:<task>:<trial>:<form>:<step>:<field>`; only calls that change something
 * have places. The first that the contract refuses as invalid, and that no earlier trial of the task has, is taken.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { digestOf, judgeArguments, type Contract, type JsonObject, type ToolDefinition } from '@contractrl/core';
import { corruptionsOf, FORMS, type Corruption } from './corruptions.ts';
import type { Episode, EpisodeGold, Shop } from './episode.ts';
import { isWrite, type RetailTables } from './retail.ts';
import { retailContracts } from './retail-contracts.ts';
import { changesOf, openWorld, type SentCall } from './world.ts';

export const RETAIL_FILE = 'retail.json.gz';
export const SANDBOX_SEED = 13;
/** Runs of one task, for pass^k. */
export const TRIALS = 4;

interface LegalCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

interface Task {
  readonly id: string;
  readonly brief: string;
  readonly calls: readonly LegalCall[];
}

interface RetailData {
  readonly tools: readonly ToolDefinition[];
  readonly tables: RetailTables;
  readonly tasks: readonly Task[];
}

interface Spoilt {
  readonly episode: Episode;
  readonly task: Task;
  readonly corruption: Corruption;
}

export function retailShop(): Shop {
  const { tools, tables } = readData();
  return { tables, contracts: retailContracts(tools) };
}

/** The public half, trial by trial of each task. */
export function sandboxEpisodes(): readonly Episode[] {
  return spoiltTasks(readData()).map(({ episode }) => episode);
}

/** The offline half, by episode: what the legal trajectory does. */
export async function sandboxGold(): Promise<ReadonlyMap<string, EpisodeGold>> {
  const data = readData();
  const shop = retailShop();
  const played = new Map<string, LegalPlay>();
  for (const task of data.tasks) played.set(task.id, await playLegally(shop, task));
  return new Map(spoiltTasks(data).map(({ episode, task, corruption }) => {
    const { results, ...end } = played.get(task.id) as LegalPlay;
    const legal = (task.calls[episode.step] as LegalCall).arguments;
    return [episode.id, {
      ...end, result: results[episode.step] as EpisodeGold['result'],
      call: { kind: 'one-of', acceptable: [legal], patches: [corruption.patch], abstainOk: false },
    }];
  }));
}

interface LegalPlay extends Pick<EpisodeGold, 'steps' | 'changes' | 'stateDigest'> {
  readonly results: readonly EpisodeGold['result'][];
}

/** Throws a RangeError where a call is not executed, or the tool says no: such a trajectory is not legal. */
async function playLegally({ tables, contracts }: Shop, { id, calls }: Task): Promise<LegalPlay> {
  const world = openWorld(tables, contracts);
  const steps: SentCall[] = [];
  for (const { name, arguments: args } of calls) {
    const sent = await world.send(`${id}/${String(steps.length)}`, { name, argumentsText: JSON.stringify(args) });
    if (sent.outcome !== 'executed' || sent.toolError !== null) throw new RangeError(`${id}: ${name} is not legal: ${sent.reason ?? sent.toolError ?? sent.outcome}`);
    steps.push(sent);
  }
  return { steps, results: world.results.map(({ result }) => result), changes: changesOf(tables, world.tables), stateDigest: digestOf(world.tables) };
}

/** Throws a RangeError where a task has fewer faults than trials. */
function spoiltTasks({ tools, tasks }: RetailData): readonly Spoilt[] {
  const contracts = retailContracts(tools);
  return tasks.flatMap((task) => {
    const spoilt: Spoilt[] = [];
    for (let trial = 1; trial <= TRIALS; trial += 1) spoilt.push(spoil(task, trial, contracts, spoilt));
    return spoilt;
  });
}

interface Place {
  readonly step: number;
  readonly corruption: Corruption;
}

function spoil(task: Task, trial: number, contracts: ReadonlyMap<string, Contract>, earlier: readonly Spoilt[]): Spoilt {
  const rank = (...parts: readonly (string | number)[]): string => digest([SANDBOX_SEED, task.id, trial, ...parts].join(':'));
  const places: readonly Place[] = task.calls.flatMap(({ name, arguments: args }, step) => (isWrite(name) ? corruptionsOf(args).map((corruption) => ({ step, corruption })) : []));
  const isTaken = ({ step, corruption: { form, field } }: Place): boolean =>
    earlier.some((one) => one.episode.step === step && one.corruption.form === form && one.corruption.field === field);
  const isRefused = ({ step, corruption }: Place): boolean => {
    const contract = contracts.get((task.calls[step] as LegalCall).name) as Contract;
    return judgeArguments(contract, JSON.stringify(corruption.arguments), {}).kind === 'invalid';
  };
  const timesHad = (form: Corruption['form']): number => (earlier.some(({ corruption }) => corruption.form === form) ? 1 : 0);
  const forms = FORMS.toSorted((a, b) => timesHad(a) - timesHad(b) || (rank(a) < rank(b) ? -1 : 1));
  const ordered = forms.flatMap((form) => places.filter(({ corruption }) => corruption.form === form)
    .map((place) => ({ place, at: rank(form, place.step, place.corruption.field) })).toSorted((a, b) => (a.at < b.at ? -1 : 1)));
  const found = ordered.find(({ place }) => !isTaken(place) && isRefused(place));
  if (found === undefined) throw new RangeError(`${task.id}: no fault is left for trial ${String(trial)}`);
  const { step, corruption } = found.place;
  const calls = task.calls.map(({ name, arguments: args }, index) => ({ name, argumentsText: JSON.stringify(index === step ? corruption.arguments : args) }));
  return { task, corruption, episode: { id: `${task.id}#${String(trial)}`, task: task.id, trial, form: corruption.form, brief: task.brief, calls, step } };
}

function readData(): RetailData {
  return JSON.parse(gunzipSync(readFileSync(new URL(`../../data/${RETAIL_FILE}`, import.meta.url))).toString('utf8')) as RetailData;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
