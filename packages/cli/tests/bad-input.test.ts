/** What nobody should send and somebody will: each has a code, changes nothing, hands out nothing, and leaves the ledger whole. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RepairRecord } from '@contractrl/core/records';
import { EXIT } from '../src/index.ts';
import { ABSTENTION, createTestIo, RECORD, runWith, scriptedServices, temporaryFolder } from './harness.ts';

const withArguments = (text: string): string => JSON.stringify({ ...RECORD, call: { name: 'run_command', arguments: text } });
const withParameters = (parameters: object): string => JSON.stringify({ ...RECORD, tool: { ...RECORD.tool, parameters } });
const withContract = (contract: object): string => JSON.stringify({ ...RECORD, contract });

async function repairText(stdin: string): Promise<{ readonly record: RepairRecord; readonly code: number; readonly errors: string; readonly ledgerCode: number }> {
  const ledger = join(await temporaryFolder(), 'ledger.jsonl');
  const services = scriptedServices([ABSTENTION]);
  const result = await runWith(['repair', '-', '--json', '--ledger', ledger], createTestIo({ stdin }), services);
  const verified = await runWith(['ledger', 'verify', ledger], createTestIo(), services);
  return { record: JSON.parse(result.output) as RepairRecord, code: result.code, errors: result.errors, ledgerCode: verified.code };
}

describe('a record that cannot be read or honoured fails with a code and a sentence', () => {
  test.each([
    { what: 'no JSON', stdin: 'hello', reason: 'request/not-json' },
    { what: 'truncated text', stdin: JSON.stringify(RECORD).slice(0, -5), reason: 'request/not-json' },
    { what: 'two objects in one text', stdin: JSON.stringify(RECORD).repeat(2), reason: 'request/not-json' },
    { what: 'a duplicate name in the record', stdin: JSON.stringify(RECORD).replace('{', '{"id":"other",'), reason: 'request/not-json' },
    { what: 'a record nested 10,000 levels deep', stdin: `${'['.repeat(10_000)}${']'.repeat(10_000)}`, reason: 'request/not-json' },
    { what: 'an unknown field, such as a misspelt contract', stdin: JSON.stringify({ ...RECORD, contracts: {} }), reason: 'request/unknown-field' },
    { what: 'a negative budget', stdin: withContract({ operationBudget: -1 }), reason: 'contract/bad-budget' },
    { what: 'an immutable path that is no pointer', stdin: withContract({ immutablePaths: ['command'] }), reason: 'contract/bad-pointer' },
    { what: 'an unknown schema keyword', stdin: withParameters({ type: 'object', minimumLength: 3 }), reason: 'contract/unknown-keyword' },
    { what: 'an unknown dialect', stdin: withParameters({ $schema: 'http://json-schema.org/draft-03/schema#', type: 'object' }), reason: 'contract/unknown-dialect' },
    { what: 'a schema that refers to a URL', stdin: withParameters({ type: 'object', properties: { a: { $ref: 'https://example.com/a.json' } } }), reason: 'contract/remote-reference' },
    { what: 'a schema that refers to itself for ever', stdin: withParameters({ $ref: '#' }), reason: 'contract/reference-cycle' },
  ])('$what: $reason', async ({ stdin, reason }) => {
    const { record, code, errors, ledgerCode } = await repairText(stdin);
    expect(record).toMatchObject({ status: 'failed', reason });
    expect(record).not.toHaveProperty('arguments');
    expect(errors).toContain(`[${reason}]`);
    expect(code).toBe(EXIT.notRepaired);
    expect(ledgerCode).toBe(EXIT.ok);
  });
});

describe('arguments that cannot be trusted are reported, and never handed out', () => {
  test.each([
    { what: 'no JSON', text: 'npm test', report: 'json_syntax' },
    { what: 'empty text', text: '', report: 'json_empty' },
    { what: 'truncated text', text: '{"command":"npm', report: 'json_truncated' },
    { what: 'two objects in one text', text: '{"command":"a"}{"command":"b"}', report: 'json_trailing' },
    { what: 'a duplicate name', text: '{"command":"a","command":"b"}', report: 'duplicate_key' },
    { what: 'NaN', text: '{"command":"a","tail":NaN}', report: 'json_syntax' },
    { what: 'a 19-digit number', text: '{"command":"a","tail":2512292042121000417}', report: 'precision_loss' },
    { what: '20 MB of text', text: `{"command":"${'x'.repeat(20_000_000)}"}`, report: 'json_too_large' },
    { what: '10,000 levels of nesting', text: `{"command":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, report: 'json_too_deep' },
    { what: '__proto__ as a name', text: '{"command":"a","__proto__":{"tail":1}}', report: 'forbidden_name' },
  ])('$what: $report', async ({ text, report }) => {
    const { record, code, ledgerCode } = await repairText(withArguments(text));
    expect(record.reports.map((violation) => violation.code)).toContain(report);
    expect(record).not.toHaveProperty('arguments');
    expect(code).not.toBe(EXIT.ok);
    expect(ledgerCode).toBe(EXIT.ok);
  });

  test('a tool that is not on offer', async () => {
    const { record, code } = await repairText(JSON.stringify({ ...RECORD, call: { ...RECORD.call, name: 'rm' } }));
    expect(record.reports.map((violation) => violation.code)).toEqual(['tool_unknown']);
    expect(record).not.toHaveProperty('arguments');
    expect(code).not.toBe(EXIT.ok);
  });

  test('a pattern that backtracks for ever does not hang', async () => {
    const parameters = { type: 'object', properties: { command: { type: 'string', pattern: '^(a+)+$' } } };
    const stdin = JSON.stringify({ ...RECORD, tool: { ...RECORD.tool, parameters }, call: { name: 'run_command', arguments: { command: `${'a'.repeat(50_000)}!` } } });
    const { record } = await repairText(stdin);
    expect(record).not.toHaveProperty('arguments');
  }, 10_000);
});
