/**
 * The derivative of a step's objective. The groups become packs once, with the terms of each decision; every inner step runs them under the parameters as
 * they are then. Where a weight depends on a probability as it is now, a run for the probabilities comes first.
 */
import { ok, type Result } from '@contractrl/core';
import { DEFAULT_MAX_ANSWER_TOKENS } from '@contractrl/runtime-webgpu';
import { addGradients } from '../gradient/adamw.ts';
import type { GradientEngine, GradientFailure } from '../gradient/gradient-engine.ts';
import type { LoraParameters } from '../gradient/parameters.ts';
import type { WalkIssue } from './decisions.ts';
import type { Group } from './group.ts';
import { decisionWeight, divergenceOf, scalesOf, type DecisionTerm, type ObjectiveSettings } from './objective.ts';
import { packGroup, type Decision, type Pack, type Sequence } from './pack-group.ts';
import type { Rollout } from './rollout.ts';
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
  const learnt: { readonly group: Group; readonly advantage: number; readonly sequences: readonly Sequence<Decision>[]; readonly told: number | undefined }[] = [];
  for (const group of groups) {
    for (const [index, advantage] of (group.advantages ?? []).entries()) {
      if (advantage === 0) continue;
      const { attempts } = group.episodes[index]!;
      const sequences: Sequence<Decision>[] = [];
      let told: number | undefined;
      for (const attempt of settings.learnsRetry ? attempts : attempts.slice(0, 1)) {
        const tokens = rollout.tokensOf(attempt);
        if (!tokens.ok) return tokens;
        const { promptIds, strands } = tokens.value;
        sequences.push(...strands.map(({ ids, decisions }) => ({
          tokens: [...promptIds, ...ids], decisions: decisions.map((decision) => ({ ...decision, index: promptIds.length + decision.index })),
        })));
        const { proposal } = attempt;
        if (attempts.length === 1 && strands.length === 1 && proposal.kind === 'text' && proposal.confidence !== undefined) told = Math.log(proposal.confidence);
      }
      learnt.push({ group, advantage, sequences, told });
    }
  }
  const withChoice = learnt.filter(({ sequences }) => sequences.some(({ decisions }) => decisions.length > 0));
  const counts = withChoice.map(({ sequences }) => sequences.reduce((sum, { decisions }) => sum + decisions.length, 0));
  const scales = scalesOf(counts, DEFAULT_MAX_ANSWER_TOKENS, settings.normalisation);
  const terms = withChoice.map(({ group, advantage, sequences, told }, index) => ({
    group, told, sequences: sequences.map(({ tokens, decisions }) => ({ tokens, decisions: decisions.map((decision): LearntDecision => ({ ...decision, advantage, scale: scales[index]! })) })),
  }));
  return ok({
    packs: groups.flatMap((group) => packGroup(terms.filter((term) => term.group === group).flatMap(({ sequences }) => sequences), maxLength)),
    told: terms.flatMap(({ told, sequences }) => (told === undefined ? [] : [{ decisions: sequences.flatMap(({ decisions }) => decisions), logProbability: told }])),
  });
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
    return ok({ gradients, clipShare: clipped / decisionCount, divergence: divergence / decisionCount });
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

