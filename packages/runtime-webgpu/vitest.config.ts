import { defineConfig } from 'vitest/config';
import { packageTests } from '../../vitest.shared.ts';
import { offerSoftwareGpu } from './tests/support/software-gpu.ts';

offerSoftwareGpu();

export default defineConfig(packageTests());
