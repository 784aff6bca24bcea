/** The Markdown report of the mask benchmark: a pure function of the raw results. No figure is typed by hand but the bars. */
import { quantilesOf, cellsOf, enginesOf, leastRatio, pooled, vocabulariesOf, type Quantiles } from './speed-summary.ts';
import { code, fixed, machine, mark, megabytes, optional, share, table, thousandth, type Cells } from '../markdown.ts';
import { OUTSIDE_REASONS, type SuiteCounts } from './maskbench.ts';
import { mutationSection } from '../mutation/report-section.ts';
import { ownSection } from './report-own.ts';
import type { Measured } from '../parts.ts';
import type { RawResults } from './results.ts';
import type { SpeedCell, SpeedRun } from './speed.ts';
import { LLGUIDANCE } from './peers/llguidance.ts';
import type { VocabularyName } from './vocabularies.ts';
import { isRight } from './wrong-answers.ts';

export function renderMaskReport(raw: RawResults): string {
  return `${[
    '# The contract mask, measured',
    '',
    'Regenerated from the raw JSON beside this file by `npm run bench:mask -- report`; no figure is typed by hand but the bars. `npm run bench:mask` measures everything anew.',
    '',
    ...ratioSection(raw),
    ...barSection(raw),
    ...ownSection(raw),
    ...speedSection(raw.speed),
    ...countSection(raw),
    ...mutationSection(raw.mutation.result, 'the grammar and the matcher against the tests that need no large vocabulary, with a fifth of their random rounds'),
    ...maskBenchSection(raw),
    ...keywordSection(raw),
    ...answerSection(raw),
    ...LIMITS,
  ].join('\n')}\n`;
}

function ratioSection({ speed: { result: run }, sizes }: RawResults): Cells {
  const names = vocabulariesOf(run);
  const unbounded = (cell: SpeedCell): boolean => !cell.hasStringBound;
  const bounded = (cell: SpeedCell): boolean => cell.contract.endsWith('maxLength 64');
  const rows: readonly { readonly what: string; readonly bar: number; readonly of: (name: VocabularyName) => number | undefined }[] = [
    { what: 'compile, no string bound, against web-xgrammar', bar: 15, of: (name) => leastRatio(run, name, 'web-xgrammar', 'compileMs', unbounded) },
    { what: 'compile, maxLength 64, against web-xgrammar', bar: 300, of: (name) => leastRatio(run, name, 'web-xgrammar', 'compileMs', bounded) },
    { what: 'contract to first mask, no string bound, against web-xgrammar', bar: 1, of: (name) => leastRatio(run, name, 'web-xgrammar', 'firstMaskMs', unbounded) },
    { what: 'contract to first mask, maxLength 64, against web-xgrammar', bar: 1, of: (name) => leastRatio(run, name, 'web-xgrammar', 'firstMaskMs', bounded) },
    { what: 'cold mask p50, against structured-output', bar: 100, of: (name) => leastRatio(run, name, 'structured-output', 'maskUs', () => true) },
    { what: 'mask p99, all contracts together, against web-xgrammar', bar: 1, of: (name) => over(pooled(run, name, 'web-xgrammar', 'maskUs')?.p99, pooled(run, name, 'contractrl', 'maskUs')?.p99) },
  ];
  return [
    '## Ratios in one run',
    '',
    'How many times longer the peer takes; for compile and p50 the least over the contracts, each with the same outputs.',
    '',
    table(
      ['', 'at least', ...names],
      rows.map(({ what, bar, of }) => [what, `${String(bar)}×`, ...names.map((name) => {
        const ratio = of(name);
        return ratio === undefined ? 'n/a' : `${fixed(ratio)}× ${mark(ratio >= bar)}`;
      })]),
    ),
    '',
    table(
      ['gzip', 'bytes'],
      Object.entries(sizes.result.gzipBytes).map(([name, bytes]) => [name, `${String(bytes)}${name === 'contractrl' ? ` of at most 25,600 ${mark(bytes <= 25_600)}` : ''}`]),
    ),
    '',
    'Ours is the package bundled and minified without the core it shares with the judge; the peers’ are the files as published.',
    '',
  ];
}

function over(theirs: number | undefined, ours: number | undefined): number | undefined {
  return theirs === undefined || ours === undefined ? undefined : theirs / ours;
}

interface Bar {
  readonly what: string;
  readonly unit: string;
  readonly limits: Readonly<Record<VocabularyName, number>>;
  readonly of: (run: SpeedRun, name: VocabularyName) => number | undefined;
}

const same = (limit: number): Bar['limits'] => ({ '49k': limit, '128k': limit, '151k': limit });
const mask = (of: (found: Quantiles) => number) => (run: SpeedRun, name: VocabularyName): number | undefined => {
  const found = pooled(run, name, 'contractrl', 'maskUs');
  return found === undefined ? undefined : of(found);
};
const preparedOf = (run: SpeedRun, name: VocabularyName) => run.prepared.find(({ vocabulary, engine }) => vocabulary === name && engine === 'contractrl');

const BARS: readonly Bar[] = [
  { what: 'tokenizer preparation, once (median)', unit: 'ms', limits: { '49k': 100, '128k': 300, '151k': 350 }, of: (run, name) => quantilesOf(preparedOf(run, name)?.prepareMs ?? [])?.p50 },
  { what: 'resident after preparation', unit: 'MB', limits: { '49k': 4, '128k': 10, '151k': 12 }, of: (run, name) => megabytes(preparedOf(run, name)?.residentBytes) },
  { what: 'compile p50', unit: 'ms', limits: same(3), of: (run, name) => pooled(run, name, 'contractrl', 'compileMs')?.p50 },
  { what: 'compile p99', unit: 'ms', limits: same(15), of: (run, name) => pooled(run, name, 'contractrl', 'compileMs')?.p99 },
  { what: 'bind a new document p50', unit: 'ms', limits: same(0.5), of: (run, name) => thousandth(pooled(run, name, 'contractrl', 'startUs')?.p50) },
  { what: 'mask p50', unit: 'µs', limits: { '49k': 3, '128k': 10, '151k': 10 }, of: mask(({ p50 }) => p50) },
  { what: 'mask p95', unit: 'µs', limits: { '49k': 20, '128k': 60, '151k': 60 }, of: mask(({ p95 }) => p95) },
  { what: 'mask p99', unit: 'µs', limits: { '49k': 60, '128k': 150, '151k': 150 }, of: mask(({ p99 }) => p99) },
  { what: 'mask mean', unit: 'µs', limits: { '49k': 8, '128k': 25, '151k': 25 }, of: mask(({ mean }) => mean) },
  { what: 'mask max', unit: 'µs', limits: { '49k': 300, '128k': 1000, '151k': 1000 }, of: mask(({ max }) => max) },
  { what: 'acceptToken p50', unit: 'µs', limits: same(1), of: (run, name) => pooled(run, name, 'contractrl', 'acceptUs')?.p50 },
];

function barSection({ speed: { result: run } }: RawResults): Cells {
  const names = vocabulariesOf(run);
  return [
    '## Bars',
    '',
    'All contracts together; measured value, then the bar.',
    '',
    table(['', 'unit', ...names], BARS.map(({ what, unit, limits, of }) => [what, unit, ...names.map((name) => {
      const value = of(run, name);
      return value === undefined ? 'n/a' : `${fixed(value)} of ${String(limits[name])} ${mark(value <= limits[name])}`;
    })])),
    '',
  ];
}

function speedSection({ result: run, surroundings }: Measured<SpeedRun>): Cells {
  return [
    '## Speed',
    '',
    `${String(run.outputCount)} different outputs a contract, in three rounds over the engines in turn. Every token is checked to be allowed, outside the clock;`,
    'an output that an engine refuses is counted and left out of its times. We and structured-output compile anew for every output, so that every state is met cold;',
    'XGrammar works ahead when it compiles, and does so once a round, or once where it takes longer than 400 ms. Its paths are written without `/`.',
    '',
    `${machine(surroundings)} One-minute load average before and after each vocabulary: ${vocabulariesOf(run).map((name) => `${name} ${(run.load[name] ?? []).map((value) => value.toFixed(1)).join(' → ')}`).join(', ')}.`,
    '',
    '![Time of one cold mask](mask-time.svg)',
    '',
    '![From the contract to the first mask](first-mask.svg)',
    '',
    ...vocabulariesOf(run).flatMap((name) => [
      `### ${name}`,
      '',
      table(
        ['engine', 'ids', 'preparation ms', 'resident MB'],
        run.prepared.filter(({ vocabulary }) => vocabulary === name).map(({ engine, tokenCount, prepareMs, residentBytes }) => [
          engine, String(tokenCount), prepareMs.map(fixed).join(' / '), optional(megabytes(residentBytes)),
        ]),
      ),
      '',
      table(
        ['contract', 'engine', 'compile ms', 'bind or open µs', 'to first mask ms', 'masks', 'p50 µs', 'p95', 'p99', 'mean', 'max', 'accept p50 µs', 'refused outputs'],
        contractsOf(run).flatMap((contract) => enginesOf(run).flatMap((engine) => cellsOf(run, name, engine).filter((cell) => cell.contract === contract).map(speedRow))),
      ),
      '',
    ]),
  ];
}

function contractsOf({ cells }: SpeedRun): readonly string[] {
  return [...new Set(cells.map(({ contract }) => contract))];
}

function speedRow({ contract, engine, compileMs, startUs, firstMaskMs, maskUs, acceptUs, refusedOutputs }: SpeedCell): Cells {
  const masks = quantilesOf(maskUs);
  const median = (values: readonly number[]): string => optional(quantilesOf(values)?.p50);
  return [
    contract, engine, median(compileMs), median(startUs), median(firstMaskMs), String(masks?.n ?? 0),
    ...(['p50', 'p95', 'p99', 'mean', 'max'] as const).map((key) => optional(masks?.[key])), median(acceptUs), String(refusedOutputs.length),
  ];
}

function countSection({ counts: { result } }: RawResults): Cells {
  return [
    '## Correctness',
    '',
    'The mask against a naive recogniser that shares no code with it, over every token of the vocabulary, at states of random walks; the random contracts and candidates',
    'use a vocabulary of bytes and of tokens across the ends of lexemes, and every finished output goes through core. `npm test` repeats smaller samples of both.',
    '',
    table(
      ['', 'seed', 'contracts', 'states', '(state, token) pairs', 'unsound', 'incomplete', 'dead ends', 'not admitted by core'],
      Object.entries(result).map(([name, tally]) => [
        name, ...[tally.seed, tally.contracts, tally.states].map(String), tally.pairs.toLocaleString('en'),
        ...[tally.unsound, tally.incomplete, tally.deadEnds, tally.notAdmitted].map(String),
      ]),
    ),
    '',
    ...Object.entries(result).flatMap(([name, { examples }]) => examples.map((example) => `- ${name}: \`${example.replaceAll('`', '')}\``)),
    '',
  ];
}

/** MaskBench whole, 11,306 schemas, as its authors recorded it in March 2025. */
const RECORDED: readonly Cells[] = [
  ['llguidance 0.7.10', '8,909 (78.8 %)', '2,377', '20', '0', '1.0 / 3.0 / 18', '46 / 533 / 33,000'],
  ['XGrammar 0.1.17', '8,122 (71.8 %)', '90', '1,408', '1,368', '0.92 / 11.6 / 900,000', '9 / 5,687 / 6,300,000'],
];

function maskBenchSection({ maskbench: { result, surroundings } }: RawResults): Cells {
  const suites = Object.entries(result.suites);
  const total = suites.map(([, counts]) => counts).reduce(addCounts);
  const row = (name: string, counts: SuiteCounts): Cells => {
    const valid = counts.validAccepted + counts.validRefused;
    return [
      name, String(counts.schemas), share(counts.compiled, counts.schemas), share(counts.llguidance.compiled, counts.schemas), share(counts.passing, counts.schemas), share(counts.llguidance.passing, counts.schemas),
      String(counts.validAccepted), ...OUTSIDE_REASONS.map((reason) => String(counts.validOutside[reason])), valid === 0 ? '0' : `${String(counts.validRefused)} (${(100 * counts.validRefused / valid).toFixed(2)} %)`,
      String(counts.invalidRefused), String(counts.invalidAccepted), String(counts.markDisputed),
    ];
  };
  const [ttfm, tbm] = [quantilesOf(result.times.ttfmMs), quantilesOf(result.times.tbmUs)];
  const ttfmP90 = [...result.times.ttfmMs].sort((a, b) => a - b)[Math.ceil(0.9 * result.times.ttfmMs.length) - 1];
  return [
    '## MaskBench',
    '',
    'Each schema through the value mask, unknown keywords and formats read as annotations (`unknownKeywords: annotate`) and names that the schema leaves open spelled (`openNames`); each instance in its canonical spelling, members in the order of the schema, byte by byte. Valid instances that the canonical language',
    'has no text for are columns of their own: a member whose name the mask leaves out, a number with an exponent or more digits, an object below the nesting bound.',
    '*Disputed*: marked invalid and spelled, while Ajv finds the instance valid; or marked valid and refused, while Ajv, to which formats bind, finds it invalid. llguidance’s columns are its recorded outcomes on the same files.',
    '',
    `${machine(surroundings)}`,
    '',
    '![MaskBench: schemas compiled](maskbench.svg)',
    '',
    table(
      ['suite', 'schemas', 'compiled', 'llguidance', 'passing', 'llguidance', 'valid accepted', ...OUTSIDE_REASONS.map((reason) => `outside: ${reason}`), 'valid refused', 'invalid refused', 'invalid accepted', 'disputed'],
      [...suites.map(([name, counts]) => row(name, counts)), row('all', total)],
    ),
    '',
    ...targetLines(result.suites),
    '',
    ...suites.flatMap(([name, { wrong }]) => wrong.map((line) => `- ${name}: ${line}`)),
    '',
    'Refused, by the first keyword met:',
    '',
    table(['suite', 'keywords'], suites.filter(([, { refusedBy }]) => Object.keys(refusedBy).length > 0).map(([name, { refusedBy }]) => [name, frequencies(refusedBy)])),
    '',
    ...(ttfm === undefined || tbm === undefined || ttfmP90 === undefined ? [] : [
      `Times under the ${result.times.vocabulary} vocabulary, over one valid instance a schema, where it has no open name: to the first mask p50 / p90 / p99 ${[ttfm.p50, ttfmP90, ttfm.p99].map(fixed).join(' / ')} ms (n ${String(ttfm.n)});`,
      `between masks p50 / p99 / max ${[tbm.p50, tbm.p99, tbm.max].map(fixed).join(' / ')} µs, mean ${fixed(tbm.mean)} µs (n ${String(tbm.n)}).`,
      '',
    ]),
    'Recorded by the benchmark’s authors over all 11,306 schemas, on another machine:',
    '',
    table(['engine', 'passing', 'compile refusal', 'valid refused', 'invalid accepted', 'first mask p50 / p90 / p99 ms', 'between masks p50 / p99 / max µs'], RECORDED),
    '',
  ];
}

/** Suites of tool-like schemas, on which the mask has a target of its own. */
const TARGET_SUITES: readonly string[] = ['Glaiveai2K', 'MCPspec', 'Github_trivial', 'Github_easy'];

function targetLines(suites: Readonly<Record<string, SuiteCounts>>): Cells {
  const all = TARGET_SUITES.map((name) => suites[name]).filter((counts) => counts !== undefined).reduce(addCounts);
  const compiled = all.compiled / all.schemas;
  const refused = all.validRefused / (all.validAccepted + all.validRefused);
  return [
    `On ${TARGET_SUITES.join(', ')} together: ${share(all.compiled, all.schemas)} compiled, of at least 90 % ${mark(compiled >= 0.9)}; ${String(all.invalidAccepted)} invalid accepted, of 0`
    + ` ${mark(all.invalidAccepted === 0)}; ${(100 * refused).toFixed(2)} % of the valid instances with a canonical text refused, of at most 0.2 % ${mark(refused <= 0.002)}.`,
    `Glaiveai2K: ${share(suites['Glaiveai2K']?.compiled ?? 0, suites['Glaiveai2K']?.schemas ?? 1)} compiled against llguidance’s ${share(suites['Glaiveai2K']?.llguidance.compiled ?? 0, suites['Glaiveai2K']?.schemas ?? 1)}.`,
  ];
}

function addCounts(a: SuiteCounts, b: SuiteCounts): SuiteCounts {
  const sum = (key: 'schemas' | 'compiled' | 'passing' | 'validAccepted' | 'validRefused' | 'invalidRefused' | 'invalidAccepted' | 'markDisputed'): number => a[key] + b[key];
  return {
    schemas: sum('schemas'), compiled: sum('compiled'), passing: sum('passing'), refusedBy: {},
    validAccepted: sum('validAccepted'), validRefused: sum('validRefused'), invalidRefused: sum('invalidRefused'), invalidAccepted: sum('invalidAccepted'), markDisputed: sum('markDisputed'),
    validOutside: {
      'undeclared-member': a.validOutside['undeclared-member'] + b.validOutside['undeclared-member'],
      'number-spelling': a.validOutside['number-spelling'] + b.validOutside['number-spelling'],
      'nesting': a.validOutside.nesting + b.validOutside.nesting,
    },
    llguidance: { compiled: a.llguidance.compiled + b.llguidance.compiled, passing: a.llguidance.passing + b.llguidance.passing },
    wrong: [],
  };
}

/** Rarer ones are mostly spelling mistakes and private extensions of one author. */
const KEYWORDS_SHOWN = 40;

function keywordSection({ keywords: { result } }: RawResults): Cells {
  const all = Object.entries(result.refused);
  return [
    '## Refused keywords',
    '',
    `JSONSchemaBench, ${String(result.schemas)} schemas, unknown keywords and formats read as annotations: ${share(result.whole, result.schemas)} can be written at every declared place.`,
    'In the others, by the number of schemas in which',
    'some place is refused for the keyword (such a place can still be removed, moved and copied):',
    '',
    table(['keyword', 'schemas'], all.slice(0, KEYWORDS_SHOWN).map(([keyword, count]) => [`\`${keyword}\``, String(count)])),
    '',
    all.length > KEYWORDS_SHOWN ? `And ${String(all.length - KEYWORDS_SHOWN)} rarer ones.` : '',
    '',
  ];
}

function answerSection({ answers: { result } }: RawResults): Cells {
  const wrong = result.filter(({ peerSays, judgeSays }) => !isRight(peerSays, judgeSays));
  const ours = result.filter(({ weSay, weSayCanonically, judgeSays }) => !isRight(weSay, judgeSays) && !(judgeSays === 'valid' && weSayCanonically === 'accepts'));
  return [
    '## Answers of the peers, asked anew',
    '',
    `Of ${String(result.length)} texts the peer answers ${String(wrong.length)} wrongly in this run, and we ${String(ours.length)}. Our language has one spelling a value, so a valid text in another spelling is refused by`,
    'design; then the answer for the same value in its canonical spelling follows. The judge is Ajv, on what a strict JSON reader (no duplicate names, no lone surrogates) finds in the text.',
    '',
    table(
      ['peer', 'about', 'schema', 'text', 'the peer', 'we', 'the judge', 'the peer is'],
      result.map(({ peer, what, schema, text, peerSays, weSay, weSayCanonically, judgeSays }) => [
        peer, what, code(JSON.stringify(schema)), code(text), peerSays, weSayCanonically === undefined ? weSay : `${weSay}; canonically ${weSayCanonically}`, judgeSays,
        isRight(peerSays, judgeSays) ? 'right' : peerSays === 'refuses the schema' ? 'unable' : 'wrong',
      ]),
    ),
    '',
  ];
}

const LIMITS: Cells = [
  '## What this is not',
  '',
  '- The machine is shared and has few cores: compare within a table. Times are wall-clock and hold whatever garbage collection fell into them.',
  '- 49k is measured first in the process, so its tail also holds the compilation of our JavaScript by the host, which peers in WebAssembly do not have: the p99 of the',
  '  three runs of a rule above falls from run to run. The highest values are collections and such compilations.',
  '- The schemas of the peers do not know the document: they offer `add` and `replace` at every path, we offer what the document allows. Ours is the smaller language,',
  '  and the only one that knows what the second operation may touch; it also has to work that out whenever an operation closes, which is in our mask times.',
  '- Forced runs are not used here: every token is masked and accepted one by one, for all engines.',
  `- ${LLGUIDANCE} runs in a process of its own, from Python, with the overhead of one call a step.`,
];

function frequencies(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts).map(([name, count]) => `\`${name}\` ${String(count)}`).join(', ');
}
