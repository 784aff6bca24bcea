/**
 * The rising step function closest to the labels, by pooling neighbours that fall: no shape is assumed, so it needs more rows than a logistic one.
 * Reference: M. Ayer, H. Brunk, G. Ewing, W. Reid, E. Silverman, An Empirical Distribution Function for Sampling with Incomplete Information, 1955.
 */
export type Points = readonly [readonly [number, number], ...(readonly [number, number])[]];

interface Block {
  readonly from: number;
  readonly to: number;
  readonly right: number;
  readonly count: number;
}

/** Points [x, share of the right ones] with rising x and never falling share; equal x are one. O(n log n). */
export function fitIsotonic(x: readonly number[], isRight: readonly boolean[]): Points {
  if (x.length === 0 || x.length !== isRight.length) throw new RangeError(`x: ${x.length} for ${isRight.length} labels`);
  const order = [...x.keys()].sort((a, b) => x[a]! - x[b]!);
  const blocks: Block[] = [];
  for (const index of order) {
    const at = x[index]!;
    let block: Block = { from: at, to: at, right: isRight[index] === true ? 1 : 0, count: 1 };
    for (let last = blocks.at(-1); last !== undefined && (last.to === at || last.right * block.count >= block.right * last.count); last = blocks.at(-1)) {
      block = { from: last.from, to: at, right: last.right + block.right, count: last.count + block.count };
      blocks.pop();
    }
    blocks.push(block);
  }
  const points = blocks.flatMap(({ from, to, right, count }) => (from === to ? [[from, right / count]] : [[from, right / count], [to, right / count]]));
  return points as unknown as Points;
}
