import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { modelPath } from '@contractrl/runtime-webgpu/node';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FIXTURES } from '../tests/calls.ts';
import { train } from './train.ts';

let folder = '';
const printed: string[] = [];
const told: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'contractrl-train-'));
  printed.length = 0;
  told.length = 0;
});
afterEach(() => { rmSync(folder, { recursive: true, force: true }); });

const runWith = (args: readonly string[], dataFolder: string): Promise<number> => train(
  args, { dataFolder, loadOrt: () => import('onnxruntime-node') }, { print: (line) => printed.push(line), tell: (line) => told.push(line) },
);

test.each([
  ['without a rank', []], ['with a rank of none', ['--rank', '0']], ['with a rank beyond all sense', ['--rank', '8000']], ['with a seed that is no number', ['--rank', '8', '--seed', 'a']],
  ['with half an epoch', ['--rank', '8', '--epochs', '0.5']], ['with no time', ['--rank', '8', '--minutes', '0']],
  ['by a method that there is not', ['--rank', '8', '--method', 'ppo']], ['supervised, with an option of the other method', ['--rank', '8', '--beta', '0.1']],
  ['in groups, from nothing', ['--method', 'grpo', '--rank', '8']], ['in groups, from none', ['--method', 'grpo', '--from', 'none']], ['in groups, over epochs', ['--method', 'grpo', '--from', 'a', '--epochs', '2']],
  ['in groups, by a loss that there is not', ['--method', 'grpo', '--from', 'a', '--loss', 'ppo']],
])('%s is wrong usage', async (_, args) => {
  expect(await runWith(args, FIXTURES)).toBe(2);
  expect(told[0]).toContain('Usage');
});

test.each([
  { what: 'that is not there', text: undefined, code: 'model/file-missing' }, { what: 'that is none', text: 'not a model', code: 'model/' },
])('a model file $what is refused with its code', async ({ text, code }) => {
  const path = join(folder, 'other.gguf');
  if (text !== undefined) writeFileSync(path, text);
  expect(await runWith(['--rank', '8', '--model', path, '--out', join(folder, 'out')], FIXTURES)).toBe(1);
  expect(told[0]!.startsWith(code)).toBe(true);
  expect(existsSync(join(folder, 'out'))).toBe(false);
});

const hasModel = existsSync(modelPath());
test.skipIf(!hasModel)(`without the evaluation sets nothing is trained${hasModel ? '' : ' (skipped: no model file; run `contractrl model fetch`)'}`, async () => {
  expect(await runWith(['--rank', '8', '--out', join(folder, 'out')], folder)).toBe(1);
  expect(told).toContain(`audit/evaluation-set-missing: bugcases (${join('bugcases', 'bugcases.jsonl')})`);
  expect(existsSync(join(folder, 'out'))).toBe(false);
});

test.skipIf(!hasModel)(`in groups nothing is trained from a folder without an adapter${hasModel ? '' : ' (skipped: no model file; run `contractrl model fetch`)'}`, async () => {
  expect(await runWith(['--method', 'grpo', '--from', folder, '--out', join(folder, 'out')], FIXTURES)).toBe(1);
  expect(told).toEqual([expect.stringMatching(/^adapter\/file-missing: /u)]);
  expect(existsSync(join(folder, 'out'))).toBe(false);
});
