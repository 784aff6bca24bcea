/** webllm.html with the real library, as far as it goes without a GPU and without model libraries: the worker starts it, and our side reads a model's files. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserPath, launchBrowser } from './browser.ts';

const TIMEOUT_MS = 120_000;
const DEMO_FOLDER = fileURLToPath(new URL('..', import.meta.url));

const FILES: Readonly<Record<string, object>> = {
  'tokenizer.json': {
    model: { type: 'BPE', vocab: { a: 0 }, merges: [] }, pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false },
    added_tokens: [{ id: 1, content: '<|im_start|>' }, { id: 2, content: '<|im_end|>' }],
  },
  'mlc-chat-config.json': { vocab_size: 8, context_window_size: 2048, conv_template: { stop_token_ids: [2] } },
};

describe.skipIf(browserPath === undefined)(`webllm.html in Chromium${browserPath === undefined ? ' (skipped: no Chromium, set CONTRACTRL_CHROMIUM)' : ''}`, () => {
  let server: ViteDevServer;
  let browser: Browser;
  let page: Page;
  const errors: string[] = [];

  beforeAll(async () => {
    server = await createServer({ root: DEMO_FOLDER, configFile: join(DEMO_FOLDER, 'vite.config.ts'), logLevel: 'error', server: { port: 0, hmr: false, watch: null } });
    await server.listen();
    browser = await launchBrowser();
    const context = await browser.newContext();
    page = await context.newPage();
    page.on('pageerror', (error) => errors.push(error.message));
    // nothing outside is asked
    const origin = `http://127.0.0.1:${(server.httpServer?.address() as AddressInfo).port}`;
    await context.route((url) => url.origin !== origin, (route) => route.abort());
    await page.goto(`${origin}/webllm.html`);
    await page.waitForSelector('body[data-state="ready"]', { timeout: TIMEOUT_MS });
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  test('lists the models of the library that can be read, the smallest first', async () => {
    const options = await page.locator('#model option').allInnerTexts();
    expect(options.length).toBeGreaterThan(10);
    expect(options.join('\n')).toMatch(/SmolLM2-360M-Instruct/u);
    const sizes = options.flatMap((text) => /\((\d+) MB\)/u.exec(text)?.slice(1).map(Number) ?? []);
    expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
    expect(await page.isDisabled('#repair')).toBe(true);
  });

  test('a model whose files cannot be had is refused with the code and the address', async () => {
    expect(await loadFails()).toMatch(/^webllm\/fetch-failed: .*tokenizer\.json/u);
  });

  test('with the files read, the library itself refuses for want of weights or a GPU, and the page lives on', async () => {
    await page.context().route((url) => Object.hasOwn(FILES, url.pathname.split('/').at(-1)!), (route) => {
      const name = new URL(route.request().url()).pathname.split('/').at(-1)!;
      return route.fulfill({ json: FILES[name], headers: { 'Access-Control-Allow-Origin': '*' } });
    });
    expect(await loadFails()).toMatch(/^engine\/load-failed/u);
    expect(await page.isEnabled('#load')).toBe(true);
    expect(errors).toEqual([]);
  });

  async function loadFails(): Promise<string> {
    await page.click('#load');
    await page.waitForSelector('body[data-state="failed"]', { timeout: TIMEOUT_MS });
    const text = await page.textContent('#error') ?? '';
    await page.waitForSelector('#load:enabled', { timeout: TIMEOUT_MS });
    return text;
  }
});
