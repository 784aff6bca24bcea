/**
 * Several token sequences in one row of the graph. A sequence is a path of segments: completions of one prompt name it as the segment they come after,
 * so that the prompt stands there once and each token sees its own past only (a tree mask). Positions count along the path.
 */
import type { TokenId } from '@contractrl/grammar-mask';

export interface Segment {
  readonly tokens: readonly TokenId[];
  /** Index of an earlier segment that this one continues; absent where it begins a sequence. */
  readonly after?: number;
  /** The tokens that count in the loss. */
  readonly steps: readonly Step[];
}

export interface Step {
  /** Which of the segment's tokens, from 0; the token before it on the path predicts it. */
  readonly index: number;
  /** What the mask allowed there, ascending; the token itself is among them. */
  readonly allowed: Int32Array;
  /** What its −log probability counts in the loss. */
  readonly weight: number;
}

/** What a run of the graph takes beside the adapter: s positions, m steps in the order of the segments. */
export interface PackedBatch {
  /** `[s]` */
  readonly tokens: readonly TokenId[];
  /** `[s]` */
  readonly positionIds: BigInt64Array<ArrayBuffer>;
  /** `[s, s]`, 0 or very low. */
  readonly bias: Float32Array<ArrayBuffer>;
  /** `[m]`: the position that predicts each step. */
  readonly stepPositions: BigInt64Array<ArrayBuffer>;
  /** `[m]`: the token of each step. */
  readonly targets: readonly TokenId[];
  /** `[m]` */
  readonly allowed: readonly Int32Array[];
  /** `[m]` */
  readonly weights: Float32Array<ArrayBuffer>;
}

/** Low enough that a softmax gives exactly 0, and finite: what is added to it stays finite. */
const HIDDEN_BIAS = -1e30;

/**
 * Packs segments; O(s²). A batch without a step, an empty segment, a segment after a later one, a step with nothing before it or whose token is not
 * allowed are RangeErrors.
 */
export function packSegments(segments: readonly Segment[]): PackedBatch {
  const tokens = segments.flatMap((segment) => segment.tokens);
  const length = tokens.length;
  const bias = new Float32Array(length * length).fill(HIDDEN_BIAS);
  const positionIds = new BigInt64Array(length);
  const placed: Placed[] = [];
  const steps: PlacedStep[] = [];
  let first = 0;
  for (const [index, segment] of segments.entries()) {
    const parent = segment.after === undefined ? undefined : placed[segment.after];
    if (segment.after !== undefined && parent === undefined) throw new RangeError(`segment ${index}: after ${segment.after}, which is not an earlier one`);
    if (segment.tokens.length === 0) throw new RangeError(`segment ${index}: no tokens`);
    const firstPosition = parent?.endPosition ?? 0;
    const place: Placed = { first, end: first + segment.tokens.length, endPosition: firstPosition + segment.tokens.length, parent };
    placed.push(place);
    for (let i = 0; i < segment.tokens.length; i++) {
      const row = (first + i) * length;
      bias.fill(0, row + first, row + first + i + 1);
      for (let ancestor = parent; ancestor !== undefined; ancestor = ancestor.parent) bias.fill(0, row + ancestor.first, row + ancestor.end);
      positionIds[first + i] = BigInt(firstPosition + i);
    }
    for (const step of segment.steps) steps.push(placeStep(segment, step, place, index));
    first = place.end;
  }
  if (steps.length === 0) throw new RangeError('no step: a batch in which no token counts has no gradient');
  return {
    tokens, positionIds, bias, stepPositions: BigInt64Array.from(steps, ({ position }) => BigInt(position)), targets: steps.map(({ target }) => target),
    allowed: steps.map(({ allowed }) => allowed), weights: Float32Array.from(steps, ({ weight }) => weight),
  };
}

/** Where a segment stands in the row, and where its path goes on behind it. */
interface Placed {
  readonly first: number;
  readonly end: number;
  readonly endPosition: number;
  readonly parent: Placed | undefined;
}

interface PlacedStep {
  readonly position: number;
  readonly target: TokenId;
  readonly allowed: Int32Array;
  readonly weight: number;
}

function placeStep({ tokens }: Segment, { index, allowed, weight }: Step, { first, parent }: Placed, segment: number): PlacedStep {
  const fail = (detail: string): never => {
    throw new RangeError(`segment ${segment}, step at ${index}: ${detail}`);
  };
  const target = tokens[index] ?? fail('no such token');
  const position = index > 0 ? first + index - 1 : (parent?.end ?? fail('nothing before it')) - 1;
  if (!allowed.includes(target)) fail('its token is not allowed');
  if (!Number.isFinite(weight)) fail('its weight is no number');
  return { position, target, allowed, weight };
}
