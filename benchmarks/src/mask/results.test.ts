import { fileURLToPath } from 'node:url';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifyMaskResults } from './results.ts';

const COMMITTED = fileURLToPath(new URL('../../results/mask', import.meta.url));

describe('the committed mask results', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'contractrl-mask-'));
    await cp(COMMITTED, folder, { recursive: true });
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('regenerate byte by byte: the report and every plot', async () => {
    expect(await verifyMaskResults(COMMITTED)).toMatchObject({ ok: true });
  });

  test.each(['report.md', 'mask-time.svg'])('a changed %s is noticed', async (file) => {
    const text = await readFile(join(folder, file), 'utf8');
    await writeFile(join(folder, file), text.replace(/\d/, (digit) => String((Number(digit) + 1) % 10)));
    expect(await verifyMaskResults(folder)).toEqual({ ok: false, error: { code: 'mask-results/not-regenerated', file } });
  });

  test('a missing part is named', async () => {
    await rm(join(folder, 'counts.json.gz'));
    expect(await verifyMaskResults(folder)).toEqual({ ok: false, error: { code: 'mask-results/part-missing', part: 'counts' } });
  });

  test('claim no wrong answer of ours', async () => {
    const verified = await verifyMaskResults(COMMITTED);
    if (!verified.ok) throw new Error(verified.error.code);
    const { counts, maskbench } = verified.value;
    expect(Object.values(counts.result).map(({ unsound, incomplete, deadEnds, notAdmitted }) => unsound + incomplete + deadEnds + notAdmitted)).toEqual([0, 0, 0, 0]);
    expect(Object.values(maskbench.result.suites).map(({ invalidAccepted }) => invalidAccepted).filter((count) => count > 0)).toEqual([]);
  });
});
