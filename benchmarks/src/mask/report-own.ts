/** The section of the mask report on what only our mask does: the rest of a decode step, forced runs, and the rules one by one. */
import { mean, quantile } from '../statistics.ts';
import { fixed, machine, mark, optional, share, table, type Cells } from '../markdown.ts';
import type { OwnCell, RuleArm } from './own-speed.ts';
import type { RawResults } from './results.ts';
import { quantilesOf } from './speed-summary.ts';
import type { VocabularyName } from './vocabularies.ts';

interface StepBar {
  readonly what: string;
  readonly unit: string;
  readonly limits: Readonly<Record<VocabularyName, number>>;
  readonly of: (cell: OwnCell) => number | undefined;
}

const same = (limit: number): StepBar['limits'] => ({ '49k': limit, '128k': limit, '151k': limit });

const STEP_BARS: readonly StepBar[] = [
  { what: 'preparation from the index file (median)', unit: 'ms', limits: { '49k': 10, '128k': 20, '151k': 25 }, of: ({ readIndexMs }) => quantile(readIndexMs, 0.5) },
  { what: 'fork p50', unit: 'µs', limits: same(1), of: ({ forkUs }) => quantile(forkUs, 0.5) },
  { what: 'rollback of one token p50', unit: 'µs', limits: same(1), of: ({ rollbackUs }) => quantile(rollbackUs, 0.5) },
  { what: 'mask, apply and argmax p50', unit: 'µs', limits: { '49k': 60, '128k': 200, '151k': 250 }, of: ({ chooseUs }) => quantile(chooseUs, 0.5) },
  { what: 'allowed mass p50', unit: 'µs', limits: { '49k': 200, '128k': 400, '151k': 500 }, of: ({ allowedMassUs }) => quantile(allowedMassUs, 0.5) },
];

export function ownSection({ own: { result: { cells, decode }, surroundings } }: RawResults): Cells {
  const saved = decode.forcedTokens / decode.generatedTokens;
  const stepMs = mean(decode.decodeStepMs);
  const maskMs = mean(decode.maskMsPerToken);
  return [
    '## Our mask alone',
    '',
    `${machine(surroundings)} The outputs repair their documents, under the same contracts as above; a mask is compiled anew for each, and 50 masks go before the clock.`,
    '',
    table(['', 'unit', ...cells.map(({ vocabulary }) => vocabulary)], STEP_BARS.map(({ what, unit, limits, of }) => [what, unit, ...cells.map((cell) => {
      const value = of(cell);
      return value === undefined ? 'n/a' : `${fixed(value)} of ${String(limits[cell.vocabulary])} ${mark(value <= limits[cell.vocabulary])}`;
    })])),
    '',
    `Index file: ${cells.map(({ vocabulary, indexFileBytes }) => `${vocabulary} ${(indexFileBytes / 1e6).toFixed(1)} MB`).join(', ')}. Forced tokens of these outputs: `
    + `${cells.map(({ vocabulary, forcedTokens, emittedTokens }) => `${vocabulary} ${share(forcedTokens, emittedTokens)}`).join(', ')}.`,
    '',
    `With the model, from the committed baseline (its default arm, ${String(decode.decodeStepMs.length)} cases): ${share(decode.forcedTokens, decode.generatedTokens)} of the decode steps saved by forced runs, of at least 50 % ${mark(saved >= 0.5)}.`,
    stepMs === undefined || maskMs === undefined ? '' : `A decode step takes ${fixed(stepMs)} ms there, the mask with its forced runs ${fixed(maskMs)} ms a token: ${(100 * maskMs / stepMs).toFixed(1)} %, of at most 3 % ${mark(maskMs / stepMs <= 0.03)}.`,
    '',
    '### Each rule as an arm',
    '',
    'Cold masks over three runs, and the p99 of each. The last but one column leaves out the masks that a garbage collection of the host fell into; how many these are stands in front of it.',
    '',
    table(
      ['vocabulary', 'rules', 'bind p50 µs', 'masks', 'p50 µs', 'p95', 'p99 of each run', 'mean', 'max', 'with a collection', 'max without collections', 'accept p50 µs'],
      cells.flatMap(({ vocabulary, arms }) => arms.map((arm) => ruleRow(vocabulary, arm))),
    ),
    '',
  ];
}

function ruleRow(vocabulary: VocabularyName, { rules, bindUs, maskUs, collected, acceptUs }: RuleArm): Cells {
  const all = quantilesOf(maskUs.flat());
  const others = [...maskUs.flat()].sort((a, b) => b - a);
  // a time that occurs twice stands for either call
  for (const time of collected) others.splice(others.indexOf(time), 1);
  return [
    vocabulary, rules, optional(quantile(bindUs, 0.5)), String(all?.n ?? 0), optional(all?.p50), optional(all?.p95), maskUs.map((times) => optional(quantile(times, 0.99))).join(' / '),
    optional(all?.mean), optional(all?.max), String(collected.length), optional(others[0]), optional(quantile(acceptUs, 0.5)),
  ];
}
