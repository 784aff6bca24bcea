import { describe, expect, test } from 'vitest';
import type { EvaluationVerdict } from '../verdict.ts';
import { compareLooks, formatComparison } from './compare-looks.ts';
import { measurementSection } from './measurement-section.ts';

const VERDICTS: Readonly<Record<string, EvaluationVerdict>> = { r: 'right', w: 'wrong', d: 'abstained-rightly', f: 'abstained-falsely', x: 'rejected' };

/** An example a letter. */
function look(letters: string): readonly { readonly id: string; readonly verdict: EvaluationVerdict }[] {
  return [...letters].map((letter, index) => ({ id: `call-${index}#0`, verdict: VERDICTS[letter]! }));
}

describe('of two looks at the same examples', () => {
  test.each([
    { what: 'alike are not worse, and the new adapter is kept', before: 'rwdf', after: 'rwdf', isWorse: false, keep: 'after' },
    { what: 'one with more right is better', before: 'rwff', after: 'rwrd', isWorse: false, keep: 'after' },
    { what: 'one with fewer wrong is better', before: 'rwww', after: 'rfxw', isWorse: false, keep: 'after' },
    { what: 'one with fewer right is worse', before: 'rrdf', after: 'rfff', isWorse: true, keep: 'before' },
    { what: 'one with more wrong is worse', before: 'rfff', after: 'rwff', isWorse: true, keep: 'before' },
    { what: 'one with as many more right as wrong is worse, for the wrong ones are run', before: 'rfff', after: 'rrwf', isWorse: true, keep: 'before' },
    { what: 'one with fewer right, and as many fewer wrong, is kept, and said to be worse in part', before: 'rrww', after: 'rffw', isWorse: true, keep: 'after' },
    { what: 'one with many more right and one more wrong is kept, and said to be worse in part', before: 'rffff', after: 'rrrrw', isWorse: true, keep: 'after' },
  ] as const)('$what', ({ before, after, isWorse, keep }) => {
    const compared = compareLooks(look(before), look(after));
    expect(compared).toMatchObject({ isWorse, keep });
    const told = formatComparison(compared);
    expect([told !== undefined, told?.includes('Keep what there was before.') ?? false]).toEqual([isWorse, keep === 'before']);
  });

  test('what was lost and what was gained are told apart, whatever the order of the rows', () => {
    const compared = compareLooks(look('rrrdwff'), [...look('rfwfrrd')].reverse());
    expect(compared).toEqual({ n: 7, right: { before: 4, after: 4 }, wrong: { before: 1, after: 1 }, gained: 3, lost: 3, isWorse: false, keep: 'after' });
  });

  test('the sentence has the counts of both', () => {
    expect(formatComparison(compareLooks(look('rrrdf'), look('rrwwr')))).toBe(
      'The new adapter is worse than what there was before: of the same 5 validation examples 3 are right and 4 were (1 gained, 2 lost), 2 are wrong and would have been run, and 0 were. Keep what there was before.',
    );
  });

  test.each([['another example', look('rrr').slice(1)], ['one more', look('rrr')]])('%s on one side is a fault of the caller', (_, after) => {
    expect(() => compareLooks(look('rr'), after)).toThrow(RangeError);
  });
});

describe('the section of the card', () => {
  const row = { family: 'enum', difficulty: 'quoted', structure: 'flat', isRepairable: true, reason: null, collateral: 0, attempts: 1, tokens: { prompt: 1, generated: 1, forced: 1 }, totalMs: 1, confidence: 1, signals: null } as const;
  const measured = (letters: string): Parameters<typeof measurementSection>[0] => ({ adapter: null, rows: look(letters).map((each) => ({ ...row, ...each })) });
  const data = { manifest: { sharedWithEvaluation: [], options: { splitBy: 'request' } }, calls: { train: 4, validation: 2, recorded: 0 } };

  test('begins with what is worse and what to keep', () => {
    const section = measurementSection(measured('rrf'), measured('rwf'), data);
    expect(section).toContain(`## Before and after\n\n**${formatComparison(compareLooks(look('rrf'), look('rwf')))!}**\n\n3 validation examples`);
  });

  test('has no such line where nothing is', () => {
    expect(measurementSection(measured('rrf'), measured('rrr'), data)).toContain('## Before and after\n\n3 validation examples');
  });
});
