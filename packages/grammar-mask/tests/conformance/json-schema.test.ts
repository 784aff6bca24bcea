/**
 * JSON-Schema-Test-Suite, required and optional tests of both dialects, through the value grammar: a schema is refused by name, or every
 * instance is decided as the judge decides it. Instances that the canonical language cannot spell are named by the rule that says so. The
 * checked-in baselines hold the refusals and what disagrees; they may only shrink. The data lie with the core package, which has their licence.
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { loadContract, type JsonObject, type JsonValue } from '@contractrl/core';
import { compileValueMask, type CompiledValueMask } from '../../src/index.ts';
import { spellingsOf, unspellable } from '../support/canonical-spelling.ts';
import { feed } from '../support/contracts.ts';
import { byteVocabulary } from '../support/vocabulary.ts';

interface Group {
  readonly description: string;
  readonly schema: JsonObject | boolean;
  readonly tests: readonly { readonly description: string; readonly data: JsonValue }[];
}

const vocabulary = byteVocabulary([]);
const suites = [
  ['draft-07', 'json-schema-draft7.jsonl.gz', 'http://json-schema.org/draft-07/schema#'],
  ['2020-12', 'json-schema-draft2020-12.jsonl.gz', 'https://json-schema.org/draft/2020-12/schema'],
] as const;

test.each(suites)('%s: the mask decides as the judge does, or refuses by name, as the baseline says', async (dialect, fixture, $schema) => {
  const refused: Record<string, string> = {};
  const refusedByKeyword: Record<string, number> = {};
  const incomplete: string[] = [];
  const unsound: string[] = [];
  const counts = { schemas: 0, compiled: 0, agreed: 0, unspellable: 0 };
  for (const { path, text } of readRows(fixture)) {
    const name = path.replace(/^.*?tests\/draft[0-9-]+\//, '').replace(/\.json$/, '');
    for (const group of JSON.parse(text) as readonly Group[]) {
      const parameters = { $schema, ...(typeof group.schema === 'boolean' ? { allOf: [group.schema] } : group.schema) };
      const contract = loadContract({ tool: { name: 'suite', parameters } });
      if (!contract.ok) continue;
      counts.schemas += 1;
      const compiled = compileValueMask(parameters, vocabulary);
      if (!compiled.ok && compiled.error.code !== 'mask/nothing-accepted') {
        const reason = compiled.error.code === 'mask/unsupported-keyword' ? compiled.error.keyword : compiled.error.code;
        refused[`${name}: ${group.description}`] = reason;
        refusedByKeyword[reason] = (refusedByKeyword[reason] ?? 0) + 1;
        continue;
      }
      counts.compiled += 1;
      for (const { data, description } of group.tests) {
        const isValid = contract.value.judge.judge(data).length === 0;
        const isSpelled = compiled.ok && spellingsOf(data).some((spelling) => accepts(compiled.value, spelling));
        const place = `${name}: ${group.description}: ${description}`;
        if (isSpelled === isValid) counts.agreed += 1;
        else if (isSpelled) unsound.push(place);
        else if (unspellable(data, parameters) !== undefined) counts.unspellable += 1;
        else incomplete.push(place);
      }
    }
  }
  expect(unsound).toEqual([]);
  await expect(JSON.stringify({ ...counts, refusedByKeyword, refused, incomplete }, undefined, 1)).toMatchFileSnapshot(`json-schema.${dialect}.baseline.json`);
}, 120_000);

function accepts(mask: CompiledValueMask, text: string): boolean {
  const matcher = mask.createMatcher();
  return feed(matcher, [...Buffer.from(text, 'utf8')]) && matcher.isAccepting();
}

function readRows(name: string): readonly { readonly path: string; readonly text: string }[] {
  const raw = gunzipSync(readFileSync(new URL(`../../../core/tests/fixtures/${name}`, import.meta.url))).toString('utf8');
  return raw.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as { path: string; text: string });
}
