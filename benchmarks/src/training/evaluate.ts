/**
 * An adapter through the production loop, set by set and arm by arm: every answer becomes a row, the rows are sealed, and only then is gold opened, for the scan
 * of what the policy was shown.
 */
import { performance } from 'node:perf_hooks';
import { createProposerMemory, createRepairer } from '@contractrl/runtime-webgpu';
import type { Runtime } from '@contractrl/runtime-webgpu/node';
import { baseNameOf } from '@contractrl/trainer';
import type { Arm } from '../arms/arm.ts';
import { contractRepair } from '../arms/contract-repair.ts';
import { fullRegeneration } from '../arms/full-regeneration.ts';
import { surroundingsNow } from '../parts.ts';
import { recordPrompts } from '../prompt-recorder.ts';
import { spread } from '../runtime/cases.ts';
import { leakageOf, leaksIn } from '../score.ts';
import type { ArmName, Evaluation } from './evaluations.ts';
import { sealedGoldOf } from './gold.ts';
import { runArm, type RunOptions } from './run.ts';
import { requestsOf, type SetName } from './sets.ts';
import { proposerWithout, repairerWith, type AblatedProposer, type PromptLine } from './without-line.ts';

export interface EvaluateOptions extends Omit<RunOptions, 'takeShown'> {
  /** Of the adapter, in the report. */
  readonly name: string;
  readonly set: SetName;
  readonly arm: ArmName;
  readonly seeds: readonly number[];
  /** Of the cases, so many at even distances. */
  readonly limit: number;
  /** A line that is taken out of the prompt; full regeneration has another prompt, which has none of them. */
  readonly without?: PromptLine;
}

const clock = (): number => performance.now();

/** Undefined where it was aborted. */
export async function evaluate(runtime: Runtime, { name, set, arm: armName, seeds, limit, without, signal, onAnswer }: EvaluateOptions): Promise<Evaluation | undefined> {
  const surroundings = surroundingsNow();
  const requests = spread(requestsOf(set, seeds), limit);
  const { tokenizer, take } = recordPrompts(runtime.tokenizer);
  const { arm, ablated } = openArm(armName, { ...runtime, tokenizer }, without);
  const run = await runArm(arm, requests, { takeShown: take, signal, onAnswer });
  if (run === undefined) return undefined;
  const { sealed, answers } = run;
  const shown = answers.map((answer) => ({ arm: armName, id: answer.id, texts: answer.shown }));
  const answered = answers.map(({ id, frozen }) => ({ record: { arm: armName, id }, frozen }));
  const leakage = leakageOf(shown, leaksIn({ cases: answered }, requests.map((request) => ({ request })), shown, sealedGoldOf(set, seeds)));
  return {
    head: {
      name, base: baseNameOf(runtime.model), set, arm: armName, seeds: set === 'bfcl' ? seeds : [], identity: arm.identity, surroundings, leakage, rowsDigest: sealed.digest,
      ...(ablated === undefined ? {} : { prompt: { without: ablated.line, staticTokenCount: ablated.proposer.staticTokenCount } }),
    },
    sealed,
  };
}

interface OpenedArm {
  readonly arm: Arm;
  readonly ablated?: { readonly line: PromptLine; readonly proposer: AblatedProposer };
}

function openArm(name: ArmName, { engine, tokenizer, vocabulary, adapter, release }: Runtime, without: PromptLine | undefined): OpenedArm {
  const parts = { engine, tokenizer, vocabulary, clock, ...(name === 'system' && release !== undefined ? { release } : {}) };
  if (name === 'full-regeneration') return { arm: fullRegeneration(parts) };
  const made = { name, description: '' };
  const rest = { engine, adapter, deterministic: name !== 'policy' };
  if (without === undefined) return { arm: contractRepair(made, { repairer: createRepairer(parts), ...rest }) };
  const proposer = proposerWithout(without, { ...parts, memory: createProposerMemory(engine) });
  return { arm: contractRepair(made, { repairer: repairerWith(proposer, clock), ...rest }), ablated: { line: without, proposer } };
}
