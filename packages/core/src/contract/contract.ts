/**
 * The contract: JSON Schema, cross-field checks, immutable paths, allowed operations and the two budgets, as one document
 * that can be serialised, hashed and loaded. `loadContract` refuses whatever it cannot honour. The shape of the document is published as
 * `@contractrl/core/contract.schema.json`; what the shape cannot say (a schema, a place, a function) is looked at after it.
 */
import { digestOf, type Digest } from '../json/digest.ts';
import { readFields, type Fields, type FieldSpecs } from '../intake/fields.ts';
import { deepFreeze, memberOf, readJsonValue, type JsonArray, type JsonObject, type JsonValue, type JsonValueIssue } from '../json/value.ts';
import { OPERATION_KINDS, type OperationKind } from '../patch/operation.ts';
import { childOf, formatPointer, FORBIDDEN_TOKENS, parsePointer, ROOT_POINTER, tokensOf, type JsonPointer } from '../pointer.ts';
import { gatePointers, readGates, type GateDocument } from '../repair/gate.ts';
import { err, ok, type Result } from '../result.ts';
import { checkPointers, isNamedBy, readCrossFieldChecks, type CheckFunction, type CrossFieldCheck, type CrossFieldIssue } from '../validate/cross-field.ts';
import { createJudge, type Judge } from '../validate/judge.ts';
import type { SchemaIssue } from '../validate/schema-check.ts';
import { setAnnotationsApart, type SchemaAnnotation } from './annotations.ts';
import { canExist } from './possible-place.ts';

export type { Digest } from '../json/digest.ts';

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, draft-07 or 2020-12. */
  readonly parameters: JsonObject;
}

export interface ContractDocument {
  /** Of this document's form; absent it is 1, and both have one digest. */
  readonly version?: 1;
  readonly tool: ToolDefinition;
  readonly allowedOperations: readonly OperationKind[];
  readonly operationBudget: number;
  readonly attemptBudget: number;
  readonly immutablePaths: readonly string[];
  readonly crossField: readonly CrossFieldCheck[];
  readonly gates: readonly GateDocument[];
  /**
   * Places, with all below them, where no value of the policy's own making may stand: what a repair writes there must come of the request, the public
   * state, the call or the schema. Absent where none is named; `"require"` names the whole call.
   */
  readonly provenance?: { readonly require: readonly string[] };
  /** Unknown keywords and formats bind nothing and are listed. Absent where they are refused, which is the default: both ways to say so have one digest. */
  readonly unknownKeywords?: 'annotate';
  /** A wrong tool name may stand for the one offered name it is close to. Absent where names are exact, which is the default. */
  readonly toolNames?: 'closest';
}

export type SchemaDialect = 'draft-07' | '2020-12';

/** A contract that was checked whole: only `loadContract` makes one. */
export interface Contract {
  readonly document: ContractDocument;
  readonly digest: Digest;
  readonly dialect: SchemaDialect;
  readonly immutablePaths: readonly JsonPointer[];
  /** Where written values need an origin. */
  readonly originPaths: readonly JsonPointer[];
  /** What judge and mask read of `document.tool.parameters`: all of it but the annotations set apart. */
  readonly schema: JsonObject;
  /** Unknown keywords and formats that bind nothing here; empty where they are refused. */
  readonly annotations: readonly SchemaAnnotation[];
  readonly judge: Judge;
  /** The host's functions that the checks across fields name. */
  readonly functions: readonly CheckFunction[];
}

export interface LoadOptions {
  /** What the checks of kind `function` may name. */
  readonly functions?: readonly CheckFunction[];
}

/** `pointer` addresses the place in the contract document; a missing member is addressed where it should be. */
export interface ContractIssue {
  readonly code: ContractIssueCode | SchemaIssue['code'] | CrossFieldIssue['code'] | JsonValueIssue['code'];
  readonly pointer: JsonPointer;
  readonly params: JsonObject;
}
type ContractIssueCode =
  | 'contract/field-missing' | 'contract/field-type' | 'contract/unknown-field' | 'contract/unknown-operation' | 'contract/bad-budget'
  | 'contract/bad-pointer' | 'contract/forbidden-name' | 'contract/unknown-dialect' | 'contract/gate-invalid' | 'contract/unknown-policy'
  | 'contract/unknown-version' | 'contract/no-operations' | 'contract/impossible-path' | 'contract/unknown-function';

/** Two of each: the budgets of the papers' selected contract. */
export const DEFAULT_OPERATION_BUDGET = 2;
export const DEFAULT_ATTEMPT_BUDGET = 2;
/** A local repair of more than this is a rewrite, and the mask's states grow with the budget. */
export const MAX_OPERATION_BUDGET = 64;
export const MAX_ATTEMPT_BUDGET = 16;

/** The one form of document that is read. */
export const CONTRACT_VERSION = 1;

const SHAPE = {
  version: '?any', tool: 'any', allowedOperations: '?array', operationBudget: '?any', attemptBudget: '?any', immutablePaths: '?array', crossField: '?any', gates: '?any',
  provenance: '?any', unknownKeywords: '?any', toolNames: '?any',
} as const;
const TOOL_SHAPE = { name: 'string', description: '?string', parameters: 'object' } as const;
const PROVENANCE_SHAPE = { require: 'array' } as const;
const DIALECTS: ReadonlyMap<string, SchemaDialect> = new Map([
  ['http://json-schema.org/draft-07/schema', 'draft-07'],
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
]);

/**
 * Reads a contract document strictly. Only `tool` with `name` and `parameters` must be given; all five operations, both default budgets,
 * empty lists and `unknownKeywords: 'refuse'` stand in for the rest. The first issue ends it. The result is deep-frozen and shares nothing with `input`;
 * `digest` covers the document with its defaults filled in, and so names and versions of the functions, which must be among `options.functions`.
 * The `document` of a contract without functions loads in no time: it gives that contract again.
 */
export function loadContract(input: unknown, options: LoadOptions = {}): Result<Contract, ContractIssue> {
  const known = loadedDocuments.get(input as ContractDocument);
  if (known !== undefined) return ok(known);
  const json = readJsonValue(input);
  if (!json.ok) {
    const { code, pointer, ...params } = json.error;
    return err({ code, pointer, params: params as JsonObject });
  }
  const fields = readShape(json.value, ROOT_POINTER, SHAPE);
  if (!fields.ok) return fields;
  const {
    version = CONTRACT_VERSION, allowedOperations: kinds = OPERATION_KINDS, operationBudget = DEFAULT_OPERATION_BUDGET, attemptBudget = DEFAULT_ATTEMPT_BUDGET,
    immutablePaths: locks = [], crossField: checks = [], gates: rules = [], provenance = { require: [] }, unknownKeywords: policy = 'refuse', toolNames = 'exact',
  } = fields.value;
  if (version !== CONTRACT_VERSION) return refuse('contract/unknown-version', formatPointer(['version']), { known: [CONTRACT_VERSION] });
  const tool = readTool(fields.value.tool);
  if (!tool.ok) return tool;
  const allowedOperations = readOperations(kinds);
  if (!allowedOperations.ok) return allowedOperations;
  for (const [name, budget, maximum] of [['operationBudget', operationBudget, MAX_OPERATION_BUDGET], ['attemptBudget', attemptBudget, MAX_ATTEMPT_BUDGET]] as const) {
    if (!Number.isInteger(budget) || (budget as number) < 0 || (budget as number) > maximum) return refuse('contract/bad-budget', formatPointer([name]), { minimum: 0, maximum });
  }
  const immutablePaths = readPaths(locks, formatPointer(['immutablePaths']));
  if (!immutablePaths.ok) return immutablePaths;
  const crossField = readCrossFieldChecks(checks);
  if (!crossField.ok) return err(below('/crossField', crossField.error));
  const gates = readGates(rules);
  if (!gates.ok) return err({ code: 'contract/gate-invalid', pointer: `/gates${gates.error.pointer}` as JsonPointer, params: { issue: gates.error.code, ...gates.error.params } });
  const originPaths = readProvenance(provenance);
  if (!originPaths.ok) return originPaths;
  if (policy !== 'refuse' && policy !== 'annotate') return refuse('contract/unknown-policy', formatPointer(['unknownKeywords']), { known: ['refuse', 'annotate'] });
  if (toolNames !== 'exact' && toolNames !== 'closest') return refuse('contract/unknown-policy', formatPointer(['toolNames']), { known: ['exact', 'closest'] });

  const dialect = readDialect(tool.value.parameters);
  if (!dialect.ok) return dialect;
  const { schema, annotations } = policy === 'annotate' ? setAnnotationsApart(tool.value.parameters, dialect.value) : { schema: tool.value.parameters, annotations: [] };
  const judge = createJudge(schema, dialect.value);
  if (!judge.ok) return err(below('/tool/parameters', judge.error));
  const impossible = placesNamed(immutablePaths.value, originPaths.value, crossField.value, gates.value).find(({ pointer }) => !canExist(schema, pointer));
  if (impossible !== undefined) return refuse('contract/impossible-path', impossible.at, { place: impossible.pointer });
  const functions = resolveFunctions(crossField.value, options.functions ?? []);
  if (!functions.ok) return functions;
  const document: ContractDocument = {
    tool: tool.value,
    allowedOperations: allowedOperations.value,
    operationBudget: operationBudget as number,
    attemptBudget: attemptBudget as number,
    immutablePaths: immutablePaths.value,
    crossField: crossField.value,
    gates: gates.value,
    ...(originPaths.value.length === 0 ? {} : { provenance: { require: originPaths.value } }),
    ...(policy === 'annotate' ? { unknownKeywords: policy } : {}),
    ...(toolNames === 'closest' ? { toolNames } : {}),
  };
  const contract: Contract = deepFreeze({
    document,
    digest: digestOf(document as unknown as JsonObject),
    dialect: dialect.value,
    immutablePaths: immutablePaths.value,
    originPaths: originPaths.value,
    schema,
    annotations,
    judge: judge.value,
    functions: functions.value,
  });
  loadedContracts.add(contract);
  // what a document with functions means is the host's to say, anew each time
  if (contract.functions.length === 0) loadedDocuments.set(document, contract);
  return ok(contract);
}

/** Compiling a judge is most of what a load costs, and a document that came out of one is frozen: it is the same contract for good. */
const loadedDocuments = new WeakMap<ContractDocument, Contract>();

/** Every contract loaded here: a copy with another judge is none, and accepts nothing. */
const loadedContracts = new WeakSet<Contract>();

export function isLoadedContract(contract: Contract): boolean {
  return loadedContracts.has(contract);
}

interface NamedPlace {
  /** In the contract document. */
  readonly at: JsonPointer;
  /** In the arguments. */
  readonly pointer: JsonPointer;
}

/** Every place in the arguments that the document names. */
function placesNamed(locks: readonly JsonPointer[], origins: readonly JsonPointer[], checks: readonly CrossFieldCheck[], gates: readonly GateDocument[]): readonly NamedPlace[] {
  const each = <T>(values: readonly T[], field: readonly string[], places: (value: T, at: JsonPointer) => readonly NamedPlace[]): readonly NamedPlace[] => (
    values.flatMap((value, index) => places(value, formatPointer([...field, String(index)])))
  );
  const itself = (pointer: JsonPointer, at: JsonPointer): readonly NamedPlace[] => [{ at, pointer }];
  return [
    ...each(locks, ['immutablePaths'], itself),
    ...each(origins, ['provenance', 'require'], itself),
    ...each(checks, ['crossField'], checkPointers),
    ...each(gates, ['gates'], gatePointers),
  ];
}

function resolveFunctions(checks: readonly CrossFieldCheck[], known: readonly CheckFunction[]): Result<readonly CheckFunction[], ContractIssue> {
  const named: CheckFunction[] = [];
  for (const [index, check] of checks.entries()) {
    if (check.kind !== 'function') continue;
    const found = known.find((each) => isNamedBy(check, each));
    if (found === undefined) return refuse('contract/unknown-function', formatPointer(['crossField', String(index)]), { name: check.name, version: check.version });
    const { name, version } = check;
    if (!named.some((each) => isNamedBy(check, each))) named.push({ name, version, check: (args, parameters) => found.check(args, parameters) });
  }
  return ok(named);
}

/** Exactly the fields of `shape`. A null was given, and is refused like any other wrong value. */
function readShape<const Shape extends FieldSpecs>(value: JsonValue, pointer: JsonPointer, shape: Shape): Result<Fields<Shape>, ContractIssue> {
  const fields = readFields(value, pointer, shape);
  return fields.ok ? fields : refuse(SHAPE_CODES[fields.error.code] ?? 'contract/field-type', fields.error.pointer, fields.error.params);
}

const SHAPE_CODES: Readonly<Record<string, ContractIssueCode>> = { 'request/missing-field': 'contract/field-missing', 'request/unknown-field': 'contract/unknown-field' };

function readTool(value: JsonValue): Result<ToolDefinition, ContractIssue> {
  const place = formatPointer(['tool']);
  const tool = readShape(value, place, TOOL_SHAPE);
  if (!tool.ok) return tool;
  const { name, description = '', parameters } = tool.value;
  return name === '' ? refuse('contract/field-type', childOf(place, 'name'), { expected: 'non-empty string' }) : ok({ name, description, parameters });
}

function readOperations(value: JsonArray): Result<readonly OperationKind[], ContractIssue> {
  const place = formatPointer(['allowedOperations']);
  // budgets of 0 say that nothing may be patched, and say it plainly
  if (value.length === 0) return refuse('contract/no-operations', place, { known: OPERATION_KINDS });
  const unknown = value.findIndex((item) => !OPERATION_KINDS.some((kind) => kind === item));
  if (unknown !== -1) return refuse('contract/unknown-operation', childOf(place, String(unknown)), { known: OPERATION_KINDS });
  // the declared order of kinds, each once: two contracts that allow the same have the same digest
  return ok(OPERATION_KINDS.filter((kind) => value.includes(kind)));
}

function readProvenance(value: JsonValue): Result<readonly JsonPointer[], ContractIssue> {
  if (value === 'require') return ok([ROOT_POINTER]);
  const place = formatPointer(['provenance']);
  const fields = readShape(value, place, PROVENANCE_SHAPE);
  return fields.ok ? readPaths(fields.value.require, childOf(place, 'require')) : fields;
}

function readPaths(value: JsonArray, place: JsonPointer): Result<readonly JsonPointer[], ContractIssue> {
  const pointers: JsonPointer[] = [];
  for (const [index, item] of value.entries()) {
    const at = childOf(place, String(index));
    const pointer = typeof item === 'string' ? parsePointer(item) : undefined;
    if (pointer?.ok !== true) return refuse('contract/bad-pointer', at);
    const forbidden = tokensOf(pointer.value).find((token) => FORBIDDEN_TOKENS.has(token));
    if (forbidden !== undefined) return refuse('contract/forbidden-name', at, { name: forbidden });
    pointers.push(pointer.value);
  }
  return ok(pointers);
}

function readDialect(schema: JsonObject): Result<SchemaDialect, ContractIssue> {
  const declared = memberOf(schema, '$schema');
  if (declared === undefined) return ok('2020-12');
  const dialect = typeof declared === 'string' ? DIALECTS.get(declared.replace(/#$/, '')) : undefined;
  return dialect === undefined ? refuse('contract/unknown-dialect', formatPointer(['tool', 'parameters', '$schema']), { known: [...DIALECTS.keys()] }) : ok(dialect);
}

function below(place: string, issue: ContractIssue): ContractIssue {
  return { ...issue, pointer: `${place}${issue.pointer}` as JsonPointer };
}

function refuse(code: ContractIssue['code'], pointer: JsonPointer, params: JsonObject = {}): Result<never, ContractIssue> {
  return err({ code, pointer, params });
}
