import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Digest } from '@contractrl/core';
import type { Tokenizer } from '@contractrl/runtime-webgpu';
import * as ort from 'onnxruntime-node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { choiceOf } from '../../tests/support/choice.ts';
import { tinyParameters } from '../../tests/support/tiny-decoder.ts';
import { hesitantPolicyModel, TINY_TOKENIZER, TINY_VOCABULARY, tinyDataset } from '../../tests/support/tiny-policy.ts';
import type { Example } from '../data/example.ts';
import { adapterOf } from '../gradient/parameters.ts';
import { runGrpo, type GrpoSummary, type RunGrpoOptions } from './run-grpo.ts';
import { DEFAULT_GRPO, type GrpoSettings } from './settings.ts';
import type { GrpoEvent, GrpoStepEntry } from './train.ts';

const CONTEXT = 1024;
const { manifest } = tinyDataset(1);

const EXAMPLES: readonly Example[] = [...['a', 'b', 'c', 'd'].map((id) => choiceOf(id, 'train')), ...['e', 'f'].map((id) => choiceOf(id, 'validation'))];
const model = hesitantPolicyModel();
const from = adapterOf(model.config, tinyParameters(model.config, 2), '1'.repeat(64) as Digest);
const SETTINGS: GrpoSettings = { ...DEFAULT_GRPO, seed: 5, steps: 3, groups: 2, maxGroups: 6, samples: 4, learningRate: 0.02, warmUpSteps: 1, validateEvery: 2 };

let root = '';
let seen: GrpoEvent[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'contractrl-grpo-'));
  seen = [];
});
afterEach(() => { rmSync(root, { recursive: true, force: true }); });

type Changes = Partial<Omit<RunGrpoOptions, 'settings'>> & { readonly settings?: Partial<GrpoSettings> };

function start(name: string, { settings, ...changes }: Changes = {}): ReturnType<typeof runGrpo> {
  let now = 0;
  return runGrpo({
    folder: join(root, name), resume: false, ort, model, base: 'tiny', tokenizer: TINY_TOKENIZER as Tokenizer, vocabulary: TINY_VOCABULARY, data: { manifest, examples: EXAMPLES }, from,
    settings: { ...SETTINGS, ...settings }, contextLength: CONTEXT, validationCount: 2, threadCount: 1, clock: () => (now += 1000), onEvent: (event) => { seen.push(event); }, ...changes,
  });
}

async function finish(name: string, changes: Changes = {}): Promise<GrpoSummary> {
  const ended = await start(name, changes);
  if (!ended.ok) throw new Error(ended.error.code, { cause: ended.error });
  return ended.value;
}

const file = (...names: readonly string[]): Buffer => readFileSync(join(root, ...names));
const digest = (name: string): string => createHash('sha256').update(file(name, 'adapter', 'adapter_model.safetensors')).digest('hex');
const stepsOf = (events: readonly GrpoEvent[]): readonly GrpoStepEntry[] => events.filter((event): event is GrpoStepEntry => event.kind === 'step');

function stopAfter(count: number): Pick<RunGrpoOptions, 'signal' | 'onEvent'> {
  const stop = new AbortController();
  return {
    signal: stop.signal,
    onEvent(event) {
      seen.push(event);
      if (event.kind === 'step' && event.step === count) stop.abort();
    },
  };
}

/** A log without what a clock says. */
function logged(name: string): unknown {
  return file(name, 'metrics.jsonl').toString().trim().split('\n').map((line) => {
    const { rolloutSeconds: _, gradientSeconds: __, examplesPerSecond: ___, secondsLeft: ____, ...rest } = JSON.parse(line) as GrpoStepEntry;
    return rest;
  });
}

// checklist: E1
describe('a run', () => {
  test('broken off after a step and gone on with ends with the same bytes and the same log as one in one go; another seed with others', async () => {
    expect(await finish('whole')).toMatchObject({ end: 'done', stepCount: 3 });
    for (const count of [1, 2]) {
      expect(await finish(`parts-${String(count)}`, stopAfter(count))).toMatchObject({ end: 'aborted', stepCount: count });
      expect(await finish(`parts-${String(count)}`, { resume: true })).toMatchObject({ end: 'done', stepCount: 3 });
      expect(digest(`parts-${String(count)}`)).toBe(digest('whole'));
      expect(file(`parts-${String(count)}`, 'checkpoint.safetensors').equals(file('whole', 'checkpoint.safetensors'))).toBe(true);
      expect(logged(`parts-${String(count)}`)).toEqual(logged('whole'));
    }
    await finish('other', { settings: { seed: 6 } });
    expect(file('other', 'checkpoint.safetensors').equals(file('whole', 'checkpoint.safetensors'))).toBe(false);
  }, 120_000);

  test('learns: the mean reward of its episodes rises', async () => {
    await finish('toy', { settings: { seed: 6, steps: 10, groups: 4, samples: 8, learningRate: 0.01, validateEvery: 10 } });
    const rewards = stepsOf(seen).map(({ reward }) => reward);
    const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(rewards.length).toBeGreaterThan(5);
    expect(mean(rewards.slice(-3))).toBeGreaterThan(mean(rewards.slice(0, 2)) + 0.2);
  }, 120_000);

  // checklist: C4
  test('dispatches nothing that the validator has not accepted, agrees with its graph, and says what it saw', async () => {
    await finish('logged', { settings: { innerSteps: 2, beta: 0.1, steps: 2 } });
    const steps = stepsOf(seen);
    expect(steps.map(({ step }) => step)).toEqual([1, 2]);
    for (const step of steps) {
      expect(step.unsafe).toBe(0);
      expect(step.disagreement).toBeLessThan(1e-4);
      expect(step.divergence).toBeGreaterThan(0);
      expect(step.success + step.wrong + step.failed + step.abstainedWrongly).toBeCloseTo(1, 9);
      expect([step.gradientNorm > 0, step.clipShare >= 0, step.tokens > 0, step.secondsLeft >= 0, step.examplesPerSecond > 0]).toEqual([true, true, true, true, true]);
      const groups = seen.filter((event) => event.kind === 'group' && event.step === step.step);
      expect(groups).toHaveLength(step.groups);
    }
    expect(file('logged', 'metrics.jsonl').toString().trim().split('\n').map((line) => JSON.parse(line) as unknown)).toEqual(seen);
    const card = file('logged', 'adapter', 'README.md').toString();
    expect(card).toContain(digest('logged'));
    expect(card).toContain(from.digest);
    for (const look of seen) if (look.kind === 'validation') expect(card).toContain(`| ${look.step} | ${look.reward.toFixed(4)} |`);
  }, 120_000);

  test('that is out of time stops before a step, and goes on later as if it had not', async () => {
    await finish('whole');
    expect(await finish('timed', { limitMs: 2500 })).toMatchObject({ end: 'out-of-time', best: { step: 0 } });
    await finish('timed', { resume: true });
    expect(digest('timed')).toBe(digest('whole'));
  }, 120_000);

  test('whose groups do not differ ends', async () => {
    expect(await finish('flat', { settings: { minSpread: 10 } })).toMatchObject({ end: 'flat', stepCount: 0, best: { step: 0 } });
  });
});

describe('nothing is trained', () => {
  test('over a run that is there, nor on from one of another start or other rewards', async () => {
    await finish('one', stopAfter(1));
    expect(await start('one')).toMatchObject({ ok: false, error: { code: 'run/exists' } });
    expect(await start('one', { resume: true, from: { ...from, digest: '2'.repeat(64) as Digest } })).toMatchObject({ ok: false, error: { code: 'run/mismatch', members: ['from'] } });
    expect(await start('one', { resume: true, settings: { rewards: { ...SETTINGS.rewards, token: 0 } } })).toMatchObject({ ok: false, error: { code: 'run/mismatch', members: ['settings'] } });
  }, 60_000);

  test('from an adapter of another form, without examples, or where none of them can be asked', async () => {
    expect(await start('form', { from: { ...from, layers: from.layers.slice(0, 1) } })).toMatchObject({ ok: false, error: { code: 'gradient/adapter-mismatch' } });
    expect(await start('none', { data: { manifest, examples: [] } })).toEqual({ ok: false, error: { code: 'grpo/too-few-examples', train: 0, validation: 0 } });
    expect(await start('narrow', { contextLength: 300 })).toMatchObject({ ok: false, error: { code: 'grpo/nothing-to-learn', step: 0, reason: 'prompt/too-long' } });
  });
});
