import { expect, test } from 'vitest';
import { bfclCoverage, corruptionCoverage, RECORDED_SPANS, type ProvenanceCoverage } from './provenance-coverage.ts';

/** Category, strings, closed ones, ones anywhere in the text, numbers, closed ones. */
const closedOf = ({ category, strings, numbers }: ProvenanceCoverage): readonly (number | string)[] => [category, strings.count, strings.closed, strings.anywhere, numbers.count, numbers.closed];

const coverage = bfclCoverage();

/** May rise; a lower share means that right values were lost from the closed set. */
test('the closed set holds these of the right values of BFCL', () => {
  for (const { category, strings, numbers } of coverage) {
    const percent = (part: number, whole: number): string => `${(100 * part / whole).toFixed(1)} %`;
    const recorded = RECORDED_SPANS[category];
    console.log(`${category}: strings ${percent(strings.closed, strings.count)} (recorded ${recorded?.strings} %), numbers ${percent(numbers.closed, numbers.count)} (recorded ${recorded?.numbers} %)`);
  }
  expect(coverage.map(closedOf)).toEqual([
    ['simple', 427, 384, 386, 345, 311], ['multiple', 208, 188, 193, 175, 157], ['live_simple', 165, 138, 143, 42, 35], ['live_multiple', 747, 440, 446, 155, 124],
  ]);
});

test('and these of the corrupted calls', () => {
  expect(corruptionCoverage().map(closedOf)).toEqual([['bfcl-missing-required', 17, 11, 11, 10, 9], ['bfcl-wrong-type', 21, 19, 20, 6, 6]]);
});

test('word boundaries and cases lose little against a search in the plain text', () => {
  for (const { strings } of coverage) expect(strings.closed / strings.anywhere).toBeGreaterThan(0.96);
});
