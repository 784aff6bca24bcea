/**
 * Kill -9 in a loop: a child writes, is killed at another moment each time, and the next one goes on in the same file. `CONTRACTRL_CRASH_ROUNDS`
 * says how often.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LedgerHead } from '@contractrl/core/ledger';
import { openFileStorage, scanLedgerFile } from '../src/file/index.ts';
import { bundle } from './bundle.ts';
import { opened } from './storage-checks.ts';

const ROUNDS = Number(process.env['CONTRACTRL_CRASH_ROUNDS'] || 10);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'contractrl-crash-'));
  await writeFile(join(folder, 'writer.mjs'), await bundle('./crash-writer.ts'));
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Writes until it is killed, `afterMs` after its first acknowledgement. What it was told, in order. */
function writeAndKill(path: string, afterMs: number): Promise<readonly (LedgerHead | { readonly failure: string })[]> {
  const child = spawn(process.execPath, [join(folder, 'writer.mjs'), path], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  let timer: NodeJS.Timeout | undefined;
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    timer ??= setTimeout(() => child.kill('SIGKILL'), afterMs);
  });
  return new Promise((resolve) => {
    // A last line that the kill cut short was never told to anybody.
    child.on('close', () => resolve(output.split('\n').slice(0, -1).map((line) => JSON.parse(line) as LedgerHead)));
  });
}

test(`nothing acknowledged is lost in ${ROUNDS} crashes, and every lock left behind is seen to be dead`, async () => {
  const path = join(folder, 'ledger.jsonl');
  let acknowledged: LedgerHead = { count: 0, head: '' as LedgerHead['head'] };
  let torn = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const told = await writeAndKill(path, (round * 37) % 100);
    expect(told.filter((line) => 'failure' in line)).toEqual([]);
    acknowledged = told.at(-1) as LedgerHead;
    const storage = opened(await openFileStorage(path, { through: acknowledged }));
    if (storage.recovery !== undefined) torn += 1;
    expect(storage.head().count).toBeGreaterThanOrEqual(acknowledged.count);
    await storage.close();
    expect(await scanLedgerFile(path, { to: storage.head() })).toMatchObject({ ok: true, value: { ok: true } });
  }
  console.log(`${ROUNDS} crashes, ${acknowledged.count} rows, ${torn} recoveries`);
  expect((await readdir(folder)).filter((name) => name.endsWith('.lock'))).toEqual([]);
}, 30_000 + ROUNDS * 5_000);
