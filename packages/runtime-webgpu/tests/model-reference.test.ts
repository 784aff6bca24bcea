/**
 * The real base model and the shipped adapter against vectors that public Python libraries computed in float32 (see fixtures/README.md).
 * Continuations are followed with the reference's own tokens, so that every step is compared and one slip does not hide the rest.
 */
import * as ort from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import type { GgufModel } from '../src/model/gguf.ts';
import { createTokenizer } from '../src/model/tokenizer.ts';
import type { WeightFormat } from '../src/onnx/linear.ts';
import { createOrtEngine } from '../src/ort/engine.ts';
import type { Tokenizer } from '../src/tokenizer.ts';
import { hasRealModel, loadRealModel, loadShippedAdapter, readRows, REAL_MODEL } from './support/real-model.ts';

interface TokenizerRow { readonly id: string; readonly text: string; readonly ids: readonly number[]; readonly ids_plain?: readonly number[]; readonly decoded?: string }
interface LogitsRow { readonly name: string; readonly ids: readonly number[]; readonly top10: readonly (readonly [number, number])[]; readonly greedy24: readonly number[] }
interface AdapterRow { readonly id: string; readonly prompt: string; readonly ids: readonly number[]; readonly top10: readonly (readonly [number, number])[]; readonly greedy: readonly number[] }

/** Largest difference to a reference logit; the fixtures are rounded to 5 and 4 decimals. */
const TOLERANCE = 2e-4;

/** Half a minute each on an idle machine. One thread each, since two that wait for each other crawl on a busy one. */
const SLOW_MS = 240_000;

interface Agreement {
  readonly stepCount: number;
  readonly equalStepCount: number;
  readonly largestDifference: number;
}

/** Follows `answer` after `prompt`; compares the first step's logits with `top10` and the best id of each step with the answer. */
async function follow(engine: Engine, prompt: readonly number[], top10: LogitsRow['top10'], answer: readonly number[]): Promise<Agreement> {
  const logits = new Float32Array(engine.logitWidth);
  let step = await engine.extend(engine.emptyCache, prompt);
  let largestDifference = 0;
  let equalStepCount = 0;
  for (const [index, token] of answer.entries()) {
    if (!step.ok) throw new Error(step.error.code, { cause: step.error });
    engine.allLogits(step.value.hidden, logits);
    if (index === 0) for (const [id, logit] of top10) largestDifference = Math.max(largestDifference, Math.abs(logits[id]! - logit));
    if (logits.indexOf(logits.reduce((best, logit) => Math.max(best, logit))) === token) equalStepCount++;
    if (index + 1 < answer.length) step = await engine.extend(step.value.cache, [token]);
  }
  return { stepCount: answer.length, equalStepCount, largestDifference };
}

function sum(parts: readonly Agreement[]): Agreement {
  return {
    stepCount: parts.reduce((total, part) => total + part.stepCount, 0),
    equalStepCount: parts.reduce((total, part) => total + part.equalStepCount, 0),
    largestDifference: Math.max(...parts.map((part) => part.largestDifference)),
  };
}

describe.skipIf(!hasRealModel)(REAL_MODEL, () => {
  let model: GgufModel;
  let tokenizer: Tokenizer;

  beforeAll(async () => {
    model = await loadRealModel();
    const made = createTokenizer(model);
    if (!made.ok) throw new Error(made.error.code);
    tokenizer = made.value;
  });

  describe('tokenizer', () => {
    const rows = readRows('model-tokenizer.jsonl.gz') as readonly TokenizerRow[];

    test('gives the reference ids for all 407 texts, trusted and plain', () => {
      expect(rows).toHaveLength(407);
      for (const row of rows) {
        expect(tokenizer.encodeTrusted(row.text), row.id).toEqual(row.ids);
        expect(tokenizer.encodePlain(row.text), row.id).toEqual(row.ids_plain ?? row.ids);
      }
    });

    test('decodes the ids back to the text, but for bytes that have no token', () => {
      for (const row of rows) expect(tokenizer.decode(row.ids), row.id).toBe(row.decoded ?? row.text);
    });

    test('ends on <|im_end|> and <|endoftext|>, and no special token has bytes', () => {
      expect(tokenizer.stopIds).toEqual([2, 0]);
      expect(tokenizer.specialIds.size).toBe(17);
      for (const id of tokenizer.specialIds.values()) expect(tokenizer.tokens[id]).toBeUndefined();
      expect(tokenizer.tokens.filter((bytes) => bytes !== undefined)).toHaveLength(49_152 - 17);
    });
  });

  describe.each(['q41x', 'f32'] as const satisfies readonly WeightFormat[])('base model, %s', (format) => {
    let engine: Engine;

    beforeAll(async () => {
      const made = await createOrtEngine({ ort, model, graph: { format, lora: false }, executionProvider: 'cpu', threadCount: 1 });
      if (!made.ok) throw new Error(made.error.code, { cause: made.error });
      engine = made.value;
    }, 60_000);
    afterAll(() => engine.dispose());

    test('all 288 greedy steps of 12 prompts are the reference’s', async () => {
      const rows = readRows('model-logits.jsonl.gz') as readonly LogitsRow[];
      const parts: Agreement[] = [];
      for (const row of rows) parts.push(await follow(engine, row.ids, row.top10, row.greedy24));
      const total = sum(parts);
      console.info(`${format}: ${total.equalStepCount} of ${total.stepCount} steps, largest logit difference ${total.largestDifference.toExponential(1)}`);
      expect(total).toMatchObject({ stepCount: 288, equalStepCount: 288 });
      expect(total.largestDifference).toBeLessThan(TOLERANCE);
    }, SLOW_MS);
  });

  test('with the shipped adapter, ids, logits and greedy answers of 20 repairs are the reference’s', async () => {
    const made = await createOrtEngine({ ort, model, graph: { format: 'q41x' }, executionProvider: 'cpu', threadCount: 1 });
    if (!made.ok) throw new Error(made.error.code, { cause: made.error });
    const engine = made.value;
    const adapter = await loadShippedAdapter();
    expect(engine.useAdapter(adapter)).toEqual({ ok: true, value: undefined });
    expect(engine.adapterDigest).toBe(adapter.digest);
    const parts: Agreement[] = [];
    for (const row of readRows('adapter-reference.jsonl.gz') as readonly AdapterRow[]) {
      expect(tokenizer.encodeTrusted(row.prompt)).toEqual(row.ids);
      parts.push(await follow(engine, row.ids, row.top10, row.greedy));
    }
    await engine.dispose();
    const total = sum(parts);
    console.info(`adapter: ${total.equalStepCount} of ${total.stepCount} steps, largest logit difference ${total.largestDifference.toExponential(1)}`);
    expect(parts).toHaveLength(20);
    expect(total.equalStepCount).toBe(total.stepCount);
    expect(total.largestDifference).toBeLessThan(TOLERANCE);
  }, SLOW_MS);
});
