/** The patterns of formats against the judge: as languages where it holds a regular expression, on texts where it holds code. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import ajvFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isOfFormat } from '../validate/format.ts';
import { compilePattern } from '../validate/pattern.ts';
import { textAutomaton, type TextAutomaton } from '../validate/text-automaton.ts';
import { FORMAT_PATTERNS, FREE_FORMATS } from './format-patterns.ts';

function isSpelled(name: string, text: string): boolean {
  const { source, maxLength = Infinity } = FORMAT_PATTERNS.get(name) ?? { source: '' };
  const pattern = compilePattern(source);
  if (!pattern.ok) throw new Error(pattern.error.code);
  return pattern.value.test(text) && [...text].length <= maxLength;
}

function automatonOf(source: string): TextAutomaton {
  const automaton = textAutomaton([source]);
  if (!automaton.ok) throw new Error(automaton.error.code);
  return automaton.value;
}

/** The judge's expression for `uri`, which it does not export. */
function uriSource(): string {
  const text = readFileSync(createRequire(import.meta.url).resolve('ajv-formats/dist/formats.js'), 'utf8');
  return /^const URI = \/(.*)\/i;$/m.exec(text)?.[1] ?? '';
}

/** The judge's expression without the flag `i`, which its ASCII classes and its one word need spelled out. */
function judgeSource(name: string): string {
  const format: unknown = name === 'uri' ? new RegExp(uriSource(), 'i') : ajvFormats.default.get(name as 'uuid', 'full');
  if (!(format instanceof RegExp)) throw new Error(`${name} is no expression`);
  if (format.flags === '') return format.source;
  return format.source.replaceAll('a-z', 'a-zA-Z').replaceAll('a-f', 'a-fA-F').replaceAll('[Vv]', '[vV]').replace('urn:uuid:', '[uU][rR][nN]:[uU][uU][iI][dD]:');
}

/** A text on which two automata disagree, found breadth first over pairs of states; undefined where they accept the same. */
function difference(left: TextAutomaton, right: TextAutomaton): string | undefined {
  const edges = [...new Set([...left.intervalStarts, ...right.intervalStarts])].filter((start) => start < 0xd800 || (start >= 0xe000 && start < 0x110000));
  const step = (automaton: TextAutomaton, state: number, codePoint: number): number => {
    const symbol = automaton.intervalSymbols[automaton.intervalStarts.findLastIndex((start) => start <= codePoint)] as number;
    return state < 0 ? -1 : automaton.next[state * automaton.symbolCount + symbol] as number;
  };
  const accepts = (automaton: TextAutomaton, state: number): boolean => state >= 0 && automaton.isAccepting[state] === 1;
  const seen = new Set(['0,0']);
  const queue = [{ a: 0, b: 0, text: '' }];
  for (const { a, b, text } of queue) {
    if (accepts(left, a) !== accepts(right, b)) return text;
    for (const codePoint of edges) {
      const [nextA, nextB] = [step(left, a, codePoint), step(right, b, codePoint)];
      const key = `${nextA},${nextB}`;
      if ((nextA < 0 && nextB < 0) || seen.has(key)) continue;
      seen.add(key);
      queue.push({ a: nextA, b: nextB, text: text + String.fromCodePoint(codePoint) });
    }
  }
  return undefined;
}

describe('formats whose judge is a regular expression', () => {
  test.each([
    'uuid', 'ipv4', 'ipv6', 'email', 'uri', 'uri-reference', 'uri-template', 'json-pointer', 'relative-json-pointer', 'json-pointer-uri-fragment',
  ])('%s: exactly the texts of the judge', (name) => {
    expect(difference(automatonOf(FORMAT_PATTERNS.get(name)?.source ?? ''), automatonOf(judgeSource(name)))).toBeUndefined();
  });

  test('the comparison finds a difference, and the shortest text that shows it', () => {
    expect(difference(automatonOf('^[a-c]x*$'), automatonOf('^[a-b]x*$'))).toBe('c');
  });
});

const TWO_DIGITS = fc.integer({ min: 0, max: 99 }).map((number) => String(number).padStart(2, '0'));
const clock = (separator: string): fc.Arbitrary<string> => fc.tuple(
  TWO_DIGITS, TWO_DIGITS, fc.constantFrom('00', '59', '60', '61', '7'), fc.constantFrom('', '.', '.5', '.123456789'), fc.constantFrom('', 'Z', 'z', '+', '-', '+00:00', '-0000', '+00', '-23:59', '+24:00', '+05:60', '+0530', '-7'),
).map(([hour, minute, second, fraction, offset]) => `${separator}${hour}:${minute}:${second}${fraction}${offset}`);

/** Where the judge accepts more than is spelled: a leap second outside UTC, and hours and minutes that are none. */
function isExotic(text: string): boolean {
  const [, hour, minute, second] = /(\d\d):(\d\d):(\d\d)/.exec(text) ?? [];
  return Number(hour) > 23 || Number(minute) > 59 || second === '60';
}

describe('formats whose judge is code', () => {
  test('date: every day of 400 years, every day that is none, and nothing else', () => {
    for (const year of [...Array.from({ length: 404 }, (_, index) => 1800 + index), 0, 4, 100, 400, 9999]) {
      for (const month of [0, 1, 2, 3, 4, 9, 10, 11, 12, 13]) {
        for (const day of [0, 1, 28, 29, 30, 31, 32]) {
          const text = [String(year).padStart(4, '0'), String(month).padStart(2, '0'), String(day).padStart(2, '0')].join('-');
          if (isSpelled('date', text) !== isOfFormat('date', text)) expect(text).toBe('judged and spelled alike');
        }
      }
    }
    expect(isSpelled('date', '2023-02-29')).toBe(false);
    expect(isSpelled('date', '2024-02-29\n')).toBe(false);
  });

  test.each([['time', ''], ['iso-time', ''], ['date-time', '2024-02-29T'], ['iso-date-time', '2023-12-31 ']])('%s: as the judge, but for what no clock shows', (name, date) => {
    fc.assert(fc.property(clock(date), (text) => {
      const judged = isOfFormat(name, text);
      if (isExotic(text)) expect(!isSpelled(name, text) || judged, text).toBe(true);
      else expect(isSpelled(name, text), text).toBe(judged);
    }), { numRuns: 2000 });
  });

  test.each(['23:59:60Z', '23:59:60.25z', '23:59:60+00:00', '23:59:60-0000', '23:59:60+00'])('a leap second in UTC: %s', (text) => {
    expect([isSpelled('time', text), isOfFormat('time', text)]).toEqual([true, true]);
  });

  test.each(['23:58:60Z', '22:59:60Z', '23:59:61Z'])('no leap second: %s', (text) => {
    expect([isSpelled('time', text), isOfFormat('time', text)]).toEqual([false, false]);
  });

  test('a fraction has at most nine digits: the judge rounds longer ones up to a second that is none', () => {
    expect([isSpelled('time', '12:00:59.999999999Z'), isSpelled('time', '12:00:59.9999999999Z')]).toEqual([true, false]);
    expect([isOfFormat('time', '12:00:59.999999999Z'), isOfFormat('time', `12:00:59.${'9'.repeat(20)}Z`)]).toEqual([true, false]);
  });

  test('a leap second elsewhere is the judge\'s alone', () => {
    expect([isSpelled('time', '00:59:60+01:00'), isOfFormat('time', '00:59:60+01:00')]).toEqual([false, true]);
  });

  test('duration: as the judge on every text of up to five parts', () => {
    const part = fc.constantFrom('P', 'T', '1Y', '12M', '3D', '4H', '5S', '6W', '7', 'Y', '');
    fc.assert(fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
      for (const text of [parts.join(''), `P${parts.join('')}`]) expect(isSpelled('duration', text), text).toBe(isOfFormat('duration', text));
    }), { numRuns: 5000 });
  });

  test.each<[string, readonly string[], readonly string[]]>([
    ['byte', ['', 'QQ==', 'QUI=', 'QUJD', 'ab+/'], ['Q', 'QQ=', 'QQ==QQ==', 'a b=', 'QUJD\n']],
    ['url', ['http://example.com', 'HTTPS://a-b.example.org:8080/x?y=%20#z', 'ftp://é.example/😀'], ['http://localhost', 'http://a--b.com', 'http://a.com:1', 'http://a.com/ b', 'mailto:a@b.com', 'http://8.8.8.8', 'http://u:p@a.com']],
  ])('%s: nothing that the judge refuses', (name, spelled, left) => {
    expect(spelled.filter((text) => !isSpelled(name, text))).toEqual([]);
    expect(left.filter((text) => isSpelled(name, text))).toEqual([]);
    const pieces = fc.constantFrom('http', 'HTTPS', 'ftp', '://', 'a', 'é', 'K', '-', '.', 'com', ':80', '/', 'QQ', 'QUJD', '=', '\n', ' ', '1', '@');
    fc.assert(fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
      const text = parts.join('');
      if (isSpelled(name, text)) expect(isOfFormat(name, text), text).toBe(true);
    }), { numRuns: 2000 });
  });

  test('hostname: as the judge, but for a dot behind 253 characters', () => {
    const label = fc.oneof(fc.string({ unit: fc.constantFrom('a', 'Z', '9', '-'), maxLength: 4 }), fc.constantFrom('a'.repeat(63), 'b'.repeat(64), ''));
    fc.assert(fc.property(fc.array(label, { maxLength: 6 }), (labels) => {
      for (const text of [labels.join('.'), `${labels.join('.')}.`]) {
        if (text.length === 254) continue;
        expect(isSpelled('hostname', text), text).toBe(isOfFormat('hostname', text));
      }
    }), { numRuns: 2000 });
    const longest = Array.from({ length: 4 }, () => 'a'.repeat(63)).join('.').slice(0, 253);
    expect([isSpelled('hostname', longest), isOfFormat('hostname', longest)]).toEqual([true, true]);
    expect([isSpelled('hostname', `${longest}.`), isOfFormat('hostname', `${longest}.`)]).toEqual([false, true]);
  });
});

test('hints for a form accept every text', () => {
  for (const name of FREE_FORMATS) expect(['', 'x', '\n'].every((text) => isOfFormat(name, text))).toBe(true);
});
