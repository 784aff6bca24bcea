import { open } from 'node:fs/promises';
import { platform } from 'node:os';
import { expect, test } from 'vitest';
import { formatModelFailure, toFileFailure, type ModelFailure } from './failure.ts';

const FAILURES: readonly ModelFailure[] = [
  { code: 'model/file-missing', path: '/m' },
  { code: 'model/wrong-size', path: '/m', expectedBytes: 2, actualBytes: 1 },
  { code: 'model/wrong-digest', path: '/m', expected: 'a', actual: 'b' },
  { code: 'model/no-space', path: '/m', neededBytes: 98_362_432 },
  { code: 'model/no-space', path: '/m', neededBytes: undefined },
  { code: 'model/file-access', path: '/m', reason: 'EACCES' },
  { code: 'model/no-network', url: 'http://x', reason: 'ENOTFOUND' },
  { code: 'model/http-status', url: 'http://x', status: 503 },
  { code: 'model/stalled', url: 'http://x', receivedBytes: 5, waitedMs: 30_000 },
  { code: 'model/interrupted', url: 'http://x', receivedBytes: 5, reason: 'ECONNRESET' },
  { code: 'model/no-python', tried: ['python3', 'python'] },
  { code: 'model/no-pip', python: 'python3' },
  { code: 'model/pip-failed', requirement: 'm==1', reason: 'no route' },
  { code: 'model/wheel-broken', path: '/w', reason: 'it has no m' },
  { code: 'model/offline', path: '/m' },
  { code: 'model/aborted' },
];

/** What to do: every sentence has one of these. */
const ADVICE = /check|delete|free some|set CONTRACTRL|try again|install|pass a model|run /u;

test.each(FAILURES)('$code is one line that says what to do', (failure) => {
  const sentence = formatModelFailure(failure);
  expect(sentence).toMatch(ADVICE);
  expect(sentence.split('\n')).toHaveLength(1);
  expect(sentence.endsWith('.')).toBe(true);
});

test('no source at all is one line for each that was tried', () => {
  const [first, second] = FAILURES;
  const sentence = formatModelFailure({ code: 'model/unavailable', sources: [{ source: 'hub', failure: first! }, { source: 'pip', failure: second! }] });
  expect(sentence.split('\n')).toHaveLength(3);
});

test.each([
  { name: 'a full disk', code: 'ENOSPC', failure: { code: 'model/no-space', path: '/m', neededBytes: 7 } },
  { name: 'a spent quota', code: 'EDQUOT', failure: { code: 'model/no-space', path: '/m', neededBytes: 7 } },
  { name: 'no file', code: 'ENOENT', failure: { code: 'model/file-missing', path: '/m' } },
  { name: 'no permission', code: 'EACCES', failure: { code: 'model/file-access', path: '/m', reason: 'EACCES' } },
])('$name is told by the system’s code', ({ code, failure }) => {
  expect(toFileFailure(Object.assign(new Error(code), { code }), '/m', 7)).toEqual(failure);
});

test('an abort is no fault of the file', () => {
  expect(toFileFailure(new DOMException('aborted', 'AbortError'), '/m')).toEqual({ code: 'model/aborted' });
});

test.skipIf(platform() !== 'linux')('a device that is full says so (on macOS and on Windows there is none)', async () => {
  const full = await open('/dev/full', 'w');
  const cause: unknown = await full.writeFile('x').then(() => undefined, (error: unknown) => error);
  await full.close();
  expect(toFileFailure(cause, '/dev/full').code).toBe('model/no-space');
});
