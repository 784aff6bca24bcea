import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FIXTURES } from '../tests/calls.ts';
import { trainData } from './train-data.ts';

let folder = '';
const printed: string[] = [];
const told: string[] = [];
const runWith = (args: readonly string[], data: string): number => trainData(args, data, { print: (line) => printed.push(line), tell: (line) => told.push(line) });
const digestOf = (file: string): string => createHash('sha256').update(readFileSync(join(folder, file))).digest('hex');

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'contractrl-train-'));
  printed.length = 0;
  told.length = 0;
});
afterEach(() => { rmSync(folder, { recursive: true, force: true }); });

test('both sides and a manifest with their digests are written, the table printed, progress told', () => {
  expect(runWith(['--out', folder, '--count', '40', '--seed', '5', '--validation-share', '0.2'], FIXTURES)).toBe(0);
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as { count: number; seed: number; digests: Record<string, string> };
  expect(manifest).toMatchObject({ count: 40, seed: 5, digests: { train: digestOf('train.jsonl'), validation: digestOf('validation.jsonl') } });
  expect(readFileSync(join(folder, 'train.jsonl'), 'utf8').split('\n').length + readFileSync(join(folder, 'validation.jsonl'), 'utf8').split('\n').length).toBe(42);
  expect(printed.join('\n')).toMatch(/missing_required +\d/u);
  expect(told.some((line) => /^40 of 40, \d+ a second$/u.test(line))).toBe(true);
});

test('without the evaluation sets nothing is written', () => {
  expect(runWith(['--out', join(folder, 'out'), '--count', '5'], folder)).toBe(1);
  expect(told).toContain(`audit/evaluation-set-missing: bugcases (${join('bugcases', 'bugcases.jsonl')})`);
  expect(existsSync(join(folder, 'out'))).toBe(false);
});

test.each([
  ['without a place to write to', ['--count', '5']], ['with a count of none', ['--out', 'x', '--count', '0']], ['with a seed that is no number', ['--out', 'x', '--seed', 'a']],
  ['with a share above 1', ['--out', 'x', '--synthetic-share', '2']],
])('%s is wrong usage', (_, args) => {
  expect(runWith(args, FIXTURES)).toBe(2);
  expect(told[0]).toContain('Usage');
});
