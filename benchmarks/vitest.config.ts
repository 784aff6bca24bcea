import { defineConfig } from 'vitest/config';
import { packageTests } from '../vitest.shared.ts';

// Reports are regenerated from 500 ledgers, and every case compiles a schema of its own: seconds each on a busy machine.
export default defineConfig(packageTests({ testTimeout: 60_000, hookTimeout: 60_000 }));
