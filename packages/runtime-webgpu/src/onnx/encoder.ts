/**
 * ONNX models as protobuf bytes: just the messages a decoder graph needs, written as a list of parts. Weights are passed on as
 * views and never copied, so a model of hundreds of megabytes costs no second copy. Same input, same bytes.
 * Reference: onnx.proto3 (field numbers beside each writer), Protocol Buffers encoding guide.
 */
const IR_VERSION = 10;
const OPSET_VERSION = 21;
/** Domain of the operators that ONNX Runtime adds to the standard ones. */
export const MS_DOMAIN = 'com.microsoft';

/** TensorProto.DataType. */
const DATA_TYPES = { float32: 1, uint8: 2, int32: 6, int64: 7, float16: 10, bfloat16: 16 } as const;
export type DataType = keyof typeof DATA_TYPES;

/** A fixed size, or the name of one that varies between runs. */
export type Dimension = number | string;

export interface ValueInfo {
  readonly name: string;
  readonly type: DataType;
  readonly dimensions: readonly Dimension[];
}

export interface Initializer {
  readonly name: string;
  readonly type: DataType;
  readonly dimensions: readonly number[];
  readonly data: ArrayBufferView<ArrayBuffer>;
  /** Which file holds `data`, from which byte on; inside the model where absent. */
  readonly location?: { readonly file: string; readonly offset: number };
}

/** An integer, a list of integers or a float; they are different fields on the wire. */
export type Attribute = { readonly int: number } | { readonly ints: readonly number[] } | { readonly float: number };

export interface GraphNode {
  readonly operator: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes?: Readonly<Record<string, Attribute>>;
  readonly domain?: string;
}

export interface OnnxGraph {
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
  readonly nodes: readonly GraphNode[];
  readonly initializers: readonly Initializer[];
}

type Bytes = Uint8Array<ArrayBuffer>;

/** One protobuf message under construction. */
class Message {
  readonly parts: Bytes[] = [];
  sizeBytes = 0;

  /** Wire type 0. Negative numbers do not occur: `int64` fields here are sizes, types and attribute values from 0 up. */
  integer(field: number, value: number): this {
    return this.#varint(field << 3).#varint(value);
  }

  /** Wire type 5. */
  float(field: number, value: number): this {
    return this.#varint((field << 3) | 5).#append(new Uint8Array(Float32Array.of(value).buffer));
  }

  /** Wire type 2. */
  bytes(field: number, value: Bytes): this {
    return this.#varint((field << 3) | 2).#varint(value.length).#append(value);
  }

  text(field: number, value: string): this {
    return this.bytes(field, new TextEncoder().encode(value));
  }

  message(field: number, value: Message): this {
    this.#varint((field << 3) | 2).#varint(value.sizeBytes);
    for (const part of value.parts) this.parts.push(part);
    this.sizeBytes += value.sizeBytes;
    return this;
  }

  #varint(value: number): this {
    const bytes: number[] = [];
    let rest = value;
    while (rest > 127) {
      bytes.push((rest % 128) | 128);
      rest = Math.floor(rest / 128);
    }
    bytes.push(rest);
    return this.#append(Uint8Array.from(bytes));
  }

  #append(bytes: Bytes): this {
    this.parts.push(bytes);
    this.sizeBytes += bytes.length;
    return this;
  }
}

/** The file's bytes as parts to be written one after the other. */
export function encodeModel(graph: OnnxGraph): readonly Bytes[] {
  const body = new Message();
  for (const node of graph.nodes) body.message(1, nodeMessage(node));
  body.text(2, 'decoder');
  for (const initializer of graph.initializers) body.message(5, tensorMessage(initializer));
  for (const input of graph.inputs) body.message(11, valueMessage(input));
  for (const output of graph.outputs) body.message(12, valueMessage(output));
  const model = new Message()
    .integer(1, IR_VERSION)
    .text(2, 'contractrl')
    .message(7, body)
    .message(8, operatorSet('', OPSET_VERSION))
    .message(8, operatorSet(MS_DOMAIN, 1));
  return joinSmall(model.parts);
}

/** OperatorSetIdProto. */
function operatorSet(domain: string, version: number): Message {
  return new Message().text(1, domain).integer(2, version);
}

/** NodeProto. */
function nodeMessage(node: GraphNode): Message {
  const message = new Message();
  for (const input of node.inputs) message.text(1, input);
  for (const output of node.outputs) message.text(2, output);
  message.text(3, `${node.outputs[0]}:${node.operator}`).text(4, node.operator);
  for (const [name, attribute] of Object.entries(node.attributes ?? {})) message.message(5, attributeMessage(name, attribute));
  return node.domain === undefined ? message : message.text(7, node.domain);
}

/** AttributeProto; field 20 is its type. */
function attributeMessage(name: string, attribute: Attribute): Message {
  const message = new Message().text(1, name);
  if ('int' in attribute) return message.integer(3, attribute.int).integer(20, 2);
  if ('float' in attribute) return message.float(2, attribute.float).integer(20, 1);
  for (const value of attribute.ints) message.integer(8, value);
  return message.integer(20, 7);
}

/** TensorProto, with `raw_data` or the three entries of external data. */
function tensorMessage({ name, type, dimensions, data, location }: Initializer): Message {
  const message = new Message();
  for (const size of dimensions) message.integer(1, size);
  message.integer(2, DATA_TYPES[type]).text(8, name);
  if (location === undefined) return message.bytes(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  for (const [key, value] of [['location', location.file], ['offset', String(location.offset)], ['length', String(data.byteLength)]] as const) {
    message.message(13, new Message().text(1, key).text(2, value));
  }
  return message.integer(14, 1);
}

/** ValueInfoProto: TypeProto.Tensor with its shape. */
function valueMessage({ name, type, dimensions }: ValueInfo): Message {
  const shape = new Message();
  for (const size of dimensions) shape.message(1, typeof size === 'string' ? new Message().text(2, size) : new Message().integer(1, size));
  const tensor = new Message().integer(1, DATA_TYPES[type]).message(2, shape);
  return new Message().text(1, name).message(2, new Message().message(1, tensor));
}

/** Parts from this size on stay as they are. */
const LARGE_PART_BYTES = 4096;

/** Joins runs of small parts: tags and lengths alone would make some 30,000 of them. */
function joinSmall(parts: readonly Bytes[]): readonly Bytes[] {
  const joined: Bytes[] = [];
  let run: Bytes[] = [];
  const flush = (): void => {
    if (run.length > 0) joined.push(concatBytes(run));
    run = [];
  };
  for (const part of parts) {
    if (part.length < LARGE_PART_BYTES) {
      run.push(part);
    } else {
      flush();
      joined.push(part);
    }
  }
  flush();
  return joined;
}

/** One array of all parts in order. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    out.set(part, offset);
    offset += part.length;
  }
  return out;
}
