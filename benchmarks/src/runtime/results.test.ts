import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { BatchArm } from './batch.ts';
import { NO_FIGURES } from './metered-engine.ts';
import { barsOf } from './report.ts';
import { readRaw, RUNTIME_PARTS, verifyRuntimeResults, writePart, writeReport, type RawRuntimeResults, type RuntimePart } from './results.ts';
import type { ArmName, SpeedRow } from './speed.ts';

const COMMITTED = fileURLToPath(new URL('../../results/runtime', import.meta.url));
const isMeasured = existsSync(COMMITTED);

const surroundings = { cpu: 'a processor', threadCount: 2, platform: 'linux x64', node: '20.20.2', load: [0.5, 0.25, 0] };

function rowOf(arm: ArmName, totalMs: number): SpeedRow {
  return {
    arm, id: 'a', status: 'repaired', reason: null, isChecked: true, attempts: 1, tokens: { prompt: 100, generated: 20, forced: 12 },
    timing: { totalMs, prefillMs: totalMs / 2, decodeMs: totalMs / 4, maskMs: totalMs / 100 },
    engine: arm === 'node-llama-cpp' ? null : { ...NO_FIGURES, decodeCalls: 6, decodeMs: totalMs / 4 },
  };
}

const rows = [rowOf('adapter', 100), rowOf('base', 90), rowOf('full-regeneration', 400), rowOf('node-llama-cpp', 200)];
const cold = { engine: 'node', format: 'q41x', startMs: 100, loadMs: 200, firstRepairMs: 300, secondRepairMs: 50, status: 'repaired', patches: ['[]'], memory: [{ name: 'process', peakBytes: 50e6, residentBytes: 50e6, privateBytes: 10e6 }, { name: 'session', peakBytes: 300e6, residentBytes: 200e6, privateBytes: null }] } as const;
function armOf(width: number, ms: number): BatchArm {
  return { width, decodeMs: [ms], groupsMs: [2 * ms], repairsMs: [3 * ms], sameRepairs: 2, sameSamples: 8 };
}

const SYNTHETIC: RawRuntimeResults = {
  speed: { surroundings, result: { seeds: [13], caseCount: 1, availableCases: 192, threads: 2, rows, absent: {}, peerVersions: { 'node-llama-cpp': '3.21.1', 'transformers-js': '4.3.0' } } },
  ranks: { surroundings, result: { promptTokens: 200, seed: 13, costs: [{ rank: 0, prefillMs: [100], decodeMs: [10] }, { rank: 16, prefillMs: [110], decodeMs: [13] }] } },
  head: { surroundings, result: { logitWidth: 4, loopMs: [20], kernelMs: [5], largestDifference: 1e-5, layersMs: [12] } },
  cold: { surroundings, result: { weightBytes: 100e6, starts: [cold] } },
  soak: {
    surroundings,
    result: [{
      engine: 'node', repairs: 1000, cases: 8, statuses: { repaired: 1000 }, drifted: 0, digest: 'a'.repeat(64), rssBytes: { start: 100e6, middle: 110e6, end: 111e6 }, totalMs: 9000,
      afterDispose: 'engine/disposed', sessions: { opened: 50, rssBeforeBytes: 110e6, rssAfterBytes: 112e6 },
    }],
  },
  agreement: { surroundings, result: { format: 'q41x', reference: 'f32', prompts: 9, positions: 1500, agreed: 1499, largestLogitDifference: 1e-4 } },
  batch: {
    surroundings,
    result: { caseCount: 2, groupCount: 1, groupSize: 8, threads: 2, rowCount: 8, stepCount: 32, largestDifference: 1e-4, arms: [armOf(0, 800), armOf(8, 250)] },
  },
};

describe('results on disk', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'contractrl-runtime-'));
    for (const part of RUNTIME_PARTS) await writePart<RuntimePart>(folder, part, SYNTHETIC[part]);
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('come back as they were written, and the report regenerates byte by byte', async () => {
    expect(readRaw(folder)).toEqual({ ok: true, value: SYNTHETIC });
    expect(await writeReport(folder)).toMatchObject({ ok: true });
    expect(await verifyRuntimeResults(folder)).toMatchObject({ ok: true });
  });

  test('with a changed report are noticed', async () => {
    await writeReport(folder);
    const path = join(folder, 'report.md');
    await writeFile(path, (await readFile(path, 'utf8')).replace(/\d/u, (digit) => String((Number(digit) + 1) % 10)));
    expect(await verifyRuntimeResults(folder)).toEqual({ ok: false, error: { code: 'runtime-results/not-regenerated' } });
  });

  test('with a missing part name it', async () => {
    await rm(join(folder, 'soak.json.gz'));
    expect(await writeReport(folder)).toEqual({ ok: false, error: { code: 'runtime-results/part-missing', part: 'soak' } });
  });
});

describe('bars', () => {
  const verdicts = (raw: RawRuntimeResults): readonly (readonly [string, boolean | undefined])[] => barsOf(raw).map(({ what, isMet }) => [what, isMet]);
  const met = (raw: RawRuntimeResults, about: string): readonly (boolean | undefined)[] => verdicts(raw).filter(([what]) => what.includes(about)).map(([, isMet]) => isMet);

  test.each([
    { about: 'full regeneration', isMet: [true, true] }, { about: 'node-llama-cpp', isMet: [false, false] }, { about: 'decode steps', isMet: [true] }, { about: 'mask and sampling', isMet: [true] },
    { about: 'prefill under rank 16', isMet: [true] }, { about: 'decode step under rank 16', isMet: [false] }, { about: 'peak memory', isMet: [false] }, { about: 'top-1', isMet: [true] },
    { about: 'in a row', isMet: [true] }, { about: 'batch 8', isMet: [true] },
  ])('$about: held against its limit', ({ about, isMet }) => {
    expect(met(SYNTHETIC, about)).toEqual(isMet);
  });

  test('a peer that could not be installed is neither met nor missed, and says why', () => {
    const raw = { ...SYNTHETIC, speed: { surroundings, result: { ...SYNTHETIC.speed.result, rows: rows.slice(0, 3), absent: { 'node-llama-cpp': 'no network' } } } };
    expect(met(raw, 'node-llama-cpp')).toEqual([undefined]);
    expect(barsOf(raw).find(({ what }) => what.includes('node-llama-cpp'))!.value).toBe('not measured: no network');
  });

  test.each([
    { name: 'an answer that drifted', change: { drifted: 1 } }, { name: 'memory that grew', change: { rssBytes: { start: 100e6, middle: 100e6, end: 106e6 } } },
    { name: 'a session that lived on', change: { afterDispose: 'none' } },
  ])('$name fails the soak', ({ change }) => {
    const raw = { ...SYNTHETIC, soak: { surroundings, result: SYNTHETIC.soak.result.map((run) => ({ ...run, ...change })) } };
    expect(met(raw, 'in a row')).toEqual([false]);
  });
});

describe.skipIf(!isMeasured)('the committed runtime results (not measured yet where they are absent)', () => {
  test('regenerate byte by byte', async () => {
    expect(await verifyRuntimeResults(COMMITTED)).toMatchObject({ ok: true });
  });

  test('count no unsafe answer, none that drifted, and none that is another in a batch', async () => {
    const verified = await verifyRuntimeResults(COMMITTED);
    if (!verified.ok) throw new Error(verified.error.code);
    expect(verified.value.speed.result.rows.filter(({ isChecked }) => !isChecked)).toEqual([]);
    expect(verified.value.soak.result.map(({ drifted }) => drifted).filter((count) => count > 0)).toEqual([]);
    const { arms, caseCount } = verified.value.batch.result;
    expect(arms.filter(({ sameRepairs }) => sameRepairs !== caseCount)).toEqual([]);
  });
});
