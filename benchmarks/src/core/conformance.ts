/**
 * The public suites through the core: json-patch-tests, JSONTestSuite and JSON-Schema-Test-Suite, as packages/core/tests/fixtures keeps them.
 * What comes out otherwise than the suite says is listed by name; the report gives the reason for each kind.
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { applyPatch, jsonEqual, loadContract, MAX_OPERATION_BUDGET, parseJson, readPatch, type Contract, type JsonObject, type JsonValue } from '@contractrl/core';

export interface SuiteCounts {
  /** As the suite says. */
  readonly agreed: number;
  /** Code of the refusal → names of what the suite allows and we refuse. */
  readonly stricter: Readonly<Record<string, readonly string[]>>;
  /** Otherwise than the suite says, and no refusal of ours. */
  readonly different: readonly string[];
}

export interface Conformance {
  readonly 'json-patch-tests': SuiteCounts;
  readonly 'JSONTestSuite': SuiteCounts;
  readonly 'JSON-Schema-Test-Suite, draft-07': SuiteCounts;
  readonly 'JSON-Schema-Test-Suite, 2020-12': SuiteCounts;
}

export function measureConformance(): Conformance {
  return {
    'json-patch-tests': patchSuite(),
    'JSONTestSuite': textSuite(),
    'JSON-Schema-Test-Suite, draft-07': schemaSuite('json-schema-draft7.jsonl.gz', 'http://json-schema.org/draft-07/schema#'),
    'JSON-Schema-Test-Suite, 2020-12': schemaSuite('json-schema-draft2020-12.jsonl.gz', 'https://json-schema.org/draft/2020-12/schema'),
  };
}

class Tally {
  #agreed = 0;
  readonly #stricter: Record<string, string[]> = {};
  readonly #different: string[] = [];

  agree(): void { this.#agreed += 1; }
  refuse(code: string, name: string): void { (this.#stricter[code] ??= []).push(name); }
  differ(name: string): void { this.#different.push(name); }
  counts(): SuiteCounts { return { agreed: this.#agreed, stricter: this.#stricter, different: this.#different }; }
}

interface PatchRecord {
  readonly comment?: string;
  readonly doc: JsonValue;
  readonly patch?: readonly JsonObject[];
  readonly expected?: JsonValue;
  readonly error?: string;
  readonly disabled?: boolean;
}

function patchSuite(): SuiteCounts {
  const contract = contractOf({});
  const tally = new Tally();
  const records = ['json-patch-tests.json.gz', 'json-patch-spec-tests.json.gz'].flatMap((name) => JSON.parse(fixture(name)) as readonly PatchRecord[]);
  for (const [index, record] of records.filter(({ patch, disabled }) => patch !== undefined && disabled !== true).entries()) {
    const name = `${String(index)}: ${record.comment ?? JSON.stringify(record.patch)}`;
    const patch = readPatch(record.patch as JsonValue);
    const result = patch.ok ? applyPatch(contract, record.doc, patch.value, MAX_OPERATION_BUDGET) : patch;
    const hasTest = record.patch?.some(({ op }) => op === 'test') === true;
    if (record.error !== undefined) {
      if (result.ok) tally.differ(name);
      else tally.agree();
    } else if (!result.ok) tally.refuse(hasTest ? 'the operation test' : result.error.code, name);
    else if (record.expected === undefined || jsonEqual(result.value as JsonValue, record.expected)) tally.agree();
    else tally.differ(name);
  }
  return tally.counts();
}

interface TextRow { readonly path: string; readonly expect: 'accept' | 'reject' | 'either' | 'transform'; readonly b64: string }

/** Texts that the suite leaves open count as agreed either way. */
function textSuite(): SuiteCounts {
  const tally = new Tally();
  for (const { path, expect, b64 } of rows<TextRow>('json-text.jsonl.gz')) {
    const name = path.replace(/^.*\//, '');
    const text = utf8(b64);
    const read = text === undefined ? undefined : parseJson(text);
    if (expect === 'accept' && read?.ok === false) tally.refuse(read.error.code, name);
    else if (expect === 'accept' ? read?.ok !== true || !jsonEqual(read.value, JSON.parse(text ?? '') as JsonValue) : expect === 'reject' && read?.ok === true) tally.differ(name);
    else tally.agree();
  }
  return tally.counts();
}

/** Undefined for bytes that are no UTF-8: they are refused before there is a text. */
function utf8(b64: string): string | undefined {
  const text = Buffer.from(b64, 'base64').toString('utf8');
  return Buffer.from(text, 'utf8').toString('base64') === b64 ? text : undefined;
}

interface SchemaGroup {
  readonly description: string;
  readonly schema: JsonValue;
  readonly tests: readonly { readonly description: string; readonly data: JsonValue; readonly valid: boolean }[];
}

/** A refused schema counts once, with all its tests. The judge is asked about any value, also about one that could be no arguments. */
function schemaSuite(file: string, $schema: string): SuiteCounts {
  const tally = new Tally();
  for (const { path, text } of rows<{ readonly path: string; readonly text: string }>(file)) {
    const place = path.replace(/^.*?tests\/draft[0-9-]+\//, '').replace(/\.json$/, '');
    for (const { schema, tests, description } of JSON.parse(text) as readonly SchemaGroup[]) {
      const name = `${place}: ${description}`;
      const contract = loadContract({ tool: { name: 'suite', parameters: { $schema, ...(typeof schema === 'boolean' ? { allOf: [schema] } : schema as JsonObject) } } });
      if (!contract.ok) tally.refuse(contract.error.code, name);
      for (const { data, valid, description: test } of contract.ok ? tests : []) {
        if (contract.ok && (contract.value.judge.judge(data).length === 0) === valid) tally.agree();
        else tally.differ(`${name}: ${test}`);
      }
    }
  }
  return tally.counts();
}

function contractOf(parameters: JsonObject): Contract {
  const loaded = loadContract({ tool: { name: 'suite', parameters }, operationBudget: MAX_OPERATION_BUDGET });
  if (!loaded.ok) throw new TypeError(loaded.error.code);
  return loaded.value;
}

function fixture(name: string): string {
  return gunzipSync(readFileSync(new URL(`../../../packages/core/tests/fixtures/${name}`, import.meta.url))).toString('utf8');
}

function rows<T>(name: string): readonly T[] {
  return fixture(name).split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as T);
}
