/** `train` through the command's entry: refusals, and a whole training of a tiny model whose adapter a repair then takes. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
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
  { what: 'of another base', from: 'r8', code: 'adapter/wrong-base' }, { what: 'that is not there', from: '/nowhere/adapter', code: 'train/no-start' },
])('from an adapter $what nothing is trained, and nothing stands in for it', async ({ from, code }) => {
  const { words, out } = await files();
  const ended = await train([...words, '--from', from]);
  expect([ended.code, ended.errors]).toEqual([EXIT.notRepaired, expect.stringContaining(`[${code}]`) as string]);
  expect(existsSync(out)).toBe(false);
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
