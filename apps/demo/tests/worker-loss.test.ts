/** The worker goes away, and the tab to sleep, in the middle of a repair with the real model: no reply is lost, and the repair is done once. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser, missing } from './browser.ts';

const TIMEOUT_MS = 240_000;
/** Within the prefill of the prompt, which takes a second. */
const INTO_THE_REPAIR_MS = 150;
const DEMO_FOLDER = fileURLToPath(new URL('..', import.meta.url));
const REPAIRED = { status: 'repaired', argumentsText: '{"path":"README.md"}' };

const inPage = (call: string): string => `import('/tests/in-page.ts').then((page) => page.${call})`;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.skipIf(missing.length > 0)(['a repair in Chromium', ...missing].join(', '), () => {
  let server: ViteDevServer;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    server = await createServer({ root: DEMO_FOLDER, configFile: join(DEMO_FOLDER, 'vite.config.ts'), logLevel: 'error', server: { port: 0, hmr: false, watch: null } });
    await server.listen();
    browser = await launchBrowser();
    page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.httpServer?.address() as AddressInfo).port}/engines.html`);
    expect(await page.evaluate(inPage('loadModel()'))).toBe('wasm');
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  test('whose tab is put to sleep goes on when it wakes', async () => {
    const session = await page.context().newCDPSession(page);
    const repaired = page.evaluate(inPage('repairWithModel()'));
    await wait(INTO_THE_REPAIR_MS);
    await session.send('Page.setWebLifecycleState', { state: 'frozen' });
    await wait(3_000);
    await session.send('Page.setWebLifecycleState', { state: 'active' });
    expect(await repaired).toEqual(REPAIRED);
  }, TIMEOUT_MS);

  test('whose worker is ended is done again in another, since no other engine is left here', async () => {
    expect(await page.evaluate(inPage('repairWithEndedWorker()'))).toEqual({
      ...REPAIRED, workerCount: 1, choice: { engine: 'wasm', reason: { code: 'choice/fallback' }, rejected: [{ engine: 'webgpu', reason: { code: 'gpu/no-adapter' } }] },
    });
    expect(await page.evaluate(inPage('endWorker()'))).toBe(2);
  }, TIMEOUT_MS);
});
