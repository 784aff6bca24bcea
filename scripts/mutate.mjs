/**
 * `npm run mutate -- PACKAGE [FILE…]`: mutation testing of `core` (patch, gate, transition, ledger) or of `grammar-mask` (grammar and matcher).
 * Stryker's instrumenter puts every mutant into the sources, each behind a switch; two processes try them by turns (`benchmarks/mutation`). One
 * that says nothing for a while is in a loop that no switch is in: it is ended, the mutant counts as timed out, and another goes on behind it.
 * FILE is a part of a path (`decimal`); without one, all files. `--share 0.1` takes a part of the mutants, drawn by their ids. What was tried goes
 * into the report of `npm run bench:core` or `npm run bench:mask`; other files keep what is known of them.
 */
import { Instrumenter } from '@stryker-mutator/instrumenter';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, entryOf, inOrder, ROOT, run } from './lib/run.mjs';

/**
 * By package: what is mutated, folders whole; what mutants have to survive, those tests first that fail soonest (none that needs a large
 * vocabulary), and how much of their random rounds; and the benchmark whose report takes the outcome.
 */
const TARGETS = {
  'core': {
    bench: 'core',
    roundShare: 0.5,
    sources: ['patch/admit.ts', 'patch/apply.ts', 'patch/locked.ts', 'patch/operation.ts', 'ledger/', 'repair/gate.ts', 'repair/transition.ts', 'repair/step.ts', 'repair/close.ts', 'repair/accepted-call.ts'],
    suite: [
      'src/patch/', 'src/ledger/', 'src/repair/', 'src/execute/', 'tests/conformance/json-patch.test.ts', 'tests/gates.test.ts', 'tests/bad-input.test.ts',
      'tests/checklist.test.ts', 'tests/laws/patch.test.ts', 'tests/laws/repair.test.ts', 'tests/end-to-end/bugcases.test.ts',
    ],
  },
  'grammar-mask': {
    bench: 'mask',
    roundShare: 0.2,
    sources: ['grammar/', 'mask/'],
    suite: [
      'src/grammar/decimal.test.ts', 'src/mask/token-bitmask.test.ts', 'src/mask/matcher.test.ts', 'src/mask/explain.test.ts', 'tests/traps.test.ts', 'tests/number-states.test.ts',
      'tests/churn.test.ts', 'tests/patch-rules.test.ts', 'tests/token-budget.test.ts', 'tests/string-content.test.ts', 'tests/random-contracts.test.ts',
    ],
  },
};
const PROCESS_COUNT = 2;
/** Between two tests; the longest takes a second. */
const SILENCE_MS = 30_000;

/**
 * In place of Stryker's own: what is reached is noted only where somebody asks, since most of the time goes into the switches, and every step
 * counts, so that a loop ends even where the mutant stands outside it.
 */
const HEADER = `
function stryNS_9fa48() { return globalThis.__stryker__ ??= { steps: 0, stepLimit: Infinity, reached: {} }; }
stryNS_9fa48();
function stryCov_9fa48(...ids) {
  const namespace = stryNS_9fa48();
  if ((namespace.steps += 1) > namespace.stepLimit) throw new Error('an endless loop');
  if (namespace.reached !== null) for (const id of ids) namespace.reached[id] = true;
}
function stryMutAct_9fa48(id) {
  return stryNS_9fa48().activeMutant === id;
}
`;

const { values: { share, out: outFile }, positionals: [packageName, ...parts] } = parseArgs({ allowPositionals: true, options: { share: { type: 'string', default: '1' }, out: { type: 'string' } } });
const target = TARGETS[packageName];
if (target === undefined) throw new Error(`name a package: ${Object.keys(TARGETS).join(' or ')}`);
const PACKAGE = join(ROOT, 'packages', packageName);
const out = outFile ?? join(PACKAGE, '.reports', 'mutation.json');

/** Paths below the package: a folder stands for all files in it. */
const expand = (path) => (path.endsWith('/') ? readdirSync(join(PACKAGE, path)).map((name) => `${path}${name}`) : [path]);
const suite = target.suite.flatMap(expand).filter((name) => name.endsWith('.test.ts')).map((name) => join(PACKAGE, name));
const names = target.sources.map((path) => `src/${path}`).flatMap(expand)
  .filter((name) => name.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(name) && (parts.length === 0 || parts.some((part) => name.includes(part))));
const texts = new Map(names.map((name) => [name, readFileSync(join(PACKAGE, name), 'utf8')]));
const silent = { isDebugEnabled: () => false, isTraceEnabled: () => false, debug: () => {}, info: () => {}, warn: console.warn };
const files = names.map((name) => ({ name: join(PACKAGE, name), mutate: true, content: texts.get(name) }));
const instrumented = await new Instrumenter(silent).instrument(files, { ignorers: [], excludedMutations: [], plugins: null, noHeader: true });

const isDrawn = ({ id }) => createHash('sha256').update(id).digest().readUInt32BE(0) / 2 ** 32 < Number(share);
const mutants = instrumented.mutants.filter(({ status }) => status === undefined).filter(isDrawn);
const sources = Object.fromEntries(instrumented.files.map(({ name, content }) => [name, `${content}\n${HEADER}`]));
console.error(`${String(mutants.length)} of ${String(instrumented.mutants.length)} mutants in ${String(names.length)} files`);

const folder = mkdtempSync(join(tmpdir(), 'contractrl-mutants-'));
const children = new Set();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));
const reachFile = join(folder, 'reach.json');
const outcomes = new Map();
const started = Date.now();
if ((await start([], 0, 'reach')).code !== 0 || !existsSync(reachFile)) throw new Error('the tests do not pass as they are');
await Promise.all(Array.from({ length: PROCESS_COUNT }, (_, turn) => tryAll(mutants.map(({ id }) => id).filter((_id, index) => index % PROCESS_COUNT === turn), turn)));

const result = names.map((name) => {
  const lines = texts.get(name).split('\n');
  const tried = mutants.filter(({ fileName }) => fileName === join(PACKAGE, name)).map(({ id, location, mutatorName, replacement }) => ({
    line: location.start.line + 1, mutator: mutatorName, source: sourceOf(lines, location), replacement, ...outcomes.get(id),
  }));
  return { file: name, mutants: tried };
});
writeFileSync(out, `${JSON.stringify({ share: Number(share), seconds: Math.round((Date.now() - started) / 1000), files: result })}\n`);
const counts = {};
for (const { status } of outcomes.values()) counts[status] = (counts[status] ?? 0) + 1;
console.error(JSON.stringify(counts), `in ${String(Math.round((Date.now() - started) / 1000))} s`);
const main = (...args) => run(process.execPath, [join(ROOT, 'benchmarks', 'dist', target.bench, 'main.js'), ...args]);
await inOrder(() => build('@contractrl/benchmarks'), () => main('measure', 'mutation', '--mutants', out), () => main('report'));

/** Restarts until every mutant has an outcome. */
async function tryAll(ids, turn) {
  for (let left = ids, round = 0; left.length > 0; round += 1) {
    const { notes } = await start(left, turn, String(round));
    if (notes.length === 0) throw new Error('the tests cannot be started');
    for (const { id, status, killer } of notes) outcomes.set(id, { status: status ?? 'timeout', killer });
    left = left.filter((id) => !outcomes.has(id));
    console.error(`${String(outcomes.size)} tried`);
  }
}

/** One process, to its end or until it is silent; what it noted: the id of a mutant, and its outcome where it came to one. */
function start(mutantIds, turn, round) {
  const [doneFile, jobFile] = ['done', 'job'].map((name) => join(folder, `${name}-${String(turn)}-${round}`));
  writeFileSync(doneFile, '');
  writeFileSync(jobFile, JSON.stringify({ root: PACKAGE, suite, sources, mutation: { mutantIds, doneFile, reachFile, roundShare: target.roundShare } }));
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [entryOf('vitest', 'vitest'), 'run', '--config', join(ROOT, 'benchmarks', 'mutation', 'mutation.vitest.config.ts')], {
      cwd: PACKAGE, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, CONTRACTRL_MUTATION: jobFile },
    });
    children.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => { output += chunk; });
    const watch = setInterval(() => {
      const { size, mtimeMs } = statSync(doneFile);
      if (size > 0 && Date.now() - mtimeMs > SILENCE_MS) child.kill('SIGKILL');
    }, 1000);
    child.on('exit', (code) => {
      clearInterval(watch);
      children.delete(child);
      const notes = readFileSync(doneFile, 'utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));
      if (code !== 0 && notes.length === 0) console.error(output);
      resolve({ code, notes });
    });
  });
}

/** The text that a mutant replaces, cut to one line. */
function sourceOf(lines, { start, end }) {
  const first = lines[start.line];
  return (start.line === end.line ? first.slice(start.column, end.column) : `${first.slice(start.column)} …`).trim();
}
