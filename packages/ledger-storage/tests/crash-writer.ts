/** The child of the crash test: appends repairs until it is killed, and says of each, once it is acknowledged, where the ledger ends. */
import { writeSync } from 'node:fs';
import { appendRepair } from '@contractrl/core/ledger';
import { openFileStorage } from '../src/file/index.ts';
import { sampleRepair } from './sample.ts';

const [path = ''] = process.argv.slice(2);
const opened = await openFileStorage(path);
if (!opened.ok) {
  writeSync(1, `${JSON.stringify({ failure: opened.error.code })}\n`);
  process.exit(1);
}
const storage = opened.value;
// Small writes, and some that the system takes in several pieces, so that a kill can fall between these.
const repairs = await Promise.all(Array.from({ length: 8 }, (_, index) => sampleRepair(`crash-${index}`, 'x'.repeat(index < 4 ? 4 ** index : 150_000))));
for (let count = 0; ; count += 1) {
  let head = storage.head();
  const rows = (count % 2 === 0 ? repairs.slice(0, 1) : repairs).flatMap((repair) => {
    const next = appendRepair(head, repair);
    head = next.head;
    return next.rows;
  });
  const appended = await storage.append(rows);
  writeSync(1, `${JSON.stringify(appended.ok ? appended.value : { failure: appended.error.code })}\n`);
}
