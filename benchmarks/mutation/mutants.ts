/**
 * One process of `npm run mutate`: mutants by turns, each against the tests that reach it, those that end soonest first. All run in this one
 * module graph, as the switches of the instrumenter allow, and the configuration puts the suite's imports in front; only a loop that no switch is in needs another process, which the script sees to.
 * Without mutants it runs every test once and writes what each reaches.
 * A test that a mutant fails must pass again without it, else something of the mutant stayed behind and the process ends.
 */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { inject, test } from 'vitest';
import { kept, type KeptTest } from './registry.ts';

/** The variable of the instrumented code: see `scripts/mutate.mjs`. */
interface Switches {
  activeMutant?: string | undefined;
  steps: number;
  stepLimit: number;
  /** Ids; null where nobody asks. */
  reached: Record<string, true> | null;
}

/** What each test reaches, by its place in the suite, in how many steps. */
interface Reach {
  readonly reached: readonly Readonly<Record<string, true>>[];
  readonly steps: readonly number[];
  readonly ms: readonly number[];
}

/** How much longer a mutant may take than the program itself: failing, fast-check asks for more examples and messages. */
const STEP_FACTOR = 4;
const STEP_ALLOWANCE = 100_000;

const switches = (globalThis as unknown as { __stryker__: Switches }).__stryker__;
/** Reached while loading, once and for all: a switch that is thrown later changes nothing there. */
const atLoad = switches.reached ?? {};
switches.reached = null;
const { mutantIds, doneFile, reachFile } = inject('mutation');

test('mutants', async () => {
  if (mutantIds.length === 0) {
    writeFileSync(reachFile, JSON.stringify(await measureReach()));
    return;
  }
  const reach = JSON.parse(readFileSync(reachFile, 'utf8')) as Reach;
  for (const id of mutantIds) {
    note({ id });
    const { status, killer, isClean } = await tryMutant(id, reach);
    note({ id, status, killer });
    if (!isClean) return;
  }
}, 0);

function note(line: object): void {
  appendFileSync(doneFile, `${JSON.stringify(line)}\n`);
}

async function measureReach(): Promise<Reach> {
  const found = { reached: [] as Record<string, true>[], steps: [] as number[], ms: [] as number[] };
  for (const { run } of kept) {
    Object.assign(switches, { reached: {}, steps: 0 });
    const start = performance.now();
    await run();
    found.ms.push(performance.now() - start);
    found.steps.push(switches.steps);
    found.reached.push(switches.reached!);
  }
  return found;
}

interface Verdict {
  readonly status: 'killed' | 'timeout' | 'survived' | 'not-reached' | 'at-load';
  readonly killer?: string;
  readonly isClean: boolean;
}

async function tryMutant(id: string, { reached, steps, ms }: Reach): Promise<Verdict> {
  const indices = kept.map((_, index) => index).filter((index) => reached[index]![id] !== undefined).sort((a, b) => ms[a]! - ms[b]!);
  for (const index of indices) {
    const { name, run } = kept[index]!;
    // a sign of life
    appendFileSync(doneFile, '\n');
    Object.assign(switches, { activeMutant: id, steps: 0, stepLimit: STEP_FACTOR * steps[index]! + STEP_ALLOWANCE });
    const isPassed = await passes(run);
    const isLoop = switches.steps > switches.stepLimit;
    Object.assign(switches, { activeMutant: undefined, stepLimit: Infinity });
    if (!isPassed) return { status: isLoop ? 'timeout' : 'killed', killer: name, isClean: await passes(run) };
  }
  return { status: indices.length > 0 ? 'survived' : atLoad[id] === undefined ? 'not-reached' : 'at-load', isClean: true };
}

async function passes(run: KeptTest['run']): Promise<boolean> {
  try {
    await run();
    return true;
  } catch {
    return false;
  }
}
