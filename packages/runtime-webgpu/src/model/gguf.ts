/**
 * A model file as typed data: configuration, tensors as bytes of the file, and the tokenizer's own fields. The header is
 * parsed by `@huggingface/gguf`, which reads byte ranges over HTTP; here its `fetch` answers those ranges from bytes at hand or
 * from an open file, the same way in Node and in a browser. What it returns is checked against the file: it pads a short file with zeros.
 * Reference: ggml docs/gguf.md.
 */
import { err, ok, type Digest, type Result } from '@contractrl/core';
import { GGMLQuantizationType, gguf, type GGUFTensorInfo } from '@huggingface/gguf';
import { plainBytes } from './bytes.ts';
import { readConfig, type ModelConfig } from './config.ts';
import { dequantise } from './dequantise.ts';
import type { ModelIssue } from './issue.ts';
import { checkTensors, EMBEDDING, HEAD, ROPE_DIVISORS } from './layout.ts';
import type { Metadata } from './metadata.ts';
import { createEmptyRowTable, type RowTable } from './row-table.ts';
import { sha256 } from './sha256.ts';
import { STORAGE_LAYOUTS, type GgufTensor, type TensorType } from './tensor.ts';

export interface GgufModel {
  /** SHA-256 of the whole file. */
  readonly digest: Digest;
  readonly config: ModelConfig;
  /** Rows of the embedding, which is the width of the logits. */
  readonly vocabularySize: number;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
  /** Embedding and head, where they were made while the file was read. Then no tensor has its bytes. */
  readonly rowTables?: ReadonlyMap<string, RowTable>;
  /** Fields that describe the tokenizer are read from here, see `createTokenizer`. */
  readonly metadata: Metadata;
  /** Where an adapter was added into the weights, see `mergeAdapter`. `digest` names model and adapter together. */
  readonly merged?: { readonly adapterDigest: Digest; readonly digest: Digest };
}

export interface ReadGgufOptions {
  /** SHA-256 of the file where the caller has just verified it; computed here otherwise. */
  readonly digest?: Digest;
}

/** A file of which only the ranges that are asked for come into memory. */
export interface FileRanges {
  readonly sizeBytes: number;
  /** The bytes from `start` up to `end`, both within the file; put into `scratch` where that is given, for a caller who is done with them before the next read. */
  read(start: number, end: number, scratch?: Uint8Array<ArrayBuffer>): Promise<Result<Uint8Array<ArrayBuffer>, ModelIssue>>;
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
  const whole: FileRanges = { sizeBytes: bytes.length, read: (start, end) => Promise.resolve(ok(bytes.subarray(start, end) as Uint8Array<ArrayBuffer>)) };
  return readModel(whole, () => true, () => options.digest ?? sha256(bytes));
}

/** Reads all of a GGUF file with a verified `digest`, as {@link readGguf} does. */
export async function readGgufFile(file: FileRanges, digest: Digest): Promise<Result<GgufModel, ModelIssue>> {
  return readModel(file, () => true, () => digest);
}

/**
 * Reads a GGUF file as {@link readGgufFile} does, but of its weights only embedding and head, as `rowTables`: the others are in the model's graph. The
 * bytes of a tensor are a TypeError when asked for.
 */
export async function readGgufTables(file: FileRanges, digest: Digest): Promise<Result<GgufModel, ModelIssue>> {
  const model = await readModel(file, (name) => name === ROPE_DIVISORS, () => digest);
  if (!model.ok) return model;
  const rowTables = new Map<string, RowTable>();
  for (const name of [EMBEDDING, HEAD]) {
    const tensor = model.value.tensors.get(name);
    if (!(tensor instanceof UnreadTensor)) continue;
    const table = await readRowTable(file, tensor);
    if (!table.ok) return table;
    rowTables.set(name, table.value);
  }
  return ok({ ...model.value, rowTables });
}

const TABLE_PIECE_BYTES = 1 << 20;

async function readRowTable(file: FileRanges, tensor: UnreadTensor): Promise<Result<RowTable, ModelIssue>> {
  const { shape: [rowCount = 0], start, end } = tensor;
  const table = createEmptyRowTable(tensor);
  const rowBytes = (end - start) / rowCount;
  const pieceRows = Math.max(1, Math.floor(TABLE_PIECE_BYTES / rowBytes));
  const scratch = new Uint8Array(pieceRows * rowBytes);
  for (let row = 0; row < rowCount; row += pieceRows) {
    const piece = await file.read(start + row * rowBytes, Math.min(end, start + (row + pieceRows) * rowBytes), scratch);
    if (!piece.ok) return piece;
    table.fill(row, piece.value);
  }
  return ok(table);
}

async function readModel(file: FileRanges, isRead: (name: string) => boolean, digestOf: () => Digest | Promise<Digest>): Promise<Result<GgufModel, ModelIssue>> {
  const header = await readHeader(file);
  if (!header.ok) return header;
  const { metadata, tensorInfos, dataOffset } = header.value;
  const config = readConfig(metadata);
  if (!config.ok) return config;
  const tensors = new Map<string, GgufTensor>();
  for (const info of tensorInfos) {
    const tensor = await readTensor(file, dataOffset, info, isRead(info.name));
    if (!tensor.ok) return tensor;
    tensors.set(info.name, tensor.value);
  }
  const vocabularySize = checkTensors(config.value, tensors);
  if (!vocabularySize.ok) return vocabularySize;
  const divisors = tensors.get(ROPE_DIVISORS);
  if (divisors !== undefined && !dequantise(divisors).every((divisor) => divisor > 0 && Number.isFinite(divisor))) {
    return err({ code: 'model/bad-field', key: ROPE_DIVISORS, detail: 'not positive numbers' });
  }
  return ok({ digest: await digestOf(), config: config.value, vocabularySize: vocabularySize.value, tensors, metadata });
}

interface Header {
  readonly metadata: Metadata;
  readonly tensorInfos: readonly GGUFTensorInfo[];
  readonly dataOffset: number;
}

async function readHeader(file: FileRanges): Promise<Result<Header, ModelIssue>> {
  const start = await file.read(0, Math.min(MAGIC.length, file.sizeBytes));
  if (!start.ok) return start;
  if (String.fromCharCode(...start.value) !== MAGIC) return err({ code: 'model/not-gguf' });
  try {
    const parsed = await gguf(SOURCE_URL, { fetch: rangeFetch(file) });
    if (!parsed.littleEndian) return err({ code: 'model/unreadable', detail: 'big-endian' });
    const headerEnd = parsed.tensorInfoByteRange[1];
    if (headerEnd > file.sizeBytes) return err({ code: 'model/truncated', neededBytes: headerEnd, actualBytes: file.sizeBytes });
    return ok({ metadata: { ...parsed.metadata }, tensorInfos: parsed.tensorInfos, dataOffset: Number(parsed.tensorDataOffset) });
  } catch (error) {
    return err({ code: 'model/unreadable', detail: error instanceof Error ? error.message : String(error) });
  }
}

/** Answers `Range: bytes=a-b` requests, as an HTTP server of this one file would. */
function rangeFetch(file: FileRanges): typeof fetch {
  return async (_url, init) => {
    const range = /bytes=(\d+)-(\d+)/u.exec(new Headers(init?.headers).get('range') ?? '');
    const [first, last] = [Number(range?.[1]), Math.min(Number(range?.[2]), file.sizeBytes - 1)];
    const body = first > last ? ok(new Uint8Array(0)) : await file.read(first, last + 1);
    if (!body.ok) throw new Error(body.error.code);
    return new Response(body.value, { status: 206, headers: { 'content-range': `bytes ${first}-${last}/${file.sizeBytes}` } });
  };
}

async function readTensor(file: FileRanges, dataOffset: number, info: GGUFTensorInfo, isRead: boolean): Promise<Result<GgufTensor, ModelIssue>> {
  const { name } = info;
  const layout = STORAGE_LAYOUTS.get(info.dtype);
  if (layout === undefined) return err({ code: 'model/unsupported-tensor-type', tensor: name, type: GGMLQuantizationType[info.dtype] ?? String(info.dtype) });
  const { type } = layout;
  const shape = info.shape.map(Number).reverse();
  const rowLength = shape.at(-1) ?? 0;
  if (rowLength % layout.blockLength !== 0) return err({ code: 'model/unreadable', detail: `rows of ${name} are not whole blocks` });
  const weightCount = shape.reduce((product, size) => product * size, 1);
  const start = dataOffset + Number(info.offset);
  const end = start + (weightCount / layout.blockLength) * layout.blockBytes;
  if (end > file.sizeBytes) return err({ code: 'model/truncated', neededBytes: end, actualBytes: file.sizeBytes });
  if (!isRead) return ok(new UnreadTensor({ name, shape, type, start, end }));
  const bytes = await file.read(start, end);
  return bytes.ok ? ok({ name, shape, type, bytes: bytes.value }) : bytes;
}

class UnreadTensor implements GgufTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: TensorType;
  /** Where in the file its bytes are. */
  readonly start: number;
  readonly end: number;

  constructor({ name, shape, type, start, end }: Omit<UnreadTensor, 'bytes'>) {
    this.name = name;
    this.shape = shape;
    this.type = type;
    this.start = start;
    this.end = end;
  }

  get bytes(): never {
    throw new TypeError(`tensor ${this.name}: its bytes were not read`);
  }
}
