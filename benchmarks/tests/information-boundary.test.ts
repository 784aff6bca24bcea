/** Gold stays off the online path: who may import what opens it is checked on the sources themselves. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Gold, repairCall, type Proposer } from '@contractrl/core';
import { toRepairRecord } from '@contractrl/core/records';
import { buildPrompt, encodePrompt, type Tokenizer } from '@contractrl/runtime-webgpu';
import { expect, test } from 'vitest';
import type { Arm } from '../src/arms/arm.ts';
import type { CaseGold } from '../src/datasets/case.ts';
import { recordPrompts } from '../src/prompt-recorder.ts';
import { baselineCases } from '../src/results.ts';
import { runArms } from '../src/run.ts';
import { leaksIn, sealedGold, type ShownTexts } from '../src/score.ts';
import { counterCase, scriptedArm } from './scripted-arm.ts';

const SOURCE = new URL('../src/', import.meta.url).pathname;
const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));

function filesNaming(...names: readonly string[]): readonly string[] {
  return files.filter((name) => names.some((one) => new RegExp(`\\b${one}\\b`, 'u').test(readFileSync(join(SOURCE, name), 'utf8')))).sort();
}

test('only scoring opens gold, and a count of what provenance covers that runs no policy; the data sets define it', () => {
  expect(filesNaming('bugCaseGold', 'bfclGold')).toEqual(['datasets/bfcl-corruptions.ts', 'datasets/bugcases.ts', 'mask/provenance-coverage.ts', 'score.ts']);
});

test('no arm and no part of the online run reaches scoring or its gold, through any chain of imports', () => {
  const importsOf = (name: string): readonly string[] =>
    [...readFileSync(join(SOURCE, name), 'utf8').matchAll(/from '(\.[^']+)'/gu)].map((match) => relative(SOURCE, join(SOURCE, name, '..', match[1]!)));
  const reached = new Set<string>(['run.ts', ...files.filter((name) => name.startsWith('arms/'))]);
  for (const name of reached) for (const next of importsOf(name)) reached.add(next);
  expect(reached.size).toBeGreaterThan(5);
  expect([...reached].filter((name) => /^(score|results|report|summary)\.ts$|^mask\/provenance-coverage\.ts$|^scoring\/|^datasets\/(bugcases|bfcl-corruptions)\.ts$/u.test(name))).toEqual([]);
});

test('gold in a prompt is found after the run, and the prompts of an honest run hold none', async () => {
  const [request, target] = [counterCase('a', '{"n":"six"}'), { n: 777_001 }];
  const cases = [request, counterCase('b', '{"n":"7"}')];
  const gold = new Map(cases.map(({ request: { id } }) => [id, new Gold<CaseGold>({ kind: 'one-of', acceptable: [target], abstainOk: false })]));
  const run = await runArms(cases, [scriptedArm('table', { a: '{"n":6}', b: '{"n":7}' })], { aborted: false }, () => undefined);
  if (run === undefined) throw new Error('aborted');
  const shown = (id: string, ...texts: string[]): ShownTexts => ({ arm: 'table', id, texts: ['Repair the call.', ...texts] });
  expect(leaksIn(run, cases, [shown('a', 'Call: {"n":"six"}'), shown('b')], gold)).toEqual([]);
  const leaks = leaksIn(run, cases, [shown('a', `Call: {"n":"six"}, not ${JSON.stringify(target)}`), shown('b')], gold);
  expect(leaks.map(({ id, field, found }) => `${id} ${field} ${found}`)).toEqual(['a acceptable {"n":777001}', 'a acceptable 777001']);
});

test('the recorder keeps every text that goes through the tokenizer, once, until it is taken', () => {
  const recorder = recordPrompts(NO_TOKENIZER);
  recorder.tokenizer.encodeTrusted('system');
  recorder.tokenizer.encodePlain('call');
  recorder.tokenizer.encodePlain('call');
  expect([recorder.take(), recorder.take()]).toEqual([['system', 'call'], []]);
});

test('the prompts of the production loop on every case hold no gold', async () => {
  const recorder = recordPrompts(NO_TOKENIZER);
  const policy: Proposer = {
    identity: {},
    propose: (observation) => {
      encodePrompt(buildPrompt(observation), recorder.tokenizer, 1);
      return Promise.resolve({ ok: true, value: { kind: 'text', text: '[]', confidence: undefined, maskDigest: undefined, cost: NO_COST } });
    },
  };
  const NO_COST = { promptTokenCount: 0, generatedTokenCount: 0, forcedTokenCount: 0, prefillMs: 0, decodeMs: 0, maskMs: 0 };
  const arm: Arm = {
    name: 'prompts', description: '', identity: {},
    answer: async (request) => {
      const outcome = await repairCall(request, policy, { deterministic: false });
      return { record: toRepairRecord(outcome, { totalMs: 0 }), frozen: outcome.frozen };
    },
  };
  const shown: ShownTexts[] = [];
  const run = await runArms(baselineCases(), [arm], { aborted: false }, ({ id }) => shown.push({ arm: 'prompts', id, texts: recorder.take() }));
  if (run === undefined) throw new Error('aborted');
  expect(shown.filter(({ texts }) => texts.length > 0).length).toBeGreaterThan(100);
  expect(leaksIn(run, baselineCases(), shown, sealedGold())).toEqual([]);
});

const NO_TOKENIZER: Tokenizer = { encodePlain: () => [], encodeTrusted: () => [], decode: () => '', specialIds: new Map(), stopIds: [], tokens: [] };
