/** The committed data files: gzipped JSON Lines inside this package, read whole (none is over 400 KB). */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

const DATA = new URL('../../data/', import.meta.url);

/** Rows of `data/<name>`, each as the caller's row type: these files are ours, committed and pinned by digest in the tests. */
export function readRows<Row>(name: string): readonly Row[] {
  const text = gunzipSync(readFileSync(new URL(name, DATA))).toString('utf8');
  return text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Row);
}

/** SHA-256 of `data/<name>` as stored, hexadecimal: goes into the manifest of a run. */
export function dataDigest(name: string): string {
  return createHash('sha256').update(readFileSync(new URL(name, DATA))).digest('hex');
}
