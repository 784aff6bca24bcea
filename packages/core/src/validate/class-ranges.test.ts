import { expect, test } from 'vitest';
import { classRanges } from './class-ranges.ts';

const END = 0x110000;

test.each([
  '.', '\\s', '\\S', '\\d', '\\W', '[a-z0-9_-]', '[^\\s"]', '[]', '[^]', '[\\u00e9-\\u{1f600}]', '[^\\ud83d\\ude00\\x7f]', '[\\cJ\\0\\b\\t]', '\\u{10ffff}', '😀', '[à-ÿ😀-😂\\]]', '\\p{Lu}', '[^\\P{Script=Greek}α]', '\\p{Any}',
])('%s: the ranges hold exactly the code points the host accepts', (source) => {
  const host = new RegExp(`^${source}$`, 'u');
  const ranges = classRanges(source, (codePoint) => host.test(String.fromCodePoint(codePoint)));
  let index = 0;
  for (let codePoint = 0; codePoint < END; codePoint += 1) {
    if (codePoint === 0xd800) codePoint = 0xe000;
    while (index < ranges.length && (ranges[index + 1] as number) < codePoint) index += 2;
    const isInside = index < ranges.length && (ranges[index] as number) <= codePoint;
    if (isInside !== host.test(String.fromCodePoint(codePoint))) expect(`U+${codePoint.toString(16)}`).toBe('judged alike');
  }
  expect(ranges.every((edge, place) => place === 0 || edge >= (ranges[place - 1] as number))).toBe(true);
});
