/** The gradient of the real base model under the adapter that ships, beside the engine that rolls out. */
import { existsSync, readFileSync } from 'node:fs';
import type { TokenId } from '@contractrl/grammar-mask';
import { logSumExp, readGguf } from '@contractrl/runtime-webgpu';
import { modelPath, openRuntime, type Runtime } from '@contractrl/runtime-webgpu/node';
import * as ort from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  clipGradients, createGradientEngine, createOptimiserState, packSegments, parametersOf, takeStep, type Gradient, type GradientEngine, type LoraParameters, type PackedBatch,
} from '../src/gradient/index.ts';

const path = process.env['CONTRACTRL_MODEL'] ?? modelPath();
const hasModel = existsSync(path);

const PROMPT = '<|im_start|>system\nRepair a failed tool call with a JSON Patch, or abstain.<|im_end|>\n<|im_start|>user\nRequest: Weather in Rome, please\n'
  + 'Tool: get_weather: Current weather of a place\nParameters: location*:string\nCall: {}\nError: missing_required at /location\nField: {"type":"string"}\n'
  + 'Left: 2 operations, 2 attempts<|im_end|>\n<|im_start|>assistant\n';
const ANSWER = '[{"op":"add","path":"/location","value":"Oslo"}]';

describe.skipIf(!hasModel)(`SmolLM2-135M-Instruct${hasModel ? '' : ' (skipped: no model file; set CONTRACTRL_MODEL or run `contractrl model fetch`)'}`, () => {
  let runtime: Runtime;
  let engine: GradientEngine;
  let parameters: LoraParameters;
  let batch: PackedBatch;
  let tokens: readonly TokenId[];
  let promptLength: number;

  beforeAll(async () => {
    const opened = await openRuntime({ offline: true, threads: 1, ...(process.env['CONTRACTRL_MODEL'] === undefined ? {} : { model: path }) });
    if (!opened.ok) throw new Error(opened.error.message);
    runtime = opened.value;
    const model = await readGguf(readFileSync(path));
    if (!model.ok) throw new Error(model.error.code);
    const created = await createGradientEngine({ ort, model: model.value, contextLength: 512, threadCount: 1 });
    if (!created.ok) throw new Error(created.error.code, { cause: created.error });
    engine = created.value;
    const taken = parametersOf(model.value.config, runtime.adapter!);
    if (!taken.ok) throw new Error(taken.error.detail);
    parameters = taken.value;
    const [prompt, answer] = [runtime.tokenizer.encodeTrusted(PROMPT), runtime.tokenizer.encodePlain(ANSWER)];
    [tokens, promptLength] = [[...prompt, ...answer], prompt.length];
    const allowed = Int32Array.from({ length: runtime.vocabulary.logitWidth }, (_, id) => id);
    batch = packSegments([{ tokens: prompt, steps: [] }, { tokens: answer, after: 0, steps: answer.map((_, index) => ({ index, allowed, weight: 1 / answer.length })) }]);
  }, 120_000);

  afterAll(() => Promise.all([runtime.engine.dispose(), engine.dispose()]));

  async function gradient(): Promise<Gradient> {
    const run = await engine.run(batch, parameters);
    if (!run.ok) throw new Error(run.error.code, { cause: run.error });
    return run.value;
  }

  test('log probabilities in float32 are those of the rollout in 4 bits, to 1e-4', async () => {
    const { logProbabilities, loss } = await gradient();
    const run = await runtime.engine.verify(runtime.engine.emptyCache, tokens);
    if (!run.ok) throw new Error(run.error.code, { cause: run.error });
    const logits = new Float32Array(runtime.vocabulary.logitWidth);
    const expected = tokens.slice(promptLength).map((token, index) => {
      runtime.engine.allLogits(run.value.hiddens[promptLength + index - 1]!, logits);
      return logits[token]! - logSumExp(logits, logits.length);
    });
    const largest = Math.max(...expected.map((value, index) => Math.abs(value - logProbabilities[index]!)));
    expect(logProbabilities).toHaveLength(expected.length);
    expect(largest).toBeLessThan(1e-4);
    expect(loss).toBeCloseTo(-expected.reduce((sum, value) => sum + value, 0) / expected.length, 4);
  }, 60_000);

  test('two steps of AdamW teach it another answer', async () => {
    const state = createOptimiserState(parameters);
    const losses: number[] = [];
    for (let step = 0; step < 3; step++) {
      const { loss, gradients } = await gradient();
      losses.push(loss);
      clipGradients(gradients, 1);
      takeStep(parameters, gradients, state, 1e-3);
    }
    expect(losses[1]).toBeLessThan(losses[0]!);
    expect(losses[2]).toBeLessThan(losses[1]!);
  }, 60_000);
});
