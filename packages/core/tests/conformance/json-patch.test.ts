/** json-patch-tests (RFC 6902): every record gives the document it names or is refused; where we are stricter than the RFC, by name. */
import { describe, expect, test } from 'vitest';
import { loadContract, MAX_OPERATION_BUDGET, type Contract } from '../../src/contract/contract.ts';
import { deepFreeze, type JsonValue } from '../../src/json/value.ts';
import { applyPatch } from '../../src/patch/apply.ts';
import { readPatch } from '../../src/patch/operation.ts';
import { readFixture } from '../fixtures.ts';

interface SuiteRecord {
  readonly comment?: string;
  readonly doc: JsonValue;
  readonly patch?: readonly { readonly op?: string }[];
  readonly expected?: JsonValue;
  readonly error?: string;
  readonly disabled?: boolean;
}

const loaded = loadContract({ tool: { name: 'suite', parameters: {} }, operationBudget: MAX_OPERATION_BUDGET });
const contract: Contract = (() => {
  if (!loaded.ok) throw new TypeError(loaded.error.code);
  return loaded.value;
})();

/** What RFC 6902 allows and a repair never does. */
const STRICTER: ReadonlySet<string> = new Set(['patch/root-target', 'patch/no-effect', 'patch/empty']);

const records = ['json-patch-tests.json.gz', 'json-patch-spec-tests.json.gz']
  .flatMap((name) => JSON.parse(readFixture(name)) as readonly SuiteRecord[])
  .filter((record) => record.patch !== undefined && record.disabled !== true)
  .map((record, index) => ({ ...record, name: `${index}: ${record.comment ?? record.error ?? JSON.stringify(record.patch)}` }));
// `test` is no operation of a repair; a patch that holds one is refused whole
const withTest = records.filter((record) => record.patch?.some((operation) => operation.op === 'test'));
const others = records.filter((record) => !withTest.includes(record));

function apply(record: SuiteRecord): { readonly document?: JsonValue; readonly code?: string } {
  const patch = readPatch(record.patch as unknown as JsonValue);
  if (!patch.ok) return { code: patch.error.code };
  const result = applyPatch(contract, deepFreeze(record.doc), patch.value, MAX_OPERATION_BUDGET);
  return result.ok ? { document: result.value } : { code: result.error.code };
}

describe('records that must apply', () => {
  test.each(others.filter((record) => record.error === undefined))('$name', (record) => {
    const { document, code } = apply(record);
    if (code === undefined) expect(document).toEqual(record.expected ?? document);
    else expect(STRICTER).toContain(code);
  });
});

describe('records that must be refused', () => {
  test.each(others.filter((record) => record.error !== undefined))('$name', (record) => {
    expect(apply(record).code).toMatch(/^patch\//);
  });
});

test.each(withTest)('an operation `test` is refused: $name', (record) => {
  expect(apply(record).code).toMatch(/^patch\//);
});

test('the records where we are stricter than the RFC are these', () => {
  const stricter = others.filter((record) => record.error === undefined)
    .flatMap((record) => {
      const { code } = apply(record);
      return code === undefined ? [] : [`${code} ${record.name}`];
    });
  expect(stricter).toMatchSnapshot();
});
