import { expect, test } from 'vitest';
import { readParquet } from '../tests/read-parquet.ts';
import { createParquetTable } from './parquet-table.ts';

async function tableOf(count: number): Promise<{ readonly chunks: readonly Uint8Array[]; readonly rows: readonly Readonly<Record<string, unknown>>[] }> {
  const chunks: Uint8Array[] = [];
  const table = createParquetTable({ n: 'INT64', text: 'STRING', share: 'DOUBLE', none: 'STRING', small: 'INT32' }, {
    isTerminal: false, write: (chunk) => { chunks.push(chunk as Uint8Array); return Promise.resolve(); },
  });
  for (let index = 0; index < count; index += 1) await table.add({ n: index, text: index % 3 === 0 ? null : `é "${index}",\n`, share: index / 7, none: null, small: -index });
  await table.close();
  return { chunks, rows: await readParquet(Buffer.concat(chunks)) };
}

test.each([[0, 1], [1, 2], [10_000, 2], [25_000, 4]])('%i rows come back as they were, given away in %i parts', async (count, parts) => {
  const { chunks, rows } = await tableOf(count);
  expect(chunks).toHaveLength(parts);
  expect(rows).toHaveLength(count);
  for (const index of [0, 1, count - 1].filter((each) => each >= 0 && each < count)) {
    expect(rows[index]).toEqual({ n: BigInt(index), text: index % 3 === 0 ? null : `é "${index}",\n`, share: index / 7, none: null, small: index === 0 ? 0 : -index });
  }
});

test('two tables of the same rows are the same bytes', async () => {
  const [a, b] = [await tableOf(20), await tableOf(20)];
  expect(Buffer.concat(a.chunks).equals(Buffer.concat(b.chunks))).toBe(true);
  expect(Buffer.concat(a.chunks).subarray(0, 4).toString()).toBe('PAR1');
  expect(Buffer.concat(a.chunks).subarray(-4).toString()).toBe('PAR1');
});
