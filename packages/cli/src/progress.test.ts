import { describe, expect, test } from 'vitest';
import { createProgressLine, formatProgress } from './progress.ts';
import { createTestIo } from '../tests/harness.ts';

describe('loading progress', () => {
  test.each([
    { what: 'a step without counts', progress: { kind: 'step', label: 'Building' } as const, text: 'Building …' },
    { what: 'a step with an unknown total', progress: { kind: 'step', label: 'Reading', doneBytes: 2_500_000 } as const, text: 'Reading  2.5 MB' },
    { what: 'a counted step', progress: { kind: 'step', label: 'Fetching', doneBytes: 49_181_216, totalBytes: 98_362_432 } as const, text: 'Fetching  50 %  49.2 MB of 98.4 MB' },
    { what: 'more bytes than announced', progress: { kind: 'step', label: 'Fetching', doneBytes: 200, totalBytes: 100 } as const, text: 'Fetching  100 %  0 kB of 0 kB' },
  ])('$what', ({ progress, text }) => {
    expect(formatProgress(progress, false)).toBe(text);
  });

  test('is one line, rewritten, on a terminal, and leaves nothing behind', async () => {
    const io = createTestIo({ isTerminal: true });
    const line = createProgressLine(io);
    line.show({ kind: 'step', label: 'Fetching', doneBytes: 0, totalBytes: 10 });
    io.advance(1_000);
    line.show({ kind: 'step', label: 'Fetching', doneBytes: 10, totalBytes: 10 });
    await line.finish();
    expect(io.errors()).not.toContain('\n');
    line.show({ kind: 'note', text: 'A source failed.' });
    expect(io.errors()).toContain('A source failed.\n');
    line.show({ kind: 'step', label: 'Building' });
    await line.finish();
    expect(io.errors().endsWith('\r\u001b[2K')).toBe(true);
  });

  test('is plain lines elsewhere, at most one in five seconds for each step', () => {
    const io = createTestIo();
    const line = createProgressLine(io);
    for (let doneBytes = 0; doneBytes <= 100; doneBytes++) {
      line.show({ kind: 'step', label: 'Fetching', doneBytes, totalBytes: 100 });
      io.advance(100);
    }
    line.show({ kind: 'step', label: 'Building' });
    expect(io.errors()).toBe('Fetching …\nFetching  50 %  0 kB of 0 kB\nFetching  100 %  0 kB of 0 kB\nBuilding …\n');
  });
});
