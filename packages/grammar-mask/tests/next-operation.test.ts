/** An operation behind others is masked as the first one on the document they leave, whatever its grammar took over from theirs. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyPatch, loadContract, parsePatch } from '@contractrl/core';
import { compileMask, type MaskMatcher } from '../src/index.ts';
import { allowed, contractOf, feed, matcherOf, randomFrom, stateOf, WEATHER } from './support/contracts.ts';
import { randomCase } from './support/random-contracts.ts';
import { byteVocabulary } from './support/vocabulary.ts';

const LIMITS = { maxStringLength: 3, maxItems: 2 };
const vocabulary = byteVocabulary(['{"op":"', '","path":"/', '","value":', 'true', '"a"', '/a']);
const stopId = vocabulary.stopIds[0] as number;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;

test('along random outputs the mask is that of a contract compiled anew and bound to the document so far', () => {
  let comparedCount = 0;
  fc.assert(fc.property(randomCase, ({ parameters, document, overrides, seed }) => {
    const load = (): ReturnType<typeof loadContract> => loadContract({ tool: { name: 'tool', description: '', parameters }, ...overrides });
    const contract = load();
    const compiled = contract.ok ? compileMask(contract.value, vocabulary, LIMITS) : contract;
    if (!contract.ok || !compiled.ok) return;
    const random = randomFrom(seed);
    for (let output = 0; output < 3; output += 1) {
      const operationsLeft = 4;
      const bound = compiled.value.bind(stateOf(document, operationsLeft));
      if (!bound.ok) throw new Error(bound.error.code);
      const matcher = bound.value;
      if (!feed(matcher, [OPEN_BRACKET])) return;
      let scratch = matcher;
      for (let step = 0; step < 400; step += 1) {
        const ids = allowed(matcher);
        if (scratch !== matcher) {
          expect(ids, matcher.text()).toEqual(allowed(scratch));
          comparedCount += 1;
        }
        // operations come to an end sooner, and more of them follow
        const wanted = ids.includes(COMMA) && random() < 0.8 ? [COMMA] : ids;
        const id = wanted[Math.floor(random() * wanted.length)] as number;
        expect(feed(matcher, [id])).toBe(true);
        if (id === stopId) break;
        const patch = id === COMMA ? parsePatch(`${matcher.text().slice(0, -1)}]`) : undefined;
        if (patch?.ok === true) {
          const after = applyPatch(contract.value, document, patch.value, operationsLeft);
          const fresh = load();
          if (!after.ok || !fresh.ok) throw new Error(matcher.text());
          scratch = matcherOf(fresh.value, structuredClone(after.value), vocabulary, operationsLeft - patch.value.length, LIMITS);
          feed(scratch, [OPEN_BRACKET]);
        } else if (scratch !== matcher) expect(feed(scratch, [id])).toBe(true);
      }
    }
  }), { numRuns: 40 });
  expect(comparedCount).toBeGreaterThan(1000);
}, 120_000);

test('a caller who changes the document changes no mask of a bound matcher', () => {
  const original = { city: 'Oslo', tags: ['a'], place: { lat: 1, lon: 2 } };
  const document = structuredClone(original) as { city?: string; tags: string[]; place: { lat?: number } };
  const [matcher, reference] = [document, original].map((bound) => matcherOf(contractOf(WEATHER), bound, vocabulary)) as [MaskMatcher, MaskMatcher];
  delete document.city;
  document.tags.push('b');
  delete document.place.lat;
  for (const path of ['city', 'tags/1', 'place/lat']) {
    for (const byte of Buffer.from(`[{"op":"remove","path":"/${path}"`)) {
      const ids = allowed(reference);
      expect(allowed(matcher)).toEqual(ids);
      if (!ids.includes(byte)) break;
      feed(matcher, [byte]);
      feed(reference, [byte]);
    }
    matcher.reset();
    reference.reset();
  }
});
