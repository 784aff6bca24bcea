import { defineConfig } from 'vitest/config';
import { installedBrowser } from '../../scripts/lib/browser.mjs';
import { packageTests } from '../../vitest.shared.ts';

export default defineConfig(packageTests({ env: { CONTRACTRL_CHROMIUM: installedBrowser() ?? '' } }));
