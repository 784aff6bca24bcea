import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromium, type Browser, type Page } from 'playwright-core';
import { openIndexedDbStorage } from '../src/indexed-db.ts';
import { bundle } from './bundle.ts';
import type { LedgerPage } from './in-page.ts';

const browserPath = process.env['CONTRACTRL_CHROMIUM'] || undefined;
declare const ledger: LedgerPage;

test('where there is no IndexedDB it is refused by name', async () => {
  expect(await openIndexedDbStorage('any')).toEqual({ ok: false, error: { code: 'ledger/storage-absent', needs: 'IndexedDB' } });
});

describe.skipIf(browserPath === undefined)('a ledger in IndexedDB, in headless Chromium (needs CONTRACTRL_CHROMIUM)', () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    const script = await bundle('./in-page.ts');
    browser = await chromium.launch({ executablePath: browserPath as string, args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking'] });
    page = await browser.newPage();
    await page.route('**/*', (route) => route.fulfill(route.request().url().endsWith('.js')
      ? { contentType: 'text/javascript', body: script }
      : { contentType: 'text/html', body: '<!doctype html><script type="module" src="/in-page.js"></script>' }));
    await page.goto('https://ledger.test/');
    await page.waitForFunction(() => 'ledger' in globalThis);
  }, 60_000);
  afterAll(async () => browser?.close());

  test('holds what every storage holds', async () => {
    expect(await page.evaluate(() => ledger.check())).toHaveLength(11);
  });

  test('refuses the second of two writers that began at the same head', async () => {
    const { told, stored, size } = await page.evaluate(() => ledger.race());
    expect(told).toEqual([size, 'ledger/changed-meanwhile']);
    expect(stored).toBe(size);
  });

  test('names a record that was changed behind its back', async () => {
    expect(await page.evaluate(() => ledger.tamper())).toMatchObject({ code: 'ledger/digest-mismatch', index: 1 });
  });
});
