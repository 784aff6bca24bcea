/** `npm run verify-report [FOLDER…]`: regenerates committed reports from their raw records and fails at the first difference. */
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { verifyMaskResults } from './mask/results.ts';
import { verifyResults } from './results.ts';

const RESULTS = new URL('../results/', import.meta.url);
const named = process.argv.slice(2);
const folders = named.length > 0 ? named : readdirSync(RESULTS).map((name) => fileURLToPath(new URL(name, RESULTS)));

for (const folder of folders) {
  if (basename(folder) === 'mask') {
    const verified = await verifyMaskResults(folder);
    if (verified.ok) {
      console.log(`${folder}: the report and its plots follow from the raw results.`);
    } else {
      console.error(`${folder}: ${JSON.stringify(verified.error)}`);
      process.exitCode = 1;
    }
    continue;
  }
  const verified = await verifyResults(folder);
  if (verified.ok) {
    console.log(`${folder}: every figure of the report follows from ${String(verified.value.run.cases.length)} raw records.`);
  } else {
    console.error(`${folder}: ${JSON.stringify(verified.error)}`);
    process.exitCode = 1;
  }
}
