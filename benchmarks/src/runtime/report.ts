/** The Markdown report of the runtime benchmark: a pure function of the raw results. No figure is typed by hand but the bars. */
import { quantile } from '../statistics.ts';
import { fixed, machine, mark, optional, share, table, type Cells } from '../markdown.ts';
import type { RawRuntimeResults } from './results.ts';
import { peakOf, type ColdStart } from './cold.ts';
import { ARM_NAMES, type ArmName, type SpeedRun } from './speed.ts';
import { batchCurve, rankCurve, ratioOf, repairedByAll, sharesOf, timesOf, verdictsOf } from './summary.ts';

const BARS = {
  overRegeneration: 1 / 3, overPeer: 0.4, decodeSteps: 0.5, maskAndSampling: 0.03, rank16: 1.25, peakOverWeights: 2.2, agreement: 0.99, soakGrowth: 0.05, batch8: 3,
} as const;

export function renderRuntimeReport(raw: RawRuntimeResults): string {
  return `${[
    '# The runtime, measured',
    '',
    'Regenerated from the raw JSON beside this file by `npm run bench:runtime -- report`; no figure is typed by hand but the bars. `npm run bench:runtime` measures everything anew.',
    '',
    ...barSection(raw),
    ...speedSection(raw),
    ...shareSection(raw),
    ...rankSection(raw),
    ...headSection(raw),
    ...coldSection(raw),
    ...soakSection(raw),
    ...batchSection(raw),
    ...LIMITS,
  ].join('\n')}\n`;
}

interface Bar {
  readonly what: string;
  readonly bar: string;
  /** Undefined: not measured, and why stands in `value`. */
  readonly isMet: boolean | undefined;
  readonly value: string;
}

function barSection(raw: RawRuntimeResults): Cells {
  return ['## Bars', '', table(['', 'bar', 'measured', ''], barsOf(raw).map(({ what, bar, value, isMet }) => [what, bar, value, isMet === undefined ? '–' : mark(isMet)])), ''];
}

export function barsOf({ speed, ranks, cold, soak, agreement, batch }: RawRuntimeResults): readonly Bar[] {
  const { rows } = speed.result;
  const shares = sharesOf(rows, 'adapter');
  const rank16 = rankCurve(ranks.result.costs)?.find(({ rank }) => rank === 16);
  const node = cold.result.starts.filter(({ engine }) => engine === 'node');
  const peak = quantile(node.map((start) => peakOf(start) / cold.result.weightBytes), 0.5);
  const { positions, agreed } = agreement.result;
  const batch8 = batchCurve(batch.result)?.find(({ width }) => width === 8)?.decode.ratio;
  return [
    ...ratioBars(speed.result, 'full-regeneration', 'time per repair over full regeneration’s', '1/3', BARS.overRegeneration),
    ...ratioBars(speed.result, 'node-llama-cpp', 'time per repair over node-llama-cpp’s', '0.4', BARS.overPeer),
    atMost('decode steps of emitted tokens', '50 %', shares?.decodeSteps, BARS.decodeSteps, percent),
    atMost('mask and sampling of the time', '3 %', shares === undefined ? undefined : shares.mask + shares.sampling, BARS.maskAndSampling, percent),
    atMost('prefill under rank 16 over rank 0', '1.25', rank16?.prefillRatio, BARS.rank16, fixed),
    atMost('decode step under rank 16 over rank 0', '1.25', rank16?.decodeRatio, BARS.rank16, fixed),
    atMost('peak memory of the Node process over the model file', '2.2', peak, BARS.peakOverWeights, fixed),
    { what: 'top-1 agreement with f32', bar: '≥ 99 %', value: `${percent(agreed / positions)} of ${String(positions)} positions`, isMet: agreed / positions >= BARS.agreement },
    ...soak.result.map(({ engine, repairs, drifted, rssBytes, afterDispose }): Bar => ({
      what: `${String(repairs)} repairs in a row on ${engine}: other answers; memory, end over middle; after dispose`, bar: '0; ≤ 1.05; `engine/disposed`',
      value: `${String(drifted)}; ${fixed(rssBytes.end / rssBytes.middle)}; \`${afterDispose}\``,
      isMet: drifted === 0 && rssBytes.end / rssBytes.middle <= 1 + BARS.soakGrowth && afterDispose === 'engine/disposed',
    })),
    { what: 'throughput of batch 8 over batch 1, steps of one token', bar: '≥ 3', value: optional(batch8), isMet: batch8 === undefined ? undefined : batch8 >= BARS.batch8 },
  ];
}

function ratioBars({ rows, absent }: SpeedRun, theirs: ArmName, what: string, bar: string, limit: number): readonly Bar[] {
  const reason = absent[theirs];
  if (reason !== undefined) return [{ what, bar: `≤ ${bar}`, value: `not measured: ${reason}`, isMet: undefined }];
  const ratio = ratioOf(rows, 'adapter', theirs);
  return (['p50', 'p95'] as const).map((name) => atMost(`${what}, ${name}`, bar, ratio?.[name], limit, fixed));
}

function atMost(what: string, bar: string, value: number | undefined, limit: number, write: (value: number) => string): Bar {
  return { what, bar: `≤ ${bar}`, value: value === undefined ? 'n/a' : write(value), isMet: value === undefined ? undefined : value <= limit };
}

const ARMS: Readonly<Record<ArmName, string>> = {
  'product': 'the whole product: deterministic step on, the shipped adapter',
  'adapter': 'ours: mask, jump-forward, the shipped adapter',
  'base': 'ours, the bare base model',
  'full-regeneration': 'full regeneration on the same engine, the bare base model',
  'node-llama-cpp': 'node-llama-cpp, the same file and prompts, exported GBNF, the bare base model',
  'transformers-js': 'transformers.js with structured output, the same weights and prompts, a schema without alternatives, the bare base model',
};

function speedSection({ speed: { result, surroundings } }: RawRuntimeResults): Cells {
  const { rows, seeds, caseCount, availableCases, threads, absent, peerVersions, leakage } = result;
  return [
    '## Time per repair',
    '',
    `${machine(surroundings)} ${String(caseCount)} of ${String(availableCases)} corrupted BFCL calls, seeds ${seeds.join(', ')}, spread evenly; ${String(threads)} threads for every engine; ${Object.entries(peerVersions).map(([name, version]) => `${name} ${version}`).join(', ')}. ` +
    'Greedy, the deterministic step off but in the first row. Cases in turn, arms in rotated order within a case. A time counts where the answer was checked: what is dispatched passes a second validation that shares no code with the product.',
    '',
    table(
      ['arm', 'n', 'p50 ms', 'p95 ms', 'valid calls', 'abstained', 'failed or rejected', 'not checked', 'prompt tokens, p50', 'emitted tokens, p50'],
      ARM_NAMES.map((arm) => {
        const times = timesOf(rows, arm);
        if (absent[arm] !== undefined) return [ARMS[arm], `not measured: ${absent[arm]}`, ...Array<string>(8).fill('–')];
        const { statuses, unchecked, n } = verdictsOf(rows, arm);
        const count = (status: string): number => statuses[status] ?? 0;
        const tokens = (kind: 'prompt' | 'generated'): string => String(quantile(rows.filter((row) => row.arm === arm).map((row) => row.tokens[kind]), 0.5) ?? 'n/a');
        return [
          ARMS[arm], String(times?.n ?? 0), optional(times?.p50), optional(times?.p95), n === 0 ? '0' : share(count('repaired') + count('valid'), n),
          String(count('abstained')), String(count('failed') + count('rejected')), String(unchecked), tokens('prompt'), tokens('generated'),
        ];
      }),
    ),
    '',
    ...(leakage === undefined ? [] : [`Leaks of gold into what the policies were shown: ${String(leakage.leaks.length)}, in the prompts of ${String(leakage.answerCount)} answers ${mark(leakage.leaks.length === 0)}.`, '']),
    'Only the cases that both repaired, so that nobody is fast by declining:',
    '',
    table(
      ['ours with the adapter, against', 'n', 'ours p50, p95 ms', 'theirs p50, p95 ms', 'ours over theirs p50, p95'],
      ARM_NAMES.filter((arm) => arm !== 'adapter' && absent[arm] === undefined).map((arm) => {
        const common = repairedByAll(rows, ['adapter', arm]);
        const pair = (times: { readonly p50: number; readonly p95: number } | undefined): string => `${optional(times?.p50)}, ${optional(times?.p95)}`;
        const [ours, theirs] = [timesOf(common, 'adapter'), timesOf(common, arm)];
        return [ARMS[arm], String(theirs?.n ?? 0), pair(ours), pair(theirs), pair(ratioOf(common, 'adapter', arm))];
      }),
    ),
    '',
  ];
}

function shareSection({ speed: { result: { rows } } }: RawRuntimeResults): Cells {
  const arms = (['adapter', 'base', 'full-regeneration'] as const).flatMap((arm) => {
    const shares = sharesOf(rows, arm);
    return shares === undefined ? [] : [{ arm, shares }];
  });
  return [
    '## Where the time goes',
    '',
    'Sums over all answers. Steps are passes through the layers after the prompt; forced tokens were never sampled; guessed ones were read ahead, most of them in the chunk of the prompt. Mask is compiling, binding and every move; sampling is what the decode loop spends beside engine, logits and mask.',
    '',
    table(
      ['arm', 'steps / emitted', 'forced / emitted', 'guessed / emitted', 'right / guessed', 'prompt', 'layers', 'logits', 'mask', 'sampling', 'the rest'],
      arms.map(({ arm, shares: { decodeSteps, forcedTokens, draftedTokens, acceptedDrafts, prefill, layers, head, mask, sampling, rest } }) => [
        ARMS[arm], percent(decodeSteps), percent(forcedTokens), percent(draftedTokens), acceptedDrafts === undefined ? '–' : percent(acceptedDrafts), ...[prefill, layers, head, mask, sampling, rest].map(percent),
      ]),
    ),
    '',
  ];
}

function rankSection({ ranks: { result, surroundings } }: RawRuntimeResults): Cells {
  const curve = rankCurve(result.costs) ?? [];
  const counts = result.costs[0];
  return [
    '## Adapters by rank',
    '',
    `${machine(surroundings)} Random adapters in the shapes of the shipped one, seed ${String(result.seed)}, in one session, ranks in turn; rank 0 is no adapter in the same graph, whose inputs for one are then zeros of rank 1. ` +
    `Medians of ${String(counts?.prefillMs.length ?? 0)} prompts of ${String(result.promptTokens)} tokens and ${String(counts?.decodeMs.length ?? 0)} steps of one token after them.`,
    '',
    table(
      ['rank', 'prompt ms', 'over rank 0', 'step ms', 'over rank 0'],
      curve.map(({ rank, prefillMs, prefillRatio, decodeMs, decodeRatio }) => [String(rank), fixed(prefillMs), fixed(prefillRatio), fixed(decodeMs), fixed(decodeRatio)]),
    ),
    '',
  ];
}

function headSection({ head: { result, surroundings }, agreement }: RawRuntimeResults): Cells {
  const { logitWidth, loopMs, kernelMs, layersMs, largestDifference } = result;
  const { format, reference, positions, agreed, prompts, largestLogitDifference } = agreement.result;
  const row = (what: string, values: readonly number[]): Cells => [what, String(values.length), optional(quantile(values, 0.5)), optional(quantile(values, 0.95))];
  return [
    '## Logits',
    '',
    `${machine(surroundings)} All ${String(logitWidth)} logits of one hidden state, ways in turn; largest difference ${largestDifference.toExponential(1)}.`,
    '',
    table(['', 'n', 'p50 ms', 'p95 ms'], [row('loops in JavaScript, row by row', loopMs), row('the kernel, WebAssembly SIMD', kernelMs), row('for comparison: one token through the layers', layersMs)]),
    '',
    `Top-1 agreement of ${format} with ${reference}: ${String(agreed)} of ${String(positions)} positions of ${String(prompts)} prompts, under the shipped adapter, token by token; largest difference of a logit ${largestLogitDifference.toExponential(1)}.`,
    '',
  ];
}

function coldSection({ cold: { result, surroundings } }: RawRuntimeResults): Cells {
  const { weightBytes, starts } = result;
  const nodeStart = starts.find(({ engine }) => engine === 'node');
  const isSame = (start: ColdStart): string => (start.patches.join() === nodeStart?.patches.join() ? 'yes' : 'no');
  return [
    '## Cold start and memory',
    '',
    `${machine(surroundings)} Fresh processes, files in the cache. The model file has ${megabytes(weightBytes)} MB; what WASM runs is made of it in memory.`,
    '',
    table(
      ['engine', 'format', 'to a loaded process ms', 'model, graph, session ms', 'first repair ms', 'second repair ms', 'to the first answer ms', 'peak MB', 'peak / model file', 'answers as Node'],
      starts.map((start) => [
        start.engine, start.format, fixed(start.startMs), fixed(start.loadMs), fixed(start.firstRepairMs), fixed(start.secondRepairMs), fixed(start.startMs + start.loadMs + start.firstRepairMs),
        megabytes(peakOf(start)), fixed(peakOf(start) / weightBytes), isSame(start),
      ]),
    ),
    '',
    'Memory by phase, of the first start of each engine. Private is what is no page of a file: program, libraries and mapped weights are shared with other processes.',
    '',
    table(
      ['engine', 'phase', 'peak MB', 'resident at its end MB', 'of that private MB'],
      starts.filter((start, index) => starts.findIndex(({ engine }) => engine === start.engine) === index).flatMap(({ engine, memory }) => memory.map(
        ({ name, peakBytes, residentBytes, privateBytes }) => [engine, name, megabytes(peakBytes), megabytes(residentBytes), privateBytes === null ? '–' : megabytes(privateBytes)],
      )),
    ),
    '',
  ];
}

function soakSection({ soak: { result, surroundings } }: RawRuntimeResults): Cells {
  return [
    '## Soak',
    '',
    `${machine(surroundings)} The small model of the self-test, one process an engine, cases in turn; memory is looked at after a warm-up.`,
    '',
    table(
      ['engine', 'repairs', 'cases', 'other answers', 'by status', 'resident MB: start, middle, end', 'sessions opened and disposed', 'resident MB: before, after', 'ms a repair', 'digest'],
      result.map(({ engine, repairs, cases, drifted, statuses, rssBytes: { start, middle, end }, sessions, totalMs, digest }) => [
        engine, String(repairs), String(cases), String(drifted), Object.entries(statuses).map(([status, count]) => `${status} ${String(count)}`).join(', '),
        [start, middle, end].map(megabytes).join(', '), String(sessions.opened), [sessions.rssBeforeBytes, sessions.rssAfterBytes].map(megabytes).join(', '), fixed(totalMs / repairs), `\`${digest.slice(0, 12)}\``,
      ]),
    ),
    '',
  ];
}

function batchSection({ batch: { result, surroundings } }: RawRuntimeResults): Cells {
  const { rowCount, stepCount, caseCount, groupCount, groupSize, threads, largestDifference, arms } = result;
  return [
    '## Several rows in one pass',
    '',
    `${machine(surroundings)} ${String(threads)} threads. Steps: ${String(rowCount)} prompts of different cases, ${String(stepCount)} tokens one by one behind each, prompts not counted. ` +
    `Groups: ${String(groupSize)} samples of each of ${String(groupCount)} cases, temperature 1; repairs: ${String(caseCount)} cases, greedy; both with their prompts, jumps and guesses. ` +
    `Medians of ${String(arms[0]?.decodeMs.length ?? 0)} rounds, arms in turn, over the plain engine, one row after the other. Hidden states differ from its by at most ${largestDifference.toExponential(1)}.`,
    '',
    table(
      ['rows at once', 'tokens / s, steps', 'over one', 'samples / s, groups', 'over one', 'repairs / s', 'over one', 'repairs the same', 'samples the same'],
      (batchCurve(result) ?? []).map(({ width, decode, groups, repairs, sameRepairs, sameSamples }) => [
        width === 0 ? 'plain engine' : String(width), ...[decode, groups, repairs].flatMap(({ perSecond, ratio }) => [fixed(perSecond), fixed(ratio)]),
        share(sameRepairs, caseCount), share(sameSamples, groupCount * groupSize),
      ]),
    ),
    '',
    'A prompt is bound by arithmetic and is read no faster beside others, so repairs of different cases gain little; samples of one case read theirs once. A sample can differ where many words are about as likely as each other and the last digits of a sum decide.',
    '',
  ];
}

const LIMITS: Cells = [
  '## What this does not say',
  '',
  'node-llama-cpp runs the bare base model, for which the prompt was not made: its row is about time, beside `ours, the bare base model`. transformers.js looks at alternatives of a schema only when a value is whole, so it gets an array of operations without them, ' +
  'of which the loop refuses most; it spells white space, reads each prompt from nothing, and is asked for fewer cases. Full regeneration has its own prompt, without the static prefix that repairs share. ' +
  'The peak is that of the whole process, Node, packages and WebAssembly included. Browsers and GPUs are measured by the page `engines.html` on the reader’s machine, not here.',
];

function percent(value: number): string {
  return `${(100 * value).toFixed(1)} %`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
