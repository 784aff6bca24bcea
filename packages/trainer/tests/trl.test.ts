/**
 * The way out and back: rows are exported, TRL's GRPOTrainer takes two steps on them with the rewards of our server, and the PEFT adapter that it saves is
 * the one that our engine then runs: same logits, and a repair with it. `npm run smoke:trl` makes the Python environment, of some gigabytes, and runs this.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readRepairRequest } from '@contractrl/core/records';
import { buildPrompt, createOrtEngine, createRepairer, encodePrompt, PROMPT_VERSION, readAdapter, type Engine, type GgufModel } from '@contractrl/runtime-webgpu';
import { modelPath } from '@contractrl/runtime-webgpu/node';
import * as ort from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openExample, type Example } from '../src/data/example.ts';
import { writeExport } from '../src/export/write-export.ts';
import { DEFAULT_REWARD_WEIGHTS } from '../src/grpo/reward.ts';
import { openModel, type OpenedModel } from '../src/open-model.ts';
import { bundleProgram } from './support/bundle-program.ts';
import { readHuggingFaceWeights, writeHuggingFaceFolder } from './support/hugging-face-folder.ts';
import { tinyDataset } from './support/tiny-policy.ts';

interface SmokeResult {
  readonly versions: Readonly<Record<string, string>>;
  readonly log: readonly Readonly<Record<string, number>>[];
  readonly groups: readonly string[];
  readonly promptIds: readonly (readonly number[])[];
  /** Behind the last token of each prompt, with the adapter and without. */
  readonly logits: readonly (readonly number[])[];
  readonly baseLogits: readonly (readonly number[])[];
  readonly verl: { readonly columns: readonly string[]; readonly prompts: Readonly<Record<string, string>>; readonly scores: readonly { readonly score: number; readonly acc: number }[] };
}

const python = process.env['CONTRACTRL_TRL_PYTHON'];
const missing = python === undefined
  ? 'set CONTRACTRL_TRL_PYTHON to a Python with the packages of python/requirements.txt, or run `npm run smoke:trl`'
  : existsSync(modelPath()) ? undefined : 'no model file; run `contractrl model fetch`';
/** Logits are of size 20 to 60; float32 on both sides. */
const TOLERANCE = 1e-3;

describe.skipIf(missing !== undefined)(`TRL on the CPU, two layers${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  const dataset = tinyDataset(80);
  let folder: string;
  let base: OpenedModel;
  let model: GgufModel;
  let engine: Engine;
  let result: SmokeResult;
  let examples: readonly Example[];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'contractrl-trl-'));
    const at = (name: string): string => join(folder, name);
    const opened = await openModel(undefined, undefined);
    if (typeof opened === 'string') throw new Error(opened);
    base = opened;
    for (const format of ['trl', 'verl'] as const) {
      const written = writeExport(dataset, { folder: at(format), format, turns: 'chatml', groupSize: 4, weights: DEFAULT_REWARD_WEIGHTS });
      if (!written.ok) throw new Error(written.error.code);
    }
    mkdirSync(at('model'));
    writeHuggingFaceFolder(at('model'), base.model);
    writeFileSync(at('server.mjs'), await bundleProgram('contractrl-train-main.ts'));
    mkdirSync(at('out'));
    const script = fileURLToPath(new URL('../python/smoke_trl.py', import.meta.url));
    const run = spawnSync(python!, [script, ...['trl', 'verl', 'model', 'out'].map(at)], {
      encoding: 'utf8', env: { ...process.env, CONTRACTRL_TRAIN_COMMAND: `"${process.execPath}" "${at('server.mjs')}"` },
    });
    if (run.status !== 0) throw new Error(run.stderr);
    result = JSON.parse(readFileSync(join(at('out'), 'result.json'), 'utf8')) as SmokeResult;
    examples = result.groups.map((group) => dataset.examples.find(({ id }) => id === group)!);
    model = readHuggingFaceWeights(join(at('out'), 'base', 'model.safetensors'), base.model);
    const started = await createOrtEngine({ ort, model, graph: { format: 'f32' }, executionProvider: 'cpu', threadCount: 1 });
    if (!started.ok) throw new Error(started.error.code, { cause: started.error });
    engine = started.value;
  }, 600_000);

  afterAll(async () => {
    await engine?.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  const logitsOf = async (ids: readonly number[]): Promise<Float32Array> => {
    const run = await engine.extend(engine.emptyCache, ids);
    if (!run.ok) throw new Error(run.error.code, { cause: run.error });
    const logits = new Float32Array(engine.logitWidth);
    engine.allLogits(run.value.hidden, logits);
    return logits;
  };
  const distance = (a: ArrayLike<number>, b: readonly number[]): number => b.reduce((largest, value, index) => Math.max(largest, Math.abs(value - a[index]!)), 0);

  test('the tokenizer there reads a prompt as ours does', () => {
    for (const [index, example] of examples.entries()) {
      const opened = openExample(example);
      expect(opened.ok && encodePrompt(buildPrompt(opened.value), base.tokenizer, 2048)).toMatchObject({ ok: true, value: { ids: result.promptIds[index] } });
    }
  });

  test('two steps are taken, with rewards that differ within a group', () => {
    const steps = result.log.filter((entry) => 'reward' in entry);
    console.log(result.versions, steps.map(({ reward, reward_std: spread, grad_norm: norm }) => ({ reward, spread, norm })));
    expect(steps).toHaveLength(2);
    for (const { reward, 'contractrl/refused': refused } of steps) {
      expect(reward).toBeLessThan(0);
      expect(refused).toBeGreaterThan(0);
    }
    expect(steps.some(({ reward_std: spread, grad_norm: norm }) => spread! > 0 && norm! > 0)).toBe(true);
  });

  test('the adapter that it saves gives the same logits here, and they are not the base’s', async () => {
    const [weights, configText] = [readFileSync(join(folder, 'out', 'adapter', 'adapter_model.safetensors')), readFileSync(join(folder, 'out', 'adapter', 'adapter_config.json'), 'utf8')];
    const adapter = await readAdapter(weights, configText, { promptVersion: PROMPT_VERSION });
    if (!adapter.ok) throw new Error(adapter.error.code, { cause: adapter.error });
    const largestDifference = async (there: SmokeResult['logits']): Promise<number> => {
      const differences: number[] = [];
      for (const [index, ids] of result.promptIds.entries()) differences.push(distance(await logitsOf(ids), there[index]!));
      return Math.max(...differences);
    };
    const without = await largestDifference(result.baseLogits);
    expect(engine.useAdapter(adapter.value)).toEqual({ ok: true, value: undefined });
    const withIt = await largestDifference(result.logits);
    const learnt = distance(result.logits[0]!, result.baseLogits[0]!);
    console.log({ without, withIt, learnt });
    expect(Math.max(without, withIt)).toBeLessThan(TOLERANCE);
    expect(learnt).toBeGreaterThan(100 * TOLERANCE);
  });

  test('a repair with it ends as every repair may, and nothing is accepted that is not valid', async () => {
    const repairer = createRepairer({ engine, tokenizer: base.tokenizer, vocabulary: base.vocabulary, clock: () => performance.now() });
    const request = readRepairRequest(examples[0]!.record);
    if (!request.ok) throw new Error(request.error.code);
    const outcome = await repairer.repair(request.value, { deterministic: false });
    console.log(outcome.status, 'reason' in outcome ? outcome.reason : outcome.argumentsText);
    expect(['repaired', 'abstained', 'failed']).toContain(outcome.status);
    expect(outcome.frozen.opened.proposer).toMatchObject({ adapterDigest: engine.adapterDigest, promptVersion: PROMPT_VERSION });
    expect(outcome.frozen.proposals.length).toBeGreaterThan(0);
  });

  test('verl’s reader finds its columns, the same prompts, and rewards for the right answers (verl itself is not run)', () => {
    expect(result.verl.columns).toEqual(['data_source', 'prompt', 'ability', 'reward_model', 'extra_info']);
    const rows = readFileSync(join(folder, 'trl', 'train.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as { readonly group: string; readonly prompt: string });
    expect(result.verl.prompts).toEqual(Object.fromEntries(rows.map(({ group, prompt }) => [group, prompt])));
    for (const { score, acc } of result.verl.scores) expect([score, acc]).toEqual([1, 1]);
  });
});
