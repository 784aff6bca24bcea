/** Laws of pointers: format and parse are inverse, and every place of a document is reached by its own pointer. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/json/value.ts';
import { childOf, formatPointer, isPrefix, lastTokenOf, parentOf, parsePointer, resolvePointer, ROOT_POINTER, tokensOf, type JsonPointer } from '../../src/pointer.ts';

const token = fc.oneof(fc.constantFrom('', '~', '/', '~1', '~0', '~01', '-', '0', '01', '__proto__', 'a/b~c'), fc.string());
const tokens = fc.array(token, { maxLength: 6 });

test('tokens survive formatting and parsing', () => {
  fc.assert(fc.property(tokens, (parts) => {
    const pointer = parsePointer(formatPointer(parts));
    expect(pointer.ok && tokensOf(pointer.value)).toEqual(parts);
  }));
});

test('any text is either refused or gives back the same text from its tokens', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.string().map((text) => `/${text}`)), (text) => {
    const pointer = parsePointer(text);
    if (pointer.ok) expect(formatPointer(tokensOf(pointer.value))).toBe(text);
    else expect(pointer.error.code).toMatch(/^pointer\//);
  }));
});

test('a child has its parent and its last token', () => {
  fc.assert(fc.property(tokens, token, (parts, last) => {
    const parent = formatPointer(parts);
    const child = childOf(parent, last);
    expect([parentOf(child), lastTokenOf(child), isPrefix(parent, child)]).toEqual([parent, last, true]);
    expect(child === parent || !isPrefix(child, parent)).toBe(true);
  }));
});

test('every value of a document resolves at the pointer that leads to it', () => {
  fc.assert(fc.property(fc.jsonValue(), (document) => {
    const visit = (value: unknown, pointer: JsonPointer): void => {
      expect(resolvePointer(document as JsonValue, pointer)).toBe(value);
      if (typeof value === 'object' && value !== null) for (const [name, member] of Object.entries(value)) visit(member, childOf(pointer, name));
    };
    visit(document, ROOT_POINTER);
  }));
});
