/** The known answers are what plain loops give, which share nothing with the engines but the published arithmetic. */
import { describe, expect, test } from 'vitest';
import type { LinearName } from '../lora/adapter.ts';
import { LINEAR_NAMES } from '../lora/adapter.ts';
import { dequantise } from '../model/dequantise.ts';
import { linearTensor } from '../model/layout.ts';
import { halfSplitOrder, reorderRows } from '../model/row-order.ts';
import { referenceLogits, type ReferenceLora } from '../../tests/support/reference-decoder.ts';
import type { TinyModel } from '../../tests/support/tiny-model.ts';
import { generate } from '../generate.ts';
import { createSampler } from '../sampling.ts';
import { createScriptedEngine } from '../scripted/engine.ts';
import { CHECK_PROMPT, createCheckAdapter, createCheckModel } from './check-model.ts';
import { openCheckMatcher, TOKEN_BUDGET } from './conformance.ts';
import { ADAPTER_RANKS, ANSWER_IDS, KNOWN_ANSWERS, KNOWN_PATCH, NEXT_TOKEN, PATCH_PROMPT } from './known-answers.ts';

const model = createCheckModel();

/** As plain numbers, q and k in half-split order. */
function toReferenceModel(): TinyModel {
  const { config } = model;
  const weights = new Map([...model.tensors].map(([name, tensor]) => {
    const [rows = 0, columns = 0] = tensor.shape;
    const values = dequantise(tensor);
    if (!/attn_[qk]\.weight$/u.test(name)) return [name, Float64Array.from(values)];
    const ordered = reorderRows(new Uint8Array(values.buffer), 4 * columns, halfSplitOrder(rows, config.headSize));
    return [name, Float64Array.from(new Float32Array(ordered.buffer))];
  }));
  return { config: { ...config, architecture: 'llama', vocabularySize: model.vocabularySize, isHeadTied: true }, weights, tensors: [], file: new Uint8Array() };
}

const reference = toReferenceModel();

function expectedOf(tokens: readonly number[], lora?: ReferenceLora): readonly number[] {
  const logits = referenceLogits(reference, tokens, lora);
  return Array.from(ANSWER_IDS, (id) => Math.round(logits[id]! * 1e5) / 1e5);
}

function toReferenceLora(rank: number): ReferenceLora {
  const adapter = createCheckAdapter(rank);
  const nameOf = (tensor: string): LinearName => LINEAR_NAMES.find((name) => linearTensor(0, name) === `blk.0.${tensor}.weight`)!;
  return { scaling: adapter.alpha / rank, matrixOf: (layer, tensor) => ({ ...adapter.layers[layer]![nameOf(tensor)]!, rank }) };
}

describe('the known answers', () => {
  test('of prompt and next token are the plain loops\'', () => {
    expect(KNOWN_ANSWERS.prefill).toEqual(expectedOf(CHECK_PROMPT));
    expect(KNOWN_ANSWERS.next).toEqual(expectedOf([...CHECK_PROMPT, NEXT_TOKEN]));
  });

  test.each(ADAPTER_RANKS.filter((rank) => rank > 0))('under an adapter of rank %d are the plain loops\'', (rank) => {
    expect(KNOWN_ANSWERS.adapters[rank]).toEqual(expectedOf(CHECK_PROMPT, toReferenceLora(rank)));
  });

  test('of the masked answer are what the plain loops make the decode loop write', async () => {
    const engine = createScriptedEngine({ logitWidth: model.vocabularySize, script: (history, out) => out.set(referenceLogits(reference, history)) });
    const start = await engine.extend(engine.emptyCache, PATCH_PROMPT);
    if (!start.ok) throw new Error(start.error.code);
    const generation = await generate(engine, openCheckMatcher(), start.value, { sampler: createSampler({ kind: 'greedy' }), clock: () => 0, maxTokens: TOKEN_BUDGET });
    expect(generation).toMatchObject({ ok: true, value: { kind: 'complete', text: KNOWN_PATCH.text } });
    expect(generation.ok && generation.value.sequenceLogProbability).toBeCloseTo(KNOWN_PATCH.logProbability, 4);
  });

  test('differ where they should: no adapter could be forgotten, or taken for another', () => {
    const all = [KNOWN_ANSWERS.next, ...Object.values(KNOWN_ANSWERS.adapters)];
    for (const [index, answers] of all.entries()) {
      for (const other of all.slice(0, index)) expect(Math.max(...answers.map((value, i) => Math.abs(value - other[i]!)))).toBeGreaterThan(0.5);
    }
  });
});
