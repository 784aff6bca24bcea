/**
 * A model file as typed data: configuration, tensors as views on the file's bytes, and the tokenizer's own fields. The header is
 * parsed by `@huggingface/gguf`, which reads byte ranges over HTTP; here its `fetch` answers those ranges from bytes at hand,
 * the same way in Node and in a browser. What it returns is checked against the file: it pads a short file with zeros.
 * Reference: ggml docs/gguf.md.
 */
import { err, ok, type Digest, type Result } from '@contractrl/core';
import { GGMLQuantizationType, gguf, type GGUFTensorInfo } from '@huggingface/gguf';
import { plainBytes } from './bytes.ts';
import { readConfig, type ModelConfig } from './config.ts';
import { dequantise } from './dequantise.ts';
import type { ModelIssue } from './issue.ts';
import { checkTensors, ROPE_DIVISORS } from './layout.ts';
import type { Metadata } from './metadata.ts';
import { sha256 } from './sha256.ts';
import { STORAGE_LAYOUTS, type GgufTensor } from './tensor.ts';

export interface GgufModel {
  /** SHA-256 of the whole file. */
  readonly digest: Digest;
  readonly config: ModelConfig;
  /** Rows of the embedding, which is the width of the logits. */
  readonly vocabularySize: number;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
  /** Fields that describe the tokenizer are read from here, see `createTokenizer`. */
  readonly metadata: Metadata;
  /** Where an adapter was added into the weights, see `mergeAdapter`. `digest` names model and adapter together. */
  readonly merged?: { readonly adapterDigest: Digest; readonly digest: Digest };
}

export interface ReadGgufOptions {
  /** SHA-256 of the file where the caller has just verified it; computed here otherwise. */
  readonly digest?: Digest;
}

const MAGIC = 'GGUF';

/** A name that cannot exist: the parser insists on a web address before it asks its `fetch`. */
const SOURCE_URL = 'https://model.invalid/model.gguf';

/**
 * Reads a whole GGUF file. Tensors stay views on `source`, which must not be changed afterwards; a `Blob` is copied into memory first.
 * Fails with a `model/…` issue on anything that is not a complete, supported model.
 */
export async function readGguf(source: Uint8Array | Blob, options: ReadGgufOptions = {}): Promise<Result<GgufModel, ModelIssue>> {
  const bytes = source instanceof Uint8Array ? plainBytes(source) : new Uint8Array(await source.arrayBuffer());
  const header = await readHeader(bytes);
  if (!header.ok) return header;
  const { metadata, tensorInfos, dataOffset } = header.value;
  const config = readConfig(metadata);
  if (!config.ok) return config;
  const tensors = new Map<string, GgufTensor>();
  for (const info of tensorInfos) {
    const tensor = readTensor(bytes, dataOffset, info);
    if (!tensor.ok) return tensor;
    tensors.set(info.name, tensor.value);
  }
  const vocabularySize = checkTensors(config.value, tensors);
  if (!vocabularySize.ok) return vocabularySize;
  const divisors = tensors.get(ROPE_DIVISORS);
  if (divisors !== undefined && !dequantise(divisors).every((divisor) => divisor > 0 && Number.isFinite(divisor))) {
    return err({ code: 'model/bad-field', key: ROPE_DIVISORS, detail: 'not positive numbers' });
  }
  const digest = options.digest ?? (await sha256(bytes));
  return ok({ digest, config: config.value, vocabularySize: vocabularySize.value, tensors, metadata });
}

interface Header {
  readonly metadata: Metadata;
  readonly tensorInfos: readonly GGUFTensorInfo[];
  readonly dataOffset: number;
}

async function readHeader(bytes: Uint8Array): Promise<Result<Header, ModelIssue>> {
  if (String.fromCharCode(...bytes.subarray(0, MAGIC.length)) !== MAGIC) return err({ code: 'model/not-gguf' });
  try {
    const parsed = await gguf(SOURCE_URL, { fetch: rangeFetch(bytes) });
    if (!parsed.littleEndian) return err({ code: 'model/unreadable', detail: 'big-endian' });
    const headerEnd = parsed.tensorInfoByteRange[1];
    if (headerEnd > bytes.length) return err({ code: 'model/truncated', neededBytes: headerEnd, actualBytes: bytes.length });
    return ok({ metadata: { ...parsed.metadata }, tensorInfos: parsed.tensorInfos, dataOffset: Number(parsed.tensorDataOffset) });
  } catch (error) {
    return err({ code: 'model/unreadable', detail: error instanceof Error ? error.message : String(error) });
  }
}

/** Answers `Range: bytes=a-b` requests, as an HTTP server of this one file would. */
function rangeFetch(bytes: Uint8Array): typeof fetch {
  return (_url, init) => {
    const range = /bytes=(\d+)-(\d+)/u.exec(new Headers(init?.headers).get('range') ?? '');
    const [first, last] = [Number(range?.[1]), Number(range?.[2])];
    const body = bytes.slice(first, last + 1);
    return Promise.resolve(new Response(body, { status: 206, headers: { 'content-range': `bytes ${first}-${last}/${bytes.length}` } }));
  };
}

function readTensor(bytes: Uint8Array, dataOffset: number, info: GGUFTensorInfo): Result<GgufTensor, ModelIssue> {
  const { name } = info;
  const layout = STORAGE_LAYOUTS.get(info.dtype);
  if (layout === undefined) return err({ code: 'model/unsupported-tensor-type', tensor: name, type: GGMLQuantizationType[info.dtype] ?? String(info.dtype) });
  const shape = info.shape.map(Number).reverse();
  const rowLength = shape.at(-1) ?? 0;
  if (rowLength % layout.blockLength !== 0) return err({ code: 'model/unreadable', detail: `rows of ${name} are not whole blocks` });
  const weightCount = shape.reduce((product, size) => product * size, 1);
  const start = dataOffset + Number(info.offset);
  const end = start + (weightCount / layout.blockLength) * layout.blockBytes;
  if (end > bytes.length) return err({ code: 'model/truncated', neededBytes: end, actualBytes: bytes.length });
  return ok({ name, shape, type: layout.type, bytes: bytes.subarray(start, end) });
}
