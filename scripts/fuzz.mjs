/**
 * `npm run fuzz [-- --minutes 5] [--seconds 10] [--seed S] [FAMILY…]`: the adversarial families of core (docs/threat-model.md), round after round until
 * the minutes are over. In a round every law has `--seconds`, two files at a time, from the round's own seed; rounds count up from `--seed`, so a run
 * goes on where another ended with the seed that it names. FAMILY is a part of a file's name (`immutable`); without one, all run.
 * A case that breaks something is printed as the smallest one that does, with its seed; it ends the run, and the code is not 0.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, runPackage } from './lib/run.mjs';

const { values: { minutes, seconds, seed = String(Math.floor(Math.random() * 2 ** 30)) }, positionals } = parseArgs({
  allowPositionals: true, options: { minutes: { type: 'string', default: '5' }, seconds: { type: 'string', default: '10' }, seed: { type: 'string' } },
});
if (!(Number(minutes) > 0) || !(Number(seconds) > 0) || !Number.isInteger(Number(seed))) {
  console.error('--minutes and --seconds are numbers above 0, --seed a whole number.');
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'contractrl-fuzz-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let isStopped = false;
process.on('SIGINT', () => { isStopped = true; });

const files = positionals.length === 0 ? ['tests/adversarial/'] : positionals.map((name) => `tests/adversarial/${name}`);
const until = Date.now() + Number(minutes) * 60_000;
const laws = new Map();
let code = 0;
let round = 0;
for (; code === 0 && !isStopped && (round === 0 || Date.now() < until); round += 1) {
  const report = join(folder, `${round}.jsonl`);
  code = await runPackage('vitest', 'vitest', ['run', '--maxWorkers=2', '--reporter=dot', ...files], {
    cwd: join(ROOT, 'packages', 'core'),
    env: { CONTRACTRL_FUZZ_SECONDS: seconds, CONTRACTRL_FUZZ_REPORT: report, CONTRACTRL_SEED: String(Number(seed) + round) },
  });
  for (const line of read(report)) add(JSON.parse(line));
  const { cases, cpuMs } = total();
  console.log(`round ${round + 1}, seed ${Number(seed) + round}: ${cases} cases so far, ${perSecond(cases, cpuMs)} a second of processor time`);
}

for (const [title, { outcomes, cpuMs }] of laws) {
  const counts = [...outcomes].sort(([, a], [, b]) => b - a);
  const cases = counts.reduce((sum, [, count]) => sum + count, 0);
  console.log(`${String(cases).padStart(9)}  ${title}\n           ${counts.map(([word, count]) => `${word} ${count}`).join(', ')}; ${perSecond(cases, cpuMs)} a second`);
}
const { cases, cpuMs } = total();
console.log(`${String(cases).padStart(9)}  cases in all, ${perSecond(cases, cpuMs)} a second of processor time. ${code === 0 ? `Go on with --seed ${Number(seed) + round}` : `Failed with --seed ${Number(seed) + round - 1}`}`);
process.exitCode = code;

function add({ title, cpuMs, outcomes }) {
  const law = laws.get(title) ?? { cpuMs: 0, outcomes: new Map() };
  law.cpuMs += cpuMs;
  for (const [word, count] of Object.entries(outcomes)) law.outcomes.set(word, (law.outcomes.get(word) ?? 0) + count);
  laws.set(title, law);
}

function total() {
  const all = [...laws.values()];
  return {
    cases: all.flatMap(({ outcomes }) => [...outcomes.values()]).reduce((sum, count) => sum + count, 0),
    cpuMs: all.reduce((sum, law) => sum + law.cpuMs, 0),
  };
}

function perSecond(count, cpuMs) {
  return cpuMs === 0 ? 0 : Math.round(count / cpuMs * 1_000);
}

/** Lines of a file that is not there where no family came to its end. */
function read(file) {
  try {
    return readFileSync(file, 'utf8').split('\n').filter((line) => line !== '');
  } catch {
    return [];
  }
}
