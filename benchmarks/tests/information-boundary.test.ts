/** Gold stays off the online path: who may import what opens it is checked on the sources themselves. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { repairCall, type Proposer } from '@contractrl/core';
import { Gold } from '@contractrl/core/ledger';
import { toRepairRecord } from '@contractrl/core/records';
import { buildPrompt, encodePrompt, type Tokenizer } from '@contractrl/runtime-webgpu';
import { describe, expect, test } from 'vitest';
import type { Arm } from '../src/arms/arm.ts';
import type { CaseGold } from '../src/datasets/case.ts';
import { recordPrompts, type PromptRecorder } from '../src/prompt-recorder.ts';
import { baselineCases } from '../src/results.ts';
import { runArms } from '../src/run.ts';
import { retailShop, sandboxEpisodes } from '../src/sandbox/episodes.ts';
import { sandboxData } from '../src/sandbox/results.ts';
import { runSandbox } from '../src/sandbox/run.ts';
import { sandboxLeaks } from '../src/sandbox/score.ts';
import { leaksIn, sealedGold, type ShownTexts } from '../src/score.ts';
import { counterCase, scriptedArm } from './scripted-arm.ts';

const SOURCE = new URL('../src/', import.meta.url).pathname;
const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));

function filesNaming(...names: readonly string[]): readonly string[] {
  return files.filter((name) => names.some((one) => new RegExp(`\\b${one}\\b`, 'u').test(readFileSync(join(SOURCE, name), 'utf8')))).sort();
}

test('only scoring opens gold, and a count of what provenance covers that runs no policy; the data sets define it', () => {
  expect(filesNaming('bugCaseGold', 'bfclGold')).toEqual(['datasets/bfcl-corruptions.ts', 'datasets/bugcases.ts', 'mask/provenance-coverage.ts', 'score.ts', 'training/gold.ts']);
  expect(filesNaming('familyGold')).toEqual(['datasets/bfcl-families.ts', 'training/gold.ts']);
  expect(filesNaming('sandboxGold')).toEqual(['sandbox/episodes.ts', 'sandbox/score.ts']);
});

test('no arm and no part of the online run reaches scoring or its gold, through any chain of imports', () => {
  const importsOf = (name: string): readonly string[] =>
    [...readFileSync(join(SOURCE, name), 'utf8').matchAll(/from '(\.[^']+)'/gu)].map((match) => relative(SOURCE, join(SOURCE, name, '..', match[1]!)));
  const reached = new Set<string>(['run.ts', 'sandbox/run.ts', 'training/run.ts', ...files.filter((name) => name.startsWith('arms/'))]);
  for (const name of reached) for (const next of importsOf(name)) reached.add(next);
  expect(reached.size).toBeGreaterThan(5);
  expect([...reached].filter((name) => /^(score|results|report|summary)\.ts$|^mask\/provenance-coverage\.ts$|^scoring\/|^datasets\/(bugcases|bfcl-corruptions|bfcl-families)\.ts$|^training\/(?!run\.ts|answer-row\.ts)|^sandbox\/(episodes|score|measures|results|report)\.ts$/u.test(name))).toEqual([]);
});

test('gold in a prompt is found after the run, and the prompts of an honest run hold none', async () => {
  const [request, target] = [counterCase('a', '{"n":"six"}'), { n: 777_001 }];
  const cases = [request, counterCase('b', '{"n":"7"}')];
  const gold = new Map(cases.map(({ request: { id } }) => [id, new Gold<CaseGold>({ kind: 'one-of', acceptable: [target], patches: [], abstainOk: false })]));
  const run = await runArms(cases, [scriptedArm('table', { a: '{"n":6}', b: '{"n":7}' })], { aborted: false }, () => undefined);
  if (run === undefined) throw new Error('aborted');
  const shown = (id: string, ...texts: string[]): ShownTexts => ({ arm: 'table', id, texts: ['Repair the call.', ...texts] });
  expect(leaksIn(run, cases, [shown('a', 'Call: {"n":"six"}'), shown('b')], gold)).toEqual([]);
  const leaks = leaksIn(run, cases, [shown('a', `Call: {"n":"six"}, not ${JSON.stringify(target)}`), shown('b')], gold);
  expect(leaks.map(({ id, field, found }) => `${id} ${field} ${found}`)).toEqual(['a acceptable {"n":777001}', 'a acceptable 777001']);
});

test('the recorder keeps the texts of prompts, each once, until they are taken; drafts of the answer are none', () => {
  const { tokenizer, take } = recordPrompts(NO_TOKENIZER);
  const prompt = (call: string): void => {
    tokenizer.encodeTrusted('begin');
    tokenizer.encodePlain(call);
    tokenizer.encodeTrusted('end');
    tokenizer.encodeTrusted('begin');
  };
  prompt('call');
  tokenizer.encodePlain('draft');
  prompt('call');
  tokenizer.encodePlain('draft');
  tokenizer.encodePlain('longer draft');
  prompt('second call');
  expect([take(), take()]).toEqual([['begin', 'call', 'end', 'second call'], []]);
  tokenizer.encodePlain('draft');
  prompt('other call');
  expect(take()).toEqual(['begin', 'other call', 'end']);
});

/** Shows the production prompt to nobody: proposes nothing, so that every attempt of every case is asked for. */
function promptingArm(recorder: PromptRecorder): Arm {
  const cost = { promptTokenCount: 0, generatedTokenCount: 0, forcedTokenCount: 0, prefillMs: 0, decodeMs: 0, maskMs: 0 };
  const policy: Proposer = {
    identity: {},
    propose: (observation) => {
      encodePrompt(buildPrompt(observation), recorder.tokenizer, 1);
      return Promise.resolve({ ok: true, value: { kind: 'text', text: '[]', confidence: undefined, maskDigest: undefined, cost } });
    },
  };
  return {
    name: 'prompts', description: '', output: 'patch', identity: {},
    answer: async (request) => {
      const outcome = await repairCall(request, policy, { deterministic: false });
      return { record: toRepairRecord(outcome, { totalMs: 0 }), frozen: outcome.frozen };
    },
  };
}

// checklist: D13
describe('the prompts of the production loop hold no gold', () => {
  test('of the baseline', async () => {
    const recorder = recordPrompts(NO_TOKENIZER);
    const shown: ShownTexts[] = [];
    const run = await runArms(baselineCases(), [promptingArm(recorder)], { aborted: false }, ({ id }) => shown.push({ arm: 'prompts', id, texts: recorder.take() }));
    if (run === undefined) throw new Error('aborted');
    expect(shown.filter(({ texts }) => texts.length > 0).length).toBeGreaterThan(100);
    expect(leaksIn(run, baselineCases(), shown, sealedGold())).toEqual([]);
  });

  test('of the sandbox, where the value to write often stands in what a tool has answered', async () => {
    const recorder = recordPrompts(NO_TOKENIZER);
    const shown: ShownTexts[] = [];
    const episodes = sandboxEpisodes();
    const run = await runSandbox(retailShop(), episodes, [promptingArm(recorder)], { aborted: false }, ({ id }) => shown.push({ arm: 'prompts', id, texts: recorder.take() }));
    if (run === undefined) throw new Error('aborted');
    const { cases, gold } = await sandboxData();
    expect(shown.filter(({ texts }) => texts.length > 0)).toHaveLength(episodes.length);
    expect(sandboxLeaks(run, cases, shown, gold)).toEqual([]);
  });
});

const NO_TOKENIZER: Tokenizer = { encodePlain: () => [], encodeTrusted: () => [], decode: () => '', specialIds: new Map(), stopIds: [], tokens: [] };
