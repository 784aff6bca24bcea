/** `pattern` and `format` in the mask, against Ajv and the host's RegExp: what it spells they accept, and what they accept it can spell. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { createJudge, ROOT_POINTER, type JsonObject, type JsonValue } from '@contractrl/core';
import { readSchemaNode } from '@contractrl/core/schema';
import { compileValueMask, type CompiledValueMask, type Vocabulary } from '../src/index.ts';
import { allowed, feed, randomFrom } from './support/contracts.ts';
import { byteVocabulary, smollm2Vocabulary } from './support/vocabulary.ts';

const bytes = byteVocabulary(['": ', '20', '-0', 'T1', 'a@', '.com', '://', 'é"', '\\u', '\\n', 'ab', 'aa', '00', '::', '😀', '"}']);
const real = smollm2Vocabulary();
const TIMEOUT_MS = 120_000;

let spelledCount = 0;
let judgedCount = 0;

/** Of real schemas and of what regular expressions can say. */
const PATTERNS: readonly string[] = [
  '^[a-z]+$', '^[A-Z]{2}$', '^[A-Z]{3}$', '^\\d{5}(-\\d{4})?$', '^[0-9a-f]{8}$', '^#([A-Fa-f0-9]{6}|[A-Fa-f0-9]{3})$', '^[A-Za-z0-9_-]{1,32}$', '^\\+?[1-9]\\d{1,14}$', '^[^@\\s]+@[^@\\s]+$',
  '^https?://', '^(https?|ftp)://[^\\s/$.?#].[^\\s]*$', '^v?\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z.-]+)?$', '^\\d{4}-\\d{2}-\\d{2}$', '^([01]\\d|2[0-3]):[0-5]\\d$', '^\\S+$', '^\\S*$', '\\S', '^.+$', '^.*$', '.', '',
  'a', '^a', 'a$', 'foo|bar', '^(foo|bar)$', '^(?:foo|bar)+$', '^(a|b)*abb$', 'colou?r', '^x*?y+?$', '^(ab|cd){2,3}$', '^(?<word>\\w+)$', '\\bcat\\b', '^\\B-', '\\w\\b', '^\\w+\\s\\w+$', '^\\p{Lu}\\p{Ll}*$',
  '^[\\p{L}\\p{N} .\'-]+$', '^\\P{L}$', '^[^a-z]$', '^[\\u00e9\\u{1f600}]+$', '^\\ud83d\\ude00$', '^[\\x20-\\x7e]*$', '^[\\x00-\\x1f]$', '\\t|\\n|\\r', '^\\cJ$', '^"[^"]*"$', '^\\\\\\\\', '^[\\\\/]$', '^\\$\\{[a-z]+\\}$',
  '^\\/(?:[^\\/]+\\/)*$', '^\\*$|^\\d+$', '^$', '^$|^.{3}$', '^(|a|ab)$', '^(?:(?:a?){3}b)?$', '^\\u{10ffff}?[\\ue000-\\uf8ff]$', '[\\s\\S]{2}', '^[\\s\\S]{2,4}$', '^[^]$', '^a{0}b{1}$', '^(?:[a-z]\\.){2,}$', '^-?\\d*\\.?\\d+$',
];

const FORMATS: readonly string[] = [
  'date', 'time', 'date-time', 'iso-time', 'iso-date-time', 'duration', 'uuid', 'ipv4', 'ipv6', 'email', 'hostname', 'uri', 'uri-reference', 'uri-template', 'json-pointer', 'relative-json-pointer', 'json-pointer-uri-fragment', 'password',
];

/** Without lone surrogates, which no JSON text that is spelled holds. */
function isWellFormed(text: string): boolean {
  return !/\p{Cs}/u.test(text);
}

function compile(schema: JsonObject, vocabulary: Vocabulary = bytes): CompiledValueMask {
  const compiled = compileValueMask(schema, vocabulary, { maxStringLength: 24 });
  if (!compiled.ok) throw new Error(JSON.stringify({ schema, error: compiled.error }));
  return compiled.value;
}

function accepterOf(schema: JsonObject): (value: JsonValue) => boolean {
  const judge = createJudge(schema, '2020-12');
  if (!judge.ok) throw new Error(judge.error.code);
  return (value) => judge.value.judge(value).length === 0;
}

/** Random walks to the end, none of them stuck; the strings they spell. */
function walks(compiled: CompiledValueMask, vocabulary: Vocabulary, count: number, random: () => number): readonly string[] {
  return Array.from({ length: count }, () => {
    const matcher = compiled.createMatcher();
    while (!matcher.isTerminated()) {
      const ids = allowed(matcher);
      if (ids.length === 0) throw new Error(`a dead end behind ${matcher.text()}`);
      // the end is one token among many: every fourth time it is taken where it is open
      const closing = ids.find((id) => vocabulary.tokens[id]?.[0] === 0x22 && vocabulary.tokens[id]?.length === 1);
      const id = closing !== undefined && random() < 0.25 ? closing : ids[Math.floor(random() * ids.length)] as number;
      if (!matcher.acceptToken(id).ok) throw new Error(`${id} was allowed behind ${matcher.text()} and is refused`);
    }
    spelledCount += 1;
    return JSON.parse(matcher.text()) as string;
  });
}

/** Whether the bytes of the canonical spelling are taken, cut into random tokens of the vocabulary. */
function isSpelled(compiled: CompiledValueMask, vocabulary: Vocabulary, value: string, random: () => number): boolean {
  const text = [...Buffer.from(JSON.stringify(value), 'utf8')];
  const matcher = compiled.createMatcher();
  for (let offset = 0; offset < text.length;) {
    const fitting = vocabulary.tokens.flatMap((token, id) => (token !== undefined && token.length > 0 && token.every((byte, index) => text[offset + index] === byte) ? [id] : []));
    const id = fitting[Math.floor(random() * fitting.length)] as number;
    if (!matcher.acceptToken(id).ok) return false;
    offset += (vocabulary.tokens[id] as Uint8Array).length;
  }
  judgedCount += 1;
  return matcher.isAccepting();
}

describe('patterns', () => {
  test.each(PATTERNS)('%s: walks end in strings that Ajv and the host accept', (pattern) => {
    const schema = { type: 'string', pattern };
    const accepts = accepterOf(schema);
    for (const value of walks(compile(schema), bytes, 15, randomFrom(7))) {
      expect(accepts(value) && new RegExp(pattern, 'u').test(value), JSON.stringify(value)).toBe(true);
    }
  }, TIMEOUT_MS);

  test.each(PATTERNS)('%s: whatever the host accepts can be spelled, cut into any tokens', (pattern) => {
    const compiled = compile({ type: 'string', pattern });
    const alphabet = fc.constantFrom('a', 'b', 'c', 'A', 'f', 'o', 'r', 'x', 'y', '0', '1', '9', '-', '.', '/', ':', '@', '#', '$', '{', '}', '"', '\\', ' ', '\n', '\u0001', 'é', 'Ж', '😀', '\u{10ffff}', '\ue000', '\u007f');
    // what the host's own generator makes of the pattern, where it knows its parts, and plain texts; both also broken by one code point
    const matching = pattern === '' || /\\[bBpPc]|\\u\{|\[\^?\]|\\ud83d|\(\?</.test(pattern) ? fc.string({ unit: alphabet, maxLength: 6 }) : fc.stringMatching(new RegExp(pattern, 'u'));
    const sample = fc.oneof(matching, fc.string({ unit: alphabet, maxLength: 4 }), fc.tuple(matching, fc.nat(), alphabet).map(([text, at, added]) => {
      const characters = [...text];
      return characters.toSpliced(at % (characters.length + 1), 1, added).join('');
    }));
    fc.assert(fc.property(sample, fc.nat(), (value, seed) => {
      if (!isWellFormed(value) || [...value].length > 24) return;
      expect(isSpelled(compiled, bytes, value, randomFrom(seed)), JSON.stringify(value)).toBe(new RegExp(pattern, 'u').test(value));
    }), { numRuns: 30 });
  }, TIMEOUT_MS);

  test.each<[string, JsonObject]>([
    ['a pattern and a window of lengths', { type: 'string', pattern: '^(?:ab)+c?$', minLength: 4, maxLength: 7 }],
    ['a pattern that is longer than its minimum asks', { type: 'string', pattern: '^x{5}(?:yz)*$', minLength: 6, maxLength: 9 }],
    ['two patterns', { type: 'string', allOf: [{ pattern: '^[a-m]*$' }, { pattern: 'bc' }, { pattern: 'd$' }], maxLength: 6 }],
    ['a pattern and a format', { type: 'string', pattern: '^2024-0[2-3]-(?:29|3.)$', format: 'date' }],
    ['two formats', { type: 'string', allOf: [{ format: 'hostname' }, { format: 'ipv4' }] }],
    ['a pattern of words with bounds', { type: 'string', pattern: '^\\w+(?: \\b\\w+)*$', minLength: 3, maxLength: 5 }],
  ])('%s: every string Ajv accepts and no other', (_, schema) => {
    const accepts = accepterOf(schema);
    const compiled = compile(schema);
    const random = randomFrom(3);
    const found = walks(compiled, bytes, 30, random);
    for (const value of found) expect(accepts(value), value).toBe(true);
    fc.assert(fc.property(fc.oneof(fc.constantFrom(...found), fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', 'x', 'y', 'z', ' '), maxLength: 9 })), (value) => {
      expect(isSpelled(compiled, bytes, value, random), value).toBe(accepts(value));
    }), { numRuns: 100 });
  }, TIMEOUT_MS);

  test.each<[string, JsonObject]>([
    ['maxLength below the shortest match', { type: 'string', pattern: '^a{3}', maxLength: 2 }],
    ['minLength above the longest match', { type: 'string', pattern: '^a{0,3}$', minLength: 4 }],
    ['no length in the window', { type: 'string', pattern: '^(?:aaa)*$', minLength: 4, maxLength: 5 }],
    ['patterns that exclude each other', { type: 'string', allOf: [{ pattern: '^a' }, { pattern: '^b' }] }],
    ['a pattern that matches nothing', { type: 'string', pattern: 'a^' }],
    ['a pattern that only a lone surrogate matches', { type: 'string', pattern: '^[\\ud800-\\udfff]$' }],
    ['a format and a pattern', { type: 'string', format: 'date', pattern: '02-30$' }],
    ['a format and a length', { type: 'string', format: 'uuid', maxLength: 35 }],
  ])('16: nothing is accepted, and nothing begun: %s', (_, schema) => {
    expect(compileValueMask(schema, bytes)).toEqual({ ok: false, error: { code: 'mask/nothing-accepted' } });
  });

  test('where nothing more is asked the string is any other', () => {
    const free = allowed(prefixed({ type: 'string', maxLength: 20 }, 'xayz', real)).join();
    expect(allowed(prefixed({ type: 'string', pattern: 'a', maxLength: 20 }, 'xayz', real)).join()).toBe(free);
    expect(allowed(prefixed({ type: 'string', pattern: 'A', maxLength: 20 }, 'xayz', real)).join()).not.toBe(free);
  });

  test('8: a code point that no token spells raw has its place as an escaped pair', () => {
    const schema = { type: 'string', pattern: '^[\\u{40000}-\\u{403ff}]\\u{40401}$' };
    const matcher = compile(schema, real).createMatcher();
    const spelled = '"\\ud8c0\\udc05\\ud8c1\\udc01"';
    expect(feed(matcher, [...spelled].map((character) => real.tokens.findIndex((token) => token?.length === 1 && token[0] === character.charCodeAt(0))))).toBe(true);
    expect(matcher.isAccepting()).toBe(true);
    expect(matcher.text()).toBe(spelled);
    // the byte vocabulary spells it raw, and in no other way
    expect(isSpelled(compile(schema), bytes, '\u{40005}\u{40401}', randomFrom(1))).toBe(true);
    expect(feed(compile(schema).createMatcher(), [...'"\\ud'].map((character) => character.charCodeAt(0)))).toBe(false);
  });

  test.each<[string, string, string, boolean]>([
    ['1: a lead byte only where its characters have a place', '^[\\u0400-\\u04ff]$', '"\xd0', true],
    ['1: and not elsewhere', '^[\\u0400-\\u04ff]$', '"\xc3', false],
    ['1: a second byte as well', '^\\u00e9$', '"\xc3\xa8', false],
    ['1: no overlong form', '^[/\\u0080-\\u{10ffff}]$', '"\xe0\x80', false],
    ['1: no overlong form of four bytes', '^[/\\u0080-\\u{10ffff}]$', '"\xf0\x8f', false],
    ['1: no surrogate', '^[\\ud000-\\uffff]$', '"\xed\xa0', false],
    ['1: nothing above U+10FFFF', '^[\\u{10000}-\\u{10ffff}]$', '"\xf4\x90', false],
    ['2: an emoji is one code point', '^.$', '"\xf0\x9f\x98\x80"', true],
    ['3: no quote inside a character', '^.$', '"\xf0\x9f"', false],
    ['4: DEL stands raw', '^\\x7f$', '"\x7f"', true],
    ['4: a control character does not', '^\\x01$', '"\x01', false],
    ['5: an escape only where its character has a place', '^a$', '"\\', false],
    ['5: a backslash is one character', '^\\\\$', '"\\\\"', true],
    ['5: a quote too', '^"$', '"\\""', true],
    ['5: the digits of a control character', '^\\x1f$', '"\\u001f"', true],
    ['5: and of no other', '^\\x1f$', '"\\u001e', false],
    ['5: nor in upper case', '^\\x1f$', '"\\u001F', false],
    ['6: a character has one spelling', '^\\n$', '"\\n"', true],
    ['6: and no longer one', '^\\n$', '"\\u000', false],
  ])('%s', (_, pattern, input, isTaken) => {
    expect(feed(compile({ type: 'string', pattern }).createMatcher(), [...Buffer.from(input, 'latin1')])).toBe(isTaken);
  });
});

function prefixed(schema: JsonObject, content: string, vocabulary: Vocabulary): ReturnType<CompiledValueMask['createMatcher']> {
  const matcher = compile(schema, vocabulary).createMatcher();
  for (const character of `"${content}`) matcher.acceptToken(vocabulary.tokens.findIndex((token) => token?.length === 1 && token[0] === character.charCodeAt(0)));
  return matcher;
}

const digits = (least: number, most: number): fc.Arbitrary<string> => fc.integer({ min: least, max: most }).map((number) => String(number).padStart(2, '0'));
const dates = fc.date({ min: new Date('0000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10));
const offsets = fc.oneof(fc.constantFrom('Z', 'z'), fc.tuple(fc.constantFrom('+', '-'), digits(0, 23), fc.constantFrom('', ':00', '30', ':59')).map((parts) => parts.join('')));
const times = fc.tuple(digits(0, 23), digits(0, 59), digits(0, 59), fc.constantFrom('', '.5', '.000001')).map(([hour, minute, second, fraction]) => `${hour}:${minute}:${second}${fraction}`);
const pointers = fc.array(fc.string({ unit: fc.constantFrom('a', '~0', '~1', 'é', '"', '\\', ' ', '😀'), maxLength: 3 }), { maxLength: 3 }).map((tokens) => tokens.map((token) => `/${token}`).join(''));

/** Valid strings from elsewhere: fast-check's own generators, the host's calendar, and hand-made lists. */
const VALID: Readonly<Record<string, fc.Arbitrary<string>>> = {
  date: dates,
  time: fc.tuple(times, offsets).map((parts) => parts.join('')),
  'date-time': fc.oneof(fc.date({ min: new Date(0), noInvalidDate: true, max: new Date('9999-12-31') }).map((date) => date.toISOString()), fc.tuple(dates, fc.constantFrom('T', 't', ' '), times, offsets).map((parts) => parts.join(''))),
  'iso-time': fc.tuple(times, fc.oneof(offsets, fc.constant(''))).map((parts) => parts.join('')),
  'iso-date-time': fc.tuple(dates, fc.constantFrom('T', ' '), times, fc.oneof(offsets, fc.constant(''))).map((parts) => parts.join('')),
  duration: fc.constantFrom('P1D', 'PT1S', 'P1Y2M3DT4H5M6S', 'P4W', 'PT36H', 'P1Y3D', 'PT5H6S', 'P0D'),
  uuid: fc.oneof(fc.uuid(), fc.uuid().map((uuid) => uuid.toUpperCase()), fc.uuid().map((uuid) => `urn:uuid:${uuid}`)),
  ipv4: fc.ipV4(),
  ipv6: fc.oneof(fc.ipV6(), fc.constantFrom('::', '::1', '2001:db8::1', '::ffff:192.0.2.1', 'fe80::', '1::8', '1:2:3:4:5:6:7::', '1:2:3:4:5:6:1.2.3.4')),
  email: fc.oneof(fc.emailAddress(), fc.constantFrom('a@b.co', 'first.last+tag@sub.example.org', 'o\'neil@x-y.io', '{a}@b.c')),
  hostname: fc.oneof(fc.domain(), fc.constantFrom('localhost', 'a.b.c.', 'xn--bcher-kva.example', '1.2', 'a'.repeat(63))),
  uri: fc.oneof(fc.webUrl({ withFragments: true, withQueryParameters: true }), fc.constantFrom('mailto:a@b.c', 'urn:isbn:0451450523', 'file:///etc/hosts', 'http://[::1]:80/x?y#z', 'http://[v1.a:b]/', 'x:/', 'data:,a%20b')),
  'uri-reference': fc.oneof(fc.webUrl(), fc.constantFrom('', '/a', '../b?c', '#d', '//host/x', 'a"b')),
  'uri-template': fc.constantFrom('', '/a/{b}', '{?q,lang}', '{+path:3}', '{a*}', 'é{x_1}'),
  'json-pointer': pointers,
  'relative-json-pointer': fc.tuple(fc.nat(), fc.oneof(pointers, fc.constant('#'))).map((parts) => parts.join('')),
  'json-pointer-uri-fragment': fc.constantFrom('#', '#/a', '#/a~1b/%25', '#/'),
  password: fc.string({ unit: 'grapheme', maxLength: 8 }),
};

describe('formats', () => {
  test.each(FORMATS)('%s: walks end in strings that Ajv accepts', (format) => {
    const schema = { type: 'string', format, maxLength: 64 };
    const accepts = accepterOf(schema);
    for (const value of walks(compile(schema), bytes, 40, randomFrom(5))) expect(accepts(value), value).toBe(true);
    for (const value of walks(compile(schema, real), real, 3, randomFrom(6))) expect(accepts(value), value).toBe(true);
  }, TIMEOUT_MS);

  test.each(FORMATS)('%s: valid strings from elsewhere can be spelled, broken ones as Ajv has it', (format) => {
    const schema = { type: 'string', format, maxLength: 120 };
    const accepts = accepterOf(schema);
    const compiled = compile(schema);
    const valid = VALID[format] as fc.Arbitrary<string>;
    let validCount = 0;
    let drawnCount = 0;
    fc.assert(fc.property(valid, fc.nat(), (value, seed) => {
      drawnCount += 1;
      if (!accepts(value) || !isWellFormed(value)) return;
      validCount += 1;
      expect(isSpelled(compiled, bytes, value, randomFrom(seed)), value).toBe(true);
    }), { numRuns: 60 });
    expect(validCount).toBeGreaterThan(drawnCount / 2);
    fc.assert(fc.property(valid, fc.nat(), fc.constantFrom('', '0', '9', ':', '-', 'T', 'a', 'g', ' ', '/', '~', '%', '"', '.', 'é'), (value, at, changed) => {
      const characters = [...value];
      const broken = characters.toSpliced(at % (characters.length + 1), 1, changed).join('');
      // the clock times that only the judge takes are listed in docs/limits.md
      if (!isWellFormed(broken) || /:60|[3-9]\d:\d\d:|2[4-9]:\d\d:|\d\d:[6-9]\d:\d\d|\.\d{10}/.test(broken)) return;
      expect(isSpelled(compiled, bytes, broken, randomFrom(at)), broken).toBe(accepts(broken));
    }), { numRuns: 100 });
  }, TIMEOUT_MS);

  test('what a format leaves no choice in is forced', () => {
    expect(Buffer.from(prefixed({ type: 'string', format: 'date' }, '2024', bytes).forcedBytes()).toString()).toBe('-');
    expect(Buffer.from(prefixed({ type: 'string', format: 'date' }, '2024-02-3', bytes).forcedBytes()).toString()).toBe('');
    expect(Buffer.from(prefixed({ type: 'string', pattern: '^order-[0-9]{2}$' }, '', bytes).forcedBytes()).toString()).toBe('order-');
    expect(Buffer.from(prefixed({ type: 'string', pattern: '^order-[0-9]{2}$' }, 'order-12', bytes).forcedBytes()).toString()).toBe('"');
    expect(allowed(prefixed({ type: 'string', format: 'date' }, '2023-02-2', bytes))).toEqual([...'012345678'].map((digit) => digit.charCodeAt(0)));
    expect(allowed(prefixed({ type: 'string', format: 'date' }, '2024-02-2', bytes))).toEqual([...'0123456789'].map((digit) => digit.charCodeAt(0)));
  });
});

const dataFolder = process.env['CONTRACTRL_DATA'];
const folder = join(dataFolder ?? '', 'maskbench');
const suites = dataFolder !== undefined && existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.jsonl.gz')) : [];

describe.skipIf(suites.length === 0)('real schemas (needs CONTRACTRL_DATA with maskbench, which is not ours to pass on)', () => {
  test('19 in 20 patterns and formats that the judge takes are spelled', () => {
    const answers = { pattern: new Map<string, string>(), format: new Map<string, string>() };
    const counts = { pattern: new Map<string, number>(), format: new Map<string, number>() };
    const add = (keyword: 'pattern' | 'format', text: string): void => {
      const schema: JsonObject = { type: 'string', [keyword]: text };
      const isJudged = answers[keyword].has(text) || createJudge(schema, '2020-12').ok;
      const answer = answers[keyword].get(text) ?? (!isJudged ? 'not judged' : readSchemaNode(schema, schema, ROOT_POINTER).ok ? 'spelled' : 'refused');
      answers[keyword].set(text, answer);
      counts[keyword].set(answer, (counts[keyword].get(answer) ?? 0) + 1);
    };
    const visit = (value: JsonValue | undefined): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const keyword of ['pattern', 'format'] as const) {
        const text: unknown = (value as JsonObject)[keyword];
        if (typeof text === 'string') add(keyword, text);
      }
      Object.values(value).forEach(visit);
    };
    for (const name of suites) {
      const lines = gunzipSync(readFileSync(join(folder, name))).toString('utf8').split('\n');
      for (const line of lines) if (line !== '') visit((JSON.parse(line) as { schema?: JsonValue }).schema);
    }
    for (const keyword of ['pattern', 'format'] as const) {
      const [spelled, refused, notJudged] = ['spelled', 'refused', 'not judged'].map((answer) => counts[keyword].get(answer) ?? 0) as [number, number, number];
      const named = (answer: string): string => [...answers[keyword]].filter(([, each]) => each === answer).map(([text]) => text.slice(0, 40)).slice(0, 12).join('  ');
      console.log(`${keyword}: ${spelled} of ${spelled + refused} that the judge takes are spelled, ${answers[keyword].size} distinct; refused: ${named('refused')}; ${notJudged} not judged: ${named('not judged')}`);
      expect(spelled).toBeGreaterThanOrEqual(0.95 * (spelled + refused));
    }
  }, TIMEOUT_MS);
});

afterAll(() => {
  console.log(`${spelledCount} strings of random walks judged, ${judgedCount} texts fed; no dead end`);
});
