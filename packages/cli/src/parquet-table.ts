/**
 * A table that goes out as a Parquet file while it grows: rows are kept until a group is full, and a written group is given away at once, so that
 * memory does not grow with the table. The format itself is hyparquet-writer's. Reference: Apache Parquet format 2 (row groups, footer at the end).
 */
import { ByteWriter, ParquetWriter, schemaFromColumnData, type BasicType } from 'hyparquet-writer';
import type { Output } from './io.ts';

export type ColumnType = Extract<BasicType, 'STRING' | 'INT32' | 'INT64' | 'DOUBLE'>;
export type TableRow<Name extends string> = Readonly<Record<Name, string | number | null>>;

export interface ParquetTable<Name extends string> {
  add(row: TableRow<Name>): Promise<void>;
  /** Writes what is left and the footer. A table of no row is a file of no row. */
  close(): Promise<void>;
}

/** Rows of a group: some MB of text, and enough for a reader to skip groups by their statistics. */
const GROUP_ROWS = 10_000;

/** Begins a file on `output`; every column of `types` may hold null. Numbers of an INT64 column are whole. */
export function createParquetTable<Name extends string>(types: Readonly<Record<Name, ColumnType>>, output: Output): ParquetTable<Name> {
  const columns = Object.entries(types) as [Name, ColumnType][];
  const columnsOf = (rows: readonly TableRow<Name>[]): { name: string; type: ColumnType; data: unknown[] }[] => columns.map(([name, type]) => (
    { name, type, data: rows.map(({ [name]: value }) => (type === 'INT64' && value !== null ? BigInt(value) : value)) }
  ));
  const file = new ParquetWriter({ writer: new OutputWriter(output), schema: schemaFromColumnData({ columnData: columnsOf([]) }), createdBy: 'contractrl' });
  let rows: TableRow<Name>[] = [];
  const writeGroup = async (): Promise<void> => {
    await file.write({ columnData: columnsOf(rows), rowGroupSize: GROUP_ROWS });
    rows = [];
  };
  return {
    async add(row) {
      rows.push(row);
      if (rows.length === GROUP_ROWS) await writeGroup();
    },
    async close() {
      if (rows.length > 0) await writeGroup();
      await file.finish();
    },
  };
}

/** The library's buffer, emptied after every group. */
class OutputWriter extends ByteWriter {
  readonly #output: Output;

  constructor(output: Output) {
    super();
    this.#output = output;
  }

  flush(): Promise<void> {
    const bytes = this.getBytes().slice();
    this.index = 0;
    return this.#output.write(bytes);
  }

  override finish(): Promise<void> {
    return this.flush();
  }
}
