import { expect, test } from 'vitest';
import { createMemoryLog, readStatus } from './memory-log.ts';

test('sizes of a status file are in bytes', () => {
  const status = 'Name:\tnode\nVmHWM:\t   2048 kB\nVmRSS:\t    1024 kB\nRssAnon:\t 512 kB\nRssFile:\t 500 kB\n';
  expect(readStatus(status)).toEqual({ peakBytes: 2048 * 1024, residentBytes: 1024 * 1024, privateBytes: 512 * 1024 });
  expect(() => readStatus('Name:\tnode\n')).toThrow('VmHWM');
});

test.skipIf(process.platform !== 'linux')('a phase has its own peak, not that of an earlier one', () => {
  const log = createMemoryLog();
  log.end('before');
  for (let round = 0; round < 8; round += 1) new Uint8Array(32 << 20).fill(round);
  log.end('large');
  log.end('after');
  const [before, large, after] = log.phases;
  expect(large!.peakBytes).toBeGreaterThan(before!.residentBytes + (16 << 20));
  expect(after!.peakBytes).toBeLessThan(large!.residentBytes + (16 << 20));
});
