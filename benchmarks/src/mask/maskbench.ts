/**
 * MaskBench through our value mask: which schemas compile and by which keyword the others are refused, which valid instances can be spelled
 * and whether any invalid one can. Its data has no licence to be redistributed, so that it is read from the folder `CONTRACTRL_DATA` names
 * and only counts are kept. llguidance's outcome for every file is recorded beside the data.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { gunzipSync } from 'node:zlib';
import { createJudge, isJsonArray, isJsonObject, ROOT_POINTER, childOf, type JsonObject, type JsonPointer, type JsonValue } from '@contractrl/core';
import { setAnnotationsApart, MAX_OPEN_NAME_LENGTH, readSchemaNode, readSchemaPlace, schemaPlacesIn, type SchemaNode } from '@contractrl/core/schema';
import { bitmaskLength, compileValueMask, type Vocabulary } from '@contractrl/grammar-mask';
import { byteVocabulary } from './peers/contractrl.ts';
import { memberOrders, spellInstance } from './spell-instance.ts';

export interface MaskBenchRow {
  readonly path: string;
  readonly subset: string;
  readonly schema: JsonObject;
  readonly tests: readonly { readonly valid: boolean; readonly data: JsonValue }[];
}

/** Why the canonical language has no text for a valid instance. */
export const OUTSIDE_REASONS = ['undeclared-member', 'number-spelling', 'nesting'] as const;
export type OutsideReason = (typeof OUTSIDE_REASONS)[number];

/** What one suite came to. Instances are counted under schemas that compile only. */
export interface SuiteCounts {
  readonly schemas: number;
  readonly compiled: number;
  /** Every valid instance spelled and no invalid one. */
  readonly passing: number;
  readonly refusedBy: Readonly<Record<string, number>>;
  readonly validAccepted: number;
  readonly validOutside: Readonly<Record<OutsideReason, number>>;
  readonly validRefused: number;
  readonly invalidRefused: number;
  readonly invalidAccepted: number;
  /** Marked invalid and spelled, but Ajv finds it valid, or marked valid and refused, but Ajv finds it invalid. */
  readonly markDisputed: number;
  readonly llguidance: { readonly compiled: number; readonly passing: number };
  /** Named, so that a difference can be looked at: `path#test`. */
  readonly wrong: readonly string[];
}

export interface MaskBenchTimes {
  readonly vocabulary: string;
  /** Compile, matcher and first mask, ms, one a schema. */
  readonly ttfmMs: readonly number[];
  /** One a mask, over the tokens of one valid instance a schema. */
  readonly tbmUs: readonly number[];
}

export interface MaskBenchRun {
  readonly suites: Readonly<Record<string, SuiteCounts>>;
  readonly times: MaskBenchTimes;
}

export type Timing = { readonly vocabulary: Vocabulary; readonly name: string; readonly encode: (text: string) => readonly number[] };

/** Longer strings and lists than any instance has, so that our own limits refuse nothing here. */
const OPTIONS = { maxStringLength: 1 << 20, maxItems: 1 << 16, openNames: true };

/** The folder of data that may not be redistributed; undefined where it is not at hand. */
export function dataFolder(): string | undefined {
  const folder = process.env['CONTRACTRL_DATA'];
  return folder !== undefined && existsSync(join(folder, 'maskbench')) ? folder : undefined;
}

export function readSuites(folder: string, name: string): ReadonlyMap<string, readonly MaskBenchRow[]> {
  const files = readdirSync(join(folder, name)).filter((file) => file.endsWith('.jsonl.gz')).sort();
  return new Map(files.map((file) => {
    const lines = gunzipSync(readFileSync(join(folder, name, file))).toString('utf8').split('\n').filter((line) => line !== '');
    return [file.replace('.jsonl.gz', ''), lines.map((line) => JSON.parse(line) as MaskBenchRow)];
  }));
}

type Recorded = Readonly<Record<string, { readonly json_error?: unknown; readonly validation_error?: unknown }>>;

function llguidanceOutcomes(folder: string): Recorded {
  return JSON.parse(gunzipSync(readFileSync(join(folder, 'llguidance', 'expected_maskbench.json.gz'))).toString('utf8')) as Recorded;
}

/** Runs every suite, or the first `limit` schemas of each; times only where `timing` names a vocabulary. */
export function runMaskBench(folder: string, limit: number, timing: Timing | undefined, progress: (line: string) => void = () => undefined): MaskBenchRun {
  const recorded = llguidanceOutcomes(folder);
  const ttfmMs: number[] = [];
  const tbmUs: number[] = [];
  const suites: Record<string, SuiteCounts> = {};
  for (const [suite, rows] of readSuites(folder, 'maskbench')) {
    const taken = rows.slice(0, limit);
    const counted = new SuiteCounter();
    for (const found of taken) {
      // unknown keywords and formats are annotations to whoever wrote and marked these schemas
      const row = { ...found, schema: setAnnotationsApart(found.schema, dialectOf(found.schema)).schema };
      const spelled = counted.add(row, recorded[row.path.slice(row.path.lastIndexOf('/') + 1)]);
      if (spelled !== undefined && timing !== undefined) timeSchema(row.schema, spelled, timing, ttfmMs, tbmUs);
    }
    suites[suite] = counted.counts();
    progress(`MaskBench ${suite}: ${String(suites[suite].compiled)} of ${String(taken.length)} compiled`);
  }
  return { suites, times: { vocabulary: timing?.name ?? 'none', ttfmMs, tbmUs } };
}

class SuiteCounter {
  #schemas = 0;
  #compiled = 0;
  #passing = 0;
  readonly #refusedBy = new Map<string, number>();
  #validAccepted = 0;
  readonly #validOutside: Record<OutsideReason, number> = { 'undeclared-member': 0, 'number-spelling': 0, 'nesting': 0 };
  #validRefused = 0;
  #invalidRefused = 0;
  #invalidAccepted = 0;
  #markDisputed = 0;
  readonly #llguidance = { compiled: 0, passing: 0 };
  readonly #wrong: string[] = [];

  /** The canonical text of a valid instance, undefined where the schema is refused or none can be spelled. */
  add(row: MaskBenchRow, recorded: Recorded[string] | undefined): string | undefined {
    this.#schemas += 1;
    if (recorded !== undefined && recorded.json_error === undefined) {
      this.#llguidance.compiled += 1;
      if (recorded.validation_error === undefined) this.#llguidance.passing += 1;
    }
    const compiled = compileValueMask(row.schema, byteVocabulary(), OPTIONS);
    if (!compiled.ok) {
      const reason = 'keyword' in compiled.error ? compiled.error.keyword : compiled.error.code;
      this.#refusedBy.set(reason, (this.#refusedBy.get(reason) ?? 0) + 1);
      return undefined;
    }
    this.#compiled += 1;
    const matcher = compiled.value.createMatcher();
    const node = readSchemaNode(row.schema, row.schema, ROOT_POINTER, OPTIONS);
    const orders = node.ok ? memberOrders(node.value) : [];
    let found: string | undefined;
    let isPassing = true;
    for (const [index, { valid, data }] of row.tests.entries()) {
      const text = spellInstance(matcher, data, orders);
      if (valid && text !== undefined) {
        found ??= text;
        this.#validAccepted += 1;
      } else if (valid) {
        isPassing = false;
        const reason = outsideReason(row.schema, data);
        if (!isValid(row.schema, data)) this.#note('mark disputed', row, index, () => { this.#markDisputed += 1; });
        else if (reason !== undefined) this.#validOutside[reason] += 1;
        else this.#note('valid refused', row, index, () => { this.#validRefused += 1; });
      } else if (text === undefined) {
        this.#invalidRefused += 1;
      } else if (isValid(row.schema, data)) {
        this.#note('mark disputed', row, index, () => { this.#markDisputed += 1; });
      } else {
        isPassing = false;
        this.#note('invalid accepted', row, index, () => { this.#invalidAccepted += 1; });
      }
    }
    if (isPassing) this.#passing += 1;
    return found;
  }

  counts(): SuiteCounts {
    return {
      schemas: this.#schemas, compiled: this.#compiled, passing: this.#passing,
      refusedBy: Object.fromEntries([...this.#refusedBy].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))),
      validAccepted: this.#validAccepted, validOutside: { ...this.#validOutside }, validRefused: this.#validRefused,
      invalidRefused: this.#invalidRefused, invalidAccepted: this.#invalidAccepted, markDisputed: this.#markDisputed,
      llguidance: { ...this.#llguidance }, wrong: this.#wrong,
    };
  }

  #note(what: string, row: MaskBenchRow, index: number, count: () => void): void {
    count();
    this.#wrong.push(`${what}: ${row.path.slice(row.path.lastIndexOf('/') + 1)}#${String(index)}`);
  }
}

/** A schema that Ajv cannot compile decides nothing: then the mark stands. */
function isValid(schema: JsonObject, data: JsonValue): boolean {
  const judge = createJudge(schema, dialectOf(schema));
  return judge.ok && judge.value.judge(data).length === 0;
}

export function dialectOf(schema: JsonObject): '2020-12' | 'draft-07' {
  return typeof schema['$schema'] === 'string' && /draft-0[4-7]/.test(schema['$schema']) ? 'draft-07' : '2020-12';
}

/** Looks at the instance and at what the schema declares where it stands, not at what the mask did. */
function outsideReason(schema: JsonObject, data: JsonValue): OutsideReason | undefined {
  const placeAt = schemaPlacesIn(schema, data);
  const visit = (value: JsonValue, pointer: JsonPointer): OutsideReason | undefined => {
    if (typeof value === 'number' && !isSpelledPlainly(value)) return 'number-spelling';
    if (isJsonArray(value)) return firstOf(value.map((item, index) => [String(index), item] as const), pointer);
    if (!isJsonObject(value)) return undefined;
    const place = placeAt(pointer);
    const node = place.ok ? readSchemaPlace(schema, place.value, OPTIONS) : place;
    if (!node.ok) return 'nesting';
    const declared = memberNames(node.value);
    if (declared === undefined) return 'nesting';
    if (Object.keys(value).some((name) => (declared === 'open' ? [...name].length > MAX_OPEN_NAME_LENGTH : !declared.has(name)))) return 'undeclared-member';
    return firstOf(Object.entries(value), pointer);
  };
  const firstOf = (children: readonly (readonly [string, JsonValue])[], pointer: JsonPointer): OutsideReason | undefined => {
    for (const [token, child] of children) {
      const reason = visit(child, childOf(pointer, token));
      if (reason !== undefined) return reason;
    }
    return undefined;
  };
  return visit(data, ROOT_POINTER);
}

/** Names that some object branch declares, or whether it leaves some open; undefined where no branch is an object. */
function memberNames(node: SchemaNode): ReadonlySet<string> | 'open' | undefined {
  switch (node.kind) {
    case 'object': return node.open !== undefined ? 'open' : new Set(node.members.map(({ name }) => name));
    case 'literals': return new Set(node.values.flatMap((value) => (isJsonObject(value) ? Object.keys(value) : [])));
    case 'union': {
      const branches = node.branches.map(memberNames).filter((names) => names !== undefined);
      if (branches.includes('open')) return 'open';
      return branches.length === 0 ? undefined : new Set(branches.flatMap((names) => [...names]));
    }
    default: return undefined;
  }
}

/** As the canonical language writes numbers: no exponent, at most 15 digits with a fraction, integers below 2^53. */
function isSpelledPlainly(value: number): boolean {
  const text = JSON.stringify(value);
  if (Number.isInteger(value)) return Math.abs(value) < 2 ** 53;
  return !text.includes('e') && text.replace(/^-?0?\.?0*/, '').replace('.', '').length <= 15;
}

/** Under the mask without open names, which is the one that a product uses; an instance that has one is left out of the times. */
function timeSchema(schema: JsonObject, text: string, { vocabulary, encode }: Timing, ttfmMs: number[], tbmUs: number[]): void {
  const bitmask = new Int32Array(bitmaskLength(vocabulary.logitWidth));
  const options = { ...OPTIONS, openNames: false };
  const ids = encode(text);
  const rehearsal = compileValueMask(schema, vocabulary, options);
  const rehearsed = rehearsal.ok ? rehearsal.value.createMatcher() : undefined;
  if (rehearsed === undefined || !ids.every((id) => rehearsed.acceptToken(id).ok)) return;
  const start = performance.now();
  const compiled = compileValueMask(schema, vocabulary, options);
  if (!compiled.ok) return;
  const matcher = compiled.value.createMatcher();
  matcher.fillBitmask(bitmask);
  ttfmMs.push(round(performance.now() - start));
  for (const id of ids) {
    if (!matcher.acceptToken(id).ok) throw new Error(`${text}: refused under ${String(vocabulary.logitWidth)} ids`);
    const began = performance.now();
    matcher.fillBitmask(bitmask);
    tbmUs.push(round((performance.now() - began) * 1000));
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
