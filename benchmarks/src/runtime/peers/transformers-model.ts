/**
 * Our model file as a folder that transformers.js loads: the decoder graph of the runtime, exact and in 4 bits, with the ends that the library expects.
 * Token ids are looked up and logits computed inside, from the same 8-bit table; the mask of attended positions gives the lengths; inputs and outputs
 * have its names. The graph is rewritten field by field, not built again, so that both engines run the same operators on the same weights.
 * Reference: onnx.proto3 (field numbers beside each writer), Protocol Buffers encoding guide.
 */
import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildGraph, type GgufModel } from '@contractrl/runtime-webgpu';

type Bytes = Uint8Array<ArrayBuffer>;

interface Field {
  readonly number: number;
  /** Tag and contents. */
  readonly whole: Bytes;
  readonly contents: Bytes;
}

const GRAPH = 7;
const NODE = 1;
const INITIALIZER = 5;
const GRAPH_INPUT = 11;
const GRAPH_OUTPUT = 12;
const [FLOAT, INT8, INT32, INT64, FLOAT16] = [1, 3, 6, 7, 10] as const;
const WEIGHTS_FILE = 'model.weights';
const EMBEDDING = 'token_embd.weight';
const Q8_BLOCK = 32;

/** What the added nodes compute in place of an input, or read in place of an output. */
const REPLACED_INPUTS = ['embeddings', 'seqlens_k', 'total_sequence_length', 'kept_positions'];
const HIDDEN = 'hidden';

/** Writes `config.json`, `tokenizer.json`, `onnx/model.onnx` and what belongs to them. Throws for a model whose head is no Q8_0 embedding: the base model's is. */
export async function writeTransformersModel(folder: string, model: GgufModel, contextLength: number): Promise<void> {
  const { config, metadata, vocabularySize, tensors } = model;
  const embedding = tensors.get(EMBEDDING);
  if (embedding?.type !== 'Q8_0' || tensors.has('output.weight')) throw new TypeError('model: one Q8_0 table for embedding and head');
  const graph = buildGraph(model, { format: 'q41x', lora: false, contextLength, weights: { file: WEIGHTS_FILE } });
  const weights = graph.externalData.map(({ data }) => data);
  const table = splitBlocks(embedding.bytes);
  const tableOffset = byteCount(weights);
  await mkdir(join(folder, 'onnx'), { recursive: true });
  const rewritten = rewriteModel(concat(graph.parts), { vocabularySize, hiddenSize: config.hiddenSize, tableOffset, scaleOffset: tableOffset + table.integers.length });
  await writeFile(join(folder, 'onnx', 'model.onnx'), rewritten);
  const file = await open(join(folder, 'onnx', WEIGHTS_FILE), 'w');
  for (const part of [...weights, table.integers, table.scales]) await file.writeFile(part);
  await file.close();
  const endId = metadata['tokenizer.ggml.eos_token_id'];
  const json: Readonly<Record<string, unknown>> = {
    'config.json': {
      architectures: ['LlamaForCausalLM'], model_type: 'llama', hidden_size: config.hiddenSize, num_hidden_layers: config.layerCount, num_attention_heads: config.headCount,
      num_key_value_heads: config.kvHeadCount, head_dim: config.headSize, vocab_size: vocabularySize, max_position_embeddings: contextLength, eos_token_id: endId, bos_token_id: endId,
    },
    'generation_config.json': { eos_token_id: endId, bos_token_id: endId },
    'tokenizer.json': tokenizerOf(metadata),
    'tokenizer_config.json': { tokenizer_class: 'PreTrainedTokenizerFast', eos_token: textsOf(metadata, 'tokenizer.ggml.tokens')[Number(endId)] },
  };
  for (const [name, value] of Object.entries(json)) await writeFile(join(folder, name), JSON.stringify(value));
}

/** Blocks of an f16 scale and 32 integers each, as all integers and all scales. */
function splitBlocks(bytes: Uint8Array): { readonly integers: Bytes; readonly scales: Bytes } {
  const blockBytes = 2 + Q8_BLOCK;
  const blockCount = bytes.length / blockBytes;
  const [integers, scales] = [new Uint8Array(blockCount * Q8_BLOCK), new Uint8Array(blockCount * 2)];
  for (let block = 0; block < blockCount; block += 1) {
    const at = block * blockBytes;
    scales.set(bytes.subarray(at, at + 2), block * 2);
    integers.set(bytes.subarray(at + 2, at + blockBytes), block * Q8_BLOCK);
  }
  return { integers, scales };
}

function tokenizerOf(metadata: GgufModel['metadata']): object {
  const tokens = textsOf(metadata, 'tokenizer.ggml.tokens');
  const types = metadata['tokenizer.ggml.token_type'] as readonly number[];
  const isText = (id: number): boolean => types[id] === 1;
  return {
    version: '1.0', truncation: null, padding: null, normalizer: null, post_processor: null,
    added_tokens: tokens.flatMap((content, id) => (isText(id) ? [] : [{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true }])),
    pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true }] },
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null, fuse_unk: false, byte_fallback: false,
      vocab: Object.fromEntries(tokens.map((text, id) => [text, id])), merges: textsOf(metadata, 'tokenizer.ggml.merges'),
    },
  };
}

function textsOf(metadata: GgufModel['metadata'], key: string): readonly string[] {
  return metadata[key] as readonly string[];
}

interface Ends {
  readonly vocabularySize: number;
  readonly hiddenSize: number;
  /** Where in the file of weights the integers and the scales of the table are. */
  readonly tableOffset: number;
  readonly scaleOffset: number;
}

/** The bytes of a model whose graph goes from `input_ids` and `attention_mask` to `logits`. */
function rewriteModel(model: Bytes, ends: Ends): Bytes {
  return concat(fieldsOf(model).map((field) => (field.number === GRAPH ? message(GRAPH, rewriteGraph(field.contents, ends)) : field.whole)));
}

function rewriteGraph(graph: Bytes, ends: Ends): Bytes {
  const fields = fieldsOf(graph);
  const of = (number: number): readonly Bytes[] => fields.filter((field) => field.number === number).map(({ contents }) => contents);
  const inputs = of(GRAPH_INPUT).filter((info) => !REPLACED_INPUTS.includes(nameOf(info)));
  const outputs = of(GRAPH_OUTPUT).filter((info) => nameOf(info) !== HIDDEN);
  const strange = [...inputs, ...outputs].map(nameOf).find((name) => renamed(name) === name);
  if (strange !== undefined) throw new TypeError(`graph: ${strange} is not known here`);
  return concat([
    ...lookUp().map((node) => message(NODE, node)),
    ...of(NODE).map((node) => message(NODE, renameStrings(node, [1, 2]))),
    ...head().map((node) => message(NODE, node)),
    ...fields.filter(({ number }) => ![NODE, INITIALIZER, GRAPH_INPUT, GRAPH_OUTPUT].includes(number)).map(({ whole }) => whole),
    ...of(INITIALIZER).map((tensor) => message(INITIALIZER, tensor)),
    ...constants(ends).map((tensor) => message(INITIALIZER, tensor)),
    ...[valueInfo('input_ids', INT64, [1, 's']), valueInfo('attention_mask', INT64, [1, 't']), ...inputs.map((info) => renameStrings(info, [1]))].map((info) => message(GRAPH_INPUT, info)),
    ...[valueInfo('logits', FLOAT, [1, 'k', ends.vocabularySize]), ...outputs.map((info) => renameStrings(info, [1]))].map((info) => message(GRAPH_OUTPUT, info)),
  ]);
}

function renamed(name: string): string {
  return name.replace(/^past_(key|value)\.(\d+)$/u, 'past_key_values.$2.$1').replace(/^present_(key|value)\.(\d+)$/u, 'present.$2.$1');
}

/** The table as float32, which the session folds into a constant as it loads; rows of the ids; and the lengths. */
function lookUp(): readonly Bytes[] {
  return [
    node('Cast', ['table.integers'], 'table.float_integers', { to: FLOAT }),
    node('Cast', ['table.scales'], 'table.float_scales', { to: FLOAT }),
    node('Mul', ['table.float_integers', 'table.float_scales'], 'table.blocks'),
    node('Reshape', ['table.blocks', 'table.shape'], 'table'),
    node('Gather', ['table', 'input_ids'], 'embeddings'),
    node('ReduceSum', ['attention_mask', 'list.1'], 'attended', { keepdims: 0 }),
    node('Sub', ['attended', 'list.1'], 'attended.before'),
    node('Cast', ['attended.before'], 'seqlens_k', { to: INT32 }),
    node('Shape', ['attention_mask'], 'attention_mask.shape'),
    node('Gather', ['attention_mask.shape', 'scalar.1'], 'attention_mask.length'),
    node('Cast', ['attention_mask.length'], 'total_sequence_length', { to: INT32 }),
    node('Shape', ['input_ids'], 'input_ids.shape'),
    node('Gather', ['input_ids.shape', 'list.1'], 'input_ids.length'),
    node('Sub', ['input_ids.length', 'list.1'], 'last'),
    node('Cast', ['last'], 'kept_positions', { to: INT32 }),
  ];
}

function head(): readonly Bytes[] {
  return [
    node('Reshape', [HIDDEN, 'hidden.shape'], 'hidden.rows'),
    node('Gemm', ['hidden.rows', 'table'], 'logits.rows', { transB: 1 }),
    node('Unsqueeze', ['logits.rows', 'list.0'], 'logits'),
  ];
}

function constants({ vocabularySize, hiddenSize, tableOffset, scaleOffset }: Ends): readonly Bytes[] {
  const blockCount = (vocabularySize * hiddenSize) / Q8_BLOCK;
  return [
    external('table.integers', INT8, [blockCount, Q8_BLOCK], tableOffset, blockCount * Q8_BLOCK),
    external('table.scales', FLOAT16, [blockCount, 1], scaleOffset, blockCount * 2),
    integers('table.shape', [2], [vocabularySize, hiddenSize]), integers('hidden.shape', [2], [-1, hiddenSize]),
    integers('list.0', [1], [0]), integers('list.1', [1], [1]), integers('scalar.1', [], [1]),
  ];
}

/** NodeProto with one output and whole-number attributes. */
function node(operator: string, inputs: readonly string[], output: string, attributes: Readonly<Record<string, number>> = {}): Bytes {
  const attribute = ([name, value]: readonly [string, number]): Bytes => message(5, concat([text(1, name), integer(3, value), integer(20, 2)]));
  return concat([...inputs.map((name) => text(1, name)), text(2, output), text(3, `${output}:${operator}`), text(4, operator), ...Object.entries(attributes).map(attribute)]);
}

/** TensorProto with its numbers inside. */
function integers(name: string, dimensions: readonly number[], values: readonly number[]): Bytes {
  return concat([...dimensions.map((size) => integer(1, size)), integer(2, INT64), text(8, name), message(9, new Uint8Array(BigInt64Array.from(values, BigInt).buffer))]);
}

/** TensorProto in the file of weights. */
function external(name: string, type: number, dimensions: readonly number[], offset: number, length: number): Bytes {
  const entries = Object.entries({ location: WEIGHTS_FILE, offset: String(offset), length: String(length) });
  return concat([
    ...dimensions.map((size) => integer(1, size)), integer(2, type), text(8, name),
    ...entries.map(([key, value]) => message(13, concat([text(1, key), text(2, value)]))), integer(14, 1),
  ]);
}

/** ValueInfoProto. */
function valueInfo(name: string, type: number, dimensions: readonly (number | string)[]): Bytes {
  const shape = concat(dimensions.map((size) => message(1, typeof size === 'string' ? text(2, size) : integer(1, size))));
  return concat([text(1, name), message(2, message(1, concat([integer(1, type), message(2, shape)])))]);
}

function nameOf(valueInfoBytes: Bytes): string {
  return new TextDecoder().decode(fieldsOf(valueInfoBytes).find(({ number }) => number === 1)?.contents);
}

function renameStrings(bytes: Bytes, numbers: readonly number[]): Bytes {
  return concat(fieldsOf(bytes).map(({ number, whole, contents }) => (numbers.includes(number) ? text(number, renamed(new TextDecoder().decode(contents))) : whole)));
}

/** The fields of a message in order; of all but wire type 2 the contents are empty. */
export function fieldsOf(bytes: Bytes): readonly Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    for (let value = 0, factor = 1; ; factor *= 128) {
      const byte = bytes[at];
      if (byte === undefined) throw new RangeError('protobuf: cut off');
      at += 1;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const start = at;
    const tag = varint();
    const [number, wireType] = [Math.floor(tag / 8), tag & 7];
    let contentsAt = at;
    if (wireType === 0) varint();
    else if (wireType === 5) at += 4;
    else if (wireType === 2) {
      const length = varint();
      contentsAt = at;
      at += length;
    } else throw new RangeError(`protobuf: wire type ${String(wireType)}`);
    fields.push({ number, whole: bytes.subarray(start, at), contents: wireType === 2 ? bytes.subarray(contentsAt, at) : new Uint8Array(0) });
  }
  return fields;
}

function varintBytes(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varintBytes(Math.floor(value / 128))];
}

function integer(number: number, value: number): Bytes {
  return Uint8Array.from([...varintBytes(number * 8), ...varintBytes(value)]);
}

function message(number: number, contents: Bytes): Bytes {
  return concat([Uint8Array.from([...varintBytes(number * 8 + 2), ...varintBytes(contents.length)]), contents]);
}

function text(number: number, value: string): Bytes {
  return message(number, new TextEncoder().encode(value));
}

function byteCount(parts: readonly Uint8Array[]): number {
  return parts.reduce((total, part) => total + part.length, 0);
}

function concat(parts: readonly Uint8Array[]): Bytes {
  const out = new Uint8Array(byteCount(parts));
  let offset = 0;
  for (const part of parts) {
    out.set(part, offset);
    offset += part.length;
  }
  return out;
}
