/**
 * `npm run fuzz [-- --seconds 60] [FAMILY…]`: the adversarial families of core (docs/threat-model.md), each for as long as `--seconds` says, from a
 * new seed, and what became of how many cases. FAMILY is a part of a file's name (`immutable`); without one, all run, two files at a time.
 * The seed repeats a run with `--seed`. A case that breaks something is printed as the smallest one that does, and the code is not 0.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, runPackage } from './lib/run.mjs';

const { values: { seconds, seed = String(Math.floor(Math.random() * 2 ** 31)) }, positionals } = parseArgs({
  allowPositionals: true, options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string' } },
});
if (!(Number(seconds) > 0) || !Number.isInteger(Number(seed))) {
  console.error('--seconds is a number above 0, --seed a whole number.');
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'contractrl-fuzz-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const report = join(folder, 'report.jsonl');

const files = positionals.length === 0 ? ['tests/adversarial/'] : positionals.map((name) => `tests/adversarial/${name}`);
const code = await runPackage('vitest', 'vitest', ['run', '--maxWorkers=2', ...files], {
  cwd: join(ROOT, 'packages', 'core'),
  env: { CONTRACTRL_FUZZ_SECONDS: seconds, CONTRACTRL_FUZZ_REPORT: report, CONTRACTRL_SEED: seed },
});

let total = 0;
for (const line of read(report)) {
  const { title, outcomes } = JSON.parse(line);
  const counts = Object.entries(outcomes).sort(([, a], [, b]) => b - a);
  const cases = counts.reduce((sum, [, count]) => sum + count, 0);
  total += cases;
  console.log(`${String(cases).padStart(9)}  ${title}\n           ${counts.map(([word, count]) => `${word} ${String(count)}`).join(', ')}`);
}
console.log(`${String(total).padStart(9)}  cases in all, seed ${seed}`);
process.exitCode = code;

/** Lines of a file that is not there where no family came to its end. */
function read(file) {
  try {
    return readFileSync(file, 'utf8').split('\n').filter((line) => line !== '');
  } catch {
    return [];
  }
}
