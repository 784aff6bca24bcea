import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../src/index.ts';
import { createTestIo, failingServices, runWith, scriptedServices } from './harness.ts';

describe('help', () => {
  test.each([[['--help']], [['repair', '--help']], [['ledger', 'verify', '--help']], [['ledger', '--help']], [['model', 'fetch', '--help']], [['grammar', '--help']], [['contract', '--help']], [['train', '--help']]])('%j shows how, and succeeds', async (words) => {
    const result = await runWith(words, createTestIo(), scriptedServices([]));
    expect(result).toMatchObject({ code: EXIT.ok, errors: '' });
    expect(result.output).toMatchSnapshot();
  });

  test('--version is the version of the package', async () => {
    const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as { readonly version: string };
    expect(await runWith(['--version'], createTestIo(), scriptedServices([]))).toEqual({ code: EXIT.ok, output: `${version}\n`, errors: '' });
  });
});

describe('contractrl model', () => {
  test.each(['fetch', 'path', 'verify'])('%s prints the path alone', async (action) => {
    expect(await runWith(['model', action], createTestIo(), scriptedServices([]))).toEqual({ code: EXIT.ok, output: '/cache/model.gguf\n', errors: '' });
  });

  test.each(['fetch', 'verify'])('%s that fails says why and what to do', async (action) => {
    const services = failingServices({ code: 'model/wrong-digest', message: 'The model file is corrupted: fetch it again.' });
    expect(await runWith(['model', action], createTestIo(), services)).toEqual({
      code: EXIT.notRepaired, output: '', errors: 'error: The model file is corrupted: fetch it again. [model/wrong-digest]\n',
    });
  });

  test('engines prints what would be used, and why not the other', async () => {
    expect(await runWith(['model', 'engines'], createTestIo(), scriptedServices([]))).toEqual({
      code: EXIT.ok, output: 'the processor: no faster engine can be used here\nnot the graphics adapter (WebGPU): it could not be started [engine/load-failed]\n', errors: 'Testing the graphics adapter …\n',
    });
  });

  test('a fetch that is stopped ends with 130', async () => {
    const io = createTestIo();
    io.abort();
    expect((await runWith(['model', 'fetch'], io, failingServices({ code: 'model/aborted', message: 'Stopped.' }))).code).toBe(EXIT.interrupted);
  });
});
