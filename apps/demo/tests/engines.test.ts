/** The conformance suite over the engines of a browser, through the page that readers open: WASM with one and two threads, WebGPU on Chromium's software adapter. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AddressInfo } from 'node:net';
import { CONFORMANCE_CHECKS, TOLERANCE, type EngineReport, type ProbeReport } from '@contractrl/runtime-webgpu/web';
import type { Browser, Page } from 'playwright-core';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RealRepair } from '../src/real-repair.ts';
import { browserPath, launchBrowser, missing, SOFTWARE_GPU } from './browser.ts';

const TIMEOUT_MS = 180_000;
const isCi = process.env['CI'] === 'true' || process.env['CI'] === '1';
const DEMO_FOLDER = fileURLToPath(new URL('..', import.meta.url));

/** The last as in a browser that has WebGPU and no JavaScript Promise Integration: another runtime, and another build of it. */
const LANES = ['WASM, 1 thread', 'WASM, 2 threads', 'WebGPU', 'WebGPU without promise integration'] as const;

/** As text: a function would be rewritten for Node before it reaches the page. */
const IN_PAGE = "import('/tests/in-page.ts')";

interface PageReport extends ProbeReport {
  readonly engines: Readonly<Record<string, EngineReport>>;
}

describe.skipIf(browserPath === undefined && !isCi)(`engines.html in Chromium${browserPath === undefined ? ' (skipped: no Chromium, set CONTRACTRL_CHROMIUM)' : ''}`, () => {
  let server: ViteDevServer;
  let browser: Browser;
  let url: string;
  const errors: string[] = [];

  beforeAll(async () => {
    server = await createServer({ root: DEMO_FOLDER, configFile: join(DEMO_FOLDER, 'vite.config.ts'), logLevel: 'error', server: { port: 0, hmr: false, watch: null } });
    await server.listen();
    url = `http://127.0.0.1:${(server.httpServer?.address() as AddressInfo).port}/engines.html`;
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  async function open(): Promise<Page> {
    const page = await browser.newPage();
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(url);
    await page.waitForSelector('body[data-state="ready"]');
    return page;
  }

  describe('with the software adapter', () => {
    let report: PageReport;
    let rows: readonly string[];
    beforeAll(async () => {
      browser = await launchBrowser(SOFTWARE_GPU);
      const page = await open();
      await page.click('#run');
      await page.waitForSelector('body[data-state="done"]', { timeout: TIMEOUT_MS });
      report = JSON.parse(await page.textContent('#report') ?? '') as PageReport;
      rows = await page.locator('#engines tr').allInnerTexts();
      console.log(rows.join('\n'));
      await page.close();
    }, TIMEOUT_MS);
    afterAll(() => browser.close());

    test('the adapter is found, and WASM is chosen because it is software', () => {
      expect(report.machine.gpu).toMatchObject({ isSoftware: true, subgroupMinSize: 4 });
      expect(report.choice).toMatchObject({ engine: 'wasm', reason: { code: 'choice/fallback' }, rejected: [{ engine: 'webgpu', reason: { code: 'gpu/software-adapter' } }] });
    });

    describe.each(LANES)('%s', (lane) => {
      test('passes its self-test', () => {
        expect(report.engines[lane]?.failure).toBeUndefined();
        expect(report.engines[lane]?.selfTest?.maxDifference).toBeLessThan(TOLERANCE);
      });
      test.each(CONFORMANCE_CHECKS)('$name', ({ name }) => {
        const result = report.engines[lane]?.results.find((each) => each.name === name);
        expect(result).toBeDefined();
        expect(result?.fault).toBeUndefined();
      });
    });

    test('the page shows one row for each engine, and meets no error', () => {
      expect(rows).toHaveLength(LANES.length);
      for (const row of rows) expect(row).toMatch(new RegExp(`passed\\s+${CONFORMANCE_CHECKS.length} of ${CONFORMANCE_CHECKS.length}`, 'u'));
      expect(errors).toEqual([]);
    });

    describe('used directly', () => {
      let page: Page;
      beforeAll(async () => {
        page = await browser.newPage();
        await page.goto(url);
        await page.waitForSelector('body[data-state="ready"]');
      }, TIMEOUT_MS);

      test('attention that is wrong on small subgroups is found by the self-test', async () => {
        expect(await page.evaluate(`${IN_PAGE}.then(({ testGpuWithSubgroups }) => testGpuWithSubgroups())`)).toMatchObject({ ok: false, error: { code: 'engine/self-test-failed', check: 'prefill' } });
      }, TIMEOUT_MS);

      test('a device that goes away ends the step under way and the next one with engine/device-lost', async () => {
        expect(await page.evaluate(`${IN_PAGE}.then(({ loseDevice }) => loseDevice())`)).toEqual(['ok', 'engine/device-lost', 'engine/device-lost']);
      }, TIMEOUT_MS);
    });
  });

  test('a browser without an adapter is told so, and gets WASM', async () => {
    browser = await launchBrowser();
    const page = await open();
    expect(await page.innerText('#machine')).toContain('the browser offers no graphics adapter');
    expect(await page.innerText('#choice')).toMatch(/^Repairs would run on WASM: .* Not WebGPU: the browser offers no graphics adapter/u);
    await browser.close();
  }, TIMEOUT_MS);

  test.skipIf(missing.length > 0)(['a real repair is timed, with the memory it takes', ...missing].join(', '), async () => {
    // else it answers at its own time, up to a minute later
    browser = await launchBrowser(['--enable-blink-features=ForceEagerMeasureMemory']);
    const page = await open();
    await page.click('#repair');
    await page.waitForSelector('body:is([data-repair="done"], [data-repair="failed"])', { timeout: TIMEOUT_MS });
    const { repair } = JSON.parse(await page.textContent('#report') ?? '') as { readonly repair: RealRepair };
    console.log(JSON.stringify(repair));
    expect(repair).toMatchObject({ engine: 'wasm', status: 'repaired', wasCached: false });
    for (const ms of [repair.loadMs, repair.firstMs, repair.nextMs]) expect(ms).toBeGreaterThan(0);
    // the weights in 32 bits at the least
    expect(repair.memoryBytes).toBeGreaterThan(400e6);
    expect(await page.innerText('#repair-figures')).toMatch(/Engine\s+WASM, \d threads?\s+Model ready after\s+[\d.]+ m?s, downloaded\s+Ended as\s+repaired/u);
    await browser.close();
  }, TIMEOUT_MS);
});
