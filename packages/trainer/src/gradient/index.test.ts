import { expect, test } from 'vitest';
import * as entry from './index.ts';

test('the public names are these and no others', () => {
  expect(Object.keys(entry).sort()).toEqual([
    'adapterOf', 'addGradients', 'clipGradients', 'createGradientEngine', 'createOptimiserState', 'initialParameters', 'learningRateAt',
    'packSegments', 'parametersOf', 'readCheckpoint', 'takeStep', 'writeCheckpoint',
  ]);
});
