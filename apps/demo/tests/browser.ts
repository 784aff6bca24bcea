/** What the browser tests need from the machine: a Chromium and the model file. Each is named where it is missing. */
import { existsSync } from 'node:fs';
import { modelPath } from '@contractrl/runtime-webgpu/node';
import { chromium, type Browser } from 'playwright-core';

const USUAL_PLACES = [
  '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

export const browserPath: string | undefined = [process.env['CONTRACTRL_CHROMIUM'] ?? '', ...USUAL_PLACES, chromium.executablePath()]
  .find((path) => path !== '' && existsSync(path));

/** As the server finds it: `CONTRACTRL_MODEL`, else the cache. */
export const modelFile: string = process.env['CONTRACTRL_MODEL'] || modelPath();

/** What is missing, in words; empty where the tests can run. */
export const missing: readonly string[] = [
  ...(browserPath === undefined ? ['no Chromium: set CONTRACTRL_CHROMIUM'] : []),
  ...(existsSync(modelFile) ? [] : ['no model file: run "npx contractrl model fetch"']),
];

export function launchBrowser(): Promise<Browser> {
  if (browserPath === undefined) throw new TypeError('no browser');
  return chromium.launch({
    executablePath: browserPath,
    // containers give root no sandbox; the rest keeps the browser from talking to anyone
    args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}
