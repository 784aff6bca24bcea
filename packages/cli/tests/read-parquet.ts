/** Reads a Parquet file with hyparquet, the reader that the writer itself depends on. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

interface Reader {
  parquetReadObjects(options: { readonly file: ArrayBuffer }): Promise<Readonly<Record<string, unknown>>[]>;
}

const nextToTheWriter = createRequire(createRequire(import.meta.url).resolve('hyparquet-writer'));
const { parquetReadObjects } = await import(pathToFileURL(nextToTheWriter.resolve('hyparquet')).href) as Reader;

export function readParquet(bytes: Uint8Array): Promise<Readonly<Record<string, unknown>>[]> {
  return parquetReadObjects({ file: new Uint8Array(bytes).buffer });
}
