import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openFileStorage } from '@contractrl/ledger-storage/file';
import { SHIPPED_ADAPTER_NAMES } from '@contractrl/runtime-webgpu/node';
import { EXIT } from '../src/index.ts';
import {
  ABSTENTION, createTestIo, failingServices, RECORD, RIGHT_PATCH, runWith, scriptedServices, temporaryFile, temporaryFolder, WRONG_PATCH,
} from './harness.ts';

const VALID = { ...RECORD, id: 'fine', call: { name: 'run_command', arguments: { command: 'npm test', tail: 10 } } };
/** Well-formed, and refused by a gate that knows which commands exist. */
const REFUSED = { ...VALID, id: 'refused', context: { commands: ['ls'] }, contract: { gates: [{ kind: 'reference_exists', pointer: '/command', in: 'commands' }] } };

const lines = (...records: readonly (object | string)[]): string => records.map((record) => `${typeof record === 'string' ? record : JSON.stringify(record)}\n`).join('');
const parseLines = (text: string): Record<string, unknown>[] => text.trimEnd().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);

describe('exit codes of one record', () => {
  test.each([
    { what: 'a valid call', record: VALID, texts: [], status: 'valid', code: EXIT.ok },
    { what: 'a repaired call', record: RECORD, texts: [RIGHT_PATCH], status: 'repaired', code: EXIT.ok },
    { what: 'a call repaired at the second attempt', record: RECORD, texts: [WRONG_PATCH, RIGHT_PATCH], status: 'repaired', code: EXIT.ok },
    { what: 'a call whose attempts are spent', record: RECORD, texts: [WRONG_PATCH, WRONG_PATCH], status: 'failed', code: EXIT.notRepaired },
    { what: 'a patch on a locked field, twice', record: RECORD, texts: Array<string>(2).fill('[{"op":"replace","path":"/command","value":"rm"}]'), status: 'failed', code: EXIT.notRepaired },
    { what: 'an abstention', record: RECORD, texts: [ABSTENTION], status: 'abstained', code: EXIT.abstained },
    { what: 'a gate that refuses', record: REFUSED, texts: [], status: 'rejected', code: EXIT.rejected },
    { what: 'a record without a tool', record: { id: 'x', request: '', call: RECORD.call }, texts: [], status: 'failed', code: EXIT.notRepaired },
    { what: 'a contract with a negative budget', record: { ...RECORD, contract: { attemptBudget: -1 } }, texts: [], status: 'failed', code: EXIT.notRepaired },
  ])('$what ends with $code ($status)', async ({ record, texts, status, code }) => {
    const path = await temporaryFile('call.json', JSON.stringify(record, null, 2));
    const result = await runWith(['repair', path, '--json'], createTestIo(), scriptedServices(texts));
    expect(JSON.parse(result.output)).toMatchObject({ status });
    expect(result.code).toBe(code);
    expect(Object.keys(JSON.parse(result.output) as object).includes('arguments')).toBe(code === EXIT.ok);
  });

  test.each([
    { what: 'no file', words: ['repair'] },
    { what: 'an unknown option', words: ['repair', '-', '--colour'] },
    { what: 'an unknown command', words: ['mend', '-'] },
    { what: 'a file that is not there', words: ['repair', 'no-such-file.json'] },
    { what: 'a seed that is no number', words: ['repair', '-', '--seed', 'lucky'] },
    { what: 'a temperature below zero', words: ['repair', '-', '--temperature=-1'] },
    { what: 'two output forms at once', words: ['repair', '-', '--json', '--jsonl'] },
    { what: 'an unknown form of errors', words: ['repair', '-', '--errors', 'xml'] },
    { what: 'an unknown engine', words: ['repair', '-', '--engine', 'npu'] },
    { what: 'an engine for a server', words: ['repair', '-', '--server', 'http://localhost:1/v1', '--engine', 'webgpu'] },
    { what: 'an unknown way with provenance', words: ['repair', '-', '--provenance', 'maybe'] },
    { what: 'a release rule that is none', words: ['repair', '-', '--release', 'maybe'] },
    { what: 'a threshold above 1', words: ['repair', '-', '--release', '1.5'] },
    { what: 'a release rule for a server', words: ['repair', '-', '--server', 'http://localhost:8080/v1', '--release', 'off'] },
    { what: 'a server without an address', words: ['repair', '-', '--server', 'localhost:8080'] },
    { what: 'an adapter that does not ship', words: ['repair', '-', '--adapter', 'r32'] },
    { what: 'a server and an adapter', words: ['repair', '-', '--server', 'http://localhost:8080/v1', '--adapter', 'none'] },
    { what: 'empty input', words: ['repair', '-'] },
  ])('$what is wrong usage', async ({ words }) => {
    const result = await runWith(words, createTestIo(), scriptedServices([]));
    expect(result).toMatchObject({ code: EXIT.usage, output: '' });
    expect(result.errors).not.toBe('');
  });

  test('an adapter that does not ship is named with those that do, and with the way to write a folder', async () => {
    const { errors } = await runWith(['repair', '-', '--adapter', 'mine'], createTestIo(), scriptedServices([]));
    expect(errors).toContain(`(${SHIPPED_ADAPTER_NAMES.join(', ')})`);
    expect(errors).toMatch(/\.\/mine.* \[adapter\/unknown-name\]/u);
  });

  test.each(['r8', './r8', 'none'])('--adapter %s is handed on as it is written', async (adapter) => {
    const services = scriptedServices([RIGHT_PATCH]);
    await runWith(['repair', '-', '--adapter', adapter], createTestIo({ stdin: JSON.stringify(RECORD) }), services);
    expect(services.opened).toMatchObject([{ adapter }]);
  });

  test('a model that cannot be had is told in one sentence with its code', async () => {
    const services = failingServices({ code: 'model/offline', message: 'There is no model: fetch it once.' });
    const result = await runWith(['repair', '-'], createTestIo({ stdin: JSON.stringify(RECORD) }), services);
    expect(result).toEqual({ code: EXIT.notRepaired, output: '', errors: 'error: There is no model: fetch it once. [model/offline]\n' });
  });
});

describe('without a model', () => {
  const CERTAIN = { ...RECORD, call: { name: 'run_command', arguments: '```json\n{"command":"npm test","tail":"10"}\n```' } };

  test('what is certain is repaired, the rest declined, and nothing is opened', async () => {
    const services = scriptedServices([]);
    const result = await runWith(['repair', '-', '--no-model'], createTestIo({ stdin: lines(CERTAIN, RECORD) }), services);
    expect(parseLines(result.output)).toMatchObject([
      { status: 'repaired', arguments: { command: 'npm test', tail: 10 }, patch: [{ op: 'replace', path: '/tail', value: 10 }], attempts: 0 },
      { status: 'abstained', reason: 'abstain/no-policy' },
    ]);
    expect(result.code).toBe(EXIT.abstained);
    expect(services.opened).toEqual([]);
  });

  test('a person sees how the text was read and which rule wrote what', async () => {
    const { output } = await runWith(['repair', '-', '--no-model', '--human'], createTestIo({ stdin: JSON.stringify(CERTAIN) }), scriptedServices([]));
    expect(output).toContain('Without the model\n  text read as code-fence\n  text-to-json: {"op":"replace","path":"/tail","value":10}\n');
  });
});

describe('many records', () => {
  test('a broken line costs one failed record and the run goes on', async () => {
    const stdin = lines(RECORD, '{"id":"cut', '[]', VALID);
    const result = await runWith(['repair', '-'], createTestIo({ stdin }), scriptedServices([RIGHT_PATCH]));
    const records = parseLines(result.output);
    expect(records.map(({ id, status }) => [id, status])).toEqual([['tail', 'repaired'], ['line 2', 'failed'], ['line 3', 'failed'], ['fine', 'valid']]);
    expect(records.slice(1, 3).map(({ reason }) => reason)).toEqual(['request/not-json', 'request/wrong-type']);
    expect(result.code).toBe(EXIT.notRepaired);
  });

  test('the worst of the records decides the exit code', async () => {
    const stdin = lines(RECORD, { ...RECORD, id: 'b' }, REFUSED, VALID);
    const result = await runWith(['repair', '-'], createTestIo({ stdin }), scriptedServices([RIGHT_PATCH, ABSTENTION]));
    expect(parseLines(result.output).map(({ status }) => status)).toEqual(['repaired', 'abstained', 'rejected', 'valid']);
    expect(result.code).toBe(EXIT.rejected);
  });

  test('the model is opened once, disposed once, and not at all where no record needs it', async () => {
    const services = scriptedServices([RIGHT_PATCH, RIGHT_PATCH]);
    await runWith(['repair', '-', '--adapter', 'none', '--seed', '7', '--threads', '2', '--engine', 'auto', '--provenance', 'prefer', '--release', '0.8'], createTestIo({ stdin: lines(RECORD, RECORD) }), services);
    expect(services.opened).toEqual([{ model: undefined, withoutModel: false, adapter: 'none', offline: false, seed: 7, temperature: 0, maxTokens: undefined, threads: 2, engine: 'auto', provenance: 'prefer', release: { threshold: 0.8 }, server: undefined }]);
    expect(services.disposedCount()).toBe(1);
    const unused = scriptedServices([]);
    await runWith(['repair', '-'], createTestIo({ stdin: lines('{}', 'x') }), unused);
    expect(unused.opened).toEqual([]);
  });

  test('a server is asked in the place of a model, with the key of the environment', async () => {
    const services = scriptedServices([RIGHT_PATCH]);
    const io = createTestIo({ stdin: lines(RECORD), env: { CONTRACTRL_SERVER_KEY: 'secret' } });
    await runWith(['repair', '-', '--server', 'http://localhost:8000/v1', '--server-kind', 'vllm', '--server-model', 'small'], io, services);
    expect(services.opened).toMatchObject([{ model: undefined, server: { baseUrl: 'http://localhost:8000/v1', dialect: 'vllm', model: 'small', apiKey: 'secret' } }]);
  });

  test('--json for many records is wrong usage', async () => {
    const result = await runWith(['repair', '-', '--json'], createTestIo({ stdin: lines(RECORD, RECORD) }), scriptedServices([]));
    expect(result).toMatchObject({ code: EXIT.usage, output: '' });
    expect(result.errors).toContain('[usage/many-records]');
  });
});

describe('output', () => {
  const stdin = JSON.stringify(RECORD);

  test('a person sees the call before, the report, each attempt, the call after as a diff, and what it cost', async () => {
    const result = await runWith(['repair', '-', '--human'], createTestIo({ stdin }), scriptedServices([WRONG_PATCH, RIGHT_PATCH]));
    expect(result.output.replace(/[0-9a-f]{64}/u, '<digest>')).toMatchSnapshot();
  });

  test('colours are for terminals alone, and NO_COLOR is respected', async () => {
    const run = (io: ReturnType<typeof createTestIo>): ReturnType<typeof runWith> => runWith(['repair', '-'], io, scriptedServices([RIGHT_PATCH]));
    const terminal = await run(createTestIo({ stdin, isTerminal: true }));
    const plain = await run(createTestIo({ stdin, isTerminal: true, env: { NO_COLOR: '1' } }));
    const dumb = await run(createTestIo({ stdin, isTerminal: true, env: { TERM: 'dumb' } }));
    expect(terminal.output).toContain('\u001b[');
    expect(plain.output).not.toContain('\u001b');
    expect(dumb.output).not.toContain('\u001b');
    expect(plain.output).toContain('Call before');
  });

  test('one document is one JSON document where the output is no terminal', async () => {
    const result = await runWith(['repair', '-'], createTestIo({ stdin }), scriptedServices([RIGHT_PATCH]));
    expect(JSON.parse(result.output)).toMatchObject({ id: 'tail', status: 'repaired', name: 'run_command', arguments: { command: 'npm test', tail: 10 } });
  });

  test('a name full of terminal codes is shown escaped', async () => {
    const record = { ...VALID, id: '\u001b[2Jevil' };
    const result = await runWith(['repair', '-', '--human'], createTestIo({ stdin: JSON.stringify(record) }), scriptedServices([]));
    expect(result.output).not.toContain('\u001b');
    expect(result.output).toContain('\\u001b[2Jevil');
  });

  test('--changes=json prints the applied patch alone, and null where nothing may be run', async () => {
    const result = await runWith(['repair', '-', '--changes=json'], createTestIo({ stdin: lines(RECORD, VALID, { ...RECORD, id: 'c' }) }), scriptedServices([RIGHT_PATCH, ABSTENTION]));
    expect(result.output).toBe(`${RIGHT_PATCH}\n[]\nnull\n`);
  });

  test.each([
    ['json', '[\n  {\n    "code": "wrong_type"'],
    ['line', '[{"code":"wrong_type"'],
    ['text', 'tail: wrong_type at /tail (type)'],
  ])('--errors=%s prints the report on standard error', async (form, start) => {
    const result = await runWith(['repair', '-', `--errors=${form}`], createTestIo({ stdin }), scriptedServices([RIGHT_PATCH]));
    expect(result.errors.startsWith(start)).toBe(true);
    expect(JSON.parse(result.output)).toMatchObject({ status: 'repaired' });
  });
});

describe('Ctrl-C in mid-repair', () => {
  test('what is whole is written, the record under way is dropped, and the ledger stays whole', async () => {
    const ledger = join(await temporaryFolder(), 'ledger.jsonl');
    const io = createTestIo({ stdin: lines(RECORD, { ...RECORD, id: 'second' }, { ...RECORD, id: 'third' }) });
    const services = scriptedServices([RIGHT_PATCH, RIGHT_PATCH, RIGHT_PATCH], (index) => { if (index === 1) io.abort(); });
    const result = await runWith(['repair', '-', '--ledger', ledger], io, services);
    expect(result.code).toBe(EXIT.interrupted);
    expect(parseLines(result.output).map(({ id }) => id)).toEqual(['tail']);
    expect(result.errors).toContain('1 of 3 done');
    expect(services.disposedCount()).toBe(1);
    expect((await runWith(['ledger', 'verify', ledger], createTestIo(), services)).code).toBe(EXIT.ok);
  });
});

describe('--ledger', () => {
  const repairInto = (ledger: string, text = RIGHT_PATCH): ReturnType<typeof runWith> =>
    runWith(['repair', '-', '--ledger', ledger], createTestIo({ stdin: JSON.stringify(RECORD) }), scriptedServices([text]));
  const verify = async (ledger: string): Promise<unknown> => JSON.parse((await runWith(['ledger', 'verify', ledger, '--json'], createTestIo(), scriptedServices([]))).output);

  test('a second run continues the chain of the first', async () => {
    const ledger = join(await temporaryFolder(), 'ledger.jsonl');
    await repairInto(ledger);
    const first = await verify(ledger) as { readonly count: number };
    const before = await readFile(ledger, 'utf8');
    await repairInto(ledger, ABSTENTION);
    expect(await verify(ledger)).toMatchObject({ ok: true, count: first.count * 2 });
    expect((await readFile(ledger, 'utf8')).startsWith(before)).toBe(true);
  });

  test('a record carries the digest of its own trace', async () => {
    const ledger = join(await temporaryFolder(), 'ledger.jsonl');
    const record = JSON.parse((await repairInto(ledger)).output) as { readonly ledger: string };
    const again = JSON.parse((await repairInto(ledger)).output) as { readonly ledger: string };
    expect(record.ledger).toMatch(/^[0-9a-f]{64}$/u);
    expect(again.ledger).toBe(record.ledger);
  });

  test.each([
    { what: 'a changed value', damage: (text: string) => text.replace('npm test', 'npm publish'), brokenAt: 0, code: 'ledger/digest-mismatch' },
    { what: 'a removed row', damage: (text: string) => text.split('\n').toSpliced(1, 1).join('\n'), brokenAt: 1, code: 'ledger/bad-sequence' },
    { what: 'a torn last row after a changed one', damage: (text: string) => text.replace('npm test', 'npm publish').slice(0, -10), brokenAt: 0, code: 'ledger/digest-mismatch' },
    { what: 'a row that is no JSON', damage: (text: string) => `${text}nonsense\n`, brokenAt: 4, code: 'ledger/bad-json' },
    { what: 'another spelling of the same value', damage: (text: string) => text.replace(',', ', '), brokenAt: 0, code: 'ledger/not-canonical' },
    { what: 'a byte order mark', damage: (text: string) => `\uFEFF${text}`, brokenAt: 0, code: 'ledger/bad-json' },
  ])('$what is named, and nothing is appended to it', async ({ damage, brokenAt, code }) => {
    const ledger = join(await temporaryFolder(), 'ledger.jsonl');
    await repairInto(ledger);
    const damaged = damage(await readFile(ledger, 'utf8'));
    await writeFile(ledger, damaged);
    expect(await verify(ledger)).toEqual({ ok: false, brokenAt, code });
    const sentence = await runWith(['ledger', 'verify', ledger], createTestIo(), scriptedServices([]));
    expect(sentence).toMatchObject({ code: EXIT.ledgerBroken, output: '' });
    expect(sentence.errors).toContain(`[${code}]`);
    const refused = await repairInto(ledger);
    expect(refused).toMatchObject({ code: EXIT.ledgerBroken, output: '' });
    expect(await readFile(ledger, 'utf8')).toBe(damaged);
  });

  test.each([
    { what: 'in the middle of a row', damage: (text: string) => text.slice(0, -400), brokenAt: 2, code: 'ledger/torn-row' },
    { what: 'between the rows of a repair', damage: (text: string) => `${text.split('\n').slice(0, 2).join('\n')}\n`, brokenAt: 0, code: 'ledger/open-repair' },
  ])('a write that a crash cut $what is named; the next run moves it aside, says so, and goes on', async ({ damage, brokenAt, code }) => {
    const ledger = join(await temporaryFolder(), 'ledger.jsonl');
    await repairInto(ledger);
    const damaged = damage(await readFile(ledger, 'utf8'));
    await writeFile(ledger, damaged);
    expect(await verify(ledger)).toEqual({ ok: false, brokenAt, code });
    const next = await repairInto(ledger);
    expect(next.code).toBe(EXIT.ok);
    expect(next.errors).toMatch(new RegExp(`^recovered: .*${ledger}\\.torn\\. \\[${code}\\]`, 'u'));
    expect(await readFile(`${ledger}.torn`, 'utf8')).toBe(damaged);
    expect(await verify(ledger)).toMatchObject({ ok: true, count: 4 });
  });

  test('a ledger that another run has open is refused by name', async () => {
    const ledger = join(await temporaryFolder(), 'ledger.jsonl');
    const other = await openFileStorage(ledger);
    const refused = await repairInto(ledger);
    expect(refused).toMatchObject({ code: EXIT.ledgerBroken, output: '' });
    expect(refused.errors).toContain('[ledger/locked]');
    if (other.ok) await other.value.close();
    expect((await repairInto(ledger)).code).toBe(EXIT.ok);
  });

  test('under a key the ledger holds no argument, and the record names the trace that it holds', async () => {
    const folder = await temporaryFolder();
    const [ledger, key] = [join(folder, 'ledger.jsonl'), join(folder, 'key')];
    await writeFile(key, new Uint8Array(32).fill(5));
    const io = createTestIo({ stdin: JSON.stringify(RECORD) });
    const { code, output } = await runWith(['repair', '-', '--json', '--ledger', ledger, '--ledger-key', key], io, scriptedServices([RIGHT_PATCH]));
    expect(code).toBe(EXIT.ok);
    const text = await readFile(ledger, 'utf8');
    expect(text).not.toContain('npm test');
    const csv = await runWith(['ledger', 'export', ledger, '--format', 'csv'], createTestIo(), scriptedServices([]));
    expect(csv.output).toContain((JSON.parse(output) as { readonly ledger: string }).ledger);
    const replay = await runWith(['ledger', 'replay', ledger, '--json'], createTestIo(), scriptedServices([]));
    expect(JSON.parse(replay.output)).toEqual({ ok: true, repairs: 1, judgedAgain: 0, notChecked: [{ step: 'texts', reason: 'replay/hidden', count: 1 }, { step: 'judgement', reason: 'replay/hidden', count: 1 }] });
  });

  test.each([['that is not there', undefined], ['that is too short', 'secret']])('a key %s ends the run before anything is done', async (_, text) => {
    const folder = await temporaryFolder();
    if (text !== undefined) await writeFile(join(folder, 'key'), text);
    const io = createTestIo({ stdin: JSON.stringify(RECORD) });
    const result = await runWith(['repair', '-', '--ledger', join(folder, 'ledger.jsonl'), '--ledger-key', join(folder, 'key')], io, scriptedServices([]));
    expect(result).toMatchObject({ code: EXIT.usage, output: '' });
    expect(result.errors).toContain('[ledger/bad-key]');
  });

  test('bytes that are no UTF-8 break the row they are in', async () => {
    const ledger = join(await temporaryFolder(), 'ledger.jsonl');
    await repairInto(ledger);
    const bytes = await readFile(ledger);
    bytes[bytes.lastIndexOf('closed')] = 0xff;
    await writeFile(ledger, bytes);
    expect(await verify(ledger)).toMatchObject({ ok: false, code: 'ledger/not-utf8' });
  });

  test('a ledger that another program appends to meanwhile is not continued, and no result is handed out', async () => {
    const ledger = join(await temporaryFolder(), 'ledger.jsonl');
    const io = createTestIo({ stdin: JSON.stringify(RECORD) });
    const services = scriptedServices([RIGHT_PATCH]);
    const result = await runWith(['repair', '-', '--ledger', ledger], io, {
      ...services,
      openSession: async (options, hooks) => {
        await writeFile(ledger, 'somebody else\n');
        return services.openSession(options, hooks);
      },
    });
    expect(result).toMatchObject({ code: EXIT.ledgerBroken, output: '' });
    expect(result.errors).toContain('[ledger/changed-meanwhile]');
    expect(await readFile(ledger, 'utf8')).toBe('somebody else\n');
  });

  test('a folder that is not there is told, with a code', async () => {
    const result = await repairInto(join(await temporaryFolder(), 'missing', 'ledger.jsonl'));
    expect(result).toMatchObject({ code: EXIT.ledgerBroken, output: '' });
    expect(result.errors).toContain('[ledger/file-access]');
  });
});
