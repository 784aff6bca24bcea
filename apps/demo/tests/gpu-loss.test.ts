/** The GPU goes away in the middle of a repair with the real model: the browser's GPU process is killed, and the repair is done on WASM. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import { createServer } from 'vite';
import { expect, test } from 'vitest';
import { launchBrowserServer, missing, SOFTWARE_GPU } from './browser.ts';

const TIMEOUT_MS = 240_000;
/** Prefill takes ten times as long on the software adapter. */
const INTO_THE_REPAIR_MS = 2_000;
const DEMO_FOLDER = fileURLToPath(new URL('..', import.meta.url));

/** Processes are found under /proc. */
const lacking = process.platform === 'linux' ? missing : [...missing, 'not Linux'];

test.skipIf(lacking.length > 0)(['a repair whose GPU is killed is done again on WASM, and says why', ...lacking].join(', '), async () => {
  const server = await createServer({ root: DEMO_FOLDER, configFile: join(DEMO_FOLDER, 'vite.config.ts'), logLevel: 'error', server: { port: 0, hmr: false, watch: null } });
  const host = await launchBrowserServer(SOFTWARE_GPU);
  try {
    await server.listen();
    const page = await (await chromium.connect(host.wsEndpoint())).newPage();
    await page.goto(`http://127.0.0.1:${(server.httpServer?.address() as AddressInfo).port}/engines.html`);
    expect(await page.evaluate("import('/tests/in-page.ts').then(({ loadModel }) => loadModel('webgpu'))")).toBe('webgpu');
    const repaired = page.evaluate("import('/tests/in-page.ts').then(({ repairWithModel }) => repairWithModel())");
    await new Promise((resolve) => setTimeout(resolve, INTO_THE_REPAIR_MS));
    const gpuProcesses = descendants(host.process().pid!).filter((pid) => commandOf(pid).includes('--type=gpu-process'));
    expect(gpuProcesses).toHaveLength(1);
    for (const pid of gpuProcesses) process.kill(pid, 'SIGKILL');
    expect(await repaired).toEqual({
      status: 'repaired',
      argumentsText: '{"path":"README.md"}',
      choice: { engine: 'wasm', reason: { code: 'choice/fallback' }, rejected: [{ engine: 'webgpu', reason: { code: 'engine/device-lost' } }] },
    });
  } finally {
    await host.close();
    await server.close();
  }
}, TIMEOUT_MS);

/** Processes that `ancestor` started, and those started by them. */
function descendants(ancestor: number): readonly number[] {
  const parents = new Map(readdirSync('/proc').filter((name) => /^\d+$/u.test(name)).map((name) => [Number(name), parentOf(Number(name))]));
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && (parent === ancestor || isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow);
}

/** 0 where the process has ended. */
function parentOf(pid: number): number {
  return Number(/\) \w (\d+)/u.exec(readProc(pid, 'stat'))?.[1] ?? 0);
}

function commandOf(pid: number): string {
  return readProc(pid, 'cmdline');
}

function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
