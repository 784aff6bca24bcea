/**
 * Every tool definition of public benchmarks through the readers and `loadContract`: how many load, and by which code the others are refused. The data is
 * read from the folder that CONTRACTRL_DATA names, since not all of it may be passed on.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { loadContract } from '../src/index.ts';
import { contractFromJsonSchema, contractFromOpenAi, type SourcedContract, type SourceIssue } from '../src/sources.ts';
import type { Result } from '../src/result.ts';

const folder = process.env['CONTRACTRL_DATA'] ?? '';

interface Definition {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: unknown;
  readonly arguments?: unknown;
}
type Reader = (definition: Definition) => Result<SourcedContract, SourceIssue>;

function textOf(path: string): string {
  const bytes = readFileSync(join(folder, path));
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}
const linesOf = (path: string): readonly unknown[] => textOf(path).split('\n').filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as unknown);
const functionsIn = (...paths: readonly string[]): readonly Definition[] => paths.flatMap(linesOf).flatMap((row) => (row as { readonly function: readonly Definition[] }).function);

const openAi: Reader = (definition) => contractFromOpenAi(definition);
const python: Reader = (definition) => contractFromOpenAi(definition, { pythonTypes: true });
const bfcl = (category: string): string => `bfcl/original/BFCL_v4_${category}.json`;

/** Counts by outcome; each distinct definition once. */
function outcomes(definitions: readonly Definition[], read: Reader): Readonly<Record<string, number>> {
  const distinct = [...new Map(definitions.map((one) => [JSON.stringify(one), one])).values()];
  const counts: Record<string, number> = {};
  for (const definition of distinct) {
    const source = read(definition);
    const contract = source.ok ? loadContract(source.value.document) : source;
    const outcome = contract.ok ? 'loaded' : contract.error.code;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

describe.skipIf(!existsSync(join(folder, 'bfcl')))('tool definitions in the wild (needs CONTRACTRL_DATA with bfcl, seal-tools, acebench and tau-bench)', () => {
  test.each<[string, () => readonly Definition[], Reader]>([
    ['BFCL, as it is', () => functionsIn(bfcl('simple_python'), bfcl('multiple')), openAi],
    ['BFCL, python types read', () => functionsIn(bfcl('simple_python'), bfcl('multiple'), bfcl('parallel'), bfcl('parallel_multiple')), python],
    ['BFCL live, python types read', () => functionsIn(bfcl('live_simple'), `${bfcl('live_multiple')}.gz`, bfcl('live_parallel')), python],
    ['BFCL of Java and JavaScript, python types read', () => functionsIn(bfcl('simple_java'), bfcl('simple_javascript')), python],
    ['Seal-Tools', () => linesOf('seal-tools/tools_jsonschema.jsonl.gz').slice(0, 400) as readonly Definition[], (one) => contractFromJsonSchema({ ...one, schema: one.parameters })],
    ['ACEBench', () => functionsIn('acebench/original/data_normal_atom_enum.json.gz', 'acebench/original/data_normal_atom_list.json.gz'),
      (one) => contractFromOpenAi({ name: one.name, description: one.description, parameters: one.parameters ?? one.arguments })],
    ['tau-bench', () => ['airline', 'retail'].flatMap((domain) => JSON.parse(textOf(`tau-bench/${domain}/tools.json`)) as readonly Definition[]), openAi],
  ])('%s', (_, definitions, read) => {
    expect(outcomes(definitions(), read)).toMatchSnapshot();
  }, 120_000);
});
