/**
 * `npm run bench:mask`: measures the mask beside its peers, part by part, and writes the report. `vocabularies` lays the larger vocabularies
 * where the long counts of grammar-mask read them; `measure` runs parts; `report` renders from what is there.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { Argument, Command, Option } from 'commander';
import { measureEntrySizes } from '../entry-size.ts';
import { countRefusedKeywords } from './keyword-frequency.ts';
import { baselineOf, BASELINE_FILE } from './maskbench-baseline.ts';
import { dataFolder, runMaskBench } from './maskbench.ts';
import { joinMutationRuns } from '../mutation/outcomes.ts';
import { measureOwnSpeed, readDecodeCosts } from './own-speed.ts';
import { contractrl } from './peers/contractrl.ts';
import { loadStructuredOutput, structuredOutput, structuredOutputPackageFile } from './peers/structured-output.ts';
import { xgrammar, xgrammarPackageFile } from './peers/xgrammar.ts';
import { surroundingsNow } from '../parts.ts';
import { PART_NAMES, readPart, writePart, writeReport, type CountTally, type PartName, type Parts } from './results.ts';
import { joinSpeedRuns, measureSpeed, type SpeedRun } from './speed.ts';
import { greedyEncoder, loadTokens, VOCABULARY_NAMES, vocabularyOf, type VocabularyName } from './vocabularies.ts';
import { askWrongAnswers } from './wrong-answers.ts';

const RESULTS = fileURLToPath(new URL('../../results/mask', import.meta.url));
const PACKAGES = fileURLToPath(new URL('../../../packages', import.meta.url));
/** The vocabulary that MaskBench was recorded with. */
const MASKBENCH_VOCABULARY = '128k';

const log = (line: string): void => { process.stderr.write(`${line}\n`); };

const program = new Command('bench:mask').description('Measures the contract mask beside its peers.');
program.command('vocabularies').argument('<folder>', 'where the long counts read them').action(writeVocabularies);
program.command('measure')
  .addArgument(new Argument('<parts...>', 'what to measure').choices(PART_NAMES))
  .option('--counts <folder>', 'where the long counts wrote theirs')
  .option('--mutants <file>', 'what `npm run mutate` wrote')
  .addOption(new Option('--vocabularies <names...>', 'which ones the parts speed and own measure anew').choices(VOCABULARY_NAMES).default([...VOCABULARY_NAMES]))
  .option('--out <folder>', 'where raw results are written', RESULTS)
  .action(measure);
program.command('report').option('--out <folder>', 'where the raw results are', RESULTS).action(report);
await program.parseAsync();

/** The form that `packages/grammar-mask/tests/vocabularies.count.ts` reads. */
function writeVocabularies(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of VOCABULARY_NAMES.filter((name) => name !== '49k')) {
    const { stopId, tokens } = loadTokens(name);
    const text = JSON.stringify({ stopId, tokens: tokens.map((bytes) => (bytes === undefined ? null : Buffer.from(bytes).toString('base64'))) });
    writeFileSync(join(folder, `vocabulary-${name}.json.gz`), gzipSync(text));
  }
}

interface MeasureOptions {
  readonly out: string;
  readonly counts?: string;
  readonly mutants?: string;
  readonly vocabularies: readonly VocabularyName[];
}

async function measure(parts: readonly PartName[], options: MeasureOptions): Promise<void> {
  for (const part of parts) {
    log(`measuring ${part}`);
    if (part === 'speed' || part === 'own') {
      await (part === 'speed' ? measureSpeeds(options) : measureOwnSpeeds(options));
      continue;
    }
    const surroundings = surroundingsNow();
    const result = await measurePart(part, options);
    if (result === undefined) log(`${part}: left as it is`);
    else await writePart<PartName>(options.out, part, { surroundings, result });
  }
}

/** Written after each vocabulary: minutes of work. */
async function measureSpeeds({ out, vocabularies }: MeasureOptions): Promise<void> {
  await loadStructuredOutput();
  const surroundings = surroundingsNow();
  let all: SpeedRun | undefined = readPart(out, 'speed')?.result;
  for (const name of vocabularies) {
    all = joinSpeedRuns(all, await measureSpeed(loadTokens(name), [contractrl, xgrammar, structuredOutput], log));
    await writePart(out, 'speed', { surroundings, result: all });
  }
}

async function measureOwnSpeeds({ out, vocabularies }: MeasureOptions): Promise<void> {
  const surroundings = surroundingsNow();
  const kept = readPart(out, 'own')?.result.cells.filter(({ vocabulary }) => !vocabularies.includes(vocabulary)) ?? [];
  const measured = [];
  for (const name of vocabularies) measured.push(await measureOwnSpeed(loadTokens(name), log));
  await writePart(out, 'own', { surroundings, result: { cells: [...kept, ...measured], decode: readDecodeCosts() } });
}

/** Undefined where what it needs is not at hand. */
async function measurePart(part: Exclude<PartName, 'speed' | 'own'>, { out, counts, mutants }: MeasureOptions): Promise<Parts[PartName] | undefined> {
  const data = dataFolder();
  switch (part) {
    case 'counts': return counts === undefined ? undefined : readCounts(counts);
    case 'maskbench': return data === undefined ? missingData() : measureMaskBench(data);
    case 'keywords': return data === undefined ? missingData() : countRefusedKeywords(data);
    case 'answers': return askWrongAnswers();
    case 'sizes': return measureSizes();
    case 'mutation': return mutants === undefined ? undefined : joinMutationRuns(readPart(out, 'mutation')?.result, JSON.parse(readFileSync(mutants, 'utf8')) as Parameters<typeof joinMutationRuns>[1]);
  }
}

function missingData(): undefined {
  log('CONTRACTRL_DATA names no folder with MaskBench: its data has no licence to be redistributed');
}

function readCounts(folder: string): Parts['counts'] {
  const names = readdirSync(folder).filter((name) => /^count-.*\.json$/.test(name)).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  return Object.fromEntries(names.map((name) => [name.replace(/^count-(.*)\.json$/, '$1'), JSON.parse(readFileSync(join(folder, name), 'utf8')) as CountTally]));
}

function measureMaskBench(data: string): Parts['maskbench'] {
  const list = loadTokens(MASKBENCH_VOCABULARY);
  const encode = greedyEncoder(list);
  const run = runMaskBench(data, Infinity, { vocabulary: vocabularyOf(list, encode), name: MASKBENCH_VOCABULARY, encode }, log);
  writeFileSync(BASELINE_FILE, `${JSON.stringify(baselineOf(data, run), null, 2)}\n`);
  return run;
}

async function measureSizes(): Promise<Parts['sizes'] | undefined> {
  if (!existsSync(join(PACKAGES, 'grammar-mask', 'dist', 'index.js'))) return undefined;
  const own = (await measureEntrySizes(PACKAGES)).find(({ entry }) => entry === '@contractrl/grammar-mask')!;
  const published = (file: string): number => gzipSync(readFileSync(file)).length;
  return { gzipBytes: { 'contractrl': own.ownGzipBytes, 'web-xgrammar': published(xgrammarPackageFile), 'structured-output': published(structuredOutputPackageFile) } };
}

async function report({ out }: { readonly out: string }): Promise<void> {
  const written = await writeReport(out);
  if (written.ok) return;
  log(JSON.stringify(written.error));
  process.exitCode = 1;
}
