/** Episodes of a small random policy in a batch, beside the training graph over the same weights. */
import type { Digest } from '@contractrl/core';
import { openBatch, type Batch, type Sampling, type Tokenizer } from '@contractrl/runtime-webgpu';
import * as ort from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tinyParameters } from '../../tests/support/tiny-decoder.ts';
import { hesitantPolicyModel, STOP, TINY_CONTEXT, TINY_TOKENIZER, TINY_VOCABULARY, tinyDataset } from '../../tests/support/tiny-policy.ts';
import type { Example } from '../data/example.ts';
import { createGradientEngine, type GradientEngine } from '../gradient/gradient-engine.ts';
import { adapterOf } from '../gradient/parameters.ts';
import { packSequences, type Decision } from '../gradient/pack-sequences.ts';
import { labelOf, scoreEpisode } from './reward.ts';
import { faultOf, Rollout, type Attempt, type Episode, type RolloutParts } from './rollout.ts';
import { DEFAULT_GRPO, isOfCohort } from './settings.ts';

const model = hesitantPolicyModel();
const parameters = tinyParameters(model.config, 2);
const examples = tinyDataset(60).examples.filter((example) => isOfCohort(example, DEFAULT_GRPO));
/** A number that fits by itself, and not always beside another: there the mask takes back what it let through. */
const CROSSING: Pick<Example, 'record'> = {
  record: {
    id: 'crossing', request: 'More than five', call: { name: 'set', arguments: '{"low":5,"high":"six"}' },
    tool: { name: 'set', description: 'Sets bounds', parameters: { type: 'object', properties: { low: { type: 'integer' }, high: { type: 'integer', minimum: 0, maximum: 9 } }, required: ['low', 'high'] } },
    contract: { operationBudget: 1, allowedOperations: ['replace'], immutablePaths: ['/low'], crossField: [{ kind: 'lt', a: '/low', b: '/high' }] },
  },
};
const tokenizer = TINY_TOKENIZER as Tokenizer;

let batch: Batch;
let engine: GradientEngine;
beforeAll(async () => {
  const opened = await openBatch({ ort, model, graph: { format: 'q41x', contextLength: TINY_CONTEXT }, executionProvider: 'cpu', width: 4, threadCount: 1 });
  if (!opened.ok) throw new Error(opened.error.code, { cause: opened.error });
  batch = opened.value;
  const made = await createGradientEngine({ ort, model, contextLength: TINY_CONTEXT, threadCount: 1 });
  if (!made.ok) throw new Error(made.error.code, { cause: made.error });
  engine = made.value;
}, 60_000);
afterAll(() => Promise.all([batch.engine.dispose(), engine.dispose()]));

function open(settings: Partial<RolloutParts['settings']> = {}): Rollout {
  const rollout = new Rollout({ batch, tokenizer, vocabulary: TINY_VOCABULARY, settings: { ...DEFAULT_GRPO, ...settings } });
  const begun = rollout.begin(adapterOf(model.config, parameters, '1'.repeat(64) as Digest));
  if (!begun.ok) throw new Error(begun.error.code);
  return rollout;
}

const random = (seed: number): Sampling => ({ kind: 'random', temperature: 1, topP: 1, seed });

function textOf(ids: readonly number[]): string {
  return new TextDecoder().decode(Uint8Array.from(ids.flatMap((id) => [...(TINY_VOCABULARY.tokens[id] ?? [])])));
}

describe('under the mask', () => {
  let rollout: Rollout;
  let episodes: readonly Episode[];
  let attempts: readonly Attempt[];
  beforeAll(async () => {
    rollout = open();
    const asked = [...examples.slice(0, 6).flatMap((example) => [1, 2].map((seed) => ({ example, seed }))), ...[1, 2, 3, 4, 5, 6].map((seed) => ({ example: CROSSING, seed }))];
    episodes = await Promise.all(asked.map(({ example, seed }) => rollout.run(example, random(seed), undefined)));
    attempts = episodes.flatMap((episode) => episode.attempts);
  }, 60_000);

  test('an episode is a whole repair, with what the policy was shown in each attempt', () => {
    for (const episode of episodes) {
      expect(faultOf(episode)).toBeUndefined();
      expect(episode.attempts).toHaveLength(episode.outcome.frozen.proposals.length);
      for (const [index, { observation, proposal }] of episode.attempts.entries()) {
        expect(observation.state.history).toHaveLength(index);
        expect(proposal.text).toBe(episode.outcome.frozen.proposals[index]!.proposal.text);
      }
    }
  });

  test('walked again, its tokens spell its answers, and each was among those that were allowed', () => {
    for (const attempt of attempts) {
      const tokens = rollout.tokensOf(attempt);
      if (!tokens.ok) throw new Error(tokens.error.code);
      const { strands } = tokens.value;
      const last = strands.at(-1)!;
      if (attempt.proposal.kind === 'text' && attempt.proposal.confidence !== undefined) expect(textOf(last.ids)).toBe(attempt.proposal.text);
      for (const { ids, decisions } of strands) {
        for (const { index, allowed } of decisions) {
          expect(allowed.length).toBeGreaterThan(1);
          expect(allowed).toContain(ids[index]);
        }
      }
    }
  });

  test('what the mask took back is a strand of its own, of the decisions that only it has', () => {
    const several = attempts.flatMap((attempt) => {
      const tokens = rollout.tokensOf(attempt);
      return tokens.ok && tokens.value.strands.length > 1 ? [{ attempt, strands: tokens.value.strands }] : [];
    });
    expect(several.length).toBeGreaterThan(0);
    for (const { attempt, strands } of several) {
      // each token was written once, and is new in one strand: the first that goes beyond what it shares with the one before
      let written = 0;
      for (const [index, { ids, decisions }] of strands.entries()) {
        const before = strands[index - 1]?.ids ?? [];
        const parted = ids.findIndex((id, at) => id !== before[at]);
        const shared = parted === -1 ? Math.min(ids.length, before.length) : parted;
        written += ids.length - Math.min(shared, ...decisions.map((decision) => decision.index));
        for (const decision of decisions) expect(decision.index).toBeLessThan(ids.length);
      }
      expect(written).toBe(attempt.proposal.maskTrail!.ids.length);
    }
  });

  test('the training graph gives an answer the probability that the rollout gave it, to 1e-4 a decision', async () => {
    let compared = 0;
    for (const attempt of attempts) {
      const tokens = rollout.tokensOf(attempt);
      const { proposal } = attempt;
      if (!tokens.ok || tokens.value.strands.length > 1 || proposal.kind !== 'text' || proposal.confidence === undefined) continue;
      const { promptIds, strands: [{ ids, decisions }] } = tokens.value as { promptIds: typeof tokens.value.promptIds; strands: readonly [(typeof tokens.value.strands)[number]] };
      const [pack] = packSequences<Decision>([{ tokens: [...promptIds, ...ids], decisions: decisions.map((decision) => ({ ...decision, index: promptIds.length + decision.index })) }], TINY_CONTEXT);
      const run = await engine.run(pack!.batch, parameters);
      if (!run.ok) throw new Error(run.error.code);
      const sum = run.value.logProbabilities.reduce((total, value) => total + value, 0);
      expect(Math.abs(sum - Math.log(proposal.confidence)) / decisions.length).toBeLessThan(1e-4);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(5);
  }, 60_000);

  test('the same seed writes the same, whoever else is in the batch; another one something else', async () => {
    rollout.begin(adapterOf(model.config, parameters, '1'.repeat(64) as Digest));
    const again = await Promise.all([1, 1, 2].map((seed) => rollout.run(examples[0]!, random(seed), undefined)));
    const texts = [episodes[0]!, ...again].map(({ attempts: made }) => made.map(({ proposal }) => proposal.text).join());
    expect(texts[1]).toBe(texts[0]);
    expect(texts[2]).toBe(texts[0]);
    expect(texts[3]).not.toBe(texts[0]);
  });

  test('an abort ends the episodes', async () => {
    const stop = new AbortController();
    const running = [1, 2, 3, 4, 5].map((seed) => rollout.run(examples[0]!, random(seed), stop.signal));
    stop.abort();
    for (const { outcome } of await Promise.all(running)) expect(outcome).toMatchObject({ status: 'failed', reason: 'repair/aborted' });
  });
});

// checklist: E6
describe.each(['outside', 'off'] as const)('with the mask %s', (mask) => {
  test('an answer that it refuses, or the gate, is a failed attempt and counts in U; every token was a choice', async () => {
    const rollout = open({ mask });
    const episodes = await Promise.all([1, 2].map((seed) => rollout.run(examples[0]!, random(seed), undefined)));
    for (const { outcome, attempts } of episodes) {
      expect(outcome).toMatchObject({ status: 'failed', reason: 'repair/attempts-exhausted' });
      expect(scoreEpisode(outcome, labelOf(examples[0]!))).toMatchObject({ end: 'rejected', refused: 2, retries: 1, isUnsafe: false });
      expect(attempts[0]!.proposal.text).not.toBe(attempts[1]!.proposal.text);
      const tokens = rollout.tokensOf(attempts[0]!);
      if (!tokens.ok) throw new Error(tokens.error.code);
      const [{ ids, decisions }] = tokens.value.strands as [(typeof tokens.value.strands)[number]];
      expect(decisions).toHaveLength(ids.length);
      expect(decisions[0]!.allowed).toHaveLength(TINY_VOCABULARY.tokens.length);
      expect(decisions[0]!.allowed).toContain(STOP);
    }
  });
});

test('with the history left out, a later attempt is shown as a first one, and sampled as a later one', async () => {
  const [hidden, shown] = [open({ mask: 'off', showsHistory: false }), open({ mask: 'off' })];
  const [without, withIt] = await Promise.all([hidden, shown].map((rollout) => rollout.run(examples[0]!, random(3), undefined)));
  expect(without!.attempts.map(({ observation }) => observation.state.history.length)).toEqual([0, 0]);
  expect(withIt!.attempts.map(({ observation }) => observation.state.history.length)).toEqual([0, 1]);
  expect(without!.attempts[0]!.proposal.text).toBe(withIt!.attempts[0]!.proposal.text);
  expect(without!.attempts[1]!.proposal.text).not.toBe(without!.attempts[0]!.proposal.text);
});

describe('an episode is none to learn from', () => {
  test.each([
    ['not where its budget is spent', 'repair/attempts-exhausted', undefined], ['not where the policy left no room for what is missing', 'mask/empty', undefined],
    ['where no mask can be made', 'mask/unsupported-keyword', 'unaskable'], ['where the proposer threw', 'repair/proposer-threw', 'failure'],
  ])('%s', (_, reason, kind) => {
    const outcome = { status: 'failed', reason, message: '' } as unknown as Episode['outcome'];
    expect(faultOf({ outcome, attempts: [] })?.kind).toBe(kind);
  });

  test('where the call is valid', async () => {
    const { record, target } = examples.find((example) => example.target !== null)!;
    const valid = { record: { ...record, call: { name: (record['tool'] as { name: string }).name, arguments: JSON.stringify(target) } } };
    expect(faultOf(await open().run(valid, random(1), undefined))).toMatchObject({ kind: 'unaskable', code: 'grpo/no-attempt' });
  });

  test('where its prompt leaves no room, or the engine fails', async () => {
    const narrow = await openBatch({ ort, model, graph: { format: 'q41x', contextLength: 300 }, executionProvider: 'cpu', width: 1, threadCount: 1 });
    if (!narrow.ok) throw new Error(narrow.error.code);
    const rollout = new Rollout({ batch: narrow.value, tokenizer, vocabulary: TINY_VOCABULARY, settings: DEFAULT_GRPO });
    expect(faultOf(await rollout.run(examples[0]!, random(1), undefined))).toMatchObject({ kind: 'unaskable', code: 'prompt/too-long' });
    await narrow.value.engine.dispose();
    const closed = await openBatch({ ort, model, graph: { format: 'q41x', contextLength: TINY_CONTEXT }, executionProvider: 'cpu', width: 1, threadCount: 1 });
    if (!closed.ok) throw new Error(closed.error.code);
    await closed.value.engine.dispose();
    const broken = new Rollout({ batch: closed.value, tokenizer, vocabulary: TINY_VOCABULARY, settings: DEFAULT_GRPO });
    expect(faultOf(await broken.run(examples[0]!, random(1), undefined))).toMatchObject({ kind: 'failure', code: 'engine/disposed' });
  });
});
