/**
 * `contractrl contract`: whether contracts and tool definitions can be honoured. A file may hold one, a list of them, or one a line; contract documents and
 * the definitions of OpenAI, Anthropic and MCP are told apart by their members. For scripts one record each; else a line each, and one for each note.
 */
import { loadContract, isJsonArray, isJsonObject, ok, parseJson, type Contract, type ContractIssue, type JsonValue, type Result } from '@contractrl/core';
import {
  contractFromAnthropic, contractFromMcp, contractFromOpenAi, formatSource, type SourcedContract, type SourceIssue, type SourceNote, type SourceOptions,
} from '@contractrl/core/sources';
import { EXIT, worse, type ExitCode } from '../exit-code.ts';
import { readInput, type InputRecord } from '../input.ts';
import { colorsFor, type Io } from '../io.ts';
import { reportProblem, toInputProblem } from '../problem.ts';
import { toSafeText } from '../render/text.ts';

export interface ContractOptions {
  readonly pythonTypes: boolean;
  readonly json: boolean;
}

interface Checked {
  readonly contract: Result<Contract, ContractIssue | SourceIssue>;
  readonly notes: readonly SourceNote[];
}

/** `path` is a file, or `-` for standard input. */
export async function contractCommand(path: string, options: ContractOptions, io: Io): Promise<ExitCode> {
  const input = await readInput(path, io);
  if (io.signal.aborted) return EXIT.interrupted;
  if (!input.ok) {
    await reportProblem(toInputProblem(input.error), io);
    return EXIT.usage;
  }
  let code: ExitCode = EXIT.ok;
  for (const record of input.value.records) {
    const definitions = definitionsIn(record);
    if (definitions === undefined) {
      await reportProblem({ code: 'input/not-json', message: `Line ${record.line} is not one JSON value: write one definition a line, or one document.` }, io);
      code = worse(code, EXIT.notRepaired);
    }
    for (const definition of definitions ?? []) {
      const checked = check(definition, options);
      await io.stdout.write(options.json ? `${JSON.stringify(toRecord(checked))}\n` : toText(checked, io));
      if (!checked.contract.ok) code = worse(code, EXIT.notRepaired);
    }
  }
  return code;
}

function definitionsIn(record: InputRecord): readonly JsonValue[] | undefined {
  const parsed = record.kind === 'text' ? parseJson(record.text) : undefined;
  if (parsed?.ok !== true) return undefined;
  return isJsonArray(parsed.value) ? parsed.value : [parsed.value];
}

function check(definition: JsonValue, options: SourceOptions): Checked {
  const source = readDefinition(definition, options);
  return source.ok ? { contract: loadContract(source.value.document), notes: source.value.notes } : { contract: source, notes: [] };
}

function readDefinition(definition: JsonValue, options: SourceOptions): Result<SourcedContract, SourceIssue> {
  if (isJsonObject(definition)) {
    if (Object.hasOwn(definition, 'tool')) return ok({ document: definition, notes: [] });
    if (Object.hasOwn(definition, 'inputSchema')) return contractFromMcp(definition, options);
    if (Object.hasOwn(definition, 'input_schema')) return contractFromAnthropic(definition, options);
  }
  return contractFromOpenAi(definition, options);
}

function toRecord({ contract, notes }: Checked): unknown {
  if (!contract.ok) return { ok: false, ...contract.error };
  const { document, digest, dialect, annotations } = contract.value;
  return { ok: true, name: document.tool.name, digest, dialect, annotations, notes };
}

function toText({ contract, notes }: Checked, io: Io): string {
  const colors = colorsFor(io.stdout, io.env);
  if (!contract.ok) return `${colors.red('refused')}  ${toSafeText(formatSource(contract.error))} ${colors.dim(`[${contract.error.code}]`)}\n`;
  const { document, digest, annotations } = contract.value;
  const unknown = annotations.map(({ name, keywordLocation }) => `At "${keywordLocation}": "${name}" is not known and binds nothing.`);
  const lines = [...notes.map(formatSource), ...unknown].map((line) => `  note: ${toSafeText(line)}\n`);
  return `${colors.green('loads')}    ${toSafeText(document.tool.name)}  ${digest}\n${lines.join('')}`;
}
