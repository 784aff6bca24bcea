import { expect, test } from 'vitest';
import { EXIT, exitCodeOf, worse } from './exit-code.ts';

test.each([
  ['valid', 0], ['repaired', 0], ['failed', 1], ['abstained', 3], ['rejected', 4],
] as const)('%s ends with %d', (status, code) => {
  expect(exitCodeOf(status)).toBe(code);
});

test('the worst of many is the first of 5, 1, 4, 3, 0, in whatever order they come', () => {
  const worstFirst = [EXIT.ledgerBroken, EXIT.notRepaired, EXIT.rejected, EXIT.abstained, EXIT.ok];
  for (const [rank, code] of worstFirst.entries()) {
    for (const other of worstFirst.slice(rank)) {
      expect(worse(code, other)).toBe(code);
      expect(worse(other, code)).toBe(code);
    }
  }
});
