/**
 * A sample of MaskBench through the value grammar: no instance that its author or the judge calls invalid is accepted. The data have no licence
 * that would let them lie here: CONTRACTRL_DATA names the folder that holds `maskbench/`. The whole run is a benchmark.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { loadContract, type JsonObject, type JsonValue } from '@contractrl/core';
import { compileValueMask, type CompiledValueMask } from '../../src/index.ts';
import { spellingsOf } from '../support/canonical-spelling.ts';
import { feed } from '../support/contracts.ts';
import { byteVocabulary } from '../support/vocabulary.ts';

interface Row {
  readonly path: string;
  readonly schema: JsonObject;
  readonly tests: readonly { readonly valid: boolean; readonly data: JsonValue }[];
}

const folder = join(process.env['CONTRACTRL_DATA'] ?? '', 'maskbench');
const vocabulary = byteVocabulary([]);
const ROWS_PER_SUITE = 30;

describe.skipIf(!existsSync(folder))('MaskBench, where CONTRACTRL_DATA holds it', () => {
  test.each(['Glaiveai2K', 'Github_trivial', 'Github_easy', 'Github_medium', 'MCPspec', 'Handwritten', 'Synthesized', 'BFCL', 'Kubernetes'])('%s: no invalid instance is accepted', (suite) => {
    const counts = { schemas: 0, refused: 0, compiled: 0, invalid: 0, valid: 0, validAccepted: 0 };
    const accepted: string[] = [];
    for (const { path, schema, tests } of sampleOf(suite)) {
      counts.schemas += 1;
      const contract = loadContract({ tool: { name: 'suite', parameters: schema } });
      const compiled = contract.ok ? compileValueMask(contract.value.document.tool.parameters, vocabulary) : contract;
      if (!compiled.ok) {
        counts.refused += 1;
        continue;
      }
      counts.compiled += 1;
      for (const [index, { data, valid }] of tests.entries()) {
        const isValid = valid && contract.ok && contract.value.judge.judge(data).length === 0;
        const isAccepted = spellingsOf(data).some((text) => accepts(compiled.value, text));
        counts[isValid ? 'valid' : 'invalid'] += 1;
        if (isValid && isAccepted) counts.validAccepted += 1;
        if (!isValid && isAccepted) accepted.push(`${path} ${index}`);
      }
    }
    console.log(suite, JSON.stringify(counts));
    expect(accepted).toEqual([]);
    expect(counts.compiled).toBeGreaterThan(0);
  }, 120_000);
});

/** Every n-th row. */
function sampleOf(suite: string): readonly Row[] {
  const lines = gunzipSync(readFileSync(join(folder, `${suite}.jsonl.gz`))).toString('utf8').split('\n').filter((line) => line !== '');
  const step = Math.max(1, Math.floor(lines.length / ROWS_PER_SUITE));
  return lines.filter((_, index) => index % step === 0).map((line) => JSON.parse(line) as Row);
}

function accepts(mask: CompiledValueMask, text: string): boolean {
  const matcher = mask.createMatcher();
  return feed(matcher, [...Buffer.from(text, 'utf8')]) && matcher.isAccepting();
}
