import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../json/parse.ts';
import { isJsonObject } from '../json/value.ts';
import { findReading } from './find-reading.ts';

const ONE = '{"a": [1, "}"]}';
const TOOL = 'files.read-pages';

describe('a text with one lossless reading', () => {
  test.each<[string, string, string[]]>([
    ['a byte order mark', `\ufeff${ONE}`, ['padding']],
    ['no-break spaces', `\u00a0${ONE}\u00a0`, ['padding']],
    ['a code fence with a language', `\`\`\`json\n${ONE}\n\`\`\``, ['code-fence']],
    ['a code fence without one', `\`\`\`${ONE}\`\`\``, ['code-fence']],
    ['a lead-in', `Here are the arguments: ${ONE}`, ['prose']],
    ['words on both sides', `Sure! Let me call **${TOOL}** with:\n${ONE}\nThese are the corrected arguments.`, ['prose']],
    ['a lead-in before a fence', `Here is the valid JSON:\n\`\`\`json\n${ONE}\n\`\`\``, ['code-fence']],
    ['tags', `<tool_call>${ONE}</tool_call>`, ['prose']],
    ['marks of a chat template', `<|tool_call|>${ONE}<|/tool_call|>`.replace('|/', '|'), ['prose']],
    ['a call of the tool', `${TOOL}(${ONE});`, ['prose']],
    ['an empty string behind', `${ONE}""`, ['prose']],
    ['the same text twice', `${ONE}${ONE}`, ['repeated']],
    ['the same text three times, in lines', `${ONE}\n${ONE}\n${ONE}\n`, ['repeated']],
    ['a list of one', `[ ${ONE} ]`, ['list-of-one']],
    ['JSON in a string', JSON.stringify(ONE), ['json-in-text']],
    ['JSON in a string, twice', JSON.stringify(JSON.stringify(ONE)), ['json-in-text', 'json-in-text']],
    ['a list of one in a fence in a string', JSON.stringify(`\`\`\`json\n[${ONE}]\n\`\`\``), ['json-in-text', 'code-fence', 'list-of-one']],
  ])('%s', (_, text, kinds) => {
    const reading = findReading(text, TOOL);
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
    ['a call that is cut', `${TOOL}(${ONE}`],
    ['another language', `Hier sind die Argumente: ${ONE}`],
  ])('%s', (_, text) => expect(findReading(text, TOOL)).toBeUndefined());
});

// checklist: H5
describe('words that may set the object aside', () => {
  test.each([
    `Do not send ${ONE}`, `Don't send ${ONE}`, `Never call ${TOOL}(${ONE})`, `not ${ONE}`, `No: ${ONE}`, `Instead of ${ONE}`, `For example: ${ONE}`, `The old call was ${ONE}`,
    `${ONE} is wrong`, `${ONE}\nDo not run this.`, `Sure! ${ONE} was what I sent before.`, `Should I call ${ONE}?`, `${ONE}?`, `If the user agrees: ${ONE}`, `Tool output: ${ONE}`,
    `The schema is ${ONE}`, `undo(${ONE})`, `!${ONE}`, `!(${ONE})`, `// ${ONE}`, `/* ${ONE} */`, `# ${ONE}`, `-- ${ONE}`, `- ${ONE}`, `> ${ONE}`, `~~${ONE}~~`, `<!-- ${ONE} -->`,
    `<example>${ONE}</example>`, `<del>${ONE}</del>`, `Do not send this:\n\`\`\`json\n${ONE}\n\`\`\``, `\`\`\`json\n${ONE}\n\`\`\`\nDo not send this.`, `\`\`\`diff\n${ONE}\n\`\`\``,
    `Nicht senden: ${ONE}`, `送信しないで ${ONE}`, JSON.stringify(`Do not send ${ONE}`), `[${ONE}] or not`, `${ONE}${ONE} are both wrong`,
  ])('%s', (text) => expect(findReading(text, TOOL)).toBeUndefined());

  test('one word that is not in the list, wherever it stands, ends the reading', () => {
    const known = fc.array(fc.constantFrom('Sure!', 'here', 'are', 'the', 'arguments:', '<tool_call>', '```json', '**', `${TOOL}:`), { maxLength: 4 });
    const stranger = fc.oneof(fc.constantFrom('not', 'never', 'old', 'wrong', 'un', 'nope', 'ne', 'kein', 'is_not', 'non-valid', '¬', '~', '!', '≠', 'fal\u200bse', 'a0', '<no>'), fc.stringMatching(/^[a-z]{0,3}[0-9][a-z]{0,3}$/));
    const place = fc.tuple(known, known, known, fc.boolean());
    fc.assert(fc.property(place, stranger, ([before, between, after, isBehind], word) => {
      const framed = (extra: string): string => [...before, isBehind ? '' : extra, ...between, ONE, ...after, isBehind ? extra : ''].join(' ');
      fc.pre(findReading(framed(''), TOOL) !== undefined && findReading(framed('the'), TOOL) !== undefined);
      expect(findReading(framed(word), TOOL)).toBeUndefined();
    }), { numRuns: 2_000 });
  });
});

test('a reading is a part of the text, found again by its spans, and one object to the strict parser', () => {
  const piece = fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', ' ', '```', 'json', 'a', '"a"', '1', ONE, JSON.stringify(ONE), '{"b":null}', '\ufeff', '\n');
  let count = 0;
  fc.assert(fc.property(fc.array(piece, { maxLength: 7 }).map((pieces) => pieces.join('')), (text) => {
    const reading = findReading(text, TOOL);
    if (reading === undefined) return;
    count += 1;
    const value = parseJson(reading.argumentsText);
    expect(value.ok && isJsonObject(value.value)).toBe(true);
    const found = reading.steps.reduce((inner, { kind, start, end }) => (kind === 'json-in-text' ? JSON.parse(inner) as string : inner.slice(start, end)), text);
    expect(found).toBe(reading.argumentsText);
    expect(findReading(found, TOOL)).toBeUndefined();
  }), { numRuns: 3_000 });
  expect(count).toBeGreaterThan(20);
});

test('a long text is read in linear time', () => {
  const text = `${'"'.repeat(300_000)}${'{"a":1}'.repeat(50_000)}${'`'.repeat(300_000)}`;
  const start = performance.now();
  findReading(text, TOOL);
  findReading(`x ${'['.repeat(400_000)}`, TOOL);
  findReading(`x "${'\\"'.repeat(400_000)}`, TOOL);
  expect(performance.now() - start).toBeLessThan(2_000);
});
