import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../json/parse.ts';
import { isJsonObject } from '../json/value.ts';
import { findReading } from './find-reading.ts';

const ONE = '{"a": [1, "}"]}';

describe('a text with one lossless reading', () => {
  test.each<[string, string, string[]]>([
    ['a byte order mark', `\ufeff${ONE}`, ['padding']],
    ['no-break spaces', `\u00a0${ONE}\u00a0`, ['padding']],
    ['a code fence with a language', `\`\`\`json\n${ONE}\n\`\`\``, ['code-fence']],
    ['a code fence without one', `\`\`\`${ONE}\`\`\``, ['code-fence']],
    ['prose in front', `Here are the arguments: ${ONE}`, ['prose']],
    ['prose on both sides', `Sure!\n${ONE}\nI hope the "a" is right.`, ['prose']],
    ['tags', `<tool_call>${ONE}</tool_call>`, ['prose']],
    ['a call', `read(${ONE});`, ['prose']],
    ['an empty string behind', `${ONE}""`, ['prose']],
    ['the same text twice', `${ONE}${ONE}`, ['repeated']],
    ['the same text three times, in lines', `${ONE}\n${ONE}\n${ONE}\n`, ['repeated']],
    ['a list of one', `[ ${ONE} ]`, ['list-of-one']],
    ['JSON in a string', JSON.stringify(ONE), ['json-in-text']],
    ['JSON in a string, twice', JSON.stringify(JSON.stringify(ONE)), ['json-in-text', 'json-in-text']],
    ['a list of one in a fence in a string', JSON.stringify(`\`\`\`json\n[${ONE}]\n\`\`\``), ['json-in-text', 'code-fence', 'list-of-one']],
  ])('%s', (_, text, kinds) => {
    const reading = findReading(text);
    expect(reading?.argumentsText).toBe(ONE);
    expect(reading?.steps.map(({ kind }) => kind)).toEqual(kinds);
  });
});

describe('a text with no reading: as it stands, cut, or of two meanings', () => {
  test.each([
    ['one object', ONE],
    ['empty', ''],
    ['an object with a number that a double cannot hold', '{"a":9007199254740993}'],
    ['a list of two', `[${ONE},${ONE}]`],
    ['a list in a list', `[[${ONE}]]`],
    ['JSON in a string, three times', JSON.stringify(JSON.stringify(JSON.stringify(ONE)))],
    ['a string', '"a"'],
    ['a cut object', ONE.slice(0, -1)],
    ['a cut object in a fence', `\`\`\`json\n${ONE.slice(0, -1)}`],
    ['an object and a cut one', `${ONE}{"a":`],
    ['an object and a cut string', `${ONE} "a`],
    ['two that differ', `${ONE}{"a": 2}`],
    ['two that differ in spaces', `${ONE}{"a":[1,"}"]}`],
    ['the same with words between', `${ONE} or ${ONE}`],
    ['another value behind', `${ONE} 7`],
    ['another value in front', `null ${ONE}`],
    ['a list beside', `[1] ${ONE}`],
    ['a comma behind: more was to come', `${ONE},`],
    ['a comma in front', `, ${ONE}`],
    ['a member name in front', `"a": ${ONE}`],
    ['an end without a beginning', `} ${ONE}`],
    ['braces in quoted prose', `"{" ${ONE}`],
    ['duplicate names', 'see {"a":1,"a":1}'],
    ['single quotes', "{'a': 1}"],
    ['a trailing comma', '{"a": 1,}'],
    ['a comment', '{"a": 1 /* one */}'],
    ['Python literals', '{"a": True}'],
    ['NaN', 'see {"a": NaN}'],
    ['an escape outside of strings', '{"a": \\n1}'],
  ])('%s', (_, text) => expect(findReading(text)).toBeUndefined());
});

test('a reading is a part of the text, found again by its spans, and one object to the strict parser', () => {
  const piece = fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', ' ', '```', 'json', 'a', '"a"', '1', ONE, JSON.stringify(ONE), '{"b":null}', '\ufeff', '\n');
  let count = 0;
  fc.assert(fc.property(fc.array(piece, { maxLength: 7 }).map((pieces) => pieces.join('')), (text) => {
    const reading = findReading(text);
    if (reading === undefined) return;
    count += 1;
    const value = parseJson(reading.argumentsText);
    expect(value.ok && isJsonObject(value.value)).toBe(true);
    const found = reading.steps.reduce((inner, { kind, start, end }) => (kind === 'json-in-text' ? JSON.parse(inner) as string : inner.slice(start, end)), text);
    expect(found).toBe(reading.argumentsText);
    expect(findReading(found)).toBeUndefined();
  }), { numRuns: 3_000 });
  expect(count).toBeGreaterThan(20);
});

test('a long text is read in linear time', () => {
  const text = `${'"'.repeat(300_000)}${'{"a":1}'.repeat(50_000)}${'`'.repeat(300_000)}`;
  const start = performance.now();
  findReading(text);
  findReading(`x ${'['.repeat(400_000)}`);
  findReading(`x "${'\\"'.repeat(400_000)}`);
  expect(performance.now() - start).toBeLessThan(2_000);
});
