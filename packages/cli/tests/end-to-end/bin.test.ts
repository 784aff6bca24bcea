/** The built program in a process of its own: pipes, signals, and one repair with the real model. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { modelPath } from '@contractrl/runtime-webgpu/node';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../src/index.ts';
import { RECORD, temporaryFolder } from '../harness.ts';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const BIN = join(PACKAGE, 'bin', 'contractrl.js');
const isBuilt = existsSync(join(PACKAGE, 'dist', 'main.js'));
const hasModel = existsSync(modelPath());

/** Two slow cores that others use as well; the repair itself takes about a second. */
const MODEL_TIMEOUT_MS = 180_000;

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

function start(words: readonly string[]): { readonly child: ChildProcess & { readonly stdin: NonNullable<ChildProcess['stdin']> }; readonly ended: Promise<Ended> } {
  const child = spawn(process.execPath, [BIN, ...words], { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => { output += text; });
  child.stderr.setEncoding('utf8').on('data', (text: string) => { errors += text; });
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, output, errors })));
  return { child, ended };
}

async function runBin(words: readonly string[], stdin = ''): Promise<Ended> {
  const { child, ended } = start(words);
  child.stdin.end(stdin);
  return ended;
}

describe.skipIf(!isBuilt)(`the built program${isBuilt ? '' : ' (not built)'}`, () => {
  test('broken lines on standard input are one failed record each', async () => {
    const { code, output, errors } = await runBin(['repair', '-'], '{"id":1\n{}\n');
    expect(output.trimEnd().split('\n').map((line) => (JSON.parse(line) as { readonly status: string }).status)).toEqual(['failed', 'failed']);
    expect(errors).not.toContain('\u001b');
    expect(code).toBe(EXIT.notRepaired);
  });

  test('a reader that goes away ends it in good order', async () => {
    const { child, ended } = start(['repair', '-']);
    child.stdout?.destroy();
    // the program may be gone before it has read all of this
    child.stdin.on('error', () => undefined);
    child.stdin.end('{}\n'.repeat(20_000));
    const { code, errors } = await ended;
    expect(code).toBe(EXIT.brokenPipe);
    expect(errors).not.toContain('EPIPE');
  });

  // Windows has no signals to send: Ctrl-C there comes from the console alone.
  test.skipIf(process.platform === 'win32')('Ctrl-C while it waits for input ends it with 130 (no signals on Windows)', async () => {
    const { child, ended } = start(['repair', '-']);
    // More than a pipe holds: once all of it is written, the program is there and reads.
    await new Promise((resolve) => { child.stdin.write(' '.repeat(4_000_000), resolve); });
    child.kill('SIGINT');
    expect(await ended).toEqual({ code: EXIT.interrupted, output: '', errors: '' });
  });

  describe.skipIf(!hasModel)(`with the real model${hasModel ? '' : ' (no model in the cache)'}`, () => {
    test('the call that npm start shows is repaired rightly, and the ledger holds', async () => {
      const ledger = join(await temporaryFolder(), 'ledger.jsonl');
      const example = JSON.parse(await readFile(join(PACKAGE, 'examples', 'renamed-field.json'), 'utf8')) as { readonly id: string };
      const { code, output } = await runBin(['repair', '-', '--json', '--offline', '--ledger', ledger], JSON.stringify(example));
      expect(JSON.parse(output)).toMatchObject({
        id: example.id, status: 'repaired', arguments: { path: 'README.md' }, attempts: 1, operations: 1,
        patch: [{ op: 'move', from: '/filePath', path: '/path' }],
      });
      expect(code).toBe(EXIT.ok);
      expect(await runBin(['ledger', 'verify', ledger, '--json'])).toMatchObject({ code: EXIT.ok, output: expect.stringContaining('"ok":true') as string });
    }, MODEL_TIMEOUT_MS);

    test.skipIf(process.platform === 'win32')('Ctrl-C in mid-repair leaves the ledger whole (no signals on Windows)', async () => {
      const ledger = join(await temporaryFolder(), 'ledger.jsonl');
      const { child, ended } = start(['repair', '-', '--jsonl', '--offline', '--ledger', ledger]);
      child.stdin.end(Array.from({ length: 200 }, (_, index) => `${JSON.stringify({ ...RECORD, id: `${index}` })}\n`).join(''));
      await new Promise((resolve) => { child.stdout?.once('data', resolve); });
      child.kill('SIGINT');
      const { code, output } = await ended;
      expect(code).toBe(EXIT.interrupted);
      const done = output.trimEnd().split('\n').map((line) => JSON.parse(line) as { readonly id: string });
      const rows = (await readFile(ledger, 'utf8')).trimEnd().split('\n').map((line) => JSON.parse(line) as { readonly entry: { readonly kind: string } });
      expect(rows.filter(({ entry }) => entry.kind === 'closed')).toHaveLength(done.length);
      expect((await runBin(['ledger', 'verify', ledger])).code).toBe(EXIT.ok);
    }, MODEL_TIMEOUT_MS);
  });
});
