/** Legal calls for tests: synthetic ones and the rows of the fixtures. */
import { fileURLToPath } from 'node:url';
import { readPublicSources } from '../src/data/public-sources.ts';
import { openSource } from '../src/data/source.ts';
import { syntheticSource } from '../src/data/synthetic/synthetic-source.ts';
import type { LegalCall } from '../src/legal-call.ts';

export const FIXTURES: string = fileURLToPath(new URL('fixtures/', import.meta.url));

export const SYNTHETIC_CALLS: readonly LegalCall[] = openSource(syntheticSource(13, 80)).calls;
export const PUBLIC_CALLS: readonly LegalCall[] = readPublicSources(FIXTURES).flatMap((source) => openSource(source).calls);
export const CALLS: readonly LegalCall[] = [...PUBLIC_CALLS, ...SYNTHETIC_CALLS];
