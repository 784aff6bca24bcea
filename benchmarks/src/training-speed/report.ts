/** The comparison as a report: examples a second, memory, and how many times as long PyTorch takes, with an interval over rounds. */
import { fixed, machine, mark, table } from '../markdown.ts';
import type { Measured } from '../parts.ts';
import { bootstrapMean, mean, quantile } from '../statistics.ts';
import { ENGINES, type EngineName, type SpeedComparison } from './measure.ts';

const TITLES: Readonly<Record<EngineName, string>> = {
  'ours': 'this package as it trains, float32', 'ours-single': 'this package, one example at a time', 'torch-f32': 'PyTorch, float32', 'torch-bf16': 'PyTorch, bfloat16',
};

/** Those that the bars are about. */
const PEERS: readonly EngineName[] = ['torch-f32', 'torch-bf16'];

/** Issue and TRAINING: at least as many examples a second, and less memory than this. */
const MAX_PEAK_BYTES = 6e9;

export interface SpeedBar {
  readonly what: string;
  readonly value: string;
  readonly isMet: boolean;
}

interface Ratio {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** Of an engine's time to ours as it trains in the same round, the geometric mean with its 95 % interval. */
export function ratioOf({ rounds }: Pick<SpeedComparison, 'rounds'>, engine: EngineName): Ratio {
  const { mean, low, high } = bootstrapMean(counted(rounds).map((round) => Math.log(round[engine].ms / round.ours.ms)))!;
  return { mean: Math.exp(mean), low: Math.exp(low), high: Math.exp(high) };
}

export function barsOf(comparison: SpeedComparison): readonly SpeedBar[] {
  const peers = PEERS.map((name): SpeedBar => {
    const ratio = ratioOf(comparison, name);
    return { what: `at least as many examples a second as ${TITLES[name]}`, value: `${ratioText(ratio)} times as many`, isMet: ratio.low >= 1 };
  });
  const peakBytes = peakOf(comparison, 'ours');
  return [...peers, { what: `peak memory below ${fixed(MAX_PEAK_BYTES / 1e9)} GB`, value: `${fixed(peakBytes / 1e9)} GB`, isMet: peakBytes < MAX_PEAK_BYTES }];
}

export function renderSpeedReport({ surroundings, result }: Measured<SpeedComparison>): string {
  const { base, rank, threads, batchSize, meanTokens, versions, rounds } = result;
  const rows = ENGINES.map((name) => {
    const ms = counted(rounds).map((round) => round[name].ms / batchSize);
    return [
      TITLES[name], fixed(quantile(ms, 0.5)! / 1000), fixed(1000 / quantile(ms, 0.5)!), (mean(rounds.map((round) => round[name].positions))! / batchSize).toFixed(0), fixed(peakOf(result, name) / 1e9),
      rounds[0]![name].loss.toFixed(4), rounds.at(-1)![name].loss.toFixed(4), name === 'ours' ? '' : ratioText(ratioOf(result, name)),
    ];
  });
  return [
    '# Training speed beside PyTorch', '',
    `LoRA of rank ${String(rank)} on all linears of ${base}, ${String(threads)} threads. ${String(counted(rounds).length)} rounds; in each all take one step of the same ${String(batchSize)} examples, one engine after the other `
      + `in an order that shifts. The examples are a batch as training deals it, with several faults of a call, ${meanTokens.toFixed(0)} tokens each in the mean. A step is forward and backward pass, clipping and AdamW, `
      + 'from token ids on. As it trains, this package reads once what examples of a batch share of their beginnings. PyTorch reads micro-batches of four of nearly one length, each example with the whole of its prompt, '
      + 'under transformers and PEFT and computes the head of the decisions alone; with bfloat16 the frozen weights are stored so and the computing is autocast. '
      + 'The first round warms up and is not counted; its losses are those of equal parameters and must agree.', '',
    `${machine(surroundings)} ${Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(', ')}.`, '',
    table(['engine', 'seconds an example (median)', 'examples a second', 'positions an example, padding included', 'peak memory, GB', 'first loss', 'last loss', 'time, ours = 1 (95 %)'], rows), '',
    '## Bars', '', table(['bar', 'measured', 'met'], barsOf(result).map(({ what, value, isMet }) => [what, value, mark(isMet)])), '',
  ].join('\n');
}

function counted<T>(rounds: readonly T[]): readonly T[] {
  return rounds.slice(1);
}

function peakOf({ rounds }: Pick<SpeedComparison, 'rounds'>, engine: EngineName): number {
  return Math.max(...rounds.map((round) => round[engine].peakBytes));
}

function ratioText({ mean, low, high }: Ratio): string {
  return `${fixed(mean)} (${fixed(low)} to ${fixed(high)})`;
}
