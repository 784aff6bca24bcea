/**
 * Contracts of a whole toolset: defaults for all tools, overrides for each. What an override gives replaces what the defaults say, lists included, so that
 * nothing is merged unseen; locks alone add up, because to lose one must be said: `unlock` names those of the defaults that a tool does without.
 * What the defaults name of places a tool does not have (locks, `provenance`) is left out with a note.
 */
import { loadContract, type Contract, type ContractIssue, type LoadOptions } from '../contract/contract.ts';
import { canExist } from '../contract/possible-place.ts';
import { isJsonArray, isJsonObject, memberOf, type JsonObject, type JsonValue } from '../json/value.ts';
import { childOf, formatPointer, parsePointer, type JsonPointer } from '../pointer.ts';
import { ok, err, type Result } from '../result.ts';
import { issueAt, readSource, type SourcedContract, type SourceIssue, type SourceNote } from './source.ts';

/**
 * Joins `defaults` (a contract document without `tool`) and `overrides` (one with `tool`, and perhaps `unlock`). A default lock on a place that the tool's
 * arguments cannot have guards nothing there: it is left out with a note. One that the tool gives itself stays for `loadContract` to refuse.
 */
export function inheritContract(defaults: unknown, overrides: unknown): Result<SourcedContract, SourceIssue> {
  const base = readSource(defaults);
  if (!base.ok) return base;
  const own = readSource(overrides);
  if (!own.ok) return own;
  if (Object.hasOwn(base.value, 'tool')) return issueAt('source/unknown-field', formatPointer(['tool']), { name: 'tool' });
  const { unlock = [], ...given } = own.value;
  const inherited = memberOf(base.value, 'immutablePaths') ?? [];
  const added = memberOf(given, 'immutablePaths') ?? [];
  for (const [name, list] of [['immutablePaths', inherited], ['immutablePaths', added], ['unlock', unlock]] as const) {
    if (!isJsonArray(list)) return issueAt('source/wrong-type', formatPointer([name]), { expected: 'array' });
  }
  const [locks, more, released] = [inherited, added, unlock] as readonly (readonly JsonValue[])[] as [readonly JsonValue[], readonly JsonValue[], readonly JsonValue[]];
  const stray = released.findIndex((pointer) => !locks.includes(pointer));
  if (stray !== -1) return issueAt('source/not-locked', formatPointer(['unlock', String(stray)]), { pointer: released[stray] as JsonValue });

  const parameters = schemaOf(given);
  const kept = locks.filter((pointer) => !released.includes(pointer));
  const placeless = kept.filter((pointer) => !more.includes(pointer) && !hasPlace(pointer, parameters));
  const immutablePaths = [...new Set([...kept.filter((pointer) => !placeless.includes(pointer)), ...more])];
  const notes = placeless.map((pointer): SourceNote => ({ code: 'source/lock-without-place', pointer: formatPointer(['immutablePaths']), params: { pointer } }));
  const provenance = inheritedOrigins(memberOf(base.value, 'provenance'), parameters);
  return ok({
    document: { ...base.value, ...provenance.member, ...given, immutablePaths },
    notes: [...notes, ...(memberOf(given, 'provenance') === undefined ? provenance.notes : [])],
  });
}

/** The `provenance` of the defaults where the tool has the places; what is no list of paths stays for `loadContract` to refuse. */
function inheritedOrigins(provenance: JsonValue | undefined, parameters: JsonObject | undefined): { readonly member: JsonObject; readonly notes: readonly SourceNote[] } {
  const paths = isJsonObject(provenance) ? memberOf(provenance, 'require') : undefined;
  if (!isJsonObject(provenance) || !isJsonArray(paths)) return { member: {}, notes: [] };
  const placeless = paths.filter((pointer) => !hasPlace(pointer, parameters));
  return {
    member: { provenance: { ...provenance, require: paths.filter((pointer) => !placeless.includes(pointer)) } },
    notes: placeless.map((pointer) => ({ code: 'source/origin-without-place', pointer: formatPointer(['provenance', 'require']), params: { pointer } })),
  };
}

/** What is no pointer, or stands beside no schema, stays for `loadContract` to refuse. */
function hasPlace(pointer: JsonValue, parameters: JsonObject | undefined): boolean {
  const parsed = typeof pointer === 'string' ? parsePointer(pointer) : undefined;
  return parsed?.ok !== true || parameters === undefined || canExist(parameters, parsed.value);
}

function schemaOf(document: JsonObject): JsonObject | undefined {
  const tool = memberOf(document, 'tool');
  const parameters = isJsonObject(tool) ? memberOf(tool, 'parameters') : undefined;
  return isJsonObject(parameters) ? parameters : undefined;
}

export interface Toolset {
  /** A contract document without `tool`. */
  readonly defaults?: unknown;
  /** Contract documents, each with its `tool`; what a reader of tool definitions gave as `document`, say. */
  readonly tools: readonly unknown[];
}

export interface LoadedToolset {
  /** By the name of the tool, in the order given. */
  readonly contracts: ReadonlyMap<string, Contract>;
  readonly notes: readonly SourceNote[];
}

/** Loads every contract of a toolset, or gives all issues; pointers begin with `/tools/<index>`. Two tools of one name are refused. */
export function loadContracts({ defaults = {}, tools }: Toolset, options: LoadOptions = {}): Result<LoadedToolset, readonly [SourceIssue | ContractIssue, ...(SourceIssue | ContractIssue)[]]> {
  const contracts = new Map<string, Contract>();
  const notes: SourceNote[] = [];
  const issues: (SourceIssue | ContractIssue)[] = [];
  for (const [index, tool] of tools.entries()) {
    const place = formatPointer(['tools', String(index)]);
    const moved = <T extends { readonly pointer: JsonPointer }>(found: T): T => ({ ...found, pointer: `${place}${found.pointer}` as JsonPointer });
    const joined = inheritContract(defaults, tool);
    const contract = joined.ok ? loadContract(joined.value.document, options) : joined;
    if (!contract.ok) {
      issues.push(moved(contract.error));
      continue;
    }
    const { name } = contract.value.document.tool;
    if (contracts.has(name)) issues.push({ code: 'source/duplicate-tool', pointer: childOf(childOf(place, 'tool'), 'name'), params: { name } });
    contracts.set(name, contract.value);
    if (joined.ok) notes.push(...joined.value.notes.map(moved));
  }
  const [first, ...rest] = issues;
  return first === undefined ? ok({ contracts, notes }) : err([first, ...rest]);
}
