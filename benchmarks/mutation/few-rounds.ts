/** fast-check for mutation testing: one seed, a part of the rounds, and no shrinking, because a mutant is killed by any failure. */
import fc from 'fast-check';
import { inject } from 'vitest';

const SEED = 13;
const { roundShare } = inject('mutation');
const USUAL_ROUNDS = 100;

fc.configureGlobal({ seed: SEED });

const few: typeof fc = {
  ...fc,
  assert: ((property: fc.IRawProperty<unknown>, parameters: fc.Parameters<unknown> = {}) => (
    fc.assert(property, { ...parameters, numRuns: Math.ceil(roundShare * (parameters.numRuns ?? USUAL_ROUNDS)), endOnFailure: true })
  )) as typeof fc.assert,
};
// eslint-disable-next-line no-restricted-syntax -- what it stands in for is a default export
export default few;
