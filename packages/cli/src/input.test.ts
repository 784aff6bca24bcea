import { describe, expect, test } from 'vitest';
import { splitRecords } from './input.ts';

const split = (text: string): ReturnType<typeof splitRecords> => splitRecords(new TextEncoder().encode(text));

describe('one document or JSON Lines', () => {
  test.each([
    { what: 'one line', text: '{"id":"a"}', format: 'document', lines: [1] },
    { what: 'one line with its newline', text: '{"id":"a"}\n', format: 'document', lines: [1] },
    { what: 'a document over many lines', text: '{\n  "id": "a"\n}\n', format: 'document', lines: [1] },
    { what: 'a document over many lines that is broken', text: '{\n  "id": "a",\n', format: 'document', lines: [1] },
    { what: 'two objects on one line, which core refuses', text: '{"id":"a"}{"id":"b"}', format: 'document', lines: [1] },
    { what: 'an object a line', text: '{"id":"a"}\n{"id":"b"}\n', format: 'lines', lines: [1, 2] },
    { what: 'a broken line among whole ones', text: '{"id":"a"}\n{"id":\n{"id":"c"}', format: 'lines', lines: [1, 2, 3] },
    { what: 'a broken first line', text: '{"id":\n{"id":"b"}', format: 'lines', lines: [1, 2] },
    { what: 'blank lines and Windows line ends', text: '{"id":"a"}\r\n\r\n{"id":"b"}\r\n', format: 'lines', lines: [1, 3] },
    { what: 'nothing', text: ' \n\n', format: 'document', lines: [] },
  ])('$what is read as $format', ({ text, format, lines }) => {
    const input = split(text);
    expect(input.format).toBe(format);
    expect(input.records.map((record) => record.line)).toEqual(lines);
  });

  test('a broken document over many lines stays one text', () => {
    expect(split('{\n  "id": "a",\n').records).toEqual([{ kind: 'text', line: 1, text: '{\n  "id": "a",\n' }]);
  });

  test('a byte order mark is dropped and carriage returns are no part of a line', () => {
    expect(split('\uFEFF{"id":"a"}\r\n{"id":"b"}').records.map((record) => record.kind === 'text' && record.text)).toEqual(['{"id":"a"}', '{"id":"b"}']);
  });

  test('a line that is not UTF-8 is one bad record, the others are kept', () => {
    const bytes = new Uint8Array([...new TextEncoder().encode('{"id":"a"}\n'), 0x7b, 0xff, 0x7d, 0x0a, ...new TextEncoder().encode('{"id":"c"}')]);
    expect(splitRecords(bytes).records.map((record) => record.kind)).toEqual(['text', 'undecodable', 'text']);
  });
});
