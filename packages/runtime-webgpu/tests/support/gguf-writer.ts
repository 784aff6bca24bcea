/** Writes GGUF version 3 files for tests. Reference: ggml docs/gguf.md. */
import type { TensorType } from '../../src/model/tensor.ts';

export type GgufField =
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'uint32' | 'float32'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'strings'; readonly value: readonly string[] }
  | { readonly type: 'int32s'; readonly value: readonly number[] };

export interface GgufTensorSource {
  readonly name: string;
  /** Usual order; the file lists the fastest dimension first. */
  readonly shape: readonly number[];
  /** `Q2_K` is one that the package does not read. */
  readonly type: TensorType | 'Q2_K';
  readonly bytes: Uint8Array;
}

const TYPE_NUMBERS = { F32: 0, F16: 1, Q4_0: 2, Q4_1: 3, Q5_0: 6, Q5_1: 7, Q8_0: 8, Q2_K: 10, Q4_K: 12, Q5_K: 13, Q6_K: 14, BF16: 30 } as const;
const VALUE_TYPES = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const;
const ALIGNMENT = 32;

export function writeGguf(fields: Readonly<Record<string, GgufField>>, tensors: readonly GgufTensorSource[]): Uint8Array<ArrayBuffer> {
  const header = new ByteWriter();
  header.raw(new TextEncoder().encode('GGUF')).uint32(3).uint64(tensors.length).uint64(Object.keys(fields).length);
  for (const [key, field] of Object.entries(fields)) writeField(header.string(key), field);
  let offset = 0;
  for (const tensor of tensors) {
    header.string(tensor.name).uint32(tensor.shape.length);
    for (const size of [...tensor.shape].reverse()) header.uint64(size);
    header.uint32(TYPE_NUMBERS[tensor.type]).uint64(offset);
    offset += padded(tensor.bytes.length);
  }
  header.raw(new Uint8Array(padded(header.length) - header.length));
  for (const { bytes } of tensors) header.raw(bytes).raw(new Uint8Array(padded(bytes.length) - bytes.length));
  return header.finish();
}

function writeField(writer: ByteWriter, field: GgufField): void {
  switch (field.type) {
    case 'string':
      writer.uint32(VALUE_TYPES.string).string(field.value);
      break;
    case 'uint32':
      writer.uint32(VALUE_TYPES.uint32).uint32(field.value);
      break;
    case 'bool':
      writer.uint32(VALUE_TYPES.bool).raw(Uint8Array.of(field.value ? 1 : 0));
      break;
    case 'float32':
      writer.uint32(VALUE_TYPES.float32).raw(new Uint8Array(Float32Array.of(field.value).buffer));
      break;
    case 'strings':
      writer.uint32(VALUE_TYPES.array).uint32(VALUE_TYPES.string).uint64(field.value.length);
      for (const text of field.value) writer.string(text);
      break;
    case 'int32s':
      writer.uint32(VALUE_TYPES.array).uint32(VALUE_TYPES.int32).uint64(field.value.length).raw(new Uint8Array(Int32Array.from(field.value).buffer));
      break;
  }
}

function padded(length: number): number {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT;
}

class ByteWriter {
  readonly #parts: Uint8Array[] = [];
  length = 0;

  raw(bytes: Uint8Array): this {
    this.#parts.push(bytes);
    this.length += bytes.length;
    return this;
  }

  uint32(value: number): this {
    return this.raw(new Uint8Array(Uint32Array.of(value).buffer));
  }

  uint64(value: number): this {
    return this.raw(new Uint8Array(BigUint64Array.of(BigInt(value)).buffer));
  }

  string(text: string): this {
    const bytes = new TextEncoder().encode(text);
    return this.uint64(bytes.length).raw(bytes);
  }

  finish(): Uint8Array<ArrayBuffer> {
    const out = new Uint8Array(this.length);
    let offset = 0;
    for (const part of this.#parts) {
      out.set(part, offset);
      offset += part.length;
    }
    return out;
  }
}
