/**
 * `npm run bench:baseline`: the bug reports and the 64 BFCL corruptions through the production loop, without and with the default
 * adapter, beside full regeneration by the same base model, Ajv coercion and the deterministic step. Writes a run with its report; an unsafe dispatch, or gold in a prompt, fails it.
 */
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError, Option } from 'commander';
import { createRepairer } from '@contractrl/runtime-webgpu';
import { openRuntime, type Runtime } from '@contractrl/runtime-webgpu/node';
import { ajvCoercion } from './arms/ajv-coercion.ts';
import type { Arm } from './arms/arm.ts';
import { contractRepair, GOAL_RULES, PAPER_RULES } from './arms/contract-repair.ts';
import { deterministicOnly } from './arms/deterministic-only.ts';
import { fullRegeneration } from './arms/full-regeneration.ts';
import { BFCL_FILE, BFCL_SEED } from './datasets/bfcl-corruptions.ts';
import { BUGCASES_FILE } from './datasets/bugcases.ts';
import { COHORTS } from './datasets/case.ts';
import { describeArms, surroundings } from './manifest.ts';
import { recordPrompts } from './prompt-recorder.ts';
import { baselineCases, conclude, readRun, writeResults } from './results.ts';
import { runArms } from './run.ts';
import { formatLeak, leakageOf, leaksIn, sealedGold, type ShownTexts } from './score.ts';

const ARM_NAMES = ['adapter', 'adapter-goal', 'base', 'full-regeneration', 'ajv-coercion', 'deterministic', 'deterministic-open', 'deterministic-adapter', 'deterministic-prefer', 'deterministic-require'] as const;
type ArmName = (typeof ARM_NAMES)[number];

interface Options {
  readonly limit?: number;
  readonly arms: readonly ArmName[];
  readonly out: string;
  readonly model?: string;
  readonly report?: true;
}

const clock = (): number => performance.now();

const command = new Command('bench:baseline')
  .description('Runs the baseline comparison and writes its raw records and its report.')
  .addOption(new Option('--limit <count>', 'only the first cases of each cohort, to try things out').argParser(positive))
  .addOption(new Option('--arms <names...>', 'which arms to run').choices(ARM_NAMES).default([...ARM_NAMES]))
  .option('--out <folder>', 'where the run is written', fileURLToPath(new URL('../results/baseline', import.meta.url)))
  .option('--model <file>', 'the base model, instead of the one in the cache')
  .option('--report', 'run nothing: score and render anew what the folder holds')
  .action(main);

await command.parseAsync();

async function main(options: Options): Promise<void> {
  if (options.report === true) return renderAnew(options.out);
  const cancel = new AbortController();
  process.once('SIGINT', () => cancel.abort());
  const runtime = await openRuntime({ signal: cancel.signal, ...(options.model === undefined ? {} : { model: options.model }) });
  if (!runtime.ok) {
    console.error(`${runtime.error.message} (${runtime.error.code})`);
    process.exitCode = 1;
    return;
  }
  const cases = limitEach(options.limit ?? Infinity);
  const prompts = recordPrompts(runtime.value.tokenizer);
  const shown: ShownTexts[] = [];
  const arms = openArms({ ...runtime.value, tokenizer: prompts.tokenizer }).filter((arm) => options.arms.some((name) => name === arm.name));
  const run = await runArms(cases, arms, cancel.signal, ({ done, total, arm, id, status }) => {
    shown.push({ arm, id, texts: prompts.take() });
    process.stderr.write(`${String(done).padStart(4)} of ${String(total)}  ${arm}  ${id}  ${status}\n`);
  });
  await runtime.value.engine.dispose();
  if (run === undefined) {
    console.error('Cancelled: nothing was written.');
    process.exitCode = 1;
    return;
  }
  const leakage = leakageOf(shown, leaksIn(run, baselineCases(), shown, sealedGold()));
  const draft = {
    ...surroundings(BFCL_SEED, [BUGCASES_FILE, BFCL_FILE]), title: 'Baseline: repairing failed tool calls', caseCount: cases.length, arms: describeArms(arms), leakage,
  };
  const results = conclude(draft, run);
  await writeResults(options.out, results);
  console.log(results.report);
  console.log(`Written to ${options.out}`);
  const unsafe = results.scores.filter((score) => score.unsafe !== null);
  for (const { arm, id, unsafe: reason } of unsafe) console.error(`Unsafe dispatch: ${arm} on ${id} (${String(reason)})`);
  for (const leak of leakage.leaks) console.error(formatLeak(leak));
  if (unsafe.length > 0 || leakage.leaks.length > 0) process.exitCode = 1;
}

async function renderAnew(folder: string): Promise<void> {
  const raw = await readRun(folder);
  if (raw.ok) return writeResults(folder, conclude(raw.value.manifest, raw.value.run));
  console.error(`${folder}: ${JSON.stringify(raw.error)}`);
  process.exitCode = 1;
}

function openArms({ engine, tokenizer, vocabulary, adapter }: Runtime): readonly Arm[] {
  const repairer = createRepairer({ engine, tokenizer, vocabulary, clock });
  return [
    contractRepair({ name: 'adapter', description: 'the production loop, mask and engine with the default adapter, without the deterministic step; greedy.' }, { repairer, engine, adapter, rules: PAPER_RULES, deterministic: false }),
    contractRepair({ name: 'adapter-goal', description: 'the same with goal-directed closing: no operation without effect, and a patch closes only where it makes the call valid.' }, { repairer, engine, adapter, rules: GOAL_RULES, deterministic: false }),
    contractRepair({ name: 'base', description: 'the same with the bare base model, without an adapter.' }, { repairer, engine, adapter: undefined, rules: PAPER_RULES, deterministic: false }),
    fullRegeneration({ engine, tokenizer, vocabulary, clock }),
    ajvCoercion(clock),
    deterministicOnly(clock),
    contractRepair({ name: 'deterministic-open', description: '`deterministic`, and for what it leaves the adapter, whose patches may close without making the call valid.' }, { repairer, engine, adapter, rules: { excludeNoOps: true, goal: false }, deterministic: true }),
    contractRepair({ name: 'deterministic-adapter', description: '`deterministic`, and `adapter-goal` for what it leaves.' }, { repairer, engine, adapter, rules: GOAL_RULES, deterministic: true }),
    contractRepair({ name: 'deterministic-prefer', description: 'the same with values of the request, the call and the schema, unless the policy puts more than half its weight on others.' }, { repairer, engine, adapter, rules: { ...GOAL_RULES, provenance: 'prefer' }, deterministic: true }),
    contractRepair({ name: 'deterministic-require', description: 'the same with such values only.' }, { repairer, engine, adapter, rules: { ...GOAL_RULES, provenance: 'require' }, deterministic: true }),
  ];
}

/** The first `limit` cases of every cohort, in order. */
function limitEach(limit: number): ReturnType<typeof baselineCases> {
  const cases = baselineCases();
  return COHORTS.flatMap((cohort) => cases.filter((one) => one.cohort === cohort).slice(0, limit));
}

function positive(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('must be a whole number above 0');
  return count;
}
