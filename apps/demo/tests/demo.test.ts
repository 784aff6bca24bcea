/** The page in a real Chromium, with the real model: it loads, cancels, refuses a damaged file, and repairs. */
import { copyFileSync, mkdtempSync, openSync, closeSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { launchBrowser, missing, modelFile } from './browser.ts';

/** Two slow cores that others use as well; an idle machine takes a tenth of it. */
const LOAD_TIMEOUT_MS = 100_000;
const REPAIR_TIMEOUT_MS = 60_000;

const isCi = process.env['CI'] === 'true' || process.env['CI'] === '1';
const DEMO_FOLDER = fileURLToPath(new URL('..', import.meta.url));

test('the page repairs the call that npm start repairs', () => {
  const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
  expect(read('../src/example.json')).toEqual(read('../../../packages/cli/examples/renamed-field.json'));
});

describe.skipIf(missing.length > 0 && !isCi)(['the demo in Chromium', ...missing].join(', '), () => {
  let server: ViteDevServer;
  let browser: Browser;
  let context: BrowserContext;
  let url: string;

  beforeAll(async () => {
    // in CI nothing may be missing
    expect(missing).toEqual([]);
    server = await createServer({ root: DEMO_FOLDER, configFile: join(DEMO_FOLDER, 'vite.config.ts'), logLevel: 'error', server: { port: 0, hmr: false, watch: null } });
    await server.listen();
    url = `http://127.0.0.1:${(server.httpServer?.address() as AddressInfo).port}/`;
    browser = await launchBrowser();
  }, LOAD_TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  beforeEach(async () => {
    context = await browser.newContext();
  });
  afterEach(async () => {
    await context.close();
  });

  async function openPage(): Promise<Page> {
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('response', (response) => { if (response.status() >= 400) errors.push(`${response.status()} ${response.url()}`); });
    await page.goto(url);
    await page.waitForSelector('body[data-state]').catch(() => undefined);
    expect(errors).toEqual([]);
    return page;
  }

  async function waitForState(page: Page, state: string, timeout: number): Promise<void> {
    const reached = page.waitForSelector(`body[data-state="${state}"]`, { timeout });
    // a failure ends the wait with its own words instead of a timeout
    const failed = page.waitForSelector('#error:not([hidden])', { timeout }).then(async (box) => Promise.reject(new Error(await box.innerText())));
    await Promise.race([reached, failed]);
    failed.catch(() => undefined);
  }

  /** Puts another failed call in the place of the page's own. */
  async function serveExample(example: object): Promise<void> {
    await context.route('**/src/example.json*', (route) => route.fulfill({
      contentType: 'text/javascript', headers: { 'Cross-Origin-Resource-Policy': 'same-origin' }, body: `export default ${JSON.stringify(example)};`,
    }));
  }

  test('loads with progress, cancels a repair, repairs, and needs no download on the next visit', async () => {
    const page = await openPage();
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    expect(await page.isDisabled('#repair')).toBe(true);

    await page.click('#load');
    await page.waitForFunction(() => /Downloading model and adapter: [\d.]+ MB of 103\.3 MB, [\d.]+ [kM]B\/s/u.test(document.getElementById('progress-label')?.textContent ?? ''));
    await waitForState(page, 'ready', LOAD_TIMEOUT_MS);
    expect(await page.innerText('#status')).toMatch(/downloaded, on WASM with \d threads?\.$/u);
    expect(await page.innerText('#notes')).toBe('Not on WebGPU: the browser offers no graphics adapter: none in the machine, or it is blocked or switched off.');

    await page.click('#repair');
    await page.click('#cancel');
    await page.waitForSelector('#error[data-code="worker/aborted"]');
    expect(await page.locator('body').getAttribute('data-state')).toBe('ready');

    await page.focus('#repair');
    await page.keyboard.press('Enter');
    await page.waitForSelector('body[data-state="repairing"] #cancel:focus');
    await waitForState(page, 'done', REPAIR_TIMEOUT_MS);
    expect(await page.innerText('#report')).toContain('missing_required');
    expect(await page.innerText('#attempts')).toContain('{"op":"move","from":"/filePath","path":"/path"}');
    expect(await page.innerText('#verdict')).toMatch(/^Repaired/u);
    expect(await page.locator('#call-after del').allInnerTexts()).toEqual(['-   "filePath": "README.md"']);
    expect(await page.locator('#call-after ins').allInnerTexts()).toEqual(['+   "path": "README.md"']);
    expect(await page.innerText('#figures')).toMatch(/Value at \/path\s+from the call at \/filePath\s[^]*Ledger digest\s+[0-9a-f]{64}/u);
    await page.close();

    const nextVisit = await openPage();
    const requested: string[] = [];
    nextVisit.on('request', (request) => requested.push(new URL(request.url()).pathname));
    await nextVisit.click('#load');
    await waitForState(nextVisit, 'ready', LOAD_TIMEOUT_MS);
    expect(await nextVisit.innerText('#status')).toContain('kept from an earlier visit');
    expect(requested).not.toContain('/model/model.gguf');
  }, 2 * LOAD_TIMEOUT_MS + REPAIR_TIMEOUT_MS);

  test('a load can be cancelled, says so, and goes on where it was when started again', async () => {
    const page = await openPage();
    const ranges: (string | undefined)[] = [];
    page.on('request', (request) => { if (request.url().endsWith('/model/model.gguf')) ranges.push(request.headers()['range']); });
    await page.click('#load');
    await page.waitForFunction(() => (document.getElementById('progress') as HTMLProgressElement).value > 0.05);
    await page.click('#cancel');
    await page.waitForSelector('body[data-state="empty"]');
    expect(await page.getAttribute('#error', 'data-code')).toBe('worker/aborted');
    expect(await page.innerText('#error')).toContain('Nothing was changed');

    await page.click('#load');
    await waitForState(page, 'ready', LOAD_TIMEOUT_MS);
    expect(ranges).toEqual([undefined, expect.stringMatching(/^bytes=\d+-$/u)]);
  }, 2 * LOAD_TIMEOUT_MS);

  test('two tabs download a file once', async () => {
    const pages = [await openPage(), await openPage()] as const;
    let requestCount = 0;
    for (const page of pages) page.on('request', (request) => { if (request.url().endsWith('/adapter/adapter_model.safetensors')) requestCount += 1; });
    const fetched = await Promise.all(pages.map((page) => page.evaluate("import('/tests/in-page.ts').then(({ fetchAdapter }) => fetchAdapter())")));
    expect(fetched).toContainEqual({ phases: ['download', 'verify'], fromCache: false });
    expect(fetched.map((each) => (each as { readonly fromCache: boolean }).fromCache).sort()).toEqual([false, true]);
    expect(requestCount).toBe(1);
  }, LOAD_TIMEOUT_MS);

  test('text from a tool or a call is shown, never run as markup', async () => {
    const hostile = '<img src="x" onerror="document.title=1">';
    await serveExample({ id: 'x', request: hostile, tool: { name: hostile, description: hostile, parameters: {} }, call: { name: hostile, arguments: { note: hostile } } });
    const page = await openPage();
    expect(await page.innerText('#case')).toContain(hostile);
    expect(await page.innerText('#call-before')).toContain(JSON.stringify(hostile));
    expect(await page.locator('main img').count()).toBe(0);
  });

  test('a damaged model file is refused by its digest, and never kept', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'contractrl-demo-'));
    const toldBefore = process.env['CONTRACTRL_MODEL'];
    try {
      process.env['CONTRACTRL_MODEL'] = damagedCopy(folder);
      const page = await openPage();
      await page.click('#load');
      await page.waitForSelector('#error:not([hidden])', { timeout: LOAD_TIMEOUT_MS });
      expect(await page.getAttribute('#error', 'data-code')).toBe('model/digest-mismatch');
      expect(await page.innerText('#error')).toContain('It was not used');
      expect(await page.evaluate(async () => (await (await caches.open('contractrl-models')).keys()).length)).toBe(0);
      expect(await page.isEnabled('#load')).toBe(true);
    } finally {
      if (toldBefore === undefined) delete process.env['CONTRACTRL_MODEL'];
      else process.env['CONTRACTRL_MODEL'] = toldBefore;
      rmSync(folder, { recursive: true, force: true });
    }
  }, LOAD_TIMEOUT_MS);
});

const DAMAGED_OFFSET = 50_000_000;

/** The model with one bit changed, far behind the header. */
function damagedCopy(folder: string): string {
  const path = join(folder, 'model.gguf');
  copyFileSync(modelFile, path);
  const file = openSync(path, 'r+');
  const byte = new Uint8Array(1);
  readSync(file, byte, 0, 1, DAMAGED_OFFSET);
  writeSync(file, byte.map((value) => value ^ 1), 0, 1, DAMAGED_OFFSET);
  closeSync(file);
  return path;
}
