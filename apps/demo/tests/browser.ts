/** What the browser tests need from the machine: a Chromium and the model file. Each is named where it is missing. */
import { existsSync } from 'node:fs';
import { modelPath } from '@contractrl/runtime-webgpu/node';
import { chromium, type Browser, type BrowserServer, type LaunchOptions } from 'playwright-core';

/** As `vitest.config.ts` found it. */
export const browserPath: string | undefined = process.env['CONTRACTRL_CHROMIUM'] || undefined;

/** As the server finds it: `CONTRACTRL_MODEL`, else the cache. */
export const modelFile: string = process.env['CONTRACTRL_MODEL'] || modelPath();

/** What is missing, in words; empty where the tests can run. */
export const missing: readonly string[] = [
  ...(browserPath === undefined ? ['no Chromium: set CONTRACTRL_CHROMIUM'] : []),
  ...(existsSync(modelFile) ? [] : ['no model file: run "npx contractrl model fetch"']),
];

/** Chromium offers its software adapter only to who asks for it. */
export const SOFTWARE_GPU: readonly string[] = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];

export function launchBrowser(extra: readonly string[] = []): Promise<Browser> {
  return chromium.launch(launchOptions(extra));
}

/** A browser whose process is known. */
export function launchBrowserServer(extra: readonly string[] = []): Promise<BrowserServer> {
  return chromium.launchServer(launchOptions(extra));
}

function launchOptions(extra: readonly string[]): LaunchOptions {
  if (browserPath === undefined) throw new TypeError('no browser');
  return {
    executablePath: browserPath,
    // containers give root no sandbox; the rest keeps the browser from talking to anyone
    args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', ...extra],
  };
}
