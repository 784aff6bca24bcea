/** `train` through the command's entry: refusals, and a whole training of a tiny model whose adapter a repair then takes. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { ok } from '@contractrl/core';
import * as trainer from '@contractrl/trainer/user';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../src/index.ts';
import { runtimeServices } from '../src/runtime-services.ts';
import { createTestIo, failingServices, runWith, temporaryFile, temporaryFolder, type TestIo } from './harness.ts';

const TOOLS = [
  { type: 'function', function: { name: 'reserve_kiln_slot', description: 'Reserve a slot in the kiln', parameters: {
    type: 'object', required: ['potter', 'day', 'shelf'], additionalProperties: false,
    properties: { potter: { type: 'string' }, day: { type: 'string', format: 'date' }, shelf: { type: 'integer', minimum: 1, maximum: 40 }, glaze: { type: 'string', enum: ['celadon', 'tenmoku', 'shino'] } } } } },
  { name: 'log_firing_result', description: 'Log how a firing went', input_schema: {
    type: 'object', required: ['firing_code', 'cone'], additionalProperties: false,
    properties: { firing_code: { type: 'string', pattern: '^FR-\\d{4}$' }, cone: { type: 'integer', minimum: 1, maximum: 14 }, cracked: { type: 'boolean' } } } },
];
const TINY = fileURLToPath(new URL('fixtures/tiny-model.gguf.gz', import.meta.url));
/** Two slow cores that others use as well; alone it takes about a tenth of this. */
const TRAINING_TIMEOUT_MS = 400_000;

/** Its clock runs, since training looks at it. */
function runningIo(): TestIo {
  return { ...createTestIo(), now: () => performance.now() };
}

/** Stops in training, as soon as it tells of a step or a look. */
function stoppingIo(): TestIo {
  const io = runningIo();
  const write = async (chunk: string | Uint8Array): Promise<void> => {
    if (/Training, step|Step \d+: validation/u.test(String(chunk))) io.abort();
    await io.stderr.write(chunk);
  };
  return { ...io, stderr: { isTerminal: false, write } };
}

const train = (words: readonly string[], io: TestIo = runningIo()): ReturnType<typeof runWith> => runWith(['train', ...words], io, runtimeServices);

async function files(tools: unknown = TOOLS): Promise<{ readonly tools: string; readonly out: string; readonly words: readonly string[] }> {
  const folder = await temporaryFolder();
  const [toolsFile, model, out] = [join(folder, 'tools.json'), join(folder, 'tiny.gguf'), join(folder, 'out')];
  await writeFile(toolsFile, JSON.stringify(tools));
  await writeFile(model, gunzipSync(await readFile(TINY)));
  return { tools: toolsFile, out, words: ['--tools', toolsFile, '--base', model, '--out', out, '--rank', '2', '--examples', '160', '--general', '0', '--minutes', '5'] };
}

test.each([
  ['without tools', []], ['with a rank of none', ['--tools', 'x', '--rank', '0']], ['with a rank beyond all sense', ['--tools', 'x', '--rank', '8000']],
  ['with nothing of one’s own', ['--tools', 'x', '--general', '1']], ['with another way to split', ['--tools', 'x', '--split', 'day']],
  ['from an adapter that does not ship', ['--tools', 'x', '--from', 'r5']], ['with a file that is not there', ['--tools', '/nowhere/tools.json']],
])('%s is wrong usage', async (_, words) => {
  expect((await train(words)).code).toBe(EXIT.usage);
});

test('where the trainer is not installed, it is said what to do', async () => {
  const { code, errors } = await runWith(['train', '--tools', await temporaryFile('tools.json', '[]')], createTestIo(), failingServices({ code: 'train/not-installed', message: 'npm install it.' }));
  expect([code, errors]).toEqual([EXIT.notRepaired, 'error: npm install it. [train/not-installed]\n']);
});

test.each([
  { what: 'a file without tools', tools: [], code: 'train/no-tools' },
  { what: 'tools of one name', tools: [TOOLS[0], TOOLS[0]], code: 'train/duplicate-tool' },
  { what: 'a tool with nothing to choose from', tools: [{ name: 'open_kiln_lid', parameters: { type: 'object', required: ['lid'], properties: { lid: { const: 'front' } } } }], code: 'train/too-few-calls' },
  { what: 'a tool of an evaluation set', tools: [...TOOLS, { name: 'calculate_triangle_area', parameters: { type: 'object', properties: { base: { type: 'integer' } } } }], code: 'train/leak' },
])('$what: nothing is trained, and the code says why', async ({ tools, code }) => {
  const { words, out } = await files(tools);
  const ended = await train(words);
  expect(ended.code).toBe(EXIT.notRepaired);
  expect(ended.errors).toContain(`[${code}]`);
  expect(existsSync(out)).toBe(false);
});

test.each([
  { what: 'of another base', from: 'r8', code: 'adapter/wrong-base' }, { what: 'that is not there', from: '/nowhere/adapter', code: 'adapter/file-missing' },
])('from an adapter $what nothing is trained, and nothing stands in for it', async ({ from, code }) => {
  const { words, out } = await files();
  const ended = await train([...words, '--from', from]);
  expect([ended.code, ended.errors]).toEqual([EXIT.notRepaired, expect.stringContaining(`[${code}]`) as string]);
  expect(existsSync(out)).toBe(false);
});

describe('of an adapter that was measured', () => {
  type Verdict = trainer.TrainedForTools['before']['rows'][number]['verdict'];
  const VERDICTS: Readonly<Record<string, Verdict>> = { r: 'right', w: 'wrong', f: 'abstained-falsely' };
  const row = { family: 'enum', difficulty: 'quoted', structure: 'flat', isRepairable: true, reason: null, collateral: 0, attempts: 1, tokens: { prompt: 1, generated: 1, forced: 1 }, totalMs: 1, confidence: 1, signals: null } as const;
  /** An example a letter. */
  const look = (letters: string): trainer.TrainedForTools['before'] => ({ adapter: null, rows: [...letters].map((letter, index) => ({ ...row, id: `call-${index}#0`, verdict: VERDICTS[letter]! })) });

  /** As if training had made this. */
  async function ended(before: string, after: string, words: readonly string[] = [], step = 40): ReturnType<typeof runWith> {
    const trained: trainer.TrainedForTools = { end: 'done', stepCount: 60, best: { kind: 'validation', step, loss: 0.5 }, adapter: 'out/adapter', start: 'r8', before: look(before), after: look(after) };
    const services = { ...failingServices({ code: 'none', message: 'None.' }), loadTrainer: async () => ok({ ...trainer, trainForTools: async () => ok(trained) }) };
    return runWith(['train', '--tools', await temporaryFile('tools.json', '[]'), ...words], createTestIo(), services);
  }

  test('that is better, the last line is how to use it, and nobody is warned', async () => {
    const { code, output, errors } = await ended('rwff', 'rrff');
    expect([code, errors]).toEqual([EXIT.ok, '']);
    expect(output).toMatch(/\nAdapter of step 40: contractrl repair call\.json --adapter out\/adapter\n$/u);
  });

  test('that is worse, the last lines warn of it and say how to use what there was before', async () => {
    const { code, output, errors } = await ended('rrff', 'rwff');
    expect(code).toBe(EXIT.ok);
    expect(output).toMatch(/\nAdapter of step 40: out\/adapter\nBetter, and there before: contractrl repair call\.json --adapter r8\n$/u);
    expect(errors).toBe(
      'warning: The new adapter is worse than what there was before: of the same 4 validation examples 1 are right and 2 were (0 gained, 1 lost), 1 are wrong and would have been run, and 0 were. Keep what there was before. [train/worse]\n',
    );
  });

  test('that is worse in part, it is told, and the better one on the whole is named', async () => {
    const { output, errors } = await ended('rffff', 'rrrrw', ['--base', 'other.gguf']);
    expect(output).toMatch(/\nAdapter of step 40: contractrl repair call\.json --model other\.gguf --adapter out\/adapter\n$/u);
    expect(errors).toMatch(/^warning: The new adapter is in part worse .* Keep the new one where a wrong call costs .* \[train\/worse\]\n$/u);
  });

  test('that no step has made better, it is told that it is the old one', async () => {
    expect((await ended('rf', 'rf', [], 0)).output).toMatch(/\nNo step was better .*: contractrl repair call\.json --adapter out\/adapter\n$/u);
  });

  test('a program reads which one to keep, and is warned beside', async () => {
    const [worse, better] = [await ended('rr', 'rw', ['--json']), await ended('rw', 'rr', ['--json'])];
    expect([JSON.parse(worse.output), JSON.parse(better.output)]).toMatchObject([{ isWorse: true, keep: 'r8', start: 'r8', adapter: 'out/adapter' }, { isWorse: false, keep: 'out/adapter' }]);
    expect([worse.errors.includes('[train/worse]'), better.errors]).toEqual([true, '']);
  });
});

test('an adapter is trained for two tools, measured before and after, and taken by a repair and by another training', async () => {
  const { words, out } = await files();
  const { code, output, errors } = await train(words);
  expect([code, code === EXIT.ok ? '' : errors]).toEqual([EXIT.ok, '']);
  expect(errors).toContain('Begins with nothing: there is no adapter that it could go on from [train/none-ships]');
  expect(errors).toMatch(/\d+ examples to train on, \d+ to validate with, of 0 recorded calls/u);
  expect(output).toMatch(/validation examples +before +after/u);
  const card = readFileSync(join(out, 'adapter', 'README.md'), 'utf8');
  expect(card).toContain('| drawn | the user’s own | calls drawn from the schemas of 2 tools |');
  expect(card).toContain('## Before and after');
  // a tiny model may come out either way; card and command say the same of it
  expect(/\*\*(The new adapter is .*)\*\*/u.exec(card)?.[1]).toBe(/warning: (.*) \[train\/worse\]/u.exec(errors)?.[1]);

  const again = await train(words);
  expect([again.code, again.errors]).toEqual([EXIT.notRepaired, expect.stringContaining('[run/exists]') as string]);

  const record = { id: 'a', request: 'Reserve shelf 7 of the kiln for Mira on 2026-03-04.', tool: { name: 'reserve_kiln_slot', parameters: TOOLS[0]!.function!.parameters }, call: { name: 'reserve_kiln_slot', arguments: { potter: 'Mira', day: '2026-03-04', shelf: null } } };
  const repaired = await runWith(['repair', await temporaryFile('call.json', JSON.stringify(record)), '--json', '--model', words[3]!, '--adapter', join(out, 'adapter'), '--ledger', join(out, 'ledger.jsonl')], runningIo(), runtimeServices);
  expect(repaired.errors).not.toContain('adapter/');
  expect(JSON.parse(repaired.output)).toMatchObject({ id: 'a', tokens: { generated: expect.any(Number) as number } });

  const [start, other] = [join(out, 'adapter'), join(out, 'on')];
  const on = await train([...words, '--out', other, '--from', start], stoppingIo());
  expect([on.code, on.errors]).toEqual([EXIT.interrupted, expect.stringContaining(`Begins with the adapter ${start}`)]);
  const startDigest = createHash('sha256').update(readFileSync(join(start, 'adapter_model.safetensors'))).digest('hex');
  const read = (name: string): unknown => JSON.parse(readFileSync(join(other, name), 'utf8'));
  expect([read('run.json'), read('before.json')]).toMatchObject([{ rank: 2, from: startDigest }, { adapter: startDigest }]);
}, TRAINING_TIMEOUT_MS);

test('stopped in training, it leaves a checkpoint, and goes on with it; other options do not', async () => {
  const { words, out } = await files();
  const stopped = await train(words, stoppingIo());
  expect([stopped.code, stopped.output]).toEqual([EXIT.interrupted, expect.stringContaining('--resume goes on')]);
  expect(existsSync(join(out, 'checkpoint.safetensors'))).toBe(true);
  const resumed = await train([...words, '--resume']);
  expect([resumed.code, resumed.errors.includes('[run/mismatch]')]).toEqual([EXIT.ok, false]);
  const other = await train([...words.slice(0, -2), '--minutes', '5', '--seed', '14', '--resume']);
  expect([other.code, other.errors]).toEqual([EXIT.notRepaired, expect.stringContaining('[run/mismatch]') as string]);
}, TRAINING_TIMEOUT_MS);
