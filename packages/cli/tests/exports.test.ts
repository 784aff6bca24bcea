import { expect, test } from 'vitest';
import * as entry from '../src/index.ts';

test('the public names are these and no others', () => {
  expect(Object.keys(entry).sort()).toMatchInlineSnapshot(`
    [
      "EXIT",
      "runCli",
    ]
  `);
});
