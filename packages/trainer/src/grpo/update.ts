/**
 * The derivative of a step's objective. The groups become packs once, with the terms of each decision; every inner step runs them under the parameters as
 * they are then. Where a weight depends on a probability as it is now, a run for the probabilities comes first.
 */
import { ok, type Result } from '@contractrl/core';
import { DEFAULT_MAX_ANSWER_TOKENS } from '@contractrl/runtime-webgpu';
import { addGradients } from '../gradient/adamw.ts';
import type { GradientEngine, GradientFailure } from '../gradient/gradient-engine.ts';
import { packSequences, type Decision, type Pack, type Sequence } from '../gradient/pack-sequences.ts';
import type { LoraParameters } from '../gradient/parameters.ts';
import type { WalkIssue } from './decisions.ts';
import type { Group } from './group.ts';
import { decisionWeight, divergenceOf, scalesOf, type DecisionTerm, type ObjectiveSettings } from './objective.ts';
import type { Episode, Rollout } from './rollout.ts';
import type { GrpoSettings } from './settings.ts';

export interface LearntDecision extends Decision, DecisionTerm {}

/** What a step learns from, and what of it the rollout knows too. */
export interface Batch {
  readonly packs: readonly Pack<LearntDecision>[];
  /** Answers whose probability the rollout told, by the logarithm that it told. */
  readonly told: readonly { readonly decisions: readonly LearntDecision[]; readonly logProbability: number }[];
}

/** Groups without advantages are left out, and so are episodes that were as good as the mean. `maxLength`: positions of a pack. */
export function batchOf(
  groups: readonly Group[], rollout: Pick<Rollout, 'tokensOf'>, settings: Pick<GrpoSettings, 'normalisation' | 'learnsRetry'>, maxLength: number,
): Result<Batch, WalkIssue> {
  const chosen: (Chosen & { readonly group: Group; readonly advantage: number })[] = [];
  for (const group of groups) {
    for (const [index, advantage] of (group.advantages ?? []).entries()) {
      if (advantage === 0) continue;
      const one = choicesOf(group.episodes[index]!, rollout, settings.learnsRetry);
      if (!one.ok) return one;
      if (one.value.count > 0) chosen.push({ ...one.value, group, advantage });
    }
  }
  const scales = scalesOf(chosen.map(({ count }) => count), DEFAULT_MAX_ANSWER_TOKENS, settings.normalisation);
  const learnt = chosen.map(({ sequences, advantage, group, told }, index) => ({
    group, told, sequences: sequences.map(({ tokens, decisions }) => ({ tokens, decisions: decisions.map((decision): LearntDecision => ({ ...decision, advantage, scale: scales[index]! })) })),
  }));
  return ok({
    packs: groups.flatMap((group) => packSequences(learnt.filter((one) => one.group === group).flatMap(({ sequences }) => sequences), maxLength)),
    told: learnt.flatMap(({ told, sequences }) => (told === undefined ? [] : [{ decisions: sequences.flatMap(({ decisions }) => decisions), logProbability: told }])),
  });
}

/** What the policy chose in an episode. */
interface Chosen {
  readonly sequences: readonly Sequence<Decision>[];
  /** Of decisions. */
  readonly count: number;
  /** Logarithm of what the rollout says of all of them together, where it does. */
  readonly told: number | undefined;
}

function choicesOf({ attempts }: Episode, rollout: Pick<Rollout, 'tokensOf'>, learnsRetry: boolean): Result<Chosen, WalkIssue> {
  const sequences: Sequence<Decision>[] = [];
  let told: number | undefined;
  for (const attempt of learnsRetry ? attempts : attempts.slice(0, 1)) {
    const tokens = rollout.tokensOf(attempt);
    if (!tokens.ok) return tokens;
    const { promptIds, strands } = tokens.value;
    sequences.push(...strands.map(({ ids, decisions }) => ({
      tokens: [...promptIds, ...ids], decisions: decisions.map((decision) => ({ ...decision, index: promptIds.length + decision.index })),
    })));
    const confidence = attempt.proposal.kind === 'text' ? attempt.proposal.confidence : undefined;
    // of an answer of hundreds of decisions the probability may be too small for a number
    if (attempts.length === 1 && strands.length === 1 && confidence !== undefined && confidence > 0) told = Math.log(confidence);
  }
  return ok({ sequences, told, count: sequences.reduce((sum, { decisions }) => sum + decisions.length, 0) });
}

export interface Update {
  readonly gradients: readonly Float32Array[];
  /** Of the decisions, those that are clipped. */
  readonly clipShare: number;
  /** Mean divergence of a decision from the start; 0 where β is. */
  readonly divergence: number;
}

/** The inner steps of one batch, in order: what was likely when the episodes were made is known from the first on. */
export class Updates {
  readonly #engine: GradientEngine;
  readonly #batch: Batch;
  readonly #start: LoraParameters;
  readonly #settings: ObjectiveSettings;
  /** By pack, as the first inner step found them. */
  readonly #old: Float32Array[] = [];
  readonly #reference: Float32Array[] = [];

  /** `start`: the parameters that training began with. */
  constructor(engine: GradientEngine, batch: Batch, start: LoraParameters, settings: ObjectiveSettings) {
    this.#engine = engine;
    this.#batch = batch;
    this.#start = start;
    this.#settings = settings;
  }

  async next(parameters: LoraParameters): Promise<Result<Update, GradientFailure>> {
    const { beta } = this.#settings;
    const gradients = parameters.tensors.map(({ data }) => new Float32Array(data.length));
    let [clipped, divergence, decisionCount] = [0, 0, 0];
    for (const [index, pack] of this.#batch.packs.entries()) {
      const isFirst = this.#old[index] === undefined;
      let current: Float32Array | undefined;
      if (!isFirst || beta > 0) {
        const run = await this.#engine.run(pack.batch, parameters);
        if (!run.ok) return run;
        current = run.value.logProbabilities;
      }
      if (isFirst && beta > 0) {
        const run = await this.#engine.run(pack.batch, this.#start);
        if (!run.ok) return run;
        this.#reference[index] = run.value.logProbabilities;
      }
      const weights = new Float32Array(pack.decisions.length);
      for (const [step, decisions] of pack.decisions.entries()) {
        const now = current?.[step] ?? 0;
        const logs = { current: now, old: this.#old[index]?.[step] ?? now, reference: this.#reference[index]?.[step] ?? now };
        for (const term of decisions) {
          const { weight, isClipped } = decisionWeight(term, logs, this.#settings);
          weights[step] = weights[step]! + weight;
          clipped += Number(isClipped);
        }
        decisionCount += decisions.length;
        divergence += decisions.length * divergenceOf(logs);
      }
      const run = await this.#engine.run({ ...pack.batch, weights }, parameters);
      if (!run.ok) return run;
      this.#old[index] ??= run.value.logProbabilities;
      addGradients(gradients, run.value.gradients);
    }
    return ok({ gradients, clipShare: decisionCount === 0 ? 0 : clipped / decisionCount, divergence: decisionCount === 0 ? 0 : divergence / decisionCount });
  }

  /** Of answers that the rollout told a probability of, the largest difference of its logarithm from the graph's, by decision; after the first inner step. */
  disagreement(): number {
    const logs = new Map<LearntDecision, number>();
    for (const [index, { decisions }] of this.#batch.packs.entries()) {
      for (const [step, taken] of decisions.entries()) for (const decision of taken) logs.set(decision, this.#old[index]![step]!);
    }
    return this.#batch.told.reduce((largest, { decisions, logProbability }) => {
      const sum = decisions.reduce((total, decision) => total + logs.get(decision)!, 0);
      return Math.max(largest, Math.abs(sum - logProbability) / decisions.length);
    }, 0);
  }
}

