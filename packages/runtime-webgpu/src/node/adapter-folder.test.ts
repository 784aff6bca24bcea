import { basename, dirname, isAbsolute } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SHIPPED_ADAPTER_NAMES } from '../lora/shipped-adapters.ts';
import { adapterFolder, DEFAULT_ADAPTER_FOLDER, formatUnknownAdapter } from './adapter-folder.ts';

test.each(SHIPPED_ADAPTER_NAMES)('%s is a folder of the package, wherever the program runs', (name) => {
  const folder = adapterFolder(name);
  if (!folder.ok || folder.value === undefined) throw new Error('it ships');
  expect(isAbsolute(folder.value)).toBe(true);
  expect([basename(folder.value), dirname(folder.value)]).toEqual([name, dirname(DEFAULT_ADAPTER_FOLDER)]);
});

test('none is the bare model', () => {
  expect(adapterFolder('none')).toEqual({ ok: true, value: undefined });
});

describe('what has a slash, or a dot in front, is a path as it is', () => {
  test.each(['./r8', 'r8/', '../r8', '.', '..', 'adapter-r8/adapter', '/srv/adapters/r8', './none', '.\\r8', 'C:\\adapters\\r8'])('%s', (path) => {
    expect(adapterFolder(path)).toEqual({ ok: true, value: path });
  });
});

describe('any other word is refused, with what there is', () => {
  test.each(['r32', 'R8', 'r8 ', 'r08', 'adapter-r8', 'None', 'constructor', ''])('%j', (name) => {
    const folder = adapterFolder(name);
    if (folder.ok) throw new Error('expected a refusal');
    expect(folder.error).toEqual({ code: 'adapter/unknown-name', name, known: SHIPPED_ADAPTER_NAMES });
    expect(formatUnknownAdapter(folder.error)).toContain(`(${SHIPPED_ADAPTER_NAMES.join(', ')})`);
  });

  test('whatever it is', () => {
    fc.assert(fc.property(fc.string().filter((text) => !/^\.|[/\\]/u.test(text) && !['none', ...SHIPPED_ADAPTER_NAMES].includes(text)), (text) => !adapterFolder(text).ok));
  });
});
