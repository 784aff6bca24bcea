import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { FIXTURES } from '../../tests/calls.ts';
import { PACKAGED_DATA } from '../packaged-data.ts';
import { packEvaluationSets, PACKED_KEYS, readEvaluationSets } from './evaluation-sets.ts';
import { indexEvaluation } from './leakage-index.ts';
import { packKeys, readPackedKeys } from './packed-keys.ts';

const read = readEvaluationSets(FIXTURES);
const keys = read.evaluation.flatMap((each) => ('keys' in each ? each.keys.map((key) => ({ set: each.set, key })) : []));
const packed = packEvaluationSets(read);

test('packed keys find what the keys find, and count as many', () => {
  const back = readPackedKeys(packed);
  if (!back.ok) throw new Error(back.error.code);
  const [open, closed] = [indexEvaluation(read.evaluation), indexEvaluation(back.value)];
  expect(closed.sizes).toEqual(open.sizes);
  const all = keys.map(({ key }) => key);
  expect(closed.leaks('x', all)).toEqual(open.leaks('x', all));
  expect(closed.leaks('x', [['request', 'no such request here'], ['tool-name', 'nosuchtool']])).toEqual([]);
  // the unit is part of what is looked for
  const name = all.find(([unit]) => unit === 'tool-name')!;
  expect(closed.leaks('x', [['request', name[1]]])).toEqual([]);
});

test('equal sets give equal bytes', () => {
  expect(Buffer.from(packEvaluationSets(readEvaluationSets(FIXTURES))).equals(packed)).toBe(true);
});

describe('nothing is read of', () => {
  const plain = gunzipSync(packed);
  test.each([
    ['what is no gzip file', Buffer.from('keys')], ['a file without its end', gzipSync(plain.subarray(0, -1))], ['a file with more than that', gzipSync(Buffer.concat([plain, Buffer.from([0])]))],
    ['another version', gzipSync(Buffer.from('{"version":2,"sets":[]}\n'))], ['a header without counts', gzipSync(Buffer.from('{"version":1,"sets":[{"set":"bfcl"}]}\n'))], ['an empty file', gzipSync(Buffer.alloc(0))],
  ])('%s', (_, bytes) => {
    expect(readPackedKeys(bytes)).toMatchObject({ ok: false, error: { code: 'audit/keys-unreadable' } });
  });
});

describe('the keys that come with this package', () => {
  const own = readEvaluationSets(PACKAGED_DATA);

  test('are of every evaluation set', () => {
    expect(own.missing).toEqual([]);
    expect(own.sets.map(({ set }) => set)).toEqual(read.sets.map(({ set }) => set));
  });

  // the fixtures are rows of those sets: keys made by other rules than the packed ones would not be found
  test('hold every key of the rows that are here', () => {
    const index = indexEvaluation(own.evaluation);
    const lost = keys.filter(({ set, key }) => !index.leaks('x', [key]).some(({ sets }) => sets.includes(set)));
    expect(keys.length).toBeGreaterThan(500);
    expect(lost).toEqual([]);
  });

  const folder = process.env['CONTRACTRL_DATA'] ?? '';
  test.skipIf(!existsSync(join(folder, 'bfcl')))('are those of the sets themselves (needs CONTRACTRL_DATA)', () => {
    expect(Buffer.from(packEvaluationSets(readEvaluationSets(folder))).equals(readFileSync(join(PACKAGED_DATA, PACKED_KEYS)))).toBe(true);
  });
});

test('a set that is not among the packed ones is missing', () => {
  const back = readPackedKeys(packKeys([{ set: 'bfcl', rows: 1, sha256: 'a', keys: [['request', 'one two three four']] }]));
  expect(back).toMatchObject({ ok: true, value: [{ set: 'bfcl', rows: 1 }] });
});
