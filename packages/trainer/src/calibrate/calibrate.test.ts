import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok, type Digest, type JsonObject, type Observation, type Proposer } from '@contractrl/core';
import { PROMPT_VERSION, readCalibration, type Calibration } from '@contractrl/runtime-webgpu';
import { DEFAULT_ADAPTER_FOLDER } from '@contractrl/runtime-webgpu/node';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Example } from '../data/example.ts';
import { calibrate, type CalibratedPolicy } from './calibrate.ts';

const ADAPTER = 'a'.repeat(64) as Digest;
const COST = { promptTokenCount: 9, generatedTokenCount: 4, forcedTokenCount: 1, prefillMs: 0, decodeMs: 0, maskMs: 0 };
let folder = '';
const printed: string[] = [];
const told: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'contractrl-calibrate-'));
  printed.length = 0;
  told.length = 0;
});
afterEach(() => { rmSync(folder, { recursive: true, force: true }); });

const addCity = (city: string): string => JSON.stringify([{ op: 'add', path: '/city', value: city }]);

/** A city is missing that the request says; twelve tools. */
const examples: readonly Example[] = Array.from({ length: 120 }, (_, index): Example => {
  const name = `weather_${index % 12}`;
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
  return {
    id: `weather#${index}`, split: 'validation', source: 'test', family: 'missing_required', form: 'left-out', difficulty: 'quoted', structure: 'flat', noise: null,
    record: { id: `weather#${index}`, request: `Weather of ${index}`, tool: { name, description: '', parameters }, call: { name, arguments: '{}' }, contract: {} },
    report: [{ code: 'missing_required', pointer: '/city' }], answer: addCity(String(index)), target: { city: String(index) },
  };
});

/** Declines one in ten, is wrong in one of three of the rest, and says how sure it is, which is false one time in seven. */
const knowing: Proposer = {
  identity: { policy: 'knowing' },
  propose({ request }: Observation) {
    const index = Number(/\d+/u.exec(request[0]!.content)![0]);
    const [isRight, isDeclined] = [index % 3 !== 0, index % 10 === 9];
    const patch: JsonObject = {
      sequenceLogProbability: isRight !== (index % 7 === 0) ? -0.1 : -2, margin: 1, openLogAllowed: 0, takenBackCount: 0,
      sources: { request: 1, context: 0, candidate: 0, literal: 0, derived: 0, spoken: 0, completed: 0, example: 0, none: 0 }, doubts: { repeated: 0, unmoved: 0 },
    };
    const text = isDeclined ? '{"abstain":"ambiguous"}' : addCity(isRight ? String(index) : 'elsewhere');
    return Promise.resolve(ok({ kind: 'text' as const, text, confidence: 0.5, maskDigest: undefined, cost: COST, signals: isDeclined ? {} : { patch } }));
  },
};

/** What the command asked for, and got. */
const asked: unknown[] = [];
const examplesOf: Parameters<typeof calibrate>[1]['examplesOf'] = (options) => {
  asked.push(options);
  return examples;
};

function runWith(args: readonly string[], given: { readonly proposer?: Proposer; readonly opened?: string; readonly signal?: AbortSignal } = {}): Promise<number> {
  const policy: CalibratedPolicy = { proposer: given.proposer ?? knowing, adapterDigest: ADAPTER, dispose: () => Promise.resolve() };
  return calibrate(
    args, { dataFolder: 'data', openPolicy: () => Promise.resolve(given.opened ?? policy), examplesOf, clock: () => 0, ...(given.signal === undefined ? {} : { signal: given.signal }) },
    { print: (line) => printed.push(line), tell: (line) => told.push(line) },
  );
}
const here = (): readonly string[] => ['--adapter', folder, '--count', '200', '--out', join(folder, 'rows')];
const fileOf = (): Calibration => {
  const read = readCalibration(readFileSync(join(folder, 'calibration.json'), 'utf8'));
  if (!read.ok) throw new Error(read.error.code);
  return read.value;
};

test('a calibration is written beside the adapter, bound to it and to the prompt, with every row kept', async () => {
  expect(await runWith(here())).toBe(0);
  const calibration = fileOf();
  expect(calibration).toMatchObject({
    adapterDigest: ADAPTER, promptVersion: PROMPT_VERSION, report: { rule: { alpha: 0.1, level: 0.95 }, data: { split: 'validation', seed: 13 }, policy: { policy: 'knowing' } },
  });
  const rows = readFileSync(join(folder, 'rows', 'calibration.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as { readonly verdict: string });
  expect(rows.map(({ verdict }) => verdict)).toEqual(examples.map((_, index) => (index % 10 === 9 ? 'abstained-falsely' : index % 3 === 0 ? 'wrong' : 'right')));
  expect(asked.at(-1)).toEqual({ seed: 13, count: 200, dataFolder: 'data', origin: 'public', asksSpoken: true });
  expect(calibration.report).toMatchObject({ rows: 108, right: 72 });
  expect(printed[0]).toContain('108 patches, 72 right');
  expect(told.some((line) => / of \d+, \d+ s left/u.test(line))).toBe(true);
});

test('what is run again gives the same file but for the rule that is asked for, and a laxer one has a lower threshold', async () => {
  await runWith([...here(), '--alpha', '0.3']);
  const strict = fileOf();
  await runWith([...here(), '--alpha', '0.9']);
  const lax = fileOf();
  expect(lax.threshold).toBeLessThan(strict.threshold);
  const without = ({ report: { rule: _rule, released: _released, ...report }, threshold: _threshold, ...rest }: Calibration): object => ({ ...rest, report });
  expect(without(lax)).toEqual(without(strict));
});

test.each([
  ['without an adapter', ['--count', '10']], ['with no examples', ['--adapter', 'x', '--count', '0']], ['with a share of wrong ones that is all', ['--adapter', 'x', '--alpha', '1']],
  ['with a seed that is none', ['--adapter', 'x', '--seed=-1']],
])('%s is wrong usage', async (_, args) => {
  expect(await runWith(args)).toBe(2);
  expect(told[0]).toContain('Usage');
});

test('an adapter is a folder, or the name of one that ships', async () => {
  const opened: string[] = [];
  const runOn = (adapter: string): Promise<number> => calibrate(
    ['--adapter', adapter], { dataFolder: 'data', openPolicy: (path) => { opened.push(path); return Promise.resolve('not opened here'); }, examplesOf, clock: () => 0 },
    { print: (line) => printed.push(line), tell: (line) => told.push(line) },
  );
  expect([await runOn('r8'), await runOn('./r8'), await runOn('none'), await runOn('r32')]).toEqual([1, 1, 1, 2]);
  expect(opened).toEqual([DEFAULT_ADAPTER_FOLDER, './r8', 'none']);
  expect(told.at(-1)).toMatch(/^adapter\/unknown-name: /u);
});

test('a policy that cannot be opened is told, and one that only declines leaves nothing to fit', async () => {
  expect(await runWith(here(), { opened: 'adapter/file-missing: no adapter there' })).toBe(1);
  expect(told).toEqual(['adapter/file-missing: no adapter there']);
  const declining: Proposer = { ...knowing, propose: () => Promise.resolve(ok({ kind: 'text' as const, text: '{"abstain":"not-in-state"}', confidence: 0.5, maskDigest: undefined, cost: COST })) };
  expect(await runWith(here(), { proposer: declining })).toBe(1);
  expect(told.at(-1)).toMatch(/^calibrate\/too-few-rows: /u);
  expect(existsSync(join(folder, 'calibration.json'))).toBe(false);
});

test('a run that is stopped writes nothing', async () => {
  expect(await runWith(here(), { signal: AbortSignal.abort() })).toBe(1);
  expect(told.at(-1)).toBe('evaluate/aborted');
  expect([existsSync(join(folder, 'calibration.json')), existsSync(join(folder, 'rows'))]).toEqual([false, false]);
});
