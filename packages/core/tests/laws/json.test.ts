/** Laws of JSON text, equality and digests, with the host's JSON as the second implementation. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalText } from '../../src/json/canonical.ts';
import { digestOf } from '../../src/json/digest.ts';
import { parseJson } from '../../src/json/parse.ts';
import { cloneJson, jsonEqual, readJsonValue, type JsonValue } from '../../src/json/value.ts';

const json = fc.jsonValue({ noUnicodeString: false, maxDepth: 5 }) as fc.Arbitrary<JsonValue>;

function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).toReversed().map(([name, member]) => [name, reversed(member as JsonValue)]));
}

test('what JSON.stringify writes is read as the same value', () => {
  fc.assert(fc.property(json, (value) => {
    expect(parseJson(JSON.stringify(value, undefined, 1))).toEqual({ ok: true, value: JSON.parse(JSON.stringify(value)) as JsonValue });
  }), { examples: [[-0], [{ __proto__: null }], [JSON.parse('{"__proto__":1}') as JsonValue]] });
});

test('text near JSON is read or refused as JSON.parse does, or refused for a reason JSON.parse does not know', () => {
  const stricter = ['json/duplicate-name', 'json/precision-loss', 'json/lone-surrogate', 'json/too-deep'];
  const nearJson = fc.tuple(json, fc.nat(), fc.constantFrom('', '"', '{', ']', ',', ':', '0', '.', 'e', '-', '\\', '\u0000', ' ', 'null'), fc.boolean())
    .map(([value, at, piece, cuts]) => {
      const text = JSON.stringify(value);
      const place = at % (text.length + 1);
      return cuts ? text.slice(0, place) : text.slice(0, place) + piece + text.slice(place + 1);
    });
  fc.assert(fc.property(nearJson, (text) => {
    const ours = parseJson(text);
    let theirs: { readonly value: unknown } | undefined;
    try {
      theirs = { value: JSON.parse(text) };
    } catch {
      theirs = undefined;
    }
    if (ours.ok) expect(ours.value).toEqual(theirs?.value);
    else if (theirs !== undefined) expect(stricter).toContain(ours.error.code);
  }), { numRuns: 1_000 });
});

test('a cut text is truncated or empty, never a syntax error, unless the cut leaves a whole number', () => {
  fc.assert(fc.property(json, fc.nat(), (value, at) => {
    const text = JSON.stringify(value);
    const cut = text.slice(0, at % text.length);
    const result = parseJson(cut);
    if (!result.ok) expect(['json/truncated', 'json/empty']).toContain(result.error.code);
    else expect(typeof result.value).toBe('number');
  }));
});

test('member order changes neither equality, nor canonical text, nor digest', () => {
  fc.assert(fc.property(json, (value) => {
    const other = reversed(value);
    expect(jsonEqual(value, other)).toBe(true);
    expect(digestOf(other)).toBe(digestOf(value));
  }));
});

test('equal values, and only those, have equal canonical text', () => {
  fc.assert(fc.property(json, json, (a, b) => {
    expect(canonicalText(a) === canonicalText(b)).toBe(jsonEqual(a, b));
  }));
});

test('canonical text is read back as an equal value with the same canonical text', () => {
  fc.assert(fc.property(json, (value) => {
    const back = parseJson(canonicalText(value));
    expect(back.ok && jsonEqual(back.value, value) && canonicalText(back.value)).toBe(canonicalText(value));
  }));
});

test('copies and read host values are equal to their source and share nothing', () => {
  fc.assert(fc.property(json, (value) => {
    const read = readJsonValue(value);
    expect(read.ok && jsonEqual(read.value, value) && Object.isFrozen(read.value)).toBe(true);
    expect(jsonEqual(cloneJson(value), value)).toBe(true);
    if (typeof value === 'object' && value !== null) expect(cloneJson(value)).not.toBe(value);
  }));
});
