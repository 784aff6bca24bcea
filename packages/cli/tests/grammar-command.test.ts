import { describe, expect, test } from 'vitest';
import { EXIT } from '../src/index.ts';
import { createTestIo, RECORD, runWith, scriptedServices } from './harness.ts';

const grammar = (record: unknown, ...words: readonly string[]): ReturnType<typeof runWith> => (
  runWith(['grammar', '-', ...words], createTestIo({ stdin: typeof record === 'string' ? record : JSON.stringify(record) }), scriptedServices([]))
);

describe('contractrl grammar', () => {
  test.each([['gbnf', 'root ::= '], ['lark', '%llguidance {}\nstart: '], ['json-schema', '{\n  "$schema": ']])('%s prints the grammar alone, and what it cannot carry on standard error', async (format, start) => {
    const result = await grammar(RECORD, '--format', format);
    expect(result.code).toBe(EXIT.ok);
    expect(result.output.startsWith(start)).toBe(true);
    expect(result.output).toContain('/tail');
    expect(result.errors).toMatch(/^not carried: goal-directed-closing: /);
    expect(result.errors).toContain('not carried: second-operation-document: ');
  });

  test('the budgets are those of the contract: one operation leaves nothing to say of later ones', async () => {
    const result = await grammar({ ...RECORD, contract: { ...RECORD.contract, operationBudget: 1 } }, '--format', 'json-schema');
    expect(result.errors).not.toContain('second-operation-document');
    expect(JSON.parse(result.output)).toMatchObject({ anyOf: [{ type: 'array', minItems: 1, maxItems: 1 }, { properties: { abstain: {} } }] });
  });

  test.each([
    { what: 'no format', record: RECORD, words: [], code: EXIT.usage, says: '--format' },
    { what: 'an unknown format', record: RECORD, words: ['--format', 'ebnf'], code: EXIT.usage, says: 'ebnf' },
    { what: 'two records', record: `${JSON.stringify(RECORD)}\n${JSON.stringify(RECORD)}\n`, words: ['--format', 'gbnf'], code: EXIT.usage, says: '[usage/many-records]' },
    { what: 'no record', record: '', words: ['--format', 'gbnf'], code: EXIT.usage, says: '[input/empty]' },
    { what: 'a record that is no JSON', record: 'hello', words: ['--format', 'gbnf'], code: EXIT.notRepaired, says: '[request/not-json]' },
    { what: 'a contract that cannot be honoured', record: { ...RECORD, contract: { operationBudget: -1 } }, words: ['--format', 'gbnf'], code: EXIT.notRepaired, says: '[contract/bad-budget]' },
    { what: 'a valid call', record: { ...RECORD, call: { name: 'run_command', arguments: { command: 'ls' } } }, words: ['--format', 'lark'], code: EXIT.notRepaired, says: '[grammar/nothing-to-repair]' },
    { what: 'arguments that are no JSON', record: { ...RECORD, call: { name: 'run_command', arguments: 'ls' } }, words: ['--format', 'lark'], code: EXIT.notRepaired, says: '[grammar/unreadable-arguments]' },
  ])('$what: $says, and no grammar', async ({ record, words, code, says }) => {
    const result = await grammar(record, ...words);
    expect(result).toMatchObject({ code, output: '' });
    expect(result.errors).toContain(says);
  });
});
