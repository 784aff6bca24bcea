/** `npm run checklist`: writes docs/checklist.md anew. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findTests, readRows, renderChecklist } from './lib/checklist.mjs';
import { ROOT } from './lib/run.mjs';

const rows = readRows();
writeFileSync(join(ROOT, 'docs', 'checklist.md'), renderChecklist(rows, findTests(ROOT, rows)));
