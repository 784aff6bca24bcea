/** Equal reports for equal inputs, in Node and in Chromium: the bug cases, and every value of the JSON-Schema-Test-Suite as arguments. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { JsonObject, JsonValue } from '@contractrl/core';
import { build, type Rolldown } from 'vite';
import { describe, expect, test } from 'vitest';
import { browserPath, launchBrowser } from './browser.ts';
import { reportDigests, type ReportCase } from './reports.ts';

const isCi = process.env['CI'] === 'true' || process.env['CI'] === '1';

function readRows<T>(name: string): readonly T[] {
  const file = new URL(`../../../packages/core/tests/fixtures/${name}`, import.meta.url);
  return gunzipSync(readFileSync(file)).toString('utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as T);
}

interface BugCase {
  readonly tool: { readonly schema: JsonObject };
  readonly failing_call: { readonly arguments?: JsonObject; readonly arguments_raw?: string };
  readonly contract: { readonly cross_field: readonly JsonObject[] };
}
interface SuiteGroup { readonly schema: JsonValue; readonly tests: readonly { readonly data: JsonValue }[] }

const bugCases = readRows<BugCase>('bugcases.jsonl.gz').map(({ tool, failing_call: call, contract }): ReportCase => (
  { parameters: tool.schema, crossField: contract.cross_field, texts: [call.arguments_raw ?? JSON.stringify(call.arguments)] }));

/** A schema of the suite that is a boolean is wrapped: a tool has an object for its parameters. */
function suiteCases(fixture: string, $schema: string): readonly ReportCase[] {
  return readRows<{ readonly text: string }>(fixture).flatMap(({ text }) => (JSON.parse(text) as readonly SuiteGroup[]).map(({ schema, tests }): ReportCase => ({
    parameters: { $schema, ...(typeof schema === 'boolean' ? { allOf: [schema] } : schema as JsonObject) },
    crossField: [], texts: tests.map(({ data }) => JSON.stringify(data)),
  })));
}

const cases = [
  ...bugCases,
  ...suiteCases('json-schema-draft7.jsonl.gz', 'http://json-schema.org/draft-07/schema#'),
  ...suiteCases('json-schema-draft2020-12.jsonl.gz', 'https://json-schema.org/draft/2020-12/schema'),
];

/** The same source as one script for a page. */
async function pageScript(): Promise<string> {
  const built = await build({
    configFile: false, logLevel: 'error', publicDir: false, resolve: { conditions: ['@contractrl/source'] },
    build: { write: false, target: 'es2022', lib: { entry: fileURLToPath(new URL('reports.ts', import.meta.url)), formats: ['iife'], name: 'reports' } },
  });
  return ([built].flat()[0] as Rolldown.RolldownOutput).output[0].code;
}

describe.skipIf(browserPath === undefined && !isCi)(`reports in Chromium${browserPath === undefined ? ' (skipped: no Chromium, set CONTRACTRL_CHROMIUM)' : ''}`, () => {
  // checklist: C2
  test('they are those of Node, byte by byte', async () => {
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      await page.addScriptTag({ content: await pageScript() });
      // as text: in a literal of the language a member named __proto__ would be none
      const inPage = await page.evaluate(`reports.reportDigests(JSON.parse(${JSON.stringify(JSON.stringify(cases))}))`) as readonly string[];
      const inNode = reportDigests(cases);
      expect(inNode.length).toBeGreaterThan(3_000);
      expect(inPage).toEqual(inNode);
    } finally {
      await browser.close();
    }
  }, 120_000);
});
