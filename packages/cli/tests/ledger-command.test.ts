/** `contractrl ledger …` over ledgers that `contractrl repair` wrote. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { freeze } from '@contractrl/core';
import { appendRepair, formatRow, GENESIS, readLedgerText, repairsIn } from '@contractrl/core/ledger';
import { EXIT } from '../src/exit-code.ts';
import { readParquet } from './read-parquet.ts';
import { ABSTENTION, createTestIo, RECORD, RIGHT_PATCH, runWith, scriptedServices, temporaryFolder, WRONG_PATCH } from './harness.ts';

const run = (...words: string[]): ReturnType<typeof runWith> => runWith(['ledger', ...words], createTestIo(), scriptedServices([]));

/** Three repairs: one at once, one at the second attempt, one declined. */
async function ledgerOf(texts: readonly string[] = [RIGHT_PATCH, WRONG_PATCH, RIGHT_PATCH, ABSTENTION], ids: readonly string[] = ['tail', '=1+1', 'third']): Promise<string> {
  const ledger = join(await temporaryFolder(), 'ledger.jsonl');
  const stdin = ids.map((id) => `${JSON.stringify({ ...RECORD, id, call: { ...RECORD.call, arguments: { command: 'npm test', tail: 'ten' } } })}\n`).join('');
  await runWith(['repair', '-', '--ledger', ledger], createTestIo({ stdin }), scriptedServices(texts));
  return ledger;
}

async function damage(ledger: string): Promise<void> {
  await writeFile(ledger, (await readFile(ledger, 'utf8')).replace('npm test', 'npm publish'));
}

describe('ledger show', () => {
  test('lists one repair a line', async () => {
    const { code, output } = await run('show', await ledgerOf());
    expect(code).toBe(EXIT.ok);
    const lines = output.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    expect(lines[2]).toMatch(/^4 +=1\+1 +run_command +repaired +2 +2$/u);
    expect(lines[3]).toMatch(/^9 +third +run_command +abstained +0 +0 +abstain\/not-in-state$/u);
  });

  test('shows what happened in one case', async () => {
    const { output } = await run('show', await ledgerOf(), '--case', '=1+1');
    expect(output).toContain('1: repair/still-invalid');
    expect(output).toContain('2: accepted');
    expect(output).toContain('/tail: from the request, characters 41 to 42 (string-to-number)');
    expect(output).toContain('wrong_type');
    expect(output).not.toContain('third');
  });

  test('says that a case is not there', async () => {
    const { code, errors } = await run('show', await ledgerOf(), '--case', 'nobody');
    expect(code).toBe(EXIT.notRepaired);
    expect(errors).toContain('[ledger/unknown-case]');
  });

  test.each(['show', 'replay', 'head'])('%s gives out nothing of a broken ledger', async (command) => {
    const ledger = await ledgerOf();
    await damage(ledger);
    expect(await run(command, ledger)).toMatchObject({ code: EXIT.ledgerBroken, output: '', errors: expect.stringContaining('broken at row 0') as string });
  });

  test('tells a file that is not there', async () => {
    expect(await run('show', join(await temporaryFolder(), 'none'))).toMatchObject({ code: EXIT.usage, output: '', errors: expect.stringContaining('[ledger/file-access]') as string });
  });
});

describe('ledger replay', () => {
  test('judges every repair again', async () => {
    const ledger = await ledgerOf();
    expect(JSON.parse((await run('replay', ledger, '--json')).output)).toEqual({ ok: true, repairs: 3, judgedAgain: 3, notChecked: [] });
    expect(await run('replay', ledger)).toMatchObject({ code: EXIT.ok, output: expect.stringContaining('3 of 3 repairs') as string });
  });

  test('names a repair whose chain is sound and whose verdicts are invented', async () => {
    const ledger = await ledgerOf();
    const rows = readLedgerText(await readFile(ledger, 'utf8'));
    const repairs = rows.ok ? repairsIn(rows.value) : rows;
    if (!repairs.ok) throw new Error(repairs.error.code);
    let head = GENESIS;
    const text = repairs.value.flatMap((repair, index) => {
      const entries = structuredClone(repair.entries) as unknown as Record<string, unknown>[];
      if (index === 1) (entries[1] as Record<string, unknown>)['report'] = [];
      const next = appendRepair(head, freeze(entries as never));
      head = next.head;
      return next.rows.map(formatRow);
    }).join('');
    await writeFile(ledger, text);
    expect((await run('verify', ledger)).code).toBe(EXIT.ok);
    const { code, output } = await run('replay', ledger, '--json');
    expect(code).toBe(EXIT.ledgerBroken);
    expect(JSON.parse(output)).toEqual({ ok: false, repairs: 3, judgedAgain: 2, notChecked: [], brokenAt: 5, caseId: '=1+1', code: 'replay/difference' });
    expect((await run('replay', ledger)).errors).toContain('Row 5, case "=1+1"');
  });

  test('of a ledger of an earlier version says so, and claims no difference', async () => {
    const old = fileURLToPath(new URL('../../core/tests/fixtures/ledger-version-1.jsonl', import.meta.url));
    const { code, output } = await run('replay', old);
    expect({ code, output: output.replaceAll(old, 'old') }).toEqual({ code: EXIT.ok, output: 'agrees  old: 0 of 3 repairs come out as recorded\nnot checked: judgement of 3 [ledger/other-version]\n' });
    expect((await run('verify', old)).code).toBe(EXIT.ok);
    expect((await run('show', old, '--case', 'old-3')).output).toContain('"/tags"');
  });
});

/** The cells of a line of CSV (RFC 4180). */
function cellsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/gu)].map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain);
}

describe('ledger export', () => {
  test('as CSV has one line a repair, and no cell that a spreadsheet would run', async () => {
    const { code, output } = await run('export', await ledgerOf(undefined, ['a,"b"', '=1+1', 'third']), '--format', 'csv');
    expect(code).toBe(EXIT.ok);
    const lines = output.split('\r\n');
    expect(lines).toHaveLength(5);
    expect(lines[0]).toMatch(/^firstRow,caseId,tool,status,/u);
    expect(lines[1]).toMatch(/^0,"a,""b""",run_command,repaired,,1,0,1,/u);
    expect(lines[2]).toMatch(/^4,'=1\+1,run_command,repaired,,2,1,2,/u);
    expect(new Set(lines.slice(0, 4).map((line) => cellsOf(line).length)).size).toBe(1);
    const [header, row] = lines.slice(0, 2).map(cellsOf) as [readonly string[], readonly string[]];
    const [written, madeUp] = ['written', 'madeUp'].map((name) => row[header.indexOf(name)] ?? '');
    expect([JSON.parse(written ?? ''), madeUp]).toEqual([[{ pointer: '/tail', origin: { kind: 'request', text: 0, start: 40, end: 42, derivation: 'string-to-number' } }], '0']);
  });

  test('as CSV of an empty ledger is the header', async () => {
    const ledger = join(await temporaryFolder(), 'ledger.jsonl');
    await writeFile(ledger, '');
    expect((await run('export', ledger, '--format', 'csv')).output).toMatch(/^firstRow,[^\n]+\r\n$/u);
  });

  test('as an in-toto statement names the file by its SHA-256', async () => {
    const ledger = await ledgerOf();
    const statement = JSON.parse((await run('export', ledger, '--format', 'in-toto')).output) as Record<string, unknown>;
    const verified = JSON.parse((await run('verify', ledger, '--json')).output) as { readonly count: number; readonly head: string };
    expect(statement).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: 'ledger.jsonl', digest: { sha256: createHash('sha256').update(await readFile(ledger)).digest('hex') } }],
      predicate: { count: verified.count, head: verified.head, repairs: [{ caseId: 'tail', status: 'repaired', madeUp: 0, written: [{ pointer: '/tail', origin: { kind: 'request' } }] }, { attempts: 2 }, { status: 'abstained', written: null, madeUp: null }] },
    });
  });

  test('as Parquet has the rows and columns of the CSV, read back by another library', async () => {
    const ledger = await ledgerOf();
    const { code, output } = await run('export', ledger, '--format', 'parquet');
    expect(code).toBe(EXIT.ok);
    const rows = await readParquet(Buffer.from(output, 'latin1'));
    const [header, ...lines] = (await run('export', ledger, '--format', 'csv')).output.trimEnd().split('\r\n').map(cellsOf);
    expect(rows.map(Object.keys)).toEqual(Array(3).fill(header));
    expect(rows.map((row) => Object.values(row).map((value) => String(value ?? '').replace(/^(?==)/u, "'")))).toEqual(lines);
    expect(rows[1]).toMatchObject({ firstRow: 4n, caseId: '=1+1', status: 'repaired', reason: null, attempts: 2, prefillMs: 260 });
  });

  test('as Parquet of an empty ledger is a file of no row, and never goes to a terminal', async () => {
    const ledger = join(await temporaryFolder(), 'ledger.jsonl');
    await writeFile(ledger, '');
    const { output } = await run('export', ledger, '--format', 'parquet');
    expect(await readParquet(Buffer.from(output, 'latin1'))).toEqual([]);
    const onTerminal = await runWith(['ledger', 'export', ledger, '--format', 'parquet'], createTestIo({ isTerminal: true }), scriptedServices([]));
    expect(onTerminal).toMatchObject({ code: EXIT.usage, output: '', errors: expect.stringContaining('[usage/binary-to-terminal]') as string });
  });

  test.each(['csv', 'parquet', 'in-toto'])('as %s gives out nothing of a broken ledger', async (format) => {
    const ledger = await ledgerOf();
    await damage(ledger);
    expect(await run('export', ledger, '--format', format)).toMatchObject({ code: EXIT.ledgerBroken, output: '' });
  });
});

describe('a head kept elsewhere', () => {
  async function keptHead(ledger: string, ...words: string[]): Promise<string> {
    const path = `${ledger}.head`;
    const { output } = await run('head', ledger, ...words);
    await writeFile(path, output);
    return path;
  }
  async function cutLastRepair(ledger: string): Promise<void> {
    const lines = (await readFile(ledger, 'utf8')).split('\n');
    await writeFile(ledger, `${lines.slice(0, -5).join('\n')}\n`);
  }
  async function keys(): Promise<{ readonly privateKey: string; readonly publicKey: string }> {
    const folder = await temporaryFolder();
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    await writeFile(join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    await writeFile(join(folder, 'key.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
    return { privateKey: join(folder, 'key.pem'), publicKey: join(folder, 'key.pub') };
  }

  test('shows a whole repair cut off the end, which the chain alone does not', async () => {
    const ledger = await ledgerOf();
    const head = await keptHead(ledger);
    expect((await run('verify', ledger, '--head', head)).code).toBe(EXIT.ok);
    await cutLastRepair(ledger);
    expect((await run('verify', ledger)).code).toBe(EXIT.ok);
    const cut = await run('verify', ledger, '--head', head, '--json');
    expect(cut.code).toBe(EXIT.ledgerBroken);
    expect(JSON.parse(cut.output)).toEqual({ ok: false, brokenAt: 9, code: 'ledger/truncated' });
  });

  test('still holds after the ledger has grown, and not for a ledger written anew', async () => {
    const ledger = await ledgerOf();
    const head = await keptHead(ledger);
    await runWith(['repair', '-', '--ledger', ledger], createTestIo({ stdin: JSON.stringify(RECORD) }), scriptedServices([RIGHT_PATCH]));
    expect(JSON.parse((await run('verify', ledger, '--head', head, '--json')).output)).toMatchObject({ ok: true, keptCount: 13 });
    const other = await ledgerOf(undefined, ['other', 'b', 'c']);
    expect(JSON.parse((await run('verify', other, '--head', head, '--json')).output)).toEqual({ ok: false, brokenAt: 12, code: 'ledger/wrong-head' });
  });

  test('may be what verify printed', async () => {
    const ledger = await ledgerOf();
    await writeFile(`${ledger}.head`, (await run('verify', ledger, '--json')).output);
    expect((await run('verify', ledger, '--head', `${ledger}.head`)).output).toContain('through the kept head of row 12');
  });

  test('is signed, and the signature is asked for', async () => {
    const { privateKey, publicKey } = await keys();
    const ledger = await ledgerOf();
    const head = await keptHead(ledger, '--private-key', privateKey);
    expect((await run('verify', ledger, '--head', head, '--public-key', publicKey)).code).toBe(EXIT.ok);
    const stranger = await keys();
    expect(await run('verify', ledger, '--head', head, '--public-key', stranger.publicKey)).toMatchObject({ code: EXIT.ledgerBroken, errors: expect.stringContaining('[head/bad-signature]') as string });
    const unsigned = await keptHead(ledger);
    expect(await run('verify', ledger, '--head', unsigned, '--public-key', publicKey)).toMatchObject({ code: EXIT.ledgerBroken, errors: expect.stringContaining('[head/not-signed]') as string });
  });

  test('is refused where it, or a key, is not what it should be', async () => {
    const ledger = await ledgerOf();
    const { publicKey } = await keys();
    expect(await run('verify', ledger, '--head', ledger)).toMatchObject({ code: EXIT.usage, errors: expect.stringContaining('[head/bad-file]') as string });
    expect(await run('verify', ledger, '--head', `${ledger}.none`)).toMatchObject({ code: EXIT.usage, errors: expect.stringContaining('[input/unreadable]') as string });
    expect(await run('verify', ledger, '--public-key', publicKey)).toMatchObject({ code: EXIT.usage, errors: expect.stringContaining('[usage/no-head]') as string });
    expect(await run('head', ledger, '--private-key', publicKey)).toMatchObject({ code: EXIT.usage, output: '', errors: expect.stringContaining('[ledger/bad-key]') as string });
  });
});
