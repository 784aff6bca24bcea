/** Quantiles and ratios of a speed run: what the report's tables and plots are made of. */
import { mean, quantile } from '../statistics.ts';
import type { SpeedCell, SpeedRun } from './speed.ts';
import { VOCABULARY_NAMES, type VocabularyName } from './vocabularies.ts';

export interface Quantiles {
  readonly n: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly mean: number;
  readonly max: number;
}

/** Undefined for no values. */
export function quantilesOf(values: readonly number[]): Quantiles | undefined {
  if (values.length === 0) return undefined;
  const at = (share: number): number => quantile(values, share)!;
  return { n: values.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), mean: mean(values)!, max: at(1) };
}

export function cellsOf({ cells }: SpeedRun, vocabulary: VocabularyName, engine: string): readonly SpeedCell[] {
  return cells.filter((cell) => cell.vocabulary === vocabulary && cell.engine === engine);
}

export function vocabulariesOf({ cells }: SpeedRun): readonly VocabularyName[] {
  return VOCABULARY_NAMES.filter((name) => cells.some(({ vocabulary }) => vocabulary === name));
}

export function enginesOf({ cells }: SpeedRun): readonly string[] {
  return [...new Set(cells.map(({ engine }) => engine))];
}

type TimeList = 'compileMs' | 'startUs' | 'firstMaskMs' | 'maskUs' | 'acceptUs';

/** Times of all contracts together. */
export function pooled(run: SpeedRun, vocabulary: VocabularyName, engine: string, list: TimeList, only: (cell: SpeedCell) => boolean = () => true): Quantiles | undefined {
  return quantilesOf(cellsOf(run, vocabulary, engine).filter(only).flatMap((cell) => cell[list]));
}

/** Smallest ratio of a peer's median to ours over the contracts that pass `only`: what is claimed must hold for each of them. */
export function leastRatio(run: SpeedRun, vocabulary: VocabularyName, peer: string, list: TimeList, only: (cell: SpeedCell) => boolean): number | undefined {
  const ratios = cellsOf(run, vocabulary, 'contractrl').filter(only).flatMap((own) => {
    const other = cellsOf(run, vocabulary, peer).find(({ contract }) => contract === own.contract);
    const [ours, theirs] = [quantile(own[list], 0.5), other === undefined ? undefined : quantile(other[list], 0.5)];
    return ours === undefined || theirs === undefined ? [] : [theirs / ours];
  });
  return ratios.length === 0 ? undefined : Math.min(...ratios);
}
