/** What ends a run of group-relative optimisation: episodes, engine and graph that are not as they should be. */
import { repairCall, type Proposer, type RepairOutcome } from '@contractrl/core';
import { readRepairRequest } from '@contractrl/core/records';
import { openBatch, type Tokenizer } from '@contractrl/runtime-webgpu';
import * as ort from 'onnxruntime-node';
import { describe, expect, test } from 'vitest';
import { choiceOf } from '../../tests/support/choice.ts';
import { tinyParameters } from '../../tests/support/tiny-decoder.ts';
import { hesitantPolicyModel, TINY_TOKENIZER, TINY_VOCABULARY, tinyPolicyModel } from '../../tests/support/tiny-policy.ts';
import { createOptimiserState } from '../gradient/adamw.ts';
import { createGradientEngine, type GradientEngine } from '../gradient/gradient-engine.ts';
import { adapterOf } from '../gradient/parameters.ts';
import { Rollout, type Episode } from './rollout.ts';
import { DEFAULT_GRPO, type GrpoSettings } from './settings.ts';
import { trainGrpo, type GrpoEvent, type GrpoOptions } from './train.ts';

const CONTEXT = 1024;
const model = hesitantPolicyModel();
const parameters = tinyParameters(model.config, 2);
const SETTINGS: GrpoSettings = { ...DEFAULT_GRPO, steps: 2, groups: 1, maxGroups: 2, samples: 4 };

function run(rollout: GrpoOptions['rollout'], engine: GradientEngine, onEvent: (event: GrpoEvent) => void = () => undefined): ReturnType<typeof trainGrpo> {
  return trainGrpo({
    engine, rollout, run: { parameters: tinyParameters(model.config, 2), state: createOptimiserState(parameters) }, start: parameters, settings: SETTINGS, packLength: CONTEXT,
    train: [choiceOf('a', 'train'), choiceOf('b', 'train')], validation: [choiceOf('c', 'validation')], adapterOf: (of, digest) => adapterOf(model.config, of, digest), clock: () => 0, onEvent,
  });
}

const NO_ENGINE: GradientEngine = { run: () => Promise.reject(new Error('no gradient is due')), dispose: () => Promise.resolve() };

/** Episodes that a policy wrote which knows the answer, as they come out of the loop or changed. */
function scripted(change: (outcome: RepairOutcome) => object = () => ({})): GrpoOptions['rollout'] {
  const cost = { promptTokenCount: 1, generatedTokenCount: 1, forcedTokenCount: 0, prefillMs: 0, decodeMs: 0, maskMs: 0 };
  return {
    begin: () => ({ ok: true, value: undefined }),
    tokensOf: () => { throw new Error('no gradient is due'); },
    async run({ record }): Promise<Episode> {
      const read = readRepairRequest(record);
      if (!read.ok) throw new Error(read.error.code);
      const attempts: Episode['attempts'][number][] = [];
      const proposer: Proposer = {
        identity: {},
        propose(observation) {
          const proposal = { kind: 'text', text: '[{"op":"replace","path":"/size","value":"big"}]', confidence: 0.5, maskDigest: undefined, cost } as const;
          attempts.push({ observation, proposal });
          return Promise.resolve({ ok: true, value: proposal });
        },
      };
      const outcome = await repairCall(read.value, proposer);
      return { attempts, outcome: { ...outcome, ...change(outcome) } as RepairOutcome };
    },
  };
}

describe('a run', () => {
  test('of equal episodes ends, having looked at validation alone', async () => {
    const seen: GrpoEvent[] = [];
    expect(await run(scripted(), NO_ENGINE, (event) => seen.push(event))).toEqual({ ok: true, value: 'flat' });
    expect(seen).toEqual([expect.objectContaining({ kind: 'validation', step: 0, success: 1, episodes: 1 })]);
  });

  // checklist: C4
  test('ends where a call would be dispatched that the validator did not accept', async () => {
    const forged = scripted((outcome) => ('accepted' in outcome ? { accepted: { ...outcome.accepted } } : {}));
    expect(await run(forged, NO_ENGINE)).toEqual({ ok: false, error: { code: 'grpo/unsafe-dispatch', id: 'c' } });
  });

  test('ends where the engine takes no adapter', async () => {
    const refusing = { ...scripted(), begin: () => ({ ok: false, error: { code: 'engine/disposed' } }) as const };
    expect(await run(refusing, NO_ENGINE)).toMatchObject({ ok: false, error: { code: 'grpo/rollout-failed', reason: 'engine/disposed' } });
  });

  test('ends where the graph is of other weights than the engine, before anything has moved', async () => {
    const [batch, other] = await Promise.all([
      openBatch({ ort, model, graph: { format: 'q41x', contextLength: CONTEXT }, executionProvider: 'cpu', width: 4, threadCount: 1 }),
      createGradientEngine({ ort, model: tinyPolicyModel(), contextLength: CONTEXT, threadCount: 1 }),
    ]);
    if (!batch.ok || !other.ok) throw new Error('the small model does not load');
    const rollout = new Rollout({ batch: batch.value, tokenizer: TINY_TOKENIZER as Tokenizer, vocabulary: TINY_VOCABULARY, settings: SETTINGS });
    const seen: GrpoEvent[] = [];
    const ended = await run(rollout, other.value, (event) => seen.push(event));
    expect(ended).toMatchObject({ ok: false, error: { code: 'grpo/rollout-disagrees' } });
    expect(seen.map(({ kind }) => kind)).toEqual(['validation']);
    await Promise.all([batch.value.engine.dispose(), other.value.dispose()]);
  });
});
