/** Test support: evaluations whose every answer is right or declined as a test likes. */
import type { JsonObject } from '@contractrl/core';
import type { ArmName, Evaluation, EvaluationHead } from '../src/training/evaluations.ts';
import { goldOf } from '../src/training/gold.ts';
import { runArm, type ArmRun } from '../src/training/run.ts';
import { requestsOf, SEEDS, type SetName } from '../src/training/sets.ts';
import { scriptedArm } from './scripted-arm.ts';

export const surroundings: EvaluationHead['surroundings'] = { cpu: 'a processor', threadCount: 2, platform: 'linux x64', node: '20.20.2', load: [0.5, 0.25, 0] };

/** Answers of the set, right where `isRight` says so, else declined. */
export async function evaluationOf(name: string, set: SetName, arm: ArmName, isRight: (index: number) => boolean): Promise<Evaluation> {
  const gold = goldOf(set, SEEDS);
  const requests = requestsOf(set, SEEDS);
  const shots = Object.fromEntries(requests.map(({ id }, index) => {
    const label = gold.get(id)!;
    const call = label.kind === 'answers' ? label.original : label.kind === 'one-of' ? label.acceptable[0] : undefined;
    return [id, call !== undefined && isRight(index) ? JSON.stringify(call) : { decline: 'abstain/not-in-state' }];
  }));
  const run = await runArm(scriptedArm(arm, shots), requests, { takeShown: () => [], signal: { aborted: false }, onAnswer: () => undefined }) as ArmRun;
  return headed(name, set, arm, run.sealed);
}

export function headed(name: string, set: SetName, arm: ArmName, sealed: Evaluation['sealed'], identity: JsonObject = {}): Evaluation {
  return {
    head: { name, set, arm, seeds: set === 'bfcl' ? SEEDS : [], identity: { method: 'scripted', ...identity }, surroundings, leakage: { answerCount: 0, leaks: [] }, rowsDigest: sealed.digest }, sealed,
  };
}
