import { expect, test } from 'vitest';
import { FIXTURES } from '../../tests/calls.ts';
import { normalText } from '../audit/normal-form.ts';
import { wholeText, type Request } from '../request.ts';
import { PACKAGED_DATA } from '../packaged-data.ts';
import { prepareUserDataset, type UserDataset, type UserDatasetOptions } from './prepare-user-dataset.ts';
import { readTools } from './tool-file.ts';
import { readTraces } from './trace-file.ts';

const TOOLS = [
  { name: 'reserve_kiln_slot', parameters: { type: 'object', required: ['potter', 'day', 'shelf'], additionalProperties: false, properties: {
    potter: { type: 'string' }, day: { type: 'string', format: 'date' }, shelf: { type: 'integer', minimum: 1, maximum: 40 }, glaze: { enum: ['celadon', 'tenmoku', 'shino'] } } } },
  { name: 'log_firing_result', parameters: { type: 'object', required: ['firing_code', 'cone'], additionalProperties: false, properties: {
    firing_code: { type: 'string', pattern: '^FR-\\d{4}$' }, cone: { type: 'integer', minimum: 1, maximum: 14 }, cracked: { type: 'boolean' } } } },
];

function contractsOf(tools: unknown): UserDatasetOptions['contracts'] {
  const read = readTools(JSON.stringify(tools));
  if (!read.ok) throw new Error(read.error.code);
  return read.value.contracts;
}

const OPTIONS: UserDatasetOptions = { seed: 13, count: 160, generalShare: 0, splitBy: 'request', allowOverlap: false, dataFolder: PACKAGED_DATA, contracts: contractsOf(TOOLS), traces: [] };

function made(options: Partial<UserDatasetOptions> = {}): UserDataset {
  const prepared = prepareUserDataset({ ...OPTIONS, ...options });
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.error));
  return prepared.value;
}

const dataset = made();
const requestsOf = ({ examples }: UserDataset, side: string): readonly string[] => examples.filter(({ split }) => split === side).map(({ record }) => normalText(wholeText(record['request'] as Request)));

test('validation shares no request with training, and both have both tools', () => {
  const held = new Set(requestsOf(dataset, 'validation'));
  expect(held.size).toBeGreaterThan(5);
  expect(requestsOf(dataset, 'train').filter((request) => held.has(request))).toEqual([]);
  for (const side of ['train', 'validation']) expect(new Set(dataset.examples.filter(({ split }) => split === side).map(({ record }) => (record['tool'] as { name: string }).name)).size).toBe(2);
});

test('the manifest names sources, tools, what it was audited against, and that nothing is shared', () => {
  expect(dataset.manifest).toMatchObject({
    count: 160, sources: [{ name: 'drawn', licence: 'the user’s own' }], tools: { reserve_kiln_slot: expect.stringMatching(/^[0-9a-f]{64}$/u) as string }, sharedWithEvaluation: [],
    evaluationSets: [{ set: 'bfcl', rows: 1541 }, { set: 'bfcl-irrelevance' }, { set: 'tau-bench' }, { set: 'tau2-bench' }, { set: 'bugcases', rows: 61 }],
  });
});

test('general examples are to train on alone', () => {
  const mixed = made({ count: 240, generalShare: 0.25, dataFolder: FIXTURES });
  const own = new Set(TOOLS.map(({ name }) => name));
  const general = mixed.examples.filter(({ record }) => !own.has((record['tool'] as { name: string }).name));
  expect(general.length).toBe(60);
  expect(general.filter(({ split }) => split === 'validation')).toEqual([]);
});

test('recorded calls are on both sides', async () => {
  const rows = Array.from({ length: 20 }, (_, index) => ({ request: `Shelf ${String(index + 1)} for Mira on the ninth of May, please`, tool: 'reserve_kiln_slot', arguments: { potter: 'Mira', day: '2026-05-09', shelf: index + 1 } }));
  const read = await readTraces('calls.jsonl', rows.map((row) => JSON.stringify(row)).join('\n'), OPTIONS.contracts);
  if (!read.ok) throw new Error(read.error.code);
  const recorded = made({ traces: [{ file: 'calls.jsonl', read: read.value }] });
  expect(recorded.calls.recorded).toBe(20);
  for (const side of ['train', 'validation']) expect(recorded.examples.filter(({ split, source }) => split === side && source === 'traces').length).toBeGreaterThan(0);
});

const ONE_CHOICE = contractsOf([{ name: 'open_kiln_lid', parameters: { type: 'object', required: ['lid'], properties: { lid: { enum: ['front', 'top'] } }, additionalProperties: false } }]);
const BENCHMARK = contractsOf([...TOOLS, { name: 'calculateTriangleArea', parameters: { type: 'object', properties: { base: { type: 'integer' } } } }]);

test.each<[string, Partial<UserDatasetOptions>, unknown]>([
  ['without the evaluation sets', { dataFolder: '/nowhere' }, { code: 'train/no-audit', missing: [{ set: 'bfcl' }, {}, {}, {}, {}] }],
  ['of a tool with two calls', { contracts: ONE_CHOICE }, { code: 'train/too-few-calls', neededTrain: 24, neededValidation: 6 }],
  ['of a few examples', { count: 30 }, { code: 'train/too-few-examples', neededTrain: 64, neededValidation: 16 }],
  ['with a tool of an evaluation set', { contracts: BENCHMARK }, { code: 'train/leak', count: 1, leaks: [{ unit: 'tool-name', id: 'calculateTriangleArea', sets: [expect.stringContaining('bfcl') as string] }] }],
])('no data set is made %s', (_, options, error) => {
  expect(prepareUserDataset({ ...OPTIONS, ...options })).toMatchObject({ ok: false, error });
});

test('with leave, what is shared stays in and is written down', () => {
  const { manifest } = made({ contracts: BENCHMARK, allowOverlap: true });
  expect(manifest['sharedWithEvaluation']).toContainEqual(expect.objectContaining({ unit: 'tool-name' }));
});

test('no request stands on both sides, though two may be made equal', () => {
  const { examples, manifest } = made({ contracts: BENCHMARK, allowOverlap: true, count: 480 });
  const requestsOf = (side: string): ReadonlySet<unknown> => new Set(examples.filter(({ split }) => split === side).map(({ record }) => JSON.stringify(record['request'])));
  expect([...requestsOf('validation')].filter((request) => requestsOf('train').has(request))).toEqual([]);
  expect((manifest['leftOut'] as { readonly betweenSplits: number }).betweenSplits).toBeGreaterThan(0);
});

test('by tool, validation has tools of its own', () => {
  const many = contractsOf(Array.from({ length: 12 }, (_, index) => ({ ...TOOLS[index % 2]!, name: `${TOOLS[index % 2]!.name}_${'abcdefghijkl'[index]!}` })));
  const { examples } = made({ contracts: many, splitBy: 'tool' });
  const toolsOf = (side: string): ReadonlySet<string> => new Set(examples.filter(({ split }) => split === side).map(({ record }) => (record['tool'] as { name: string }).name));
  expect(toolsOf('validation').size).toBe(2);
  expect([...toolsOf('validation')].filter((name) => toolsOf('train').has(name))).toEqual([]);
});
