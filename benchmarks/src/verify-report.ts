/** `npm run verify-report [FOLDER…]`: regenerates committed reports from their raw records and fails at the first difference. */
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Result } from '@contractrl/core';
import { verifyCoreResults } from './core/results.ts';
import { verifyMaskResults } from './mask/results.ts';
import { verifyResults } from './results.ts';
import { verifyRuntimeResults } from './runtime/results.ts';
import { sandboxData, verifySandbox } from './sandbox/results.ts';

const RESULTS = new URL('../results/', import.meta.url);
/** By the folder's name; a folder with another name holds a run of the baseline. */
const VERIFY: Readonly<Record<string, (folder: string) => Promise<Result<unknown, { readonly code: string }>>>> = {
  core: verifyCoreResults, mask: verifyMaskResults, runtime: verifyRuntimeResults, sandbox: async (folder) => verifySandbox(folder, await sandboxData()),
};
const named = process.argv.slice(2);
const folders = named.length > 0 ? named : readdirSync(RESULTS).map((name) => fileURLToPath(new URL(name, RESULTS)));

for (const folder of folders) {
  const verified = await (VERIFY[basename(folder)] ?? verifyResults)(folder);
  if (verified.ok) {
    console.log(`${folder}: everything in it follows from its raw records.`);
  } else {
    console.error(`${folder}: ${JSON.stringify(verified.error)}`);
    process.exitCode = 1;
  }
}
