/** Data files: JSON Lines, gzipped or not, whole in memory (none is over 2 MB). */
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** Rows of a file as the caller's row type; these files are pinned, and a line that is no JSON is a bug of whoever made them. */
export function readLines<Row>(path: string): readonly Row[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text.split('\n').filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as Row);
}

export function hasFile(path: string): boolean {
  return existsSync(path);
}
