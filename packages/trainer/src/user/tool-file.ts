/**
 * A user's tools as contracts: definitions of OpenAI, Anthropic and MCP, plain `{ name, description, schema }`, and contract documents, one, a list, or what a
 * server or a request wraps them in (`tools`, `functions`, `result`). What no contract can honour is named and left out: nothing could repair its calls.
 */
import { err, isJsonArray, isJsonObject, loadContract, ok, parseJson, type Contract, type JsonObject, type JsonValue, type Result } from '@contractrl/core';
import { contractFromAnthropic, contractFromJsonSchema, contractFromMcp, contractFromOpenAi, type SourcedContract, type SourceIssue } from '@contractrl/core/sources';

export interface RefusedTool {
  /** Empty where the definition has none. */
  readonly name: string;
  /** Of `loadContract` or the reader of definitions. */
  readonly code: string;
  readonly pointer: string;
}

export interface UserTools {
  /** By name, in the order of the file. */
  readonly contracts: ReadonlyMap<string, Contract>;
  readonly refused: readonly RefusedTool[];
}

export type ToolFileIssue =
  | { readonly code: 'train/tools-unreadable'; readonly issue: string }
  | { readonly code: 'train/duplicate-tool'; readonly name: string }
  /** None in the file, or none of them can be honoured. */
  | { readonly code: 'train/no-tools'; readonly refused: readonly RefusedTool[] };

/** Reads the text of a file of tools. */
export function readTools(text: string): Result<UserTools, ToolFileIssue> {
  const parsed = parseJson(text);
  if (!parsed.ok) return err({ code: 'train/tools-unreadable', issue: parsed.error.code });
  const contracts = new Map<string, Contract>();
  const refused: RefusedTool[] = [];
  for (const definition of definitionsIn(parsed.value)) {
    const read = readDefinition(definition);
    const loaded = read.ok ? loadContract(read.value.document) : read;
    if (!loaded.ok) {
      refused.push({ name: nameIn(definition), code: loaded.error.code, pointer: loaded.error.pointer });
      continue;
    }
    const { name } = loaded.value.document.tool;
    if (contracts.has(name)) return err({ code: 'train/duplicate-tool', name });
    contracts.set(name, loaded.value);
  }
  return contracts.size === 0 ? err({ code: 'train/no-tools', refused }) : ok({ contracts, refused });
}

/** The answer of `tools/list` stands in `result`, and the definitions of a request in `tools` or, of old, in `functions`. */
function definitionsIn(value: JsonValue): readonly JsonValue[] {
  if (isJsonArray(value)) return value;
  if (!isJsonObject(value)) return [value];
  const { result, tools, functions } = value;
  if (isJsonObject(result)) return definitionsIn(result);
  if (isJsonArray(tools)) return tools;
  return isJsonArray(functions) ? functions : [value];
}

function readDefinition(definition: JsonValue): Result<SourcedContract, SourceIssue> {
  if (!isJsonObject(definition)) return contractFromOpenAi(definition);
  const has = (member: string): boolean => Object.hasOwn(definition, member);
  if (has('tool')) return ok({ document: definition, notes: [] });
  if (has('inputSchema')) return contractFromMcp(definition);
  if (has('input_schema')) return contractFromAnthropic(definition);
  if (has('schema')) return contractFromJsonSchema(definition as unknown as Parameters<typeof contractFromJsonSchema>[0]);
  return contractFromOpenAi(definition);
}

function nameIn(definition: JsonValue): string {
  const holders = isJsonObject(definition) ? [definition, definition['tool'], definition['function']].filter((each): each is JsonObject => isJsonObject(each)) : [];
  const name = holders.map((holder) => holder['name']).find((each) => typeof each === 'string');
  return typeof name === 'string' ? name : '';
}
