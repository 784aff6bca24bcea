/** A tokenizer of bytes and a few pieces, and a decoder of its width, so that whole examples can be trained on in seconds. */
import { createVocabulary, type TokenId, type Vocabulary } from '@contractrl/grammar-mask';
import type { GgufModel, Tokenizer } from '@contractrl/runtime-webgpu';
import { OUTPUT_NORM } from '@contractrl/runtime-webgpu/onnx';
import { readEvaluationSets } from '../../src/audit/evaluation-sets.ts';
import { auditTraining, indexEvaluation } from '../../src/audit/leakage-index.ts';
import { buildDataset } from '../../src/data/build-dataset.ts';
import type { Example } from '../../src/data/example.ts';
import { manifestOf } from '../../src/data/manifest.ts';
import type { PreparedDataset } from '../../src/data/prepare-dataset.ts';
import { CALLS, FIXTURES } from '../calls.ts';
import { tinyDecoder } from './tiny-decoder.ts';

export const STOP: TokenId = 256;
/** The prompt's fixed parts, and some text that crosses what the mask forces. */
const PIECES = [
  '<|im_start|>system\nRepair a failed tool call with a JSON Patch, or abstain.<|im_end|>\n<|im_start|>user\nRequest:', '<|im_end|>\n<|im_start|>assistant\n',
  'Left: 2 operations, 2 attempts', '{"type":"string"', '"description":"', ':string', ' the ', '[{"', 'op":"', '":"', '","', '"path":"/', 'ue":', '"}]', 'ing', 'er',
];
const latin1 = new TextDecoder('latin1');

function encode(text: string): readonly TokenId[] {
  const rest = latin1.decode(new TextEncoder().encode(text));
  const ids: TokenId[] = [];
  for (let at = 0; at < rest.length;) {
    const piece = PIECES.findIndex((each) => rest.startsWith(each, at));
    ids.push(piece === -1 ? rest.charCodeAt(at) : STOP + 1 + piece);
    at += piece === -1 ? 1 : PIECES[piece]!.length;
  }
  return ids;
}

export const TINY_TOKENIZER: Pick<Tokenizer, 'encodePlain' | 'encodeTrusted'> = { encodePlain: encode, encodeTrusted: encode };
export const TINY_VOCABULARY: Vocabulary = openVocabulary();

function openVocabulary(): Vocabulary {
  const tokens = [...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)), undefined, ...PIECES.map((piece) => new TextEncoder().encode(piece))];
  const made = createVocabulary({ logitWidth: tokens.length, tokens, stopIds: [STOP], encode });
  if (!made.ok) throw new Error(made.error.code);
  return made.value;
}

export const TINY_CONTEXT = 2048;

export function tinyPolicyModel(): GgufModel {
  const model = tinyDecoder('llama', TINY_VOCABULARY.logitWidth);
  return { ...model, config: { ...model.config, contextLength: TINY_CONTEXT } };
}

/** The same with logits of a seventh: made-up weights are sure of what they choose, and this one tries things. */
export function hesitantPolicyModel(): GgufModel {
  const sure = tinyPolicyModel();
  const norm = sure.tensors.get(OUTPUT_NORM)!;
  const values = new Float32Array(norm.bytes.slice().buffer).map((value) => value / 7);
  return { ...sure, tensors: new Map(sure.tensors).set(OUTPUT_NORM, { ...norm, bytes: new Uint8Array(values.buffer) }) };
}

/** Of the fixtures; both sides are there. */
export function tinyDataset(count: number, isWanted: (example: Example) => boolean = () => true): PreparedDataset {
  const index = indexEvaluation(readEvaluationSets(FIXTURES).evaluation);
  const dataset = buildDataset(CALLS, { seed: 13, count, validationShare: 0.25, index });
  const examples = dataset.examples.filter(isWanted);
  const audit = auditTraining(index, []);
  return { examples, manifest: manifestOf({ seed: 13, options: { count }, sources: [], dataset: { ...dataset, examples }, audit }) };
}
