/** The Python side by itself, with any Python 3 and its standard library: rewards in both trainers' forms, refusals, and the prompt version of an adapter. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROMPT_VERSION } from '@contractrl/runtime-webgpu';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { taskText } from '../src/export/task.ts';
import { writeExport } from '../src/export/write-export.ts';
import { bundleProgram } from './support/bundle-program.ts';
import { tinyDataset } from './support/tiny-policy.ts';

const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).status === 0;

describe.skipIf(!hasPython)(`the Python client${hasPython ? '' : ' (skipped: no python3 of 3.10 or later)'}`, () => {
  const dataset = tinyDataset(40);
  const [example] = dataset.examples.filter(({ target }) => target !== null);
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'contractrl-python-'));
    const written = writeExport(dataset, { folder: join(folder, 'data'), format: 'trl', turns: 'chatml', groupSize: 4, weights: { collateral: 1, retry: 1, refused: 0.5, token: 0.25 } });
    if (!written.ok) throw new Error(written.error.code);
    writeFileSync(join(folder, 'server.mjs'), await bundleProgram('contractrl-train-main.ts'));
    writeFileSync(join(folder, 'given.json'), JSON.stringify({ task: taskText(example!), answer: example!.answer }));
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** What the program prints as JSON; `c` is the client of the exported folder. */
  function run(program: string, command = `"${process.execPath}" "${join(folder, 'server.mjs')}"`): unknown {
    const text = `import json, sys\nsys.path.insert(0, 'data')\nimport contractrl_reward as c\ngiven = json.load(open('given.json'))\n${program}`;
    const ended = spawnSync('python3', ['-c', text], { cwd: folder, encoding: 'utf8', env: { ...process.env, CONTRACTRL_TRAIN_COMMAND: command } });
    expect(ended.stderr).toBe('');
    return JSON.parse(ended.stdout) as unknown;
  }

  test('gives TRL a number a completion, by the manifest’s weights, from texts and from messages', () => {
    expect(run(`
told = {}
texts = [given['answer'], 'no patch']
both = [c.contractrl_reward(completions=form, completion_ids=[[1, 2], [1]], task=[given['task']] * 2, prompts=['a', 'b'], log_metric=told.__setitem__)
        for form in (texts, [[{'role': 'assistant', 'content': text}] for text in texts])]
print(json.dumps([both, told]))`)).toEqual([[[0.5, -0.75], [0.5, -0.75]], { 'contractrl/success': 0.5, 'contractrl/refused': 0.5 }]);
  });

  test('gives verl a score and what it is made of', () => {
    expect(run("print(json.dumps([c.compute_score('contractrl/x', text, given['task'], {}) for text in (given['answer'], 'no patch')]))")).toEqual([
      { score: 1, acc: 1, end: 'right', collateral: 0, refused: 0 }, { score: -0.5, acc: 0, end: 'rejected', collateral: 0, refused: 1 },
    ]);
  });

  test('raises where the server refuses, and can be asked again', () => {
    expect(run(`
try:
    c.rewards_of(['{}'], ['x'], [1])
except c.RewardError as error:
    code = error.code
print(json.dumps([code, c.rewards_of([given['task']], [given['answer']], [0])[0]['reward']]))`)).toEqual(['task/bad-field', 1]);
  });

  test.each([
    ['where there is no server', '', "c.shutil.which = lambda name: None", 'server/not-found'],
    ['where it ends at once', `"${process.execPath}" -e ""`, '', 'server/gone'],
  ])('raises %s', (_, command, before, code) => {
    expect(run(`
${before}
try:
    c.rewards_of([given['task']], ['x'], [1])
except c.RewardError as error:
    print(json.dumps(error.code))`, command)).toBe(code);
  });

  test('writes the prompt version into an adapter’s configuration and leaves the rest', () => {
    writeFileSync(join(folder, 'adapter_config.json'), JSON.stringify({ peft_type: 'LORA', r: 4 }));
    expect(run("print(json.dumps(c.write_prompt_version('.')))")).toBeNull();
    expect(JSON.parse(readFileSync(join(folder, 'adapter_config.json'), 'utf8'))).toEqual({ peft_type: 'LORA', r: 4, contractrl: { prompt_version: PROMPT_VERSION } });
  });
});
