/**
 * A safetensors file as float32 tensors: 8 bytes of header length, a JSON header, then raw little-endian values. Floating types only.
 * Reference: huggingface/safetensors README, "Format".
 */
import { err, isJsonArray, isJsonObject, ok, parseJson, type JsonObject, type JsonValue, type Result } from '@contractrl/core';
import { plainBytes } from '../model/bytes.ts';
import { HALF_VALUES, toHalves } from '../model/half.ts';
import type { AdapterIssue } from './issue.ts';

export interface FloatTensor {
  readonly shape: readonly number[];
  /** Row-major. */
  readonly data: Float32Array;
}

const LENGTH_BYTES = 8;
/** An adapter of 100 layers has a header of some 200 KB. */
const MAX_HEADER_BYTES = 4_194_304;
const HEADER_DEPTH = 4;
/** The one header entry that is no tensor. */
const METADATA = '__metadata__';

const BYTES_PER_VALUE: ReadonlyMap<string, number> = new Map([['F32', 4], ['F16', 2], ['BF16', 2]]);

/** Reads all tensors, by name in file order. */
export function readSafetensors(file: Uint8Array): Result<ReadonlyMap<string, FloatTensor>, AdapterIssue> {
  const bytes = plainBytes(file);
  const header = readHeader(bytes);
  if (!header.ok) return header;
  const tensors = new Map<string, FloatTensor>();
  for (const [name, entry] of Object.entries(header.value.entries)) {
    if (name === METADATA) continue;
    const tensor = readTensor(bytes.subarray(header.value.sizeBytes), name, entry);
    if (!tensor.ok) return tensor;
    tensors.set(name, tensor.value);
  }
  return ok(tensors);
}

interface Header {
  readonly entries: JsonObject;
  /** With its length field: the data begins here. */
  readonly sizeBytes: number;
}

function readHeader(bytes: Uint8Array): Result<Header, AdapterIssue> {
  if (bytes.length < LENGTH_BYTES) return err({ code: 'adapter/truncated', neededBytes: LENGTH_BYTES, actualBytes: bytes.length });
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  if (length > MAX_HEADER_BYTES) return err({ code: 'adapter/bad-header', detail: `a header of ${length} bytes` });
  const sizeBytes = LENGTH_BYTES + length;
  if (sizeBytes > bytes.length) return err({ code: 'adapter/truncated', neededBytes: sizeBytes, actualBytes: bytes.length });
  const text = new TextDecoder().decode(bytes.subarray(LENGTH_BYTES, sizeBytes));
  const entries = parseJson(text, { maxDepth: HEADER_DEPTH, maxLength: MAX_HEADER_BYTES });
  if (!entries.ok) return err({ code: 'adapter/bad-header', detail: entries.error.code });
  return isJsonObject(entries.value) ? ok({ entries: entries.value, sizeBytes }) : err({ code: 'adapter/bad-header', detail: 'not an object' });
}

function readTensor(data: Uint8Array, name: string, entry: JsonValue): Result<FloatTensor, AdapterIssue> {
  const malformed = (detail: string): Result<never, AdapterIssue> => err({ code: 'adapter/bad-header', detail: `${name}: ${detail}` });
  if (!isJsonObject(entry)) return malformed('not an object');
  const { dtype, shape, data_offsets: offsets } = entry;
  if (typeof dtype !== 'string') return malformed('no dtype');
  const valueBytes = BYTES_PER_VALUE.get(dtype);
  if (valueBytes === undefined) return err({ code: 'adapter/unsupported-dtype', tensor: name, dtype });
  if (!isCounts(shape)) return malformed('shape');
  if (!isCounts(offsets) || offsets.length !== 2) return malformed('data_offsets');
  const [start = 0, end = 0] = offsets;
  if (end > data.length) return err({ code: 'adapter/truncated', neededBytes: end, actualBytes: data.length });
  if (end - start !== shape.reduce((product, size) => product * size, valueBytes)) return malformed('data_offsets do not match the shape');
  const values = toFloats(data.slice(start, end), dtype);
  return values.every(Number.isFinite) ? ok({ shape, data: values }) : err({ code: 'adapter/not-finite', tensor: name });
}

function isCounts(value: JsonValue | undefined): value is readonly number[] {
  return value !== undefined && isJsonArray(value) && value.every((item) => typeof item === 'number' && Number.isSafeInteger(item) && item >= 0);
}

/** `bytes` starts its own buffer, so 16 and 32-bit views are aligned. */
function toFloats(bytes: Uint8Array, dtype: string): Float32Array {
  if (dtype === 'F32') return new Float32Array(bytes.buffer);
  const halves = new Uint16Array(bytes.buffer);
  if (dtype === 'F16') return Float32Array.from(halves, (bits) => HALF_VALUES[bits]!);
  // BF16 is the upper half of a float32.
  return new Float32Array(Uint32Array.from(halves, (bits) => bits << 16).buffer);
}

export type WrittenType = 'F32' | 'F16';

/** Tensors by name as a file. The header is padded with spaces to whole 8 bytes, so that a reader may map the data. Values that F16 has no room for are a RangeError. */
export function writeSafetensors(tensors: ReadonlyMap<string, FloatTensor>, type: WrittenType = 'F32'): Uint8Array<ArrayBuffer> {
  let dataBytes = 0;
  const entries: Record<string, unknown> = { [METADATA]: { format: 'pt' } };
  const parts: Uint8Array[] = [];
  for (const [name, { shape, data }] of tensors) {
    const values = type === 'F32' ? data : toHalves(data);
    parts.push(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    entries[name] = { dtype: type, shape, data_offsets: [dataBytes, dataBytes + values.byteLength] };
    dataBytes += values.byteLength;
  }
  const text = JSON.stringify(entries);
  const header = new TextEncoder().encode(text.padEnd(Math.ceil(text.length / LENGTH_BYTES) * LENGTH_BYTES));
  const file = new Uint8Array(LENGTH_BYTES + header.length + dataBytes);
  new DataView(file.buffer).setBigUint64(0, BigInt(header.length), true);
  file.set(header, LENGTH_BYTES);
  let offset = LENGTH_BYTES + header.length;
  for (const part of parts) {
    file.set(part, offset);
    offset += part.length;
  }
  return file;
}
