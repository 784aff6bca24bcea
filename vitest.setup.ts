/** One seed for all property tests, so that a run can be repeated anywhere; `CONTRACTRL_SEED=random` explores, a number repeats. */
import fc from 'fast-check';

const DEFAULT_SEED = 13;
const chosen = process.env['CONTRACTRL_SEED'] ?? String(DEFAULT_SEED);
const seed = chosen === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(chosen);
if (!Number.isInteger(seed)) throw new RangeError(`CONTRACTRL_SEED: expected a whole number or "random", got ${chosen}`);
fc.configureGlobal({ seed });
