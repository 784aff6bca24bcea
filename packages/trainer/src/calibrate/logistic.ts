/**
 * Logistic regression with few features, a ridge, and a sign for each weight: more probability never makes less confidence, whatever a small sample says.
 * One weight after the other, by Newton's step, held to its side and halved until the penalised loss falls; convex, so where it ends does not depend on where
 * it begins. Reference: J. Friedman, T. Hastie, R. Tibshirani, Regularization Paths for GLMs via Coordinate Descent, J. Stat. Softw. 33(1), 2010.
 */

/** `1`: never below zero, `-1`: never above, `0`: free. */
export type Sign = -1 | 0 | 1;

export interface Logistic {
  readonly intercept: number;
  readonly weights: readonly number[];
}

export interface LogisticOptions {
  /** One a feature. */
  readonly signs: readonly Sign[];
  /** Of ½ · ridge · Σ weight², the weights being those of features scaled to variance 1; the intercept is free. */
  readonly ridge: number;
}

const MAX_SWEEPS = 2000;
const TOLERANCE = 1e-9;

/** Fits the probability of `isRight` by `rows` [n][features]. A feature that never changes gets weight 0. O(sweeps · n · features), some tens of sweeps. */
export function fitLogistic(rows: readonly (readonly number[])[], isRight: readonly boolean[], { signs, ridge }: LogisticOptions): Logistic {
  if (rows.length === 0 || rows.length !== isRight.length) throw new RangeError(`rows: ${rows.length} for ${isRight.length} labels`);
  const scales = signs.map((_, feature) => scaleOf(rows.map((row) => row[feature]!)));
  // centred: the intercept then hardly moves with the weights, and few sweeps are needed
  const columns = scales.map(({ mean, deviation }, feature) => rows.map((row) => (deviation === 0 ? 0 : (row[feature]! - mean) / deviation)));
  const all = [rows.map(() => 1), ...columns];
  const weights = all.map(() => 0);
  const margins = rows.map(() => 0);
  let loss = lossOf(margins, isRight);

  for (let sweep = 0; sweep < MAX_SWEEPS; sweep += 1) {
    let largest = 0;
    for (const [index, column] of all.entries()) {
      const penalty = index === 0 ? 0 : ridge;
      const before = weights[index]!;
      let gradient = penalty * before;
      let curvature = penalty;
      for (const [row, margin] of margins.entries()) {
        const probability = 1 / (1 + Math.exp(-margin));
        const x = column[row]!;
        gradient += (probability - (isRight[row] === true ? 1 : 0)) * x;
        curvature += probability * (1 - probability) * x * x;
      }
      if (curvature < Number.EPSILON) continue;
      let step = toSide(before - gradient / curvature, index === 0 ? 0 : signs[index - 1]!) - before;
      while (Math.abs(step) > TOLERANCE) {
        const moved = margins.map((margin, row) => margin + step * column[row]!);
        const change = (penalty / 2) * ((before + step) ** 2 - before ** 2);
        const next = lossOf(moved, isRight);
        if (next + change <= loss) {
          weights[index] = before + step;
          moved.forEach((margin, row) => { margins[row] = margin; });
          loss = next;
          largest = Math.max(largest, Math.abs(step));
          break;
        }
        step /= 2;
      }
    }
    if (largest < TOLERANCE) break;
  }

  const [intercept = 0, ...scaled] = weights;
  const raw = scaled.map((weight, feature) => (scales[feature]!.deviation === 0 ? 0 : weight / scales[feature]!.deviation));
  return { intercept: intercept - raw.reduce((sum, weight, feature) => sum + weight * scales[feature]!.mean, 0), weights: raw };
}

function scaleOf(values: readonly number[]): { readonly mean: number; readonly deviation: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, deviation: Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length) };
}

/** Σ −log p(label), without overflow. */
function lossOf(margins: readonly number[], isRight: readonly boolean[]): number {
  return margins.reduce((sum, margin, row) => {
    const signed = isRight[row] === true ? margin : -margin;
    return sum + (signed > 0 ? Math.log1p(Math.exp(-signed)) : Math.log1p(Math.exp(signed)) - signed);
  }, 0);
}

function toSide(weight: number, sign: Sign): number {
  return sign === 0 || Math.sign(weight) === sign ? weight : 0;
}
