/** Reading the compressed test data in `fixtures/`; its README names origin and licence of each file. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** The text of one gzip-compressed fixture. */
export function readFixture(name: string): string {
  return gunzipSync(readFileSync(new URL(`fixtures/${name}`, import.meta.url))).toString('utf8');
}

/** The rows of a JSON Lines fixture, trusted to have the shape the README gives. */
export function readRows<T>(name: string): readonly T[] {
  return readFixture(name).split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as T);
}
