/**
 * The sandbox part of `npm run bench:baseline`: spoilt calls in trajectories of a shop, repaired and executed. The arms that need no model always run, the
 * others where the model is in the cache or can be fetched. An unsafe dispatch, gold in a prompt, or an arm under other conditions fails the run.
 */
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { createRepairer } from '@contractrl/runtime-webgpu';
import { openRuntime, type Runtime } from '@contractrl/runtime-webgpu/node';
import { ajvCoercion } from '../arms/ajv-coercion.ts';
import type { Arm } from '../arms/arm.ts';
import { contractRepair, GOAL_RULES } from '../arms/contract-repair.ts';
import { deterministicOnly } from '../arms/deterministic-only.ts';
import { describeArms, surroundings } from '../manifest.ts';
import { recordPrompts } from '../prompt-recorder.ts';
import { formatLeak, leakageOf, type ShownTexts } from '../score.ts';
import { RETAIL_FILE, retailShop, sandboxEpisodes, SANDBOX_SEED } from './episodes.ts';
import { concludeSandbox, readSandbox, sandboxData, writeSandbox, type SandboxData } from './results.ts';
import { runSandbox } from './run.ts';
import { sandboxLeaks } from './score.ts';

interface Options {
  readonly out: string;
  readonly model?: string;
  readonly withoutModel?: true;
  readonly report?: true;
}

const clock = (): number => performance.now();

await new Command('sandbox')
  .description('Repairs and executes spoilt calls of the sandbox, and writes raw records and report.')
  .option('--out <folder>', 'where the run is written', fileURLToPath(new URL('../../results/sandbox', import.meta.url)))
  .option('--model <file>', 'the base model, instead of the one in the cache')
  .option('--without-model', 'only the arms that need none')
  .option('--report', 'run nothing: score and render anew what the folder holds')
  .action(main)
  .parseAsync();

async function main(options: Options): Promise<void> {
  const data = await sandboxData();
  if (options.report === true) return renderAnew(options.out, data);
  const cancel = new AbortController();
  process.once('SIGINT', () => cancel.abort());
  const runtime = options.withoutModel === true ? undefined : await openRuntime({ signal: cancel.signal, ...(options.model === undefined ? {} : { model: options.model }) });
  if (runtime?.ok === false) console.error(`Without the arm that needs the model: ${runtime.error.message} (${runtime.error.code})`);
  const prompts = runtime?.ok === true ? recordPrompts(runtime.value.tokenizer) : undefined;
  const arms = [
    ajvCoercion(clock), deterministicOnly(clock),
    ...(runtime?.ok === true && prompts !== undefined ? modelArms({ ...runtime.value, tokenizer: prompts.tokenizer }) : []),
  ];
  const shown: ShownTexts[] = [];
  const episodes = sandboxEpisodes();
  const run = await runSandbox(retailShop(), episodes, arms, cancel.signal, ({ done, total, arm, id, status }) => {
    shown.push({ arm, id, texts: prompts?.take() ?? [] });
    process.stderr.write(`${String(done).padStart(4)} of ${String(total)}  ${arm}  ${id}  ${status}\n`);
  });
  if (runtime?.ok === true) await runtime.value.engine.dispose();
  if (run === undefined) return fail('Cancelled: nothing was written.');
  const title = 'Sandbox: repaired calls, executed';
  const leakage = leakageOf(shown, sandboxLeaks(run, data.cases, shown, data.gold));
  const results = await concludeSandbox({ ...surroundings(SANDBOX_SEED, [RETAIL_FILE]), title, caseCount: episodes.length, arms: describeArms(arms), leakage }, run, data);
  if (!results.ok) return fail(JSON.stringify(results.error));
  await writeSandbox(options.out, results.value);
  console.log(results.value.report);
  console.log(`Written to ${options.out}`);
  for (const { arm, id, unsafe } of results.value.sheet.filter((row) => row.unsafe !== null)) fail(`Unsafe dispatch: ${arm} on ${id} (${String(unsafe)})`);
  for (const leak of leakage.leaks) fail(formatLeak(leak));
}

function modelArms({ engine, tokenizer, vocabulary, adapter }: Runtime): readonly Arm[] {
  const parts = { repairer: createRepairer({ engine, tokenizer, vocabulary, clock }), engine, adapter, deterministic: true };
  return [
    contractRepair({ name: 'deterministic-adapter', description: '`deterministic`, and for what it leaves the default adapter with goal-directed closing.' }, { ...parts, rules: GOAL_RULES }),
    contractRepair({ name: 'deterministic-require', description: 'the same with values of the dialogue, the call and the schema only.' }, { ...parts, rules: { ...GOAL_RULES, provenance: 'require' } }),
  ];
}

async function renderAnew(folder: string, data: SandboxData): Promise<void> {
  const results = await readSandbox(folder, data);
  if (!results.ok) return fail(`${folder}: ${JSON.stringify(results.error)}`);
  await writeSandbox(folder, results.value);
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
