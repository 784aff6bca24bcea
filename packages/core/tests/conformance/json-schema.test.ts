/**
 * JSON-Schema-Test-Suite, required and optional tests of both dialects. A group is refused at load, with a code, or judged. Both what is
 * refused and what is judged otherwise stands by name in the checked-in baselines, which may only shrink.
 */
import { expect, test } from 'vitest';
import { loadContract } from '../../src/contract/contract.ts';
import type { JsonObject, JsonValue } from '../../src/json/value.ts';
import { readRows } from '../fixtures.ts';

interface SuiteFile { readonly path: string; readonly text: string }
interface Group {
  readonly description: string;
  readonly schema: JsonObject | boolean;
  readonly tests: readonly { readonly description: string; readonly data: JsonValue; readonly valid: boolean }[];
}
const suites = [
  ['draft-07', 'json-schema-draft7.jsonl.gz', 'http://json-schema.org/draft-07/schema#'],
  ['2020-12', 'json-schema-draft2020-12.jsonl.gz', 'https://json-schema.org/draft/2020-12/schema'],
] as const;

test.each(suites)('%s: what is refused or judged otherwise is what the baseline names, and no more', async (dialect, fixture, $schema) => {
  const refused: Record<string, string> = {};
  const different: string[] = [];
  let agreed = 0;
  for (const file of readRows<SuiteFile>(fixture)) {
    const name = file.path.replace(/^.*?tests\/draft[0-9-]+\//, '').replace(/\.json$/, '');
    for (const group of JSON.parse(file.text) as readonly Group[]) {
      const schema = typeof group.schema === 'boolean' ? { allOf: [group.schema] } : group.schema;
      const contract = loadContract({ tool: { name: 'suite', parameters: { $schema, ...schema } } });
      if (!contract.ok) refused[`${name}: ${group.description}`] = contract.error.code;
      for (const { data, valid, description } of contract.ok ? group.tests : []) {
        if ((contract.ok && contract.value.judge.judge(data).length === 0) === valid) agreed += 1;
        else different.push(`${name}: ${group.description}: ${description}: ${valid ? 'refused' : 'accepted'}`);
      }
    }
  }
  await expect(JSON.stringify({ agreed, refused, different }, undefined, 1)).toMatchFileSnapshot(`json-schema.${dialect}.baseline.json`);
});
