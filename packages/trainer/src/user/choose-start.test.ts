import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_ADAPTER_FOLDER } from '@contractrl/runtime-webgpu/node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chooseStart } from './choose-start.ts';

const BASE = 'HuggingFaceTB/SmolLM2-135M-Instruct';

let folder = '';
beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'contractrl-start-')); });
afterEach(() => { rmSync(folder, { recursive: true, force: true }); });

describe('where none is named, training begins', () => {
  test('with the adapter of its rank that ships', async () => {
    expect(await chooseStart({ from: undefined, rank: 8, base: BASE })).toMatchObject({ ok: true, value: { name: 'r8', adapter: { rank: 8 } } });
  });

  test.each([
    { what: 'no adapter of its rank ships', rank: 5, base: BASE, code: 'train/none-ships' },
    { what: 'the base is another', rank: 8, base: 'other.gguf', code: 'adapter/wrong-base' },
  ])('with nothing where $what, and the code says so', async ({ rank, base, code }) => {
    expect(await chooseStart({ from: undefined, rank, base })).toEqual({ ok: true, value: { name: undefined, adapter: undefined, code } });
  });
});

describe('where one is named', () => {
  test('by its folder, training begins with that one', async () => {
    const [named, shipped] = [await chooseStart({ from: DEFAULT_ADAPTER_FOLDER, rank: 8, base: BASE }), await chooseStart({ from: 'r8', rank: 8, base: BASE })];
    expect(named).toMatchObject({ ok: true, value: { name: DEFAULT_ADAPTER_FOLDER } });
    expect(named.ok && shipped.ok && named.value.adapter?.digest === shipped.value.adapter?.digest).toBe(true);
  });

  test('as none, there is no reason to tell', async () => {
    expect(await chooseStart({ from: 'none', rank: 8, base: BASE })).toEqual({ ok: true, value: { name: undefined, adapter: undefined } });
  });

  test.each([
    { what: 'of another rank', from: 'r8', rank: 4, base: BASE, error: { code: 'train/other-rank', rank: 4, startRank: 8 } },
    { what: 'of another base', from: 'r8', rank: 8, base: 'other.gguf', error: { code: 'adapter/wrong-base', base: BASE, expected: 'other.gguf' } },
    { what: 'by a name that none has', from: 'r5', rank: 5, base: BASE, error: { code: 'adapter/unknown-name', name: 'r5' } },
  ])('$what, it is refused and nothing stands in for it', async ({ from, rank, base, error }) => {
    expect(await chooseStart({ from, rank, base })).toMatchObject({ ok: false, error });
  });

  test('by a folder that holds none, it is refused', async () => {
    expect(await chooseStart({ from: folder, rank: 8, base: BASE })).toEqual({ ok: false, error: { code: 'adapter/file-missing', folder } });
  });
});
