import { defineConfig } from 'vitest/config';
import { packageTests } from '../../vitest.shared.ts';

// The long counts of `npm run bench:mask`: minutes, with two workers, and not part of `npm test`.
export default defineConfig(packageTests({ include: ['tests/**/*.count.ts'], reporters: ['default'], testTimeout: 600_000, maxWorkers: 2 }));
