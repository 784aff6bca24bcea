/**
 * A pass as the graph takes it: the new tokens of all rows in one sequence, where each of them stands in its row, and what it may see. Pure
 * bookkeeping; the names and shapes are those of onnx/names.ts.
 */

/** One row of a pass. */
export interface PassRow {
  readonly pastLength: number;
  /** At least one. */
  readonly tokenCount: number;
  /** Hidden states of all new tokens, or of the last alone. */
  readonly kept: 'last' | 'all';
}

export interface Pass {
  /** Places of a row. */
  readonly width: number;
  readonly positionIds: BigInt64Array;
  readonly rowTokens: Int32Array;
  readonly tokenPlaces: Int32Array;
  readonly keptPositions: Int32Array;
  /** `[b, w, capacity + w]` */
  readonly bias: Float32Array<ArrayBuffer>;
}

/** Low enough that a softmax gives exactly 0, and finite: a row of −Infinity alone would give NaN. */
const HIDDEN_BIAS = -1e30;

/** `capacity`: places of past that each row is given, at least the longest past. */
export function planPass(rows: readonly PassRow[], capacity: number): Pass {
  const width = Math.max(...rows.map(({ tokenCount }) => tokenCount));
  const positionIds: bigint[] = [];
  const rowTokens = new Int32Array(rows.length * width);
  const tokenPlaces: number[] = [];
  const keptPositions: number[] = [];
  const span = capacity + width;
  const bias = new Float32Array(rows.length * width * span).fill(HIDDEN_BIAS);
  for (const [row, { pastLength, tokenCount, kept }] of rows.entries()) {
    const first = tokenPlaces.length;
    for (let place = 0; place < width; place++) {
      const index = row * width + place;
      // a place that is too many repeats the row's last token: what is computed there is of this row, and nobody reads it
      const token = Math.min(place, tokenCount - 1);
      rowTokens[index] = first + token;
      bias.fill(0, index * span, index * span + pastLength);
      bias.fill(0, index * span + capacity, index * span + capacity + token + 1);
      if (place >= tokenCount) continue;
      positionIds.push(BigInt(pastLength + token));
      tokenPlaces.push(index);
      if (kept === 'all' || token === tokenCount - 1) keptPositions.push(first + token);
    }
  }
  return {
    width, rowTokens, bias, positionIds: BigInt64Array.from(positionIds), tokenPlaces: Int32Array.from(tokenPlaces), keptPositions: Int32Array.from(keptPositions),
  };
}
