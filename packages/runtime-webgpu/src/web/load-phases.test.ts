import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LoadProgress } from '../worker/protocol.ts';
import { LoadPhases } from './load-phases.ts';

describe('LoadPhases', () => {
  let reports: LoadProgress[];
  let phases: LoadPhases;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
    reports = [];
    phases = new LoadPhases((progress) => reports.push(progress), 1_000);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('speed is the mean of the present download, not of the files before it', () => {
    phases.enter('download');
    vi.advanceTimersByTime(2_000);
    phases.downloaded(600, 500);
    expect(reports.at(-1)).toEqual({ phase: 'download', loadedBytes: 600, totalBytes: 1_000, bytesPerSecond: 50 });
  });

  test('bytes are reported ten times a second at most', () => {
    phases.enter('download');
    for (let bytes = 1; bytes <= 500; bytes += 1) {
      vi.advanceTimersByTime(1);
      phases.downloaded(bytes, 0);
    }
    expect(reports.filter(({ loadedBytes }) => loadedBytes > 0).map(({ loadedBytes }) => loadedBytes)).toEqual([100, 200, 300, 400, 500]);
  });

  test('a phase that is entered twice counts both times', () => {
    phases.enter('download');
    vi.advanceTimersByTime(30);
    phases.enter('verify');
    vi.advanceTimersByTime(5);
    phases.enter('download');
    vi.advanceTimersByTime(12);
    phases.end();
    vi.advanceTimersByTime(100);
    expect(phases.totalMs).toEqual({ wait: 0, download: 42, verify: 5, build: 0, test: 0, start: 0 });
  });
});
