import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifyCoreResults } from './results.ts';

const COMMITTED = fileURLToPath(new URL('../../results/core', import.meta.url));

describe('the committed core results', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'contractrl-core-'));
    await cp(COMMITTED, folder, { recursive: true });
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('the report regenerates byte by byte', async () => {
    expect(await verifyCoreResults(COMMITTED)).toMatchObject({ ok: true });
  });

  test('a changed report is noticed', async () => {
    const text = await readFile(join(folder, 'report.md'), 'utf8');
    await writeFile(join(folder, 'report.md'), text.replace(/\d/, (digit) => String((Number(digit) + 1) % 10)));
    expect(await verifyCoreResults(folder)).toEqual({ ok: false, error: { code: 'core-results/not-regenerated', file: 'report.md' } });
  });

  test('a missing part is named', async () => {
    await rm(join(folder, 'traps.json.gz'));
    expect(await verifyCoreResults(folder)).toEqual({ ok: false, error: { code: 'core-results/part-missing', part: 'traps' } });
  });

  test('no refusal is without a reason, no patch is applied otherwise than by fast-json-patch, and no call is wrong', async () => {
    const verified = await verifyCoreResults(COMMITTED);
    if (!verified.ok) throw new Error(verified.error.code);
    const { agreement, bugcases, conformance } = verified.value;
    expect(await readFile(join(COMMITTED, 'report.md'), 'utf8')).not.toContain('not looked at yet');
    expect([agreement.result.disagreements, bugcases.result.arms['deterministic']?.['silently-wrong'], bugcases.result.arms['deterministic']?.unsafe]).toEqual([0, 0, 0]);
    expect(conformance.result['json-patch-tests'].different).toEqual([]);
  });
});
