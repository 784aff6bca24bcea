/** A prompt with three completions, and a sequence of its own: what `fixtures/gradients/make_gradients.py` calculates one sequence after the other. */
import type { TokenId } from '@contractrl/grammar-mask';
import type { Segment, Step } from '../../src/gradient/batch.ts';
import { VOCABULARY_SIZE } from './tiny-decoder.ts';

const ids = (...values: readonly number[]): readonly TokenId[] => values as readonly TokenId[];
const step = (index: number, weight: number, ...allowed: readonly number[]): Step => ({ index, weight, allowed: Int32Array.from(allowed) });
const ALL = Array.from({ length: VOCABULARY_SIZE }, (_, id) => id);

/** The first token of a completion is predicted by the prompt's last one; a token without a step was forced. */
export const TREE: readonly Segment[] = [
  { tokens: ids(3, 7, 1, 19, 4, 11), steps: [] },
  { tokens: ids(5, 2, 9), after: 0, steps: [step(0, 0.5, 2, 5, 6), step(1, -0.25, ...ALL), step(2, 1, 8, 9, 10, 11)] },
  { tokens: ids(6, 22, 0, 13), after: 0, steps: [step(0, -0.75, 2, 5, 6), step(2, 0.3, 0, 1), step(3, 0.6, ...ALL)] },
  { tokens: ids(2), after: 0, steps: [step(0, 0.2, 2, 5, 6)] },
  { tokens: ids(10, 20, 15, 23, 8), steps: [step(2, 0.4, 14, 15, 16), step(4, 0.9, ...ALL)] },
];

/** The same without shared parts. */
export function unpackTree(segments: readonly Segment[]): readonly Segment[] {
  return segments.filter(({ steps }) => steps.length > 0).map(({ tokens, after, steps }) => {
    const prefix = after === undefined ? [] : segments[after]!.tokens;
    return { tokens: [...prefix, ...tokens], steps: steps.map((given) => ({ ...given, index: given.index + prefix.length })) };
  });
}
