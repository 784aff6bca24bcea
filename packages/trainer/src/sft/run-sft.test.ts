import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Digest } from '@contractrl/core';
import { readAdapter } from '@contractrl/runtime-webgpu';
import * as ort from 'onnxruntime-node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { tinyParameters } from '../../tests/support/tiny-decoder.ts';
import { TINY_CONTEXT, TINY_TOKENIZER, TINY_VOCABULARY, tinyDataset, tinyPolicyModel } from '../../tests/support/tiny-policy.ts';
import type { Example } from '../data/example.ts';
import { packSegments } from '../gradient/batch.ts';
import { createGradientEngine } from '../gradient/gradient-engine.ts';
import { adapterOf } from '../gradient/parameters.ts';
import { encodeExample } from './encode-example.ts';
import { runSft, type RunSftOptions, type SftSummary } from './run-sft.ts';
import { DEFAULT_SFT, openBatches, type SftEvent, type SftSettings } from './train.ts';

const parts = { tokenizer: TINY_TOKENIZER, vocabulary: TINY_VOCABULARY, contextLength: TINY_CONTEXT };
/** Short ones: the seconds go with the square of the prompt. */
const data = tinyDataset(90, (example) => {
  const encoded = encodeExample(example, parts);
  return encoded.ok && encoded.value.promptIds.length < 500;
});
const TRAIN = data.examples.filter(({ split }) => split === 'train').slice(0, 16);
const VALIDATION = data.examples.filter(({ split }) => split === 'validation').slice(0, 2);
const model = tinyPolicyModel();
/** An adapter that changes something. */
const from = adapterOf(model.config, tinyParameters(model.config, 2), '1'.repeat(64) as Digest);
const SETTINGS: SftSettings = { ...DEFAULT_SFT, batchSize: 4, epochs: 1, warmUpSteps: 2, learningRate: 0.01, validateEvery: 2, seed: 5 };

let root = '';
let seen: SftEvent[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'contractrl-sft-'));
  seen = [];
});
afterEach(() => { rmSync(root, { recursive: true, force: true }); });

type Changes = Partial<Omit<RunSftOptions, 'settings'>> & { readonly settings?: Partial<SftSettings> };

function start(name: string, { settings, ...changes }: Changes = {}): ReturnType<typeof runSft> {
  let now = 0;
  return runSft({
    folder: join(root, name), resume: false, ort, model, base: 'tiny', ...parts, data: { ...data, examples: [...TRAIN, ...VALIDATION] }, rank: 2, settings: { ...SETTINGS, ...settings },
    validationCount: 2, threadCount: 1, clock: () => (now += 1000), onEvent: (event) => { seen.push(event); }, ...changes,
  });
}

async function finish(name: string, changes: Changes = {}): Promise<SftSummary> {
  const ended = await start(name, changes);
  if (!ended.ok) throw new Error(ended.error.code, { cause: ended.error });
  return ended.value;
}

const file = (...names: readonly string[]): Buffer => readFileSync(join(root, ...names));
const digest = (name: string): string => createHash('sha256').update(file(name, 'adapter', 'adapter_model.safetensors')).digest('hex');

/** Ends the run behind its step `count`, before validation is looked at there or after. */
function stopAfter(count: number, kind: 'step' | 'validation' = 'step'): Pick<RunSftOptions, 'signal' | 'onEvent'> {
  const stop = new AbortController();
  return {
    signal: stop.signal,
    onEvent(event) {
      seen.push(event);
      if (event.kind === kind && event.step === count) stop.abort();
    },
  };
}

describe('a run', () => {
  test('gives the same adapter twice, and another for another seed', async () => {
    expect(await finish('one')).toMatchObject({ end: 'done', stepCount: 4 });
    await finish('two');
    await finish('other', { settings: { seed: 6 } });
    expect(digest('two')).toBe(digest('one'));
    expect(file('two', 'checkpoint.safetensors').equals(file('one', 'checkpoint.safetensors'))).toBe(true);
    expect(digest('other')).not.toBe(digest('one'));
  });

  test.each([1, 2, 3])('broken off after step %i and gone on with ends with the same bytes as one in one go', async (count) => {
    await finish('whole');
    expect(await finish('parts', stopAfter(count))).toMatchObject({ end: 'aborted', stepCount: count });
    expect(await finish('parts', { resume: true })).toMatchObject({ end: 'done', stepCount: 4 });
    expect(digest('parts')).toBe(digest('whole'));
    expect(file('parts', 'checkpoint.safetensors').equals(file('whole', 'checkpoint.safetensors'))).toBe(true);
    const logged = (name: string): unknown => file(name, 'metrics.jsonl').toString().trim().split('\n').map((line) => {
      const { kind, step, loss } = JSON.parse(line) as { kind: string; step: number; loss: number };
      return { kind, step, loss };
    });
    expect(logged('parts')).toEqual(logged('whole'));
  });

  test('killed while it wrote its log goes on without the torn line', async () => {
    await finish('whole');
    await finish('torn', stopAfter(2));
    appendFileSync(join(root, 'torn', 'metrics.jsonl'), '{"kind":"step","step":3,"lo');
    await finish('torn', { resume: true });
    expect(digest('torn')).toBe(digest('whole'));
  });

  test('learns: the loss falls, on what it has not seen too', async () => {
    await finish('untrained', { settings: { learningRate: 0, validateEvery: 1 }, ...stopAfter(1, 'validation') });
    const [untrained] = seen.flatMap((event) => (event.kind === 'validation' ? [event.loss] : [])) as [number];
    seen = [];
    const { best } = await finish('long', { settings: { epochs: 6, validateEvery: 8, learningRate: 0.02 } });
    const losses = seen.flatMap((event) => (event.kind === 'step' ? [event.loss] : []));
    const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(losses).toHaveLength(24);
    expect(mean(losses.slice(-4))).toBeLessThan(0.8 * mean(losses.slice(0, 4)));
    const validations = seen.flatMap((event) => (event.kind === 'validation' ? [event.loss] : []));
    expect(best!.loss).toBe(Math.min(...validations));
    expect(best!.loss).toBeLessThan(0.95 * untrained);
  });

  test('logs a line a step, with rate, gradient, speed and time left', async () => {
    await finish('logged');
    const steps = seen.filter((event) => event.kind === 'step');
    expect(steps.map(({ step }) => step)).toEqual([1, 2, 3, 4]);
    expect(steps.map(({ learningRate }) => learningRate)).toEqual([0.005, 0.01, 0.01, expect.closeTo(0.00525, 6)]);
    for (const { gradientNorm, examplesPerSecond, secondsLeft } of steps) expect([gradientNorm > 0, examplesPerSecond > 0, secondsLeft >= 0]).toEqual([true, true, true]);
    expect(steps.at(-1)!.secondsLeft).toBe(0);
    expect(file('logged', 'metrics.jsonl').toString().trim().split('\n').map((line) => JSON.parse(line) as unknown)).toEqual(seen);
  });

  test('whose validation does not fall any more is stopped, and the adapter is the one before', async () => {
    const { end, stepCount, best } = await finish('worse', { settings: { epochs: 20, learningRate: 0.4, validateEvery: 1, patience: 2 } });
    expect(end).toBe('validation-rose');
    expect(best!.step).toBe(stepCount - 2);
    await finish('before', { settings: { epochs: 20, learningRate: 0.4, validateEvery: 1, patience: 2 }, ...stopAfter(best!.step, 'validation') });
    expect(digest('before')).toBe(digest('worse'));
    const adapter = await readAdapter(file('worse', 'adapter', 'adapter_model.safetensors'), file('worse', 'adapter', 'adapter_config.json').toString(), { base: 'tiny' });
    expect(adapter).toMatchObject({ ok: true, value: { rank: 2, alpha: 4, digest: digest('worse') } });
  });

  test('that is out of time before its first look at validation takes one, and goes on later as if it had not', async () => {
    await finish('whole');
    expect(await finish('timed', { limitMs: 2500 })).toMatchObject({ end: 'out-of-time', stepCount: 1, best: { step: 1 } });
    expect(existsSync(join(root, 'timed', 'adapter', 'adapter_model.safetensors'))).toBe(true);
    await finish('timed', { resume: true });
    expect(digest('timed')).toBe(digest('whole'));
  });

  test('writes a card with the figures of its log', async () => {
    const { best } = await finish('card');
    const card = file('card', 'adapter', 'README.md').toString();
    expect(card).toContain(digest('card'));
    expect(card).toContain(`| steps | ${best!.step}, of 4 taken, with 4 examples each`);
    expect(card).toContain(`| ${best!.step} | ${best!.loss.toFixed(4)} |`);
  });
});

describe('a run that begins with an adapter', () => {
  /** Mean −log probability of a decision under that adapter, example by example. */
  async function lossOfStart(examples: readonly Example[]): Promise<number> {
    const engine = await createGradientEngine({ ort, model, contextLength: TINY_CONTEXT, threadCount: 1 });
    if (!engine.ok) throw new Error(engine.error.code, { cause: engine.error });
    let [sum, decisionCount] = [0, 0];
    for (const example of examples) {
      const encoded = encodeExample(example, parts);
      if (!encoded.ok) throw new Error(encoded.error.code);
      const { promptIds, answerIds, decisions } = encoded.value;
      const steps = decisions.map(({ index, allowed }) => ({ index: promptIds.length + index, allowed, weight: 1 }));
      const run = await engine.value.run(packSegments([{ tokens: [...promptIds, ...answerIds], steps }]), tinyParameters(model.config, 2));
      if (!run.ok) throw new Error(run.error.code);
      sum += run.value.loss;
      decisionCount += decisions.length;
    }
    await engine.value.dispose();
    return sum / decisionCount;
  }

  test('looks at what that one is worth, and has its loss in the first step', async () => {
    await finish('on', { from, ...stopAfter(1) });
    await finish('anew', stopAfter(1));
    const [look, step, anew] = seen.map((event) => (event.kind === 'left-out' ? undefined : [event.kind, event.step, event.loss] as const));
    expect(look).toEqual(['validation', 0, expect.closeTo(await lossOfStart(VALIDATION), 4)]);
    expect(step).toEqual(['step', 1, expect.closeTo(await lossOfStart(openBatches(TRAIN, SETTINGS)(0)), 4)]);
    expect(Math.abs(anew![2] - step![2])).toBeGreaterThan(0.01);
    expect(file('on', 'adapter', 'README.md').toString()).toContain(`| began with | the adapter whose weights have SHA-256 \`${from.digest}\` |`);
    expect(JSON.parse(file('on', 'run.json').toString())).toMatchObject({ rank: 2, from: from.digest });
  });

  test('keeps that one where no step is better', async () => {
    expect(await finish('still', { from, settings: { learningRate: 0 } })).toMatchObject({ end: 'done', stepCount: 4, best: { step: 0 } });
    const kept = await readAdapter(file('still', 'adapter', 'adapter_model.safetensors'), file('still', 'adapter', 'adapter_config.json').toString());
    if (!kept.ok) throw new Error(kept.error.code);
    expect([kept.value.rank, kept.value.alpha]).toEqual([from.rank, from.alpha]);
    const [written, given] = [kept.value.layers[1]!.down!, from.layers[1]!.down!];
    // float16 has 11 bits
    for (const name of ['a', 'b'] as const) for (const [index, value] of given[name].entries()) expect(Math.abs(written[name][index]! - value)).toBeLessThanOrEqual(2 ** -11 * Math.abs(value) + 1e-7);
  });

  test('and is broken off and gone on with ends with the same bytes; with another start, or none, it is not gone on with', async () => {
    await finish('whole', { from });
    await finish('parts', { from, ...stopAfter(2) });
    for (const other of [{ from: { ...from, digest: '2'.repeat(64) as Digest } }, {}]) {
      expect(await start('parts', { ...other, resume: true })).toMatchObject({ ok: false, error: { code: 'run/mismatch', members: ['from'] } });
    }
    await finish('parts', { from, resume: true });
    expect(digest('parts')).toBe(digest('whole'));
    expect(file('parts', 'checkpoint.safetensors').equals(file('whole', 'checkpoint.safetensors'))).toBe(true);
  });
});

describe('nothing is trained', () => {
  test('from an adapter of another rank or form', async () => {
    expect(await start('rank', { from, rank: 4 })).toEqual({ ok: false, error: { code: 'train/other-rank', rank: 4, startRank: 2 } });
    expect(await start('form', { from: { ...from, layers: from.layers.slice(0, 1) } })).toMatchObject({ ok: false, error: { code: 'gradient/adapter-mismatch' } });
    expect([existsSync(join(root, 'rank')), existsSync(join(root, 'form'))]).toEqual([false, false]);
  });

  test('over a run that is there, nor on from one that is not', async () => {
    await finish('one', stopAfter(1));
    expect(await start('one')).toMatchObject({ ok: false, error: { code: 'run/exists' } });
    expect(await start('none', { resume: true })).toMatchObject({ ok: false, error: { code: 'run/missing' } });
  });

  test.each([
    { what: 'another rank', changes: { rank: 4 }, members: ['rank', 'alpha'] }, { what: 'another seed', changes: { settings: { seed: 6 } }, members: ['settings'] },
    { what: 'other data', changes: { data: { ...data, manifest: { ...data.manifest, seed: 14 } } }, members: ['manifest'] },
  ])('on from a run of $what', async ({ changes, members }) => {
    await finish('one', stopAfter(1));
    expect(await start('one', { ...changes, resume: true })).toMatchObject({ ok: false, error: { code: 'run/mismatch', members } });
  });

  test('where no example of a step fits the context; each is logged', async () => {
    expect(await start('narrow', { contextLength: 300 })).toMatchObject({ ok: false, error: { code: 'sft/nothing-to-learn', step: 0 } });
    expect(seen).toHaveLength(4);
    for (const event of seen) expect(event).toMatchObject({ kind: 'left-out', step: 0, code: 'prompt/too-long' });
    expect(file('narrow', 'metrics.jsonl').toString().trim().split('\n')).toHaveLength(4);
  });

  test('on fewer examples than a step takes, or without any to validate with', async () => {
    const train = data.examples.filter(({ split }) => split === 'train');
    expect(await start('few', { data: { ...data, examples: train.slice(0, 3) } })).toEqual({ ok: false, error: { code: 'sft/too-few-examples', train: 3, validation: 0 } });
    expect(await start('none', { data: { ...data, examples: train } })).toMatchObject({ ok: false, error: { code: 'sft/too-few-examples', validation: 0 } });
    expect(existsSync(join(root, 'few'))).toBe(false);
  });
});
