/**
 * Rows of verl as a Parquet file: lists and structures as Arrow reads them, so that `datasets` and pandas give back the same messages and members.
 * Reference: Apache Parquet format, LogicalTypes (three-level lists).
 */
import { ByteWriter, parquetWrite, type SchemaElement } from 'hyparquet-writer';
import type { VerlRow } from './rows.ts';

const text = (name: string): SchemaElement => ({ name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' });
const struct = (name: string, ...members: readonly SchemaElement[]): readonly SchemaElement[] => [{ name, num_children: members.length, repetition_type: 'REQUIRED' }, ...members];

const SCHEMA: readonly SchemaElement[] = [
  { name: 'root', num_children: 5 },
  text('data_source'),
  { name: 'prompt', num_children: 1, converted_type: 'LIST', repetition_type: 'REQUIRED' }, { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
  ...struct('element', text('role'), text('content')),
  text('ability'),
  ...struct('reward_model', text('style'), text('ground_truth')),
  ...struct('extra_info', text('split'), { name: 'index', type: 'INT64', repetition_type: 'REQUIRED' }, text('group'), text('family'), text('difficulty')),
];

/** Equal rows give equal bytes. All rows in memory: some kilobytes each. */
export function verlParquet(rows: readonly VerlRow[]): Uint8Array {
  const writer = new ByteWriter();
  const column = <Name extends keyof VerlRow>(name: Name, valueOf: (row: VerlRow) => unknown = ({ [name]: value }) => value): { name: Name; data: unknown[] } => ({ name, data: rows.map(valueOf) });
  parquetWrite({
    writer, createdBy: 'contractrl', schema: [...SCHEMA],
    columnData: [column('data_source'), column('prompt'), column('ability'), column('reward_model'), column('extra_info', ({ extra_info: { index, ...rest } }) => ({ ...rest, index: BigInt(index) }))],
  });
  return writer.getBytes();
}
