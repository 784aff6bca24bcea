/**
 * A data set for the tools of one user: their recorded calls and calls drawn from their schemas, spoilt like any other, with a share of general examples
 * so that what every tool has in common is not forgotten. Validation is of the user's own tools alone and shares no request with training. Whatever the
 * evaluation sets hold is refused, unless the user says that figures on those sets are of no use to them.
 */
import { err, ok, type Contract, type JsonObject, type JsonValue, type Result } from '@contractrl/core';
import { exampleKeys } from '../audit/example-keys.ts';
import { callKeys } from '../audit/keys.ts';
import { readEvaluationSets, type EvaluationIssue } from '../audit/evaluation-sets.ts';
import { auditTraining, indexEvaluation, type Leak, type LeakageIndex } from '../audit/leakage-index.ts';
import { normalText } from '../audit/normal-form.ts';
import { buildDataset, DEFAULT_SYNTHETIC_SHARE, type Dataset } from '../data/build-dataset.ts';
import type { Example } from '../data/example.ts';
import { manifestOf, type OpenedSource } from '../data/manifest.ts';
import { EXAMPLES_A_TOOL, type PreparedDataset } from '../data/prepare-dataset.ts';
import { readPublicSources } from '../data/public-sources.ts';
import { openSource } from '../data/source.ts';
import { syntheticSource } from '../data/synthetic/synthetic-source.ts';
import type { LegalCall } from '../legal-call.ts';
import { openRandom } from '../random.ts';
import { wholeText, type Request } from '../request.ts';
import { drawCalls, type DrawIssue } from './drawn-calls.ts';
import { splitOwnCalls } from './split-own-calls.ts';
import type { UserTraces } from './trace-file.ts';

export interface UserDatasetOptions {
  readonly seed: number;
  /** Examples in all. */
  readonly count: number;
  /** Of the examples, in [0, 1): general ones. */
  readonly generalShare: number;
  /** By request, each tool is on both sides; by tool, validation shows how the adapter takes to tools that it was not trained on. */
  readonly splitBy: 'request' | 'tool';
  /** Go on where something is shared with an evaluation set; manifest and card then say what. */
  readonly allowOverlap: boolean;
  /** Of the public and the evaluation sets. */
  readonly dataFolder: string;
  readonly contracts: ReadonlyMap<string, Contract>;
  /** With the name of the file each came from. */
  readonly traces: readonly { readonly file: string; readonly read: UserTraces }[];
  /** Examples made, of {@link count}. */
  readonly onProgress?: (done: number) => void;
}

export interface UserDataset extends PreparedDataset {
  /** Tools that no call could be drawn for. */
  readonly undrawn: readonly (DrawIssue & { readonly tool: string })[];
  /** Legal calls of the user's tools, by side. */
  readonly calls: { readonly train: number; readonly validation: number; readonly recorded: number };
}

export type UserDatasetIssue =
  /** Nothing is trained that could not be audited. */
  | { readonly code: 'train/no-audit'; readonly missing: readonly EvaluationIssue[] }
  /** The first few; `count` is of all. */
  | { readonly code: 'train/leak'; readonly leaks: readonly Leak[]; readonly count: number }
  | { readonly code: 'train/too-few-calls'; readonly train: number; readonly validation: number; readonly neededTrain: number; readonly neededValidation: number }
  /** The calls are there, and too few faults can be made of them. */
  | { readonly code: 'train/too-few-examples'; readonly train: number; readonly validation: number; readonly neededTrain: number; readonly neededValidation: number };

/** Of the user's own calls or examples. */
const VALIDATION_SHARE = 0.15;
/** From fewer a policy learns the calls and not the tools, and fewer on the other side tell nothing. */
const MIN_CALLS = { train: 24, validation: 6 } as const;
const MIN_EXAMPLES = { train: 64, validation: 16 } as const;
/** A call has about as many good faults; further ones repeat themselves. */
const EXAMPLES_A_CALL = 4;
/** A call costs little to draw, and of few the sides would be too small. */
const MIN_DRAWN = 60;
/** Of the user's own examples, where there are recorded calls: those of drawn ones. */
const DRAWN_SHARE = 0.4;
const ROWS_AN_EXAMPLE = 1.5;
const MAX_SHOWN_LEAKS = 5;

/** O(count × judge), and some seconds for the public sources where general examples are asked for. */
export function prepareUserDataset(options: UserDatasetOptions): Result<UserDataset, UserDatasetIssue> {
  const { seed, count, generalShare, splitBy, allowOverlap, dataFolder, contracts, traces, onProgress } = options;
  const { evaluation, sets, missing } = readEvaluationSets(dataFolder);
  if (missing.length > 0) return err({ code: 'train/no-audit', missing });
  const index = indexEvaluation(evaluation);
  const recorded = traces.flatMap(({ read }) => read.calls);
  const shared = allowOverlap ? [] : [...toolLeaks(contracts, index), ...recorded.flatMap((call) => callLeaks(call, index))];
  if (shared.length > 0) return leak(shared);

  const ownCount = Math.round(count * (1 - generalShare));
  const { drawn, undrawn } = drawAll(contracts, Math.ceil(Math.max(MIN_DRAWN, ownCount / EXAMPLES_A_CALL) / contracts.size), seed);
  const split = splitOwnCalls(splitBy);
  const kept = [...recorded, ...drawn.filter((call) => allowOverlap || callLeaks(call, index).length === 0)];
  const sides = split(kept, VALIDATION_SHARE, seed);
  const sideCounts = { train: sides.train.length, validation: sides.validation.length };
  if (isBelow(sideCounts, MIN_CALLS)) return err({ code: 'train/too-few-calls', ...sideCounts, neededTrain: MIN_CALLS.train, neededValidation: MIN_CALLS.validation });

  const heldAgainst = allowOverlap ? NOTHING_HELD_OUT : index;
  const own = buildDataset(kept, {
    seed, count: ownCount, validationShare: VALIDATION_SHARE, syntheticShare: recorded.length === 0 ? 1 : DRAWN_SHARE, split, index: heldAgainst, ...(onProgress === undefined ? {} : { onProgress }),
  });
  const exampleCounts = { train: sideCount(own.examples, 'train'), validation: sideCount(own.examples, 'validation') };
  if (isBelow(exampleCounts, MIN_EXAMPLES)) return err({ code: 'train/too-few-examples', ...exampleCounts, neededTrain: MIN_EXAMPLES.train, neededValidation: MIN_EXAMPLES.validation });

  const generalCount = count - ownCount;
  const general = generalCount === 0 ? NO_EXAMPLES : generalExamples(dataFolder, generalCount, seed, index, (done) => onProgress?.(own.examples.length + done));
  const dataset = heldApart(joined(own, general.dataset));
  const audit = auditTraining(index, dataset.examples.map((example) => ({ id: example.id, keys: exampleKeys(example) })));
  if (!audit.isClean && !allowOverlap) return leak(audit.leaks);
  const common = manifestOf({ seed, options: { count, generalShare, splitBy, allowOverlap }, sources: general.sources, dataset, audit });
  const manifest: JsonObject = {
    ...common,
    sources: [...ownSources(options, drawn), ...common['sources'] as readonly JsonValue[]],
    evaluationSets: sets as unknown as JsonValue,
    tools: Object.fromEntries([...contracts].map(([name, { digest }]) => [name, digest])),
    sharedWithEvaluation: audit.leaks.map(({ unit, id, sets: shownSets }) => ({ unit, id, sets: [...shownSets] })),
  };
  return ok({ examples: dataset.examples, manifest, undrawn, calls: { ...sideCounts, recorded: recorded.length } });
}

const NOTHING_HELD_OUT = indexEvaluation([]);

function toolLeaks(contracts: ReadonlyMap<string, Contract>, index: LeakageIndex): readonly Leak[] {
  return [...contracts].flatMap(([name, { document }]) => index.leaks(name, callKeys({ id: name, request: '', tools: [document.tool], target: undefined }).filter(([unit]) => unit !== 'case-id')));
}

function callLeaks({ id, request, contract, arguments: target }: LegalCall, index: LeakageIndex): readonly Leak[] {
  return index.leaks(id, callKeys({ id, request: wholeText(request), tools: [contract.document.tool], target }));
}

function leak(leaks: readonly Leak[]): Result<never, UserDatasetIssue> {
  return err({ code: 'train/leak', leaks: leaks.slice(0, MAX_SHOWN_LEAKS), count: leaks.length });
}

function isBelow(counts: { readonly train: number; readonly validation: number }, needed: typeof counts): boolean {
  return counts.train < needed.train || counts.validation < needed.validation;
}

function sideCount(examples: readonly Example[], side: Example['split']): number {
  return examples.filter(({ split }) => split === side).length;
}

function drawAll(contracts: ReadonlyMap<string, Contract>, callsATool: number, seed: number): { readonly drawn: readonly LegalCall[]; readonly undrawn: UserDataset['undrawn'] } {
  const drawn: LegalCall[] = [];
  const undrawn: (DrawIssue & { readonly tool: string })[] = [];
  for (const [tool, contract] of contracts) {
    const calls = drawCalls(contract, callsATool, seed);
    if (calls.ok) drawn.push(...calls.value);
    else undrawn.push({ ...calls.error, tool });
  }
  return { drawn, undrawn };
}

interface GeneralExamples {
  readonly dataset: Dataset;
  readonly sources: readonly OpenedSource[];
}

const NO_EXAMPLES: GeneralExamples = { dataset: { examples: [], leftOut: { leakingCalls: 0, leaking: {}, betweenSplits: 0, leakingExamples: 0 } }, sources: [] };

/** To train on alone. Of the public rows as many are opened as are likely to be used: all of them take a minute. */
function generalExamples(dataFolder: string, count: number, seed: number, index: LeakageIndex, onProgress: (done: number) => void): GeneralExamples {
  const all = readPublicSources(dataFolder);
  const share = Math.min(1, count * ROWS_AN_EXAMPLE / all.reduce((sum, { rows }) => sum + rows.length, 1));
  const random = openRandom(seed, 'general');
  const some = all.map((source) => ({ ...source, rows: random.shuffled(source.rows).slice(0, Math.ceil(share * source.rows.length)) }));
  const sources = [...some, syntheticSource(seed, Math.ceil(count / EXAMPLES_A_TOOL))].map((source) => ({ source, read: openSource(source) }));
  const calls = sources.flatMap(({ read }) => read.calls);
  return { dataset: buildDataset(calls, { seed, count, validationShare: 0, syntheticShare: DEFAULT_SYNTHETIC_SHARE, index, onProgress }), sources };
}

function joined(own: Dataset, general: Dataset): Dataset {
  const [a, b] = [own.leftOut, general.leftOut];
  const units = [...new Set([...Object.keys(a.leaking), ...Object.keys(b.leaking)])] as (keyof typeof a.leaking)[];
  return {
    examples: [...own.examples, ...general.examples],
    leftOut: {
      leakingCalls: a.leakingCalls + b.leakingCalls, betweenSplits: a.betweenSplits + b.betweenSplits, leakingExamples: a.leakingExamples + b.leakingExamples,
      leaking: Object.fromEntries(units.map((unit) => [unit, (a.leaking[unit] ?? 0) + (b.leaking[unit] ?? 0)])),
    },
  };
}

/** Without the training examples whose request stands on the validation side too: two requests may be the same once a value of each is made vague. */
function heldApart({ examples, leftOut }: Dataset): Dataset {
  const textOf = ({ record }: Example): string => normalText(wholeText(record['request'] as Request));
  const held = new Set(examples.filter(({ split }) => split === 'validation').map(textOf));
  const apart = examples.filter((example) => example.split === 'validation' || !held.has(textOf(example)));
  return { examples: apart, leftOut: { ...leftOut, betweenSplits: leftOut.betweenSplits + examples.length - apart.length } };
}

/** As {@link manifestOf} tells sources. */
function ownSources({ contracts, traces }: UserDatasetOptions, drawn: readonly LegalCall[]): readonly JsonObject[] {
  const sourceOf = (name: string, attribution: string, rows: number, legalCalls: number, leftOut: JsonObject): JsonObject => ({ name, licence: 'the user’s own', attribution, rows, legalCalls, leftOut });
  return [
    ...traces.map(({ file, read }) => sourceOf('traces', file, read.rowCount, read.calls.length, read.leftOut)),
    sourceOf('drawn', `calls drawn from the schemas of ${String(contracts.size)} tools`, drawn.length, drawn.length, {}),
  ];
}
