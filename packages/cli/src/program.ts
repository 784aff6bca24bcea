/** The command line: names, options and their checks. What the commands do is in `commands/`, one file each. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { EXPORT_FORMATS, type ExportFormat } from '@contractrl/grammar-mask/export';
import { adapterFolder, DEFAULT_ADAPTER_NAME, formatUnknownAdapter, NODE_ENGINE_WISHES, SHIPPED_ADAPTER_NAMES, type NodeEngineWish } from '@contractrl/runtime-webgpu/node';
import { SERVER_DIALECTS, type ServerDialect } from '@contractrl/runtime-webgpu/server';
import { contractCommand } from './commands/contract.ts';
import { grammarCommand } from './commands/grammar.ts';
import { EXPORT_LEDGER_FORMATS, ledgerExportCommand, type LedgerExportFormat } from './commands/ledger-export.ts';
import { ledgerReplayCommand } from './commands/ledger-replay.ts';
import { ledgerShowCommand } from './commands/ledger-show.ts';
import { ledgerHeadCommand, ledgerVerifyCommand } from './commands/ledger.ts';
import { enginesCommand, modelCommand, type ModelAction } from './commands/model.ts';
import { repairCommand } from './commands/repair.ts';
import { trainCommand } from './commands/train.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import type { Io } from './io.ts';
import type { OutputFormat } from './output-format.ts';
import { ERRORS_FORMATS, type ErrorsFormat } from './reporter.ts';
import { PROVENANCE, type Provenance, type Services, type SessionOptions } from './services.ts';
import { VERSION } from './version.ts';

interface RepairFlags {
  /** False for `--no-model`. */
  readonly model?: string | false;
  readonly adapter?: string;
  readonly offline: boolean;
  readonly seed: number;
  readonly temperature: number;
  readonly maxTokens?: number;
  readonly threads?: number;
  readonly engine: NodeEngineWish;
  readonly provenance: Provenance;
  readonly release: SessionOptions['release'];
  readonly server?: string;
  readonly serverKind: ServerDialect;
  readonly serverModel?: string;
  readonly ledger?: string;
  readonly ledgerKey?: string;
  readonly errors?: ErrorsFormat;
  readonly changes?: 'json';
  readonly json?: boolean;
  readonly jsonl?: boolean;
  readonly human?: boolean;
}

const TRAIN_NOTES = `
Exit codes: 0 there is an adapter, 1 there is none and the code says why, 2 wrong usage, 130 stopped by Ctrl-C; --resume goes on.`;

interface TrainFlags {
  readonly tools: string;
  readonly traces?: readonly string[];
  readonly rank: number;
  readonly minutes: number;
  readonly examples?: number;
  readonly out?: string;
  readonly resume: boolean;
  readonly seed: number;
  readonly base?: string;
  readonly from?: string;
  readonly general: number;
  readonly split: (typeof SPLITS)[number];
  readonly allowOverlap: boolean;
  readonly data?: string;
  readonly json: boolean;
}

const SPLITS = ['request', 'tool'] as const;

const EXAMPLES = `
Examples:
  contractrl repair call.json                  one call, shown to a person
  contractrl repair calls.jsonl > fixed.jsonl  many calls, one record a line
  cat call.json | contractrl repair - --json   from standard input
  contractrl repair calls.jsonl --ledger repairs.jsonl
  contractrl ledger verify repairs.jsonl
  contractrl train --tools tools.json --traces repairs.jsonl --minutes 60
`;

const GRAMMAR_EXAMPLES = `
Examples:
  contractrl grammar call.json --format gbnf > patch.gbnf
  cat call.json | contractrl grammar - --format json-schema
`;

const EXIT_CODES = `
Exit codes: 0 valid or repaired, 1 not repaired, 2 wrong usage, 3 abstained, 4 refused by a gate, 5 ledger broken, 130 stopped by Ctrl-C.
For many records the worst counts, in the order 5, 1, 4, 3, 0.`;

/** Runs the words after the program's name; resolves to the exit code and never throws for what a user can do wrong. */
export async function runCli(words: readonly string[], io: Io, services: Services): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  // Commander writes without waiting; what it wrote is awaited before the end.
  const writes: Promise<void>[] = [];
  const program = createProgram((action) => async (...given) => { code = await action(...given); }, io, services);
  forEachCommand(program, (command) => command.exitOverride().configureOutput({
    writeOut: (text) => writes.push(io.stdout.write(text)),
    writeErr: (text) => writes.push(io.stderr.write(text)),
    getOutHelpWidth: () => 100,
    getErrHelpWidth: () => 100,
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  }));
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    code = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  await Promise.all(writes);
  return code;
}

type Action = (...given: never[]) => Promise<ExitCode>;
type Wrap = <A extends Action>(action: A) => (...given: Parameters<A>) => Promise<void>;

function createProgram(wrap: Wrap, io: Io, services: Services): Command {
  const program = new Command('contractrl')
    .description('Repairs failed tool calls with a small local model, under a contract, and verifies the ledger of what it did.')
    .version(VERSION, '-V, --version')
    .addHelpText('after', EXAMPLES + EXIT_CODES);

  program.command('repair')
    .description('Repair one failed call (a JSON document) or many (JSON Lines).')
    .argument('<file>', 'input file, or - for standard input')
    .option('--model <path>', 'GGUF file of a Llama or Qwen chat model instead of the default one')
    .option('--no-model', 'repair only what is certain without a model, and decline the rest')
    .option('--adapter <name|path>', `LoRA adapter: one that ships (${SHIPPED_ADAPTER_NAMES.join(', ')}), a folder with a slash (./${DEFAULT_ADAPTER_NAME}), or "none" for the bare model; the default model has ${DEFAULT_ADAPTER_NAME}`, parseAdapter)
    .option('--offline', 'fetch nothing: use what is in the cache', false)
    .option('--seed <n>', 'seed of sampling', integerFrom(0), 0)
    .option('--temperature <t>', '0 is greedy', parseTemperature, 0)
    .option('--max-tokens <n>', 'most tokens one attempt may generate', integerFrom(1))
    .option('--threads <n>', 'threads of the model', integerFrom(1))
    .addOption(new Option('--engine <name>', 'where the model runs; webgpu and auto test the graphics adapter first').choices(NODE_ENGINE_WISHES).default('cpu'))
    .addOption(new Option('--provenance <how>', 'write values of the request, the call and the schema: preferably, or only').choices(PROVENANCE).default('off'))
    .addOption(new Option('--release <rule>', 'withhold patches of low confidence: as the adapter\'s calibration says, never, or below this probability of being right (auto, off, 0 to 1)')
      .argParser(parseRelease).default('auto'))
    .addOption(new Option('--server <url>', 'ask this server of the OpenAI protocol (…/v1) instead of a model in this process; CONTRACTRL_SERVER_KEY is its key')
      .argParser(parseServerUrl).conflicts(['model', 'adapter', 'threads', 'engine', 'provenance', 'release', 'offline']))
    .addOption(new Option('--server-kind <kind>', 'how it takes a grammar').choices(SERVER_DIALECTS).default('llama.cpp'))
    .option('--server-model <name>', 'the model, as the server names it')
    .option('--ledger <file>', 'append what happened to this hash-chained ledger')
    .option('--ledger-key <file>', 'hide arguments, values and contract in the ledger: digests keyed with this file')
    .addOption(new Option('--errors <form>', 'print the verifier report on standard error').choices(ERRORS_FORMATS))
    .addOption(new Option('--changes <form>', 'print only the applied patch (RFC 6902), null where there is none').choices(['json']).conflicts(['json', 'jsonl', 'human']))
    .addOption(new Option('--json', 'print one indented record').conflicts(['jsonl', 'human']))
    .addOption(new Option('--jsonl', 'print one record a line (default for JSON Lines input)').conflicts(['human']))
    .addOption(new Option('--human', 'print for a person (default for one document on a terminal)'))
    .addHelpText('after', EXAMPLES + EXIT_CODES)
    .action(wrap((path: string, flags: RepairFlags) => repairCommand(path, {
      model: flags.model === false ? undefined : flags.model,
      withoutModel: flags.model === false,
      adapter: flags.adapter,
      offline: flags.offline,
      seed: flags.seed,
      temperature: flags.temperature,
      maxTokens: flags.maxTokens,
      threads: flags.threads,
      engine: flags.engine,
      provenance: flags.provenance,
      release: flags.release,
      server: flags.server === undefined ? undefined : { baseUrl: flags.server, dialect: flags.serverKind, model: flags.serverModel, apiKey: io.env['CONTRACTRL_SERVER_KEY'] },
      ledger: flags.ledger,
      ledgerKey: flags.ledgerKey,
      errors: flags.errors,
      format: toFormat(flags),
    }, io, services)));

  const ledger = program.command('ledger').description('Work with the ledger of repairs.');
  ledger.command('verify')
    .description('Check the hash chain of a ledger; names the first broken row. Exit code 5 where there is one.')
    .argument('<file>', 'ledger file')
    .option('--json', 'print {"ok", "count", "head"} or {"ok", "brokenAt", "code"}')
    .option('--head <file>', 'a head kept elsewhere: the ledger must pass through it, so that rows cut off its end are seen')
    .option('--public-key <pem>', 'the Ed25519 key that the head must be signed with')
    .action(wrap((path: string, flags: { readonly json?: boolean; readonly head?: string; readonly publicKey?: string }) =>
      ledgerVerifyCommand(path, { json: flags.json === true, head: flags.head, publicKey: flags.publicKey }, io)));
  ledger.command('head')
    .description('Print the head of a whole ledger, to be kept elsewhere.')
    .argument('<file>', 'ledger file')
    .option('--private-key <pem>', 'sign it with this Ed25519 key')
    .action(wrap((path: string, flags: { readonly privateKey?: string }) => ledgerHeadCommand(path, flags.privateKey, io)));
  ledger.command('show')
    .description('List the repairs of a whole ledger, one a line.')
    .argument('<file>', 'ledger file')
    .option('--case <id>', 'only this case, with everything that happened in it')
    .action(wrap((path: string, flags: { readonly case?: string }) => ledgerShowCommand(path, flags.case, io)));
  ledger.command('replay')
    .description('Judge every repair again from what is on record, without the model. Exit code 5 where one comes out otherwise.')
    .argument('<file>', 'ledger file')
    .option('--json', 'print {"ok", "repairs", "judgedAgain", "notChecked"}')
    .action(wrap((path: string, flags: { readonly json?: boolean }) => ledgerReplayCommand(path, flags.json === true, io)));
  ledger.command('export')
    .description('Print the repairs of a whole ledger for other tools.')
    .argument('<file>', 'ledger file')
    .addOption(new Option('--format <format>', 'csv, one line a repair; parquet, one row a repair; or an in-toto statement about the file').choices(EXPORT_LEDGER_FORMATS).makeOptionMandatory())
    .action(wrap((path: string, { format }: { readonly format: LedgerExportFormat }) => ledgerExportCommand(path, format, io)));

  program.command('contract')
    .description('Check contracts and tool definitions (OpenAI, Anthropic, MCP): prints the digest of each that loads, what was converted, and why others are refused.')
    .argument('<file>', 'one document, a list of them, or one a line; - for standard input')
    .option('--python-types', 'read dict, float, list, tuple, any, str, int, bool and None as JSON types', false)
    .option('--json', 'print one record a line', false)
    .action(wrap((path: string, flags: { readonly pythonTypes: boolean; readonly json: boolean }) => contractCommand(path, flags, io)));

  program.command('grammar')
    .description('Print the patches that a failed call\'s contract admits as a grammar for another engine. What the format cannot carry is named on standard error.')
    .argument('<file>', 'one record as for repair, or - for standard input')
    .addOption(new Option('--format <format>', 'gbnf for llama.cpp, lark for llguidance, json-schema of the parsed answer').choices(EXPORT_FORMATS).makeOptionMandatory())
    .addHelpText('after', GRAMMAR_EXAMPLES)
    .action(wrap((path: string, { format }: { readonly format: ExportFormat }) => grammarCommand(path, format, io)));

  program.command('train')
    .description('Train an adapter for your own tools: makes failed calls of them with their repairs, trains, and measures before and after.')
    .requiredOption('--tools <file>', 'tool definitions (OpenAI, Anthropic, MCP, plain JSON Schema) or contracts, in one JSON file')
    .option('--traces <files...>', 'ledgers, or JSON Lines of {"request", "tool", "arguments"}: calls that were right')
    .option('--rank <n>', 'rank of the adapter', integerFrom(1, 256), 8)
    .option('--minutes <n>', 'time for everything', integerFrom(1), 60)
    .option('--examples <n>', 'failed calls to make; default what the time is likely to be enough for', integerFrom(1))
    .option('--out <folder>', 'folder of the run; the adapter is in adapter/ below it (default: adapter-r<rank>)')
    .option('--resume', 'go on with the run in that folder', false)
    .option('--seed <n>', 'seed of data and training', integerFrom(0), 13)
    .option('--base <path>', 'GGUF file of a Llama or Qwen chat model instead of the default one')
    .option('--from <name>', 'adapter to begin with: one that ships, a folder as a path with a slash, or "none" (default: the one of that rank that ships, if it is for this base)', parseAdapter)
    .option('--general <share>', 'share of examples of other tools, so that nothing is forgotten', parseGeneralShare, 0.4)
    .addOption(new Option('--split <by>', 'what validation shares nothing with training in').choices(SPLITS).default('request'))
    .option('--allow-overlap', 'train though tools or calls are in public evaluation sets; the card then says so', false)
    .option('--data <folder>', 'folder of public and evaluation sets instead of those that come with the trainer')
    .option('--json', 'print one record', false)
    .addHelpText('after', TRAIN_NOTES)
    .action(wrap(({ split, general, tools, traces = [], out, examples, base, from, data, ...flags }: TrainFlags) => trainCommand({ ...flags, tools, traces, out, examples, base, from, data, splitBy: split, generalShare: general }, io, services)));

  const model = program.command('model').description('The base model in the cache of this user, and what it would run on.');
  const actions: readonly (readonly [ModelAction, string])[] = [
    ['fetch', 'Fetch the model if it is not there, verify it, and print its path.'],
    ['path', 'Print where the model is or would be.'],
    ['verify', 'Compare the model in the cache with its pinned SHA-256.'],
  ];
  for (const [action, description] of actions) {
    model.command(action)
      .description(description)
      .option('--model <path>', 'model file instead of the default one')
      .option('--offline', 'fetch nothing', false)
      .action(wrap((flags: { readonly model?: string; readonly offline: boolean }) => modelCommand(action, { model: flags.model, offline: flags.offline }, io, services)));
  }
  model.command('engines')
    .description('Test what the model can run on here: prints what --engine auto takes, and why not the other. Needs no model.')
    .action(wrap(() => enginesCommand(io, services)));
  return program;
}

function forEachCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) forEachCommand(child, visit);
}

function toFormat(flags: RepairFlags): OutputFormat | undefined {
  if (flags.changes !== undefined) return 'changes';
  if (flags.human === true) return 'human';
  if (flags.jsonl === true) return 'jsonl';
  return flags.json === true ? 'json' : undefined;
}

function integerFrom(lowest: number, highest: number = 0xffff_ffff): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d{1,10}$/u.test(text) || value < lowest || value > highest) throw new InvalidArgumentError(`Give a whole number from ${lowest} to ${highest}.`);
    return value;
  };
}

/** With nothing of one's own there is nothing to train for. */
function parseGeneralShare(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/u.test(text) || value > 0.9) throw new InvalidArgumentError('Give a number from 0 to 0.9.');
  return value;
}

function parseTemperature(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/u.test(text) || value > 2) throw new InvalidArgumentError('Give a number from 0 to 2.');
  return value;
}

function parseRelease(text: string): SessionOptions['release'] {
  if (text === 'auto' || text === 'off') return text;
  const threshold = Number(text);
  if (!/^\d(\.\d+)?$/u.test(text) || threshold > 1) throw new InvalidArgumentError('Give auto, off, or a number from 0 to 1.');
  return { threshold };
}

/** A word that is no name is wrong usage, before anything is read or opened. */
function parseAdapter(text: string): string {
  const folder = adapterFolder(text);
  if (!folder.ok) throw new InvalidArgumentError(`${formatUnknownAdapter(folder.error)} [${folder.error.code}]`);
  return text;
}

function parseServerUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/u.test(new URL(text).protocol)) throw new InvalidArgumentError('Give an http or https address.');
  return text;
}
