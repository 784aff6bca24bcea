/** For tests of results on disk: what was written is changed, and must be noticed. */
import { readFile, writeFile } from 'node:fs/promises';
import { gunzipSync, gzipSync } from 'node:zlib';

/** Changes the text of a file; a name that ends in `.gz` is unpacked for it and packed again. */
export async function rewriteFile(path: string, change: (text: string) => string): Promise<void> {
  const bytes = await readFile(path);
  const isPacked = path.endsWith('.gz');
  const text = change((isPacked ? gunzipSync(bytes) : bytes).toString('utf8'));
  await writeFile(path, isPacked ? gzipSync(text) : text);
}
