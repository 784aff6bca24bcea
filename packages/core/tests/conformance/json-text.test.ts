/**
 * JSONTestSuite: `y_` texts are read, `n_` texts are refused, `i_` texts are as the snapshot says. Stricter by name: duplicate names, which RFC 8259
 * only advises against, make the value depend on the reader.
 */
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../src/json/parse.ts';
import { readRows } from '../fixtures.ts';

interface Row { readonly path: string; readonly expect: 'accept' | 'reject' | 'either' | 'transform'; readonly b64: string }

const rows = readRows<Row>('json-text.jsonl.gz').map((row) => ({ ...row, name: row.path.replace(/^.*\//, '') }));

/** `undefined` for bytes that are not UTF-8: they are refused before there is a text. A byte order mark is kept, as part of the text. */
function decode(b64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(b64, 'base64'));
  } catch {
    return undefined;
  }
}

function verdict(b64: string): string {
  const text = decode(b64);
  if (text === undefined) return 'not UTF-8';
  const value = parseJson(text);
  return value.ok ? 'read' : value.error.code;
}

const DUPLICATES = ['y_object_duplicated_key.json', 'y_object_duplicated_key_and_value.json'];

describe('texts that must be read', () => {
  test.each(rows.filter((row) => row.expect === 'accept' && !DUPLICATES.includes(row.name)))('$name', ({ b64 }) => {
    const text = decode(b64) ?? '';
    expect(parseJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });
});

test.each(DUPLICATES)('%s is refused for its duplicate name', (name) => {
  expect(verdict(rows.find((row) => row.name === name)?.b64 ?? '')).toBe('json/duplicate-name');
});

describe('texts that must be refused', () => {
  test.each(rows.filter((row) => row.expect === 'reject'))('$name', ({ b64 }) => {
    expect(verdict(b64)).not.toBe('read');
  });
});

test('texts that a parser may treat either way are treated thus', () => {
  const open = rows.filter((row) => row.expect === 'either' || row.expect === 'transform');
  expect(Object.fromEntries(open.map((row) => [row.name, verdict(row.b64)]))).toMatchSnapshot();
});
