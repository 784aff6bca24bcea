/**
 * Tool definitions as providers and protocols write them, read into contract documents: a bare JSON Schema, OpenAI (chat completions and responses),
 * Anthropic, MCP. Their other members say nothing about arguments and are named in the notes.
 * Reference: the function-calling guides of both providers; Model Context Protocol 2025-11-25, Tools.
 */
import { isJsonArray, isJsonObject, memberOf, type JsonObject, type JsonValue } from '../json/value.ts';
import { childOf, formatPointer, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { ok, type Result } from '../result.ts';
import { readHabits } from './schema-habits.ts';
import { issueAt, readMember, readSource, requireMember, type SourcedContract, type SourceIssue, type SourceNote, type SourceOptions } from './source.ts';

/** Names that a provider takes. */
const NAME_RULES = {
  openai: '^[a-zA-Z0-9_-]{1,64}$',
  anthropic: '^[a-zA-Z0-9_-]{1,128}$',
  mcp: '^[a-zA-Z0-9_.-]{1,128}$',
} as const;
type Provider = keyof typeof NAME_RULES;

/** A tool without parameters takes no arguments. */
const NO_PARAMETERS: JsonObject = { type: 'object', properties: {}, additionalProperties: false };

interface Form {
  /** Member that holds the schema. */
  readonly schemaName: string;
  readonly provider?: Provider;
  /** Where the schema may be left out. */
  readonly schemaOptional?: true;
  /** Members that are read and need no note. */
  readonly known?: readonly string[];
}

/** A name, a description and the JSON Schema of the arguments. */
export function contractFromJsonSchema(
  tool: { readonly name: string; readonly description?: string; readonly schema: unknown }, options: SourceOptions = {},
): Result<SourcedContract, SourceIssue> {
  const source = readSource(tool);
  return source.ok ? readTool(source.value, ROOT_POINTER, { schemaName: 'schema' }, options) : source;
}

/**
 * `{ type: 'function', function: { name, description, parameters, strict } }` of chat completions, `{ type: 'function', name, … }` of responses, or a bare
 * `{ name, description, parameters }`. With `strict`, required members that may be null are noted: there they stand for optional ones.
 */
export function contractFromOpenAi(input: unknown, options: SourceOptions = {}): Result<SourcedContract, SourceIssue> {
  const source = readSource(input);
  if (!source.ok) return source;
  const type = memberOf(source.value, 'type');
  if (type !== undefined && type !== 'function') return issueAt('source/not-a-function', formatPointer(['type']), { found: type });
  const nested = readMember(source.value, 'function', 'object');
  if (!nested.ok) return nested;
  const place = nested.value === undefined ? ROOT_POINTER : formatPointer(['function']);
  const definition = nested.value ?? source.value;
  const read = readTool(definition, place, { schemaName: 'parameters', provider: 'openai', schemaOptional: true, known: ['type', 'strict'] }, options);
  if (!read.ok || memberOf(definition, 'strict') !== true) return read;
  const parameters = memberOf(definition, 'parameters');
  return ok({ ...read.value, notes: [...read.value.notes, ...(isJsonObject(parameters) ? strictNotes(parameters, childOf(place, 'parameters')) : [])] });
}

/** `{ name, description, input_schema }`; tools that the provider itself runs have no schema and are refused. */
export function contractFromAnthropic(input: unknown, options: SourceOptions = {}): Result<SourcedContract, SourceIssue> {
  const source = readSource(input);
  if (!source.ok) return source;
  const type = memberOf(source.value, 'type') ?? 'custom';
  if (type !== 'custom') return issueAt('source/not-a-function', formatPointer(['type']), { found: type });
  return readTool(source.value, ROOT_POINTER, { schemaName: 'input_schema', provider: 'anthropic', known: ['type'] }, options);
}

/** `{ name, description, inputSchema }`. Annotations are hints of the server, not to be relied on: they are noted and carry nothing. */
export function contractFromMcp(input: unknown, options: SourceOptions = {}): Result<SourcedContract, SourceIssue> {
  const source = readSource(input);
  return source.ok ? readTool(source.value, ROOT_POINTER, { schemaName: 'inputSchema', provider: 'mcp' }, options) : source;
}

function readTool(source: JsonObject, place: JsonPointer, form: Form, options: SourceOptions): Result<SourcedContract, SourceIssue> {
  const name = requireMember(source, 'name', 'string', place);
  if (!name.ok) return name;
  const description = readMember(source, 'description', 'string', place);
  if (!description.ok) return description;
  const at = childOf(place, form.schemaName);
  const given = readMember(source, form.schemaName, 'object', place);
  if (!given.ok) return given;
  if (given.value === undefined && form.schemaOptional !== true) return issueAt('source/missing-field', at, { expected: 'object' });
  const read = given.value === undefined ? ok({ schema: NO_PARAMETERS, notes: [{ code: 'source/no-parameters', pointer: at, params: {} }] as const }) : readHabits(given.value, at, options);
  if (!read.ok) return read;
  const contract = readSource(options.contract ?? {});
  if (!contract.ok) return contract;
  if (Object.hasOwn(contract.value, 'tool')) return issueAt('source/unknown-field', formatPointer(['tool']), { name: 'tool' });

  const notes: SourceNote[] = [...read.value.notes];
  const pattern = form.provider === undefined ? undefined : NAME_RULES[form.provider];
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(name.value)) {
    notes.push({ code: 'source/name-refused', pointer: childOf(place, 'name'), params: { name: name.value, by: form.provider ?? '', pattern } });
  }
  const known = ['name', 'description', form.schemaName, ...form.known ?? []];
  for (const member of Object.keys(source).filter((each) => !known.includes(each))) {
    notes.push({ code: 'source/field-not-carried', pointer: childOf(place, member), params: { name: member } });
  }
  const tool = { name: name.value, description: description.value ?? '', parameters: read.value.schema };
  return ok({ document: { ...contract.value, tool }, notes });
}

/** Strict mode wants every object closed and every member required; an optional one is written as one that may be null. */
function strictNotes(schema: JsonValue | undefined, place: JsonPointer): readonly SourceNote[] {
  if (isJsonArray(schema)) return schema.flatMap((part, index) => strictNotes(part, childOf(place, String(index))));
  if (!isJsonObject(schema)) return [];
  const properties = memberOf(schema, 'properties');
  const required = memberOf(schema, 'required');
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  const at = childOf(place, 'properties');
  const isRequired = (name: string): boolean => isJsonArray(required) && required.includes(name);
  const notStrict = isJsonObject(properties) && (memberOf(schema, 'additionalProperties') !== false || !names.every(isRequired));
  return [
    ...(notStrict ? [{ code: 'source/not-strict' as const, pointer: place, params: { optional: names.filter((name) => !isRequired(name)) } }] : []),
    ...names.flatMap((name): readonly SourceNote[] => {
      const member = (properties as JsonObject)[name];
      const isOptional = isRequired(name) && mayBeNull(member);
      return [...(isOptional ? [{ code: 'source/nullable-optional' as const, pointer: childOf(at, name), params: { name } }] : []), ...strictNotes(member, childOf(at, name))];
    }),
    ...['items', 'anyOf', '$defs', 'definitions'].flatMap((keyword) => {
      const value = memberOf(schema, keyword);
      const below = childOf(place, keyword);
      const isMap = keyword.startsWith('$') || keyword === 'definitions';
      return isMap && isJsonObject(value) ? Object.entries(value).flatMap(([name, sub]) => strictNotes(sub, childOf(below, name))) : strictNotes(value, below);
    }),
  ];
}

function mayBeNull(schema: JsonValue | undefined): boolean {
  if (!isJsonObject(schema)) return false;
  const [type, branches] = [memberOf(schema, 'type'), memberOf(schema, 'anyOf')];
  return type === 'null' || (isJsonArray(type) && type.includes('null')) || (isJsonArray(branches) && branches.some(mayBeNull));
}
