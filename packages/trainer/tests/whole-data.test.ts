/** The data set that is really built, in small: every public source, every evaluation set. Needs the folder that CONTRACTRL_DATA names, since not all of it may be passed on. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { auditTraining, buildDataset, exampleKeys, indexEvaluation, LEAK_UNITS, openSource, readEvaluationSets, readPublicSources, syntheticSource } from '../src/index.ts';

const folder = process.env['CONTRACTRL_DATA'] ?? '';

// checklist: J3, J5, J6
test.skipIf(!existsSync(join(folder, 'training')))('training data share nothing with any evaluation set, in any unit (needs CONTRACTRL_DATA)', () => {
  const { evaluation, missing } = readEvaluationSets(folder);
  expect(missing).toEqual([]);
  const index = indexEvaluation(evaluation);
  for (const unit of LEAK_UNITS) expect(index.sizes[unit], unit).toBeGreaterThan(100);
  const calls = [...readPublicSources(folder), syntheticSource(13, 40)].flatMap((source) => openSource(source).calls);
  const { examples, leftOut } = buildDataset(calls, { seed: 13, count: 300, index });
  expect(examples.length).toBe(300);
  // there is something to leave out: the audit sees more than what it was not shown
  expect(leftOut.leaking['tool-name']).toBeGreaterThan(100);
  expect(auditTraining(index, examples.map((example) => ({ id: example.id, keys: exampleKeys(example) })))).toMatchObject({ isClean: true, leaks: [] });
});
