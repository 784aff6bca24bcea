/** The version of this package, as its package.json has it. */
import type { JsonObject } from '@contractrl/core';
import { createRequire } from 'node:module';

const { version } = createRequire(import.meta.url)('@contractrl/cli/package.json') as { readonly version: string };

export const VERSION: string = version;

/** What the ledger names as the run's configuration; model, adapter, prompt and sampling are in the policy's own identity. */
export const MANIFEST: JsonObject = { program: 'contractrl', version: VERSION };
