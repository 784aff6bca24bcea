/** `npm run verify-report [FOLDER…]`: regenerates committed reports from their raw records and fails at the first difference. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { verifyResults } from './results.ts';

const RESULTS = new URL('../results/', import.meta.url);
const named = process.argv.slice(2);
const folders = named.length > 0 ? named : readdirSync(RESULTS).map((name) => fileURLToPath(new URL(name, RESULTS)));

for (const folder of folders) {
  const verified = await verifyResults(folder);
  if (verified.ok) {
    console.log(`${folder}: every figure of the report follows from ${String(verified.value.run.cases.length)} raw records.`);
  } else {
    console.error(`${folder}: ${JSON.stringify(verified.error)}`);
    process.exitCode = 1;
  }
}
