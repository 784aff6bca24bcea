import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PROMPT_VERSION } from '@contractrl/runtime-webgpu';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FIXTURES } from '../tests/calls.ts';
import { contractrlTrain } from './contractrl-train.ts';
import { DEFAULT_REWARD_WEIGHTS } from './grpo/reward.ts';

interface Reader {
  parquetReadObjects(options: { readonly file: ArrayBuffer }): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

const nextToTheWriter = createRequire(createRequire(import.meta.url).resolve('hyparquet-writer'));
const { parquetReadObjects } = await import(pathToFileURL(nextToTheWriter.resolve('hyparquet')).href) as Reader;

let folder = '';
const printed: string[] = [];
const told: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'contractrl-export-'));
  printed.length = 0;
  told.length = 0;
});
afterEach(() => { rmSync(folder, { recursive: true, force: true }); });

async function* linesOf(lines: readonly string[]): AsyncIterable<string> {
  for (const line of lines) yield await Promise.resolve(line);
}

const runWith = (args: readonly string[], lines: readonly string[] = []): Promise<number> => contractrlTrain(
  args, { dataFolder: FIXTURES, openLines: () => linesOf(lines) }, { print: (line) => printed.push(line), tell: (line) => told.push(line) },
);
const exportTo = (name: string, ...args: readonly string[]): Promise<number> => runWith(['export', '--out', join(folder, name), '--count', '30', ...args]);
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

describe('export', () => {
  test('for TRL: a row has a prompt and a task, and the manifest says how it is judged', async () => {
    expect(await exportTo('trl', '--group', '6', '--refused', '0.5')).toBe(0);
    expect(readdirSync(join(folder, 'trl')).sort()).toEqual(['README.md', 'contractrl_reward.py', 'manifest.json', 'train.jsonl', 'validation.jsonl']);
    const rows = read('trl/train.jsonl').trim().split('\n').map((line) => JSON.parse(line) as Readonly<Record<string, string>>);
    const manifest = JSON.parse(read('trl/manifest.json')) as { readonly counts: { readonly train: number; readonly validation: number }; readonly leftOut: Readonly<Record<string, number>> };
    expect(manifest).toMatchObject({ format: 'trl', promptVersion: PROMPT_VERSION, groupSize: 6, mask: 'outside', reward: { weights: { ...DEFAULT_REWARD_WEIGHTS, refused: 0.5 } }, counts: { train: rows.length } });
    expect(manifest.counts.train + manifest.counts.validation + Object.values(manifest.leftOut).reduce((sum, count) => sum + count, 0)).toBe(30);
    for (const row of rows) expect(Object.keys(row)).toEqual(['prompt', 'task', 'group', 'family', 'difficulty']);
    expect(rows.some(({ difficulty }) => difficulty === 'certain')).toBe(false);
    expect(read('trl/README.md')).toContain('Apache-2.0');
  });

  test('for verl: messages, and the task as ground truth', async () => {
    expect(await exportTo('verl', '--format', 'verl')).toBe(0);
    const bytes = readFileSync(join(folder, 'verl', 'train.parquet'));
    const rows = await parquetReadObjects({ file: new Uint8Array(bytes).buffer });
    expect(rows.length).toBeGreaterThan(10);
    for (const [index, row] of rows.entries()) {
      expect(row).toMatchObject({ prompt: [{ role: 'system' }, { role: 'user' }], ability: 'tool-call-repair', reward_model: { style: 'rule' }, extra_info: { split: 'train', index: BigInt(index) } });
      expect(row['data_source']).toMatch(/^contractrl\//u);
    }
  });

  test.each(['trl', 'verl'])('equal options give equal bytes (%s)', async (format) => {
    expect([await exportTo('a', '--format', format), await exportTo('b', '--format', format)]).toEqual([0, 0]);
    for (const name of readdirSync(join(folder, 'a'))) expect(readFileSync(join(folder, 'a', name)).equals(readFileSync(join(folder, 'b', name)))).toBe(true);
  });

  test('too few examples for two sides write nothing', async () => {
    expect(await runWith(['export', '--out', join(folder, 'few'), '--count', '1'])).toBe(1);
    expect(told.at(-1)).toMatch(/^export\/too-few-examples: /u);
    expect(existsSync(join(folder, 'few'))).toBe(false);
  });
});

describe('serve-reward', () => {
  test('answers line by line, by the weights of a manifest', async () => {
    expect(await exportTo('trl', '--refused', '0.5', '--token', '0')).toBe(0);
    const { task } = JSON.parse(read('trl/train.jsonl').split('\n')[0]!) as { readonly task: string };
    printed.length = 0;
    const request = JSON.stringify({ id: 7, op: 'rewards', items: [{ task, completions: [{ text: 'no', tokenCount: 9 }] }] });
    expect(await runWith(['serve-reward', '--manifest', join(folder, 'trl', 'manifest.json')], [request, 'nonsense'])).toBe(0);
    expect(printed.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { id: 7, ok: true, results: [{ reward: -0.5, end: 'rejected', tokens: 9 }] }, { id: null, ok: false, error: { code: 'request/not-json' } },
    ]);
  });

  test.each([
    ['is not there', undefined, 'manifest/unreadable'], ['is no JSON', '{', 'manifest/not-json'], ['says nothing of prompts', '{}', 'manifest/bad-field'],
    ['is of other prompts', '{"promptVersion":"0"}', 'manifest/other-prompt-version'],
    ['has no weights', JSON.stringify({ promptVersion: PROMPT_VERSION }), 'manifest/bad-field'],
    ['has a weight below 0', JSON.stringify({ promptVersion: PROMPT_VERSION, reward: { weights: { ...DEFAULT_REWARD_WEIGHTS, retry: -1 } } }), 'manifest/bad-field'],
  ])('does not begin with a manifest that %s', async (_, text, code) => {
    const path = join(folder, 'manifest.json');
    if (text !== undefined) writeFileSync(path, text);
    expect(await runWith(['serve-reward', '--manifest', path], ['{}'])).toBe(1);
    expect([told.length, told[0]!.startsWith(`${code}: `), printed]).toEqual([1, true, []]);
  });

  test('does not begin with a model that is not there', async () => {
    expect(await runWith(['serve-reward', '--model', join(folder, 'none.gguf')], ['{}'])).toBe(1);
    expect(told[0]).toMatch(/^model\/file-missing/u);
  });
});

test.each([
  ['no command', []], ['an unknown command', ['train']], ['no folder', ['export']], ['an unknown format', ['export', '--out', 'x', '--format', 'csv']],
  ['unknown turns', ['export', '--out', 'x', '--turns', 'alpaca']], ['a count of none', ['export', '--out', 'x', '--count', '0']], ['a group of one', ['export', '--out', 'x', '--group', '1']], ['a seed that is no number', ['export', '--out', 'x', '--seed', 'a']],
  ['a weight below 0', ['export', '--out', 'x', '--retry=-1']], ['a weight that is empty', ['serve-reward', '--token', '']], ['weights given twice', ['serve-reward', '--manifest', 'x', '--token', '1']],
])('%s is wrong usage', async (_, args) => {
  expect(await runWith(args)).toBe(2);
  expect(told[0]).toContain('Usage');
});
