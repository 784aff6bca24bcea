/**
 * Training steps by our gradient engine, in a process of its own, so that neither time nor memory of anything else is counted: `engine-worker <work.json> <threads> packed|single`.
 * `packed` reads a batch as training does, what its examples share once; `single` reads one example after the other. A number on standard input is a step to take; what
 * it took and saw is a line on standard output, as with `python/training_step.py`.
 */
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import * as ort from 'onnxruntime-node';
import type { TokenId } from '@contractrl/grammar-mask';
import { openModel, packExamples, weightedBatch, type EncodedExample } from '@contractrl/trainer';
import {
  addGradients, clipGradients, createGradientEngine, createOptimiserState, initialParameters, packSegments, takeStep, type PackedBatch,
} from '@contractrl/trainer/gradient';
import { allowedOf, type Work } from './prepare-work.ts';

const [workFile = '', threads, reading] = process.argv.slice(2);
const work = JSON.parse(readFileSync(workFile, 'utf8')) as Work;
const opened = await openModel(work.model ?? undefined, undefined);
if (typeof opened === 'string') throw new Error(opened);
const created = await createGradientEngine({ ort, model: opened.model, contextLength: work.contextLength, threadCount: Number(threads) });
if (!created.ok) throw new Error(created.error.code, { cause: created.error });
const engine = created.value;
const parameters = initialParameters(opened.model.config, work.lora);
const state = createOptimiserState(parameters);
const steps = work.steps.map((examples) => examples.map(({ promptIds, answerIds, decisions }): EncodedExample => ({
  promptIds: promptIds as TokenId[], answerIds: answerIds as TokenId[],
  decisions: decisions.map(({ index, choice }) => ({ index, allowed: Int32Array.from(allowedOf(choice, opened.model.vocabularySize)) })),
})));

/** What the graph runs one after the other; `weight` is that of a decision. */
const read: (examples: readonly EncodedExample[], weight: number) => readonly PackedBatch[] = reading === 'packed'
  ? (examples, weight) => packExamples(examples).map((pack) => weightedBatch(pack, weight))
  : (examples, weight) => examples.map(({ promptIds, answerIds, decisions }) => (
    packSegments([{ tokens: promptIds, steps: [] }, { tokens: answerIds, after: 0, steps: decisions.map((decision) => ({ ...decision, weight })) }])
  ));

async function step(examples: readonly EncodedExample[]): Promise<{ readonly loss: number; readonly positions: number }> {
  const weight = 1 / examples.reduce((sum, { decisions }) => sum + decisions.length, 0);
  const gradients = parameters.tensors.map(({ data }) => new Float32Array(data.length));
  let [loss, positions] = [0, 0];
  for (const batch of read(examples, weight)) {
    const run = await engine.run(batch, parameters);
    if (!run.ok) throw new Error(run.error.code, { cause: run.error });
    loss += run.value.loss;
    positions += batch.tokens.length;
    addGradients(gradients, run.value.gradients);
  }
  clipGradients(gradients, work.settings.maxNorm);
  takeStep(parameters, gradients, state, work.settings.learningRate);
  return { loss, positions };
}

const say = (message: unknown): void => { process.stdout.write(`${JSON.stringify(message)}\n`); };

say({ versions: { 'onnxruntime-node': ort.env.versions.node ?? 'unknown' } });
for await (const line of createInterface({ input: process.stdin })) {
  const examples = steps[Number(line)]!;
  const startedMs = performance.now();
  const seen = await step(examples);
  say({ ms: performance.now() - startedMs, ...seen, peakBytes: 1024 * process.resourceUsage().maxRSS });
}
await engine.dispose();
