/**
 * Group-relative optimisation. A step draws examples, asks the policy for a group of episodes of each, replaces the groups that teach nothing, and moves the
 * adapter along the clipped objective of the rest. Examples, episodes and derivatives follow from seed, parameters, the number of the step and the log
 * before it alone, so that a run that goes on from a checkpoint ends with the same bytes.
 * Reference: CHECKLIST E1 to E4; TRAINING § Group-relative optimisation; DAPO §3.2 (dynamic sampling).
 */
import { digestOf, err, ok, type Digest, type Result } from '@contractrl/core';
import type { LoraAdapter, Sampling } from '@contractrl/runtime-webgpu';
import type { Example } from '../data/example.ts';
import { clipGradients, learningRateAt, takeStep, type LearningRateSchedule } from '../gradient/adamw.ts';
import type { Checkpoint } from '../gradient/checkpoint.ts';
import type { GradientEngine, GradientFailure } from '../gradient/gradient-engine.ts';
import type { LoraParameters } from '../gradient/parameters.ts';
import { openRandom } from '../random.ts';
import { isSuccess } from '../verdict.ts';
import type { WalkIssue } from './decisions.ts';
import { drawWeighted, SuccessRecord } from './draw.ts';
import { figuresOf, scoreGroup, type EpisodeFigures, type Group } from './group.ts';
import { labelOf, scoreEpisode, type EpisodeScore } from './reward.ts';
import { faultOf, type Episode, type Rollout } from './rollout.ts';
import { isOfCohort, type GrpoSettings } from './settings.ts';
import { batchOf, Updates } from './update.ts';

/** A step: means over all its episodes, those of flat groups included, which are drawn towards what is sometimes solved. */
export interface GrpoStepEntry extends EpisodeFigures {
  readonly kind: 'step';
  /** Steps taken, this one included. */
  readonly step: number;
  /** Groups drawn, and the share of them that taught nothing. */
  readonly groups: number;
  readonly flatShare: number;
  readonly learningRate: number;
  /** Of the last inner step, before clipping. */
  readonly gradientNorm: number;
  /** Of the last inner step's decisions, those whose ratio is clipped. */
  readonly clipShare: number;
  /** Mean estimate of the divergence from the start, in the last inner step; 0 where β is. */
  readonly divergence: number;
  /** Largest difference of a decision's log probability between rollout and graph, averaged over an answer. */
  readonly disagreement: number;
  /** Calls that would have been dispatched and that the validator does not accept, of this run so far: 0, or the run ends. */
  readonly unsafe: number;
  readonly rolloutSeconds: number;
  readonly gradientSeconds: number;
  readonly examplesPerSecond: number;
  readonly secondsLeft: number;
}

/** Greedy episodes of the validation side. */
export interface GrpoValidationEntry extends EpisodeFigures {
  readonly kind: 'validation';
  readonly step: number;
  readonly episodes: number;
}

export type GrpoEvent = GrpoStepEntry | GrpoValidationEntry
  /** A group of a step. */
  | { readonly kind: 'group'; readonly step: number; readonly id: string; readonly family: Example['family']; readonly solved: number; readonly rewards: readonly number[] }
  /** An example that cannot be asked, in this step or ever after. */
  | { readonly kind: 'left-out'; readonly step: number; readonly id: string; readonly code: string };

/** All steps taken, or why not: no group of a step had episodes of different worth, time was up, the caller stopped it. */
export type GrpoEnd = 'done' | 'flat' | 'out-of-time' | 'aborted';

export type GrpoFailure = GradientFailure | WalkIssue
  /** None of the examples can be asked; `reason` is why not the last of them. */
  | { readonly code: 'grpo/nothing-to-learn'; readonly step: number; readonly reason: string }
  /** The engine failed, or took no adapter. */
  | { readonly code: 'grpo/rollout-failed'; readonly reason: string; readonly message: string }
  /** A call would have been dispatched that the validator does not accept. */
  | { readonly code: 'grpo/unsafe-dispatch'; readonly id: string }
  /** The graph gives answers another probability than the engine that wrote them: they are of other weights. */
  | { readonly code: 'grpo/rollout-disagrees'; readonly difference: number };

/** Of a decision's log probability, averaged over an answer; 4-bit kernels against float32 differ by 1e-4. */
export const MAX_DISAGREEMENT = 5e-3;

export interface GrpoOptions {
  readonly engine: GradientEngine;
  readonly rollout: Pick<Rollout, 'begin' | 'run' | 'tokensOf'>;
  /** Changed in place, a whole step at a time; goes on after so many steps as its optimiser has taken, by inner step. */
  readonly run: Checkpoint;
  /** The parameters that training began with. */
  readonly start: LoraParameters;
  readonly adapterOf: (parameters: LoraParameters, digest: Digest) => LoraAdapter;
  readonly train: readonly Example[];
  readonly validation: readonly Example[];
  readonly settings: GrpoSettings;
  /** Positions that the graph runs at once. */
  readonly packLength: number;
  /** The log of the part before the checkpoint. */
  readonly earlier?: readonly GrpoEvent[];
  /** Milliseconds from anywhere. */
  readonly clock: () => number;
  /** A step that begins later is not taken. */
  readonly limitMs?: number;
  readonly signal?: AbortSignal;
  readonly onEvent: (event: GrpoEvent) => void;
}

/** Whether validation is looked at after so many steps: before the first, then and again, and after the last. */
export function isPlannedLook(step: number, { steps, validateEvery }: Pick<GrpoSettings, 'steps' | 'validateEvery'>): boolean {
  return step % validateEvery === 0 || step === steps;
}

/** The look with the highest mean reward, the first of equals. */
export function bestLook(looks: readonly GrpoValidationEntry[]): GrpoValidationEntry | undefined {
  return looks.reduce<GrpoValidationEntry | undefined>((best, look) => (best === undefined || look.reward > best.reward ? look : best), undefined);
}

/** Trains until the end it gives. Examples or settings that make no step are RangeErrors. */
export async function trainGrpo(options: GrpoOptions): Promise<Result<GrpoEnd, GrpoFailure>> {
  return new Training(options).run();
}

/** What an asynchronous part of a step ends with when it was aborted. */
const ABORTED = 'aborted';
type Interruptible<T> = Promise<Result<T | typeof ABORTED, GrpoFailure>>;

const UNITS = 2 ** 32;
/** Every example was left out in an earlier step. */
const NOT_LEFT = 'grpo/none-left';

class Training {
  readonly #options: GrpoOptions;
  readonly #cohort: readonly Example[];
  readonly #looked: readonly Example[];
  readonly #solved = new SuccessRecord();
  readonly #leftOut = new Set<string>();
  readonly #looks: GrpoValidationEntry[] = [];
  #unsafe = 0;

  constructor(options: GrpoOptions) {
    const { settings, train, validation, earlier = [] } = options;
    const { steps, groups, maxGroups, samples, innerSteps, validateEvery } = settings;
    if (![steps, groups, maxGroups, samples, innerSteps, validateEvery].every((count) => Number.isInteger(count) && count > 0)) throw new RangeError('settings: counts from 1 up');
    this.#options = options;
    this.#cohort = train.filter((example) => isOfCohort(example, settings));
    this.#looked = validation.filter((example) => isOfCohort(example, settings));
    if (this.#cohort.length === 0 || this.#looked.length === 0) throw new RangeError('examples: none on one side');
    for (const event of earlier) this.#remember(event);
  }

  async run(): Promise<Result<GrpoEnd, GrpoFailure>> {
    const { run: { state }, settings, clock, limitMs = Infinity, signal, onEvent } = this.#options;
    const schedule: LearningRateSchedule = { peak: settings.learningRate, warmUpSteps: settings.warmUpSteps, totalSteps: settings.steps, floor: settings.floor };
    const startedMs = clock();
    const firstStep = state.stepCount / settings.innerSteps;
    let askedCount = 0;
    for (;;) {
      const step = state.stepCount / settings.innerSteps;
      if (signal?.aborted === true) return ok('aborted');
      // where a step begins and not where it ends: a run that was broken off between the two makes up for it
      if (isPlannedLook(step, settings) && this.#looks.at(-1)?.step !== step) {
        const looked = await this.#look(step);
        if (!looked.ok) return looked;
        if (looked.value === ABORTED) return ok('aborted');
        this.#tell(looked.value);
      }
      if (step >= settings.steps) return ok('done');
      if (clock() - startedMs >= limitMs) return ok('out-of-time');

      const beganMs = clock();
      const collected = await this.#collect(step + 1);
      if (!collected.ok) return collected;
      if (collected.value === ABORTED) return ok('aborted');
      const { groups, events } = collected.value;
      if (groups.every(({ advantages }) => advantages === undefined)) return ok('flat');
      const rolledMs = clock();
      const learningRate = learningRateAt(step, schedule);
      const learnt = await this.#learn(groups, learningRate);
      if (!learnt.ok) return learnt;
      for (const event of events) this.#tell(event);
      askedCount += groups.length;
      const endedMs = clock();
      const seconds = (endedMs - startedMs) / 1000;
      const stepsLeft = settings.steps - (step + 1);
      onEvent({
        kind: 'step', step: step + 1, ...figuresOf(groups.flatMap(({ scores }) => scores), settings.rewards),
        groups: groups.length, flatShare: groups.filter(({ advantages }) => advantages === undefined).length / groups.length,
        learningRate, ...learnt.value, unsafe: this.#unsafe,
        rolloutSeconds: (rolledMs - beganMs) / 1000, gradientSeconds: (endedMs - rolledMs) / 1000, examplesPerSecond: askedCount / seconds,
        secondsLeft: Math.max(0, Math.min((seconds / (step + 1 - firstStep)) * stepsLeft, limitMs / 1000 - seconds)),
      });
    }
  }

  #tell(event: GrpoEvent): void {
    this.#remember(event);
    this.#options.onEvent(event);
  }

  #remember(event: GrpoEvent): void {
    if (event.kind === 'group') this.#solved.add(event.id, event.solved, event.rewards.length);
    else if (event.kind === 'left-out') this.#leftOut.add(event.id);
    else if (event.kind === 'validation') this.#looks.push(event);
  }

  /** Groups until enough of them teach something, with what there is to tell of them once the step is taken. */
  async #collect(step: number): Interruptible<{ readonly groups: readonly Group[]; readonly events: readonly GrpoEvent[] }> {
    const { settings, run } = this.#options;
    const random = openRandom(settings.seed, `draw:${String(step)}`);
    const began = this.#begin(run.parameters, step);
    if (!began.ok) return began;
    const groups: Group[] = [];
    const events: GrpoEvent[] = [];
    const met = new Set<string>();
    let missing = settings.groups;
    let reason = NOT_LEFT;
    while (missing > 0 && groups.length < settings.maxGroups) {
      const open = this.#cohort.filter(({ id }) => !met.has(id) && !this.#leftOut.has(id));
      const drawn = drawWeighted(open, Math.min(missing, settings.maxGroups - groups.length), ({ id }) => this.#solved.weight(id), random);
      if (drawn.length === 0) break;
      for (const { id } of drawn) met.add(id);
      const asked = await Promise.all(drawn.map((example) => this.#ask(example, Array.from({ length: settings.samples }, (_, sample) => this.#samplingOf(step, example, sample)))));
      for (const [index, example] of drawn.entries()) {
        const episodes = asked[index]!;
        const checked = this.#check(example, episodes);
        if (!checked.ok) return checked;
        if (checked.value === ABORTED) return ok(ABORTED);
        if (checked.value !== undefined) {
          reason = checked.value;
          events.push({ kind: 'left-out', step, id: example.id, code: reason });
          continue;
        }
        const group = scoreGroup(example, episodes, settings);
        groups.push(group);
        events.push({ kind: 'group', step, id: example.id, family: example.family, solved: group.scores.filter(({ end }) => isSuccess(end)).length, rewards: group.rewards });
      }
      missing = settings.groups - groups.filter(({ advantages }) => advantages !== undefined).length;
    }
    if (groups.length === 0) return err({ code: 'grpo/nothing-to-learn', step, reason });
    return ok({ groups, events });
  }

  #samplingOf(step: number, { id }: Example, sample: number): Sampling {
    return { kind: 'random', temperature: 1, topP: 1, seed: openRandom(this.#options.settings.seed, `episode:${String(step)}:${id}:${String(sample)}`).whole(UNITS) };
  }

  #ask(example: Example, samplings: readonly Sampling[]): Promise<readonly Episode[]> {
    const { rollout, signal } = this.#options;
    return Promise.all(samplings.map((sampling) => rollout.run(example, sampling, signal)));
  }

  /** A code where the example cannot be asked. A step that was aborted is none; a failed engine and an unsafe dispatch end the run. */
  #check(example: Example, episodes: readonly Episode[]): Result<string | undefined, GrpoFailure> {
    if (this.#options.signal?.aborted === true) return ok(ABORTED);
    const faults = episodes.flatMap((episode) => faultOf(episode) ?? []);
    const failure = faults.find(({ kind }) => kind === 'failure');
    if (failure !== undefined) return err({ code: 'grpo/rollout-failed', reason: failure.code, message: failure.message });
    const label = labelOf(example);
    this.#unsafe += episodes.filter(({ outcome }) => scoreEpisode(outcome, label).isUnsafe).length;
    if (this.#unsafe > 0) return err({ code: 'grpo/unsafe-dispatch', id: example.id });
    // where only some break off, it is what the policy wrote that led there: those have failed
    return ok(faults.length === episodes.length ? faults[0]?.code : undefined);
  }

  #begin({ rank, alpha, tensors }: LoraParameters, step: number): Result<void, GrpoFailure> {
    // never written, so named by where the run stands: the engine tells adapters apart by it
    const digest = digestOf({ step, seed: this.#options.settings.seed });
    const used = this.#options.rollout.begin(this.#options.adapterOf({ rank, alpha, tensors }, digest));
    return used.ok ? used : err({ code: 'grpo/rollout-failed', reason: used.error.code, message: 'The engine does not take the adapter.' });
  }

  async #look(step: number): Interruptible<GrpoValidationEntry> {
    const { run, settings } = this.#options;
    const began = this.#begin(run.parameters, step + 1);
    if (!began.ok) return began;
    const asked = await Promise.all(this.#looked.map((example) => this.#ask(example, [{ kind: 'greedy' }])));
    const scores: EpisodeScore[] = [];
    let reason = NOT_LEFT;
    for (const [index, example] of this.#looked.entries()) {
      const checked = this.#check(example, asked[index]!);
      if (!checked.ok) return checked;
      if (checked.value === ABORTED) return ok(ABORTED);
      if (checked.value === undefined) scores.push(scoreEpisode(asked[index]![0]!.outcome, labelOf(example)));
      else reason = checked.value;
    }
    if (scores.length === 0) return err({ code: 'grpo/nothing-to-learn', step, reason });
    return ok({ kind: 'validation', step, episodes: scores.length, ...figuresOf(scores, settings.rewards) });
  }

  /** Moves the parameters, by all inner steps or by none that anyone sees. */
  async #learn(groups: readonly Group[], learningRate: number): Promise<Result<Pick<GrpoStepEntry, 'gradientNorm' | 'clipShare' | 'divergence' | 'disagreement'>, GrpoFailure>> {
    const { engine, rollout, start, settings, packLength, run: { parameters, state } } = this.#options;
    const batch = batchOf(groups, rollout, settings, packLength);
    if (!batch.ok) return batch;
    const updates = new Updates(engine, batch.value, start, settings);
    for (let inner = 1; ; inner += 1) {
      const update = await updates.next(parameters);
      if (!update.ok) return update;
      const disagreement = updates.disagreement();
      if (!(disagreement <= MAX_DISAGREEMENT)) return err({ code: 'grpo/rollout-disagrees', difference: disagreement });
      const { gradients, clipShare, divergence } = update.value;
      const gradientNorm = clipGradients(gradients, settings.maxNorm);
      takeStep(parameters, gradients, state, learningRate);
      if (inner === settings.innerSteps) return ok({ gradientNorm, clipShare, divergence, disagreement });
    }
  }
}
