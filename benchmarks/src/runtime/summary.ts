/** What the report says of the raw rows. Pure functions; where there is nothing to say of, undefined. */
import { quantile } from '../statistics.ts';
import type { BatchArm, BatchRun } from './batch.ts';
import type { RankCost } from './costs.ts';
import type { ArmName, SpeedRow } from './speed.ts';

export interface Times {
  readonly n: number;
  readonly p50: number;
  readonly p95: number;
}

/** Of answers that passed their check only. */
export function timesOf(rows: readonly SpeedRow[], arm: ArmName): Times | undefined {
  return timesIn(rows.filter((row) => row.arm === arm && row.isChecked).map((row) => row.timing.totalMs));
}

function timesIn(values: readonly number[]): Times | undefined {
  const [p50, p95] = [quantile(values, 0.5), quantile(values, 0.95)];
  return p50 === undefined || p95 === undefined ? undefined : { n: values.length, p50, p95 };
}

/** The rows of cases that all of `arms` repaired: nobody is fast by declining. */
export function repairedByAll(rows: readonly SpeedRow[], arms: readonly ArmName[]): readonly SpeedRow[] {
  const repaired = (arm: ArmName): ReadonlySet<string> => new Set(rows.filter((row) => row.arm === arm && row.status === 'repaired' && row.isChecked).map(({ id }) => id));
  const sets = arms.map(repaired);
  return rows.filter(({ id, arm }) => arms.includes(arm) && sets.every((set) => set.has(id)));
}

/** Ours over theirs, for both quantiles. */
export function ratioOf(rows: readonly SpeedRow[], ours: ArmName, theirs: ArmName): Omit<Times, 'n'> | undefined {
  const [a, b] = [timesOf(rows, ours), timesOf(rows, theirs)];
  return a === undefined || b === undefined ? undefined : { p50: a.p50 / b.p50, p95: a.p95 / b.p95 };
}

export interface Verdicts {
  readonly n: number;
  readonly unchecked: number;
  /** Count by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

export function verdictsOf(rows: readonly SpeedRow[], arm: ArmName): Verdicts {
  const own = rows.filter((row) => row.arm === arm);
  const statuses: Record<string, number> = {};
  for (const { status } of own) statuses[status] = (statuses[status] ?? 0) + 1;
  return { n: own.length, unchecked: own.filter(({ isChecked }) => !isChecked).length, statuses };
}

/** Shares of an arm on our own engine, each summed over all its answers. */
export interface Shares {
  /** Passes through the layers after the prompt, of the tokens that came out. */
  readonly decodeSteps: number;
  readonly forcedTokens: number;
  /** Tokens that were guessed, of the tokens that came out, and how many of the guesses came out; undefined where nothing was guessed. */
  readonly draftedTokens: number;
  readonly acceptedDrafts: number | undefined;
  /** Of the time from call to answer. */
  readonly prefill: number;
  readonly layers: number;
  readonly head: number;
  readonly mask: number;
  readonly sampling: number;
  readonly rest: number;
}

export function sharesOf(rows: readonly SpeedRow[], arm: ArmName): Shares | undefined {
  const own = rows.flatMap(({ arm: name, engine, timing, tokens, speculation }) => (name === arm && engine !== null ? [{ engine, timing, tokens, speculation }] : []));
  const sum = (of: (row: (typeof own)[number]) => number): number => own.reduce((total, row) => total + of(row), 0);
  const [totalMs, generated] = [sum(({ timing }) => timing.totalMs), sum(({ tokens }) => tokens.generated)];
  if (totalMs === 0 || generated === 0) return undefined;
  const draftedCount = sum(({ speculation }) => speculation?.draftedTokenCount ?? 0);
  const prefillMs = sum(({ timing }) => timing.prefillMs);
  const maskMs = sum(({ timing }) => timing.maskMs);
  const layersMs = sum(({ engine }) => engine.decodeMs);
  const headMs = sum(({ engine }) => engine.headMs);
  // the loop's clock runs on while it chooses, accepts and keeps books; reading the logits is the model's
  const samplingMs = Math.max(0, sum(({ timing }) => timing.decodeMs) - layersMs - headMs);
  return {
    decodeSteps: sum(({ engine }) => engine.decodeCalls) / generated, forcedTokens: sum(({ tokens }) => tokens.forced) / generated,
    draftedTokens: draftedCount / generated, acceptedDrafts: draftedCount === 0 ? undefined : sum(({ speculation }) => speculation?.acceptedTokenCount ?? 0) / draftedCount,
    prefill: prefillMs / totalMs, layers: layersMs / totalMs, head: headMs / totalMs, mask: maskMs / totalMs, sampling: samplingMs / totalMs,
    rest: Math.max(0, 1 - (prefillMs + maskMs + layersMs + headMs + samplingMs) / totalMs),
  };
}

export interface RankPoint {
  readonly rank: number;
  readonly prefillMs: number;
  readonly decodeMs: number;
  /** Over rank 0. */
  readonly prefillRatio: number;
  readonly decodeRatio: number;
}

/** Medians, and their ratios to those of rank 0. Undefined where rank 0 or any figure is missing. */
export function rankCurve(costs: readonly RankCost[]): readonly RankPoint[] | undefined {
  const points = costs.map(({ rank, prefillMs, decodeMs }) => ({ rank, prefillMs: quantile(prefillMs, 0.5), decodeMs: quantile(decodeMs, 0.5) }));
  const none = points.find(({ rank }) => rank === 0);
  const curve = points.flatMap(({ rank, prefillMs, decodeMs }) => (
    none?.prefillMs === undefined || none.decodeMs === undefined || prefillMs === undefined || decodeMs === undefined
      ? [] : [{ rank, prefillMs, decodeMs, prefillRatio: prefillMs / none.prefillMs, decodeRatio: decodeMs / none.decodeMs }]
  ));
  return curve.length === costs.length && curve.length > 0 ? curve : undefined;
}

export interface Throughput {
  readonly perSecond: number;
  /** Over the plain engine's. */
  readonly ratio: number;
}

export interface BatchPoint extends Pick<BatchArm, 'width' | 'sameRepairs' | 'sameSamples'> {
  /** Tokens. */
  readonly decode: Throughput;
  /** Samples. */
  readonly groups: Throughput;
  /** Repairs. */
  readonly repairs: Throughput;
}

/** By rows at once, from medians. Undefined where any figure is missing. */
export function batchCurve({ arms, rowCount, stepCount, caseCount, groupCount, groupSize }: BatchRun): readonly BatchPoint[] | undefined {
  const plain = arms.find(({ width }) => width === 0);
  const throughput = (arm: BatchArm, of: 'decodeMs' | 'groupsMs' | 'repairsMs', count: number): Throughput | undefined => {
    const [ms, plainMs] = [quantile(arm[of], 0.5), quantile(plain?.[of] ?? [], 0.5)];
    return ms === undefined || plainMs === undefined ? undefined : { perSecond: (1000 * count) / ms, ratio: plainMs / ms };
  };
  const curve = arms.flatMap((arm): readonly BatchPoint[] => {
    const [decode, groups, repairs] = [throughput(arm, 'decodeMs', rowCount * stepCount), throughput(arm, 'groupsMs', groupCount * groupSize), throughput(arm, 'repairsMs', caseCount)];
    const { width, sameRepairs, sameSamples } = arm;
    return decode === undefined || groups === undefined || repairs === undefined ? [] : [{ width, decode, groups, repairs, sameRepairs, sameSamples }];
  });
  return curve.length === arms.length && curve.length > 0 ? curve : undefined;
}
