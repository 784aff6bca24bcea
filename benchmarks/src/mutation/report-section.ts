/** The section of a report on mutation testing. */
import { code, table, type Cells } from '../markdown.ts';
import { OUTCOMES, readSurvivorReasons, type MutatedFile, type MutationRun, type Outcome } from './outcomes.ts';

/** `what`: which mutants, against which tests. */
export function mutationSection(result: MutationRun, what: string): Cells {
  const total: MutatedFile = { file: 'all', share: Math.min(1, ...result.map(({ share }) => share)), counts: sums(result), survivors: [] };
  const reasons = new Map(readSurvivorReasons().map(({ file, source, replacement, why }) => [keyOf(file, source, replacement), why]));
  return [
    '## Mutation testing',
    '',
    `Stryker’s mutants of ${what} (\`npm run mutate\`). *Timeout*: a loop`,
    'without end, which is noticed too. *At load*: evaluated once when the module loads, where a switch thrown later changes nothing; not tried. Score: noticed ones among those tried.',
    '',
    table(['file', 'tried', ...OUTCOMES, 'score'], [...result, total].map(({ file, share, counts }) => [
      file, `${String(OUTCOMES.reduce((sum, outcome) => sum + counts[outcome], 0))}${share < 1 ? `, ${(100 * share).toFixed(0)} % drawn` : ''}`, ...OUTCOMES.map((outcome) => String(counts[outcome])), scoreOf(counts),
    ])),
    '',
    'Mutants that no test notices, and why:',
    '',
    table(['place', 'text', 'instead', 'why'], result.flatMap(({ file, survivors }) => survivors.map(({ line, source, replacement, status }) => [
      `${file}:${String(line)}`, code(shortened(source)), code(shortened(replacement)), reasons.get(keyOf(file, source, replacement)) ?? (status === 'not-reached' ? 'not reached by these tests' : 'not looked at yet'),
    ]))),
    '',
  ];
}

function sums(files: readonly MutatedFile[]): Record<Outcome, number> {
  return Object.fromEntries(OUTCOMES.map((outcome) => [outcome, files.reduce((sum, { counts }) => sum + counts[outcome], 0)])) as Record<Outcome, number>;
}

function scoreOf(counts: MutatedFile['counts']): string {
  const noticed = counts.killed + counts.timeout;
  const tried = noticed + counts.survived + counts['not-reached'];
  return tried === 0 ? 'n/a' : `${(100 * noticed / tried).toFixed(1)} %`;
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);

const LONGEST_SHOWN = 80;

function shortened(text: string): string {
  // a backtick would end the code it is shown as
  const line = text.replace(/\s+/g, ' ').replaceAll('`', '′');
  return line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)} …` : line;
}
