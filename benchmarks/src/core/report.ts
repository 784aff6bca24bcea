/** The report of the core benchmark, from raw results alone. */
import { code, fixed, machine, mark, table, type Cells } from '../markdown.ts';
import { mutationSection } from '../mutation/report-section.ts';
import { VERDICTS } from '../score.ts';
import { quantile } from '../statistics.ts';
import type { SuiteCounts } from './conformance.ts';
import type { TrapOutcome } from './patch-traps.ts';
import type { CoreResults } from './results.ts';

const VALIDATION_BAR_US = 50;
const APPEND_BAR = 20_000;
const VERIFY_BAR = 50_000;
const SIZE_BAR = 25_600;
const AGREEMENT_BAR = 100_000;
const RIGHT_BAR = 20;

export function renderCoreReport(raw: CoreResults): string {
  return [
    '# The core, measured',
    '',
    'Regenerated from the raw JSON beside this file by `npm run bench:core -- report`; no figure is typed by hand but the bars. `npm run bench:core` measures everything anew.',
    '',
    ...conformance(raw), ...traps(raw), ...agreement(raw), ...bugCases(raw), ...validation(raw), ...ledger(raw), ...sizes(raw), ...mutationSection(raw.mutation.result, 'patch, gate, transition and ledger against the tests of the core that touch them, with half of their random rounds'),
    '## Machine',
    '',
    machine(raw.validation.surroundings),
    '',
  ].join('\n');
}

/** Why we refuse what a suite allows, by code. */
const REASONS: Readonly<Record<string, string>> = {
  'the operation test': 'no operation of a repair: a patch that holds one is refused whole',
  'patch/empty': 'a patch that does nothing is no repair',
  'patch/no-effect': 'a patch that does nothing is no repair',
  'patch/root-target': 'a local repair never writes the whole document',
  'json/duplicate-name': 'the value would depend on the reader',
  'json/precision-loss': 'another number would be sent than was written',
  'json/too-deep': 'every later recursion is bounded by the depth',
  'json/lone-surrogate': 'no UTF-8 text can carry it',
  'contract/remote-reference': 'nothing is fetched; a reference stays inside its document',
  'contract/unresolved-reference': 'a reference that leads nowhere, or to something that is no schema',
  'contract/unsupported-keyword': 'dynamic references, and identifiers below the root',
  'contract/unknown-keyword': 'what is not known is not dropped in silence',
  'contract/unknown-format': 'what is not known is not dropped in silence',
  'contract/unknown-dialect': 'draft-07 and 2020-12 alone are honoured',
  'contract/forbidden-name': 'names that reach a prototype in host languages',
  'contract/schema-invalid': 'no schema by its own meta-schema',
  'contract/unsafe-pattern': 'look-around and back-references cannot be matched in bounded time',
  'contract/invalid-pattern': 'no ECMAScript pattern under the `u` flag',
  'contract/reference-cycle': 'a reference that comes back to itself without reading anything',
};

function conformance({ conformance: { result } }: CoreResults): Cells {
  const suites: readonly (readonly [string, SuiteCounts])[] = Object.entries(result);
  return [
    '## Public suites',
    '',
    table(['suite', 'as the suite says', 'we refuse, the suite allows', 'otherwise'], suites.map(([name, { agreed, stricter, different }]) => [
      name, String(agreed), String(Object.values(stricter).reduce((sum, { length }) => sum + length, 0)), String(different.length),
    ])),
    '',
    'In JSON-Schema-Test-Suite a refused schema counts once, with all its tests. Texts that JSONTestSuite leaves open count as agreed.',
    '',
    table(['suite', 'refused by', 'count', 'reason'], suites.flatMap(([name, { stricter }]) => Object.entries(stricter).map(([refusal, { length }]) => [
      name, code(refusal), String(length), REASONS[refusal] ?? 'not looked at yet',
    ]))),
    '',
    'Otherwise, by file of the suite; the raw JSON has every name.',
    '',
    table(['suite', 'file', 'count', 'reason'], suites.flatMap(([name, { different }]) => [...new Set(different.map(fileOf))].map((file) => [
      name, file, String(different.filter((each) => fileOf(each) === file).length), DIFFERENCES.find(([start]) => file.startsWith(start))?.[1] ?? 'not looked at yet',
    ]))),
    '',
  ];
}

const fileOf = (name: string): string => name.slice(0, name.indexOf(':'));

/** Why we judge otherwise than a suite, by the beginning of the file's name. */
const DIFFERENCES: readonly (readonly [string, string])[] = [
  ['optional/content', 'encodings and media types of texts bind nothing, as in 2020-12'],
  ['optional/format/', 'formats are those of ajv-formats in its full mode'],
  ['format', 'a format binds: an annotation that looks like a check would not be kept'],
  ['ref', 'keywords beside a reference bind in draft-07 too'],
];

function traps({ traps: { result } }: CoreResults): Cells {
  const rightCount = result.filter(({ ours: { isRefused, changedInput } }) => isRefused && !changedInput).length;
  const cell = ({ outcome, isRefused, changedInput }: TrapOutcome): string => `${mark(isRefused && !changedInput)} ${code(outcome)}${isRefused && changedInput ? ', input changed' : ''}`;
  return [
    '## Patches that libraries get wrong',
    '',
    `Right is to refuse and to leave the document alone: ${String(rightCount)} of ${String(result.length)} ${mark(rightCount === result.length)}.`,
    '',
    table(['patch', 'ours', 'fast-json-patch', 'with its validation'], result.map(({ name, ours, fastJsonPatch, fastJsonPatchValidate }) => [name, cell(ours), cell(fastJsonPatch), cell(fastJsonPatchValidate)])),
    '',
  ];
}

function agreement({ agreement: { result } }: CoreResults): Cells {
  const { patches, seed, operations, refused, disagreements, examples } = result;
  return [
    '## Strict admission and application against fast-json-patch',
    '',
    `${String(patches)} random admitted patches (at least ${String(AGREEMENT_BAR)} ${mark(patches >= AGREEMENT_BAR)}), seed ${String(seed)}: ${String(disagreements)} disagreements ${mark(disagreements === 0)}. Operations: ${Object.entries(operations).sort().map(([name, count]) => `${name} ${String(count)}`).join(', ')}; ${String(refused)} drawn and refused.`,
    'Each patch as a whole, its operations one by one with our own applier, and fast-json-patch with its validation must give the same document. A move is given to the library as the removal and the addition it means.',
    '',
    ...examples.map((example) => `- ${code(example)}`), ...(examples.length === 0 ? [] : ['']),
  ];
}

function bugCases({ bugcases: { result } }: CoreResults): Cells {
  const own = result.arms['deterministic'];
  const isMet = own !== undefined && own['silently-wrong'] === 0 && own.unsafe === 0 && own['right-call'] >= RIGHT_BAR;
  return [
    '## Bug cases without a model',
    '',
    `${String(result.caseCount)} failing calls from public bug reports. Bar: none silently wrong, none unsafe, at least ${String(RIGHT_BAR)} right ${mark(isMet)}.`,
    '',
    table(['arm', ...VERDICTS], Object.entries(result.arms).map(([name, counts]) => [name, ...VERDICTS.map((verdict) => String(counts[verdict]))])),
    '',
  ];
}

function validation({ validation: { result } }: CoreResults): Cells {
  const { textLength, warmUps, validUs, invalidUs, parseUs } = result;
  const p50 = quantile(validUs, 0.5)!;
  const row = (name: string, times: readonly number[]): Cells => [name, ...[0.5, 0.9, 0.99].map((share) => fixed(quantile(times, share)!)), String(times.length)];
  return [
    '## Full validation of a repaired call',
    '',
    `${String(textLength)} characters, warm after ${String(warmUps)} rounds, µs. Bar: p50 below ${String(VALIDATION_BAR_US)} ${mark(p50 < VALIDATION_BAR_US)}.`,
    '',
    table(['what', 'p50', 'p90', 'p99', 'n'], [row('valid call', validUs), row('one wrong member, with its report', invalidUs), row('`JSON.parse` alone', parseUs)]),
    '',
  ];
}

function ledger({ ledger: { result } }: CoreResults): Cells {
  const perSecond = (rows: number, ms: number): number => Math.round(rows / ms * 1000);
  const isMet = result.every(({ rows, appendMs, verifyMs }) => perSecond(rows, appendMs) >= APPEND_BAR && perSecond(rows, verifyMs) >= VERIFY_BAR);
  const costs = result.map(({ rows, appendMs, verifyMs }) => (appendMs + verifyMs) / rows);
  return [
    '## The ledger',
    '',
    `Rows a second. Bar: append ${String(APPEND_BAR)}, verify ${String(VERIFY_BAR)} in memory ${mark(isMet)}. A row of the longest chain costs ${fixed(costs.at(-1)! / costs[0]!)} times what one of the shortest does.`,
    '',
    table(['rows', 'append', 'verify', 'read from text and verify', 'characters a row'], result.map(({ rows, textLength, appendMs, verifyMs, readMs }) => [
      String(rows), String(perSecond(rows, appendMs)), String(perSecond(rows, verifyMs)), String(perSecond(rows, readMs)), String(Math.round(textLength / rows)),
    ])),
    '',
  ];
}

function sizes({ sizes: { result } }: CoreResults): Cells {
  return [
    '## Size',
    '',
    `Bytes, bundled, minified and gzipped. Bar: the main entry without its libraries at most ${String(SIZE_BAR)}.`,
    '',
    table(['entry', 'its own code', 'with its libraries'], result.map(({ entry, ownGzipBytes, gzipBytes }) => [
      entry, `${String(ownGzipBytes)}${entry === '@contractrl/core' ? ` ${mark(ownGzipBytes <= SIZE_BAR)}` : ''}`, String(gzipBytes),
    ])),
    '',
  ];
}
