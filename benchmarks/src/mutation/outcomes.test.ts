import { expect, test } from 'vitest';
import { joinMutationRuns, readSurvivorReasons } from './outcomes.ts';

const mutant = (status: 'killed' | 'survived' | 'not-reached', line = 1) => ({ line, mutator: 'EqualityOperator', source: 'a < b', replacement: 'a <= b', status });

test('a later run replaces the files it tried and keeps the others; whoever is not noticed is listed', () => {
  const first = joinMutationRuns(undefined, { share: 1, files: [{ file: 'b.ts', mutants: [mutant('survived')] }, { file: 'a.ts', mutants: [mutant('killed')] }] });
  const second = joinMutationRuns(first, { share: 0.5, files: [{ file: 'b.ts', mutants: [mutant('killed'), mutant('not-reached', 7)] }] });
  expect(second.map(({ file, share, counts, survivors }) => [file, share, counts.killed, counts.survived, counts['not-reached'], survivors.map(({ line }) => line)])).toEqual([
    ['a.ts', 1, 1, 0, 0, []], ['b.ts', 0.5, 1, 0, 1, [7]],
  ]);
});

test('every reason names a mutant once, and says why', () => {
  const reasons = readSurvivorReasons();
  expect(new Set(reasons.map(({ file, source, replacement }) => JSON.stringify([file, source, replacement]))).size).toBe(reasons.length);
  expect(reasons.filter(({ why }) => why.length < 10)).toEqual([]);
});
