/** The worker's side of an engine check: probe, or open one engine on the check model, test it, time it, and run the conformance suite over it. */
import type { Engine } from '../engine.ts';
import { chooseEngine } from '../probe/choice.ts';
import { probeMachine } from '../probe/machine.ts';
import { CHECK_PROMPT, createCheckModel } from '../self-test/check-model.ts';
import { checkConformance, CONFORMANCE_CHECKS } from '../self-test/conformance.ts';
import { selfTest } from '../self-test/self-test.ts';
import type { CheckEvent, CheckTask, EngineReport } from '../worker/engine-check.ts';
import { toRemoteFailure } from '../worker/protocol.ts';
import { openWebEngine, servedEngines } from './open-engine.ts';

const TIMED_STEPS = 9;

export async function runCheckTask(task: CheckTask, post: (event: CheckEvent) => void): Promise<void> {
  const machine = await probeMachine();
  const { runtimes } = task;
  const { hasJspi } = machine;
  if (task.kind === 'probe') {
    const choice = chooseEngine(machine, { served: servedEngines(runtimes, hasJspi), largestWeightBytes: 0 });
    post({ kind: 'probed', report: { machine, choice: choice.ok ? choice.value : toRemoteFailure(choice.error) } });
  } else {
    await check(task, hasJspi, (report) => post({ kind: 'progress', report }));
  }
  post({ kind: 'done' });
}

async function check({ engine: name, threads, runtimes }: Extract<CheckTask, { kind: 'check' }>, hasJspi: boolean, post: (report: EngineReport) => void): Promise<void> {
  const options = { lora: true, runtimes, threads, hasJspi };
  const none = { results: [], checkCount: CONFORMANCE_CHECKS.length };
  const startedAt = performance.now();
  const tested = await selfTest((model) => openWebEngine(name, { ...options, model }));
  if (!tested.ok) return post({ ...none, failure: toRemoteFailure(tested.error) });
  const opened = await openWebEngine(name, { ...options, model: createCheckModel() });
  if (!opened.ok) return post({ ...none, selfTest: tested.value, failure: toRemoteFailure(opened.error) });
  let report: EngineReport = { ...none, selfTest: tested.value, loadMs: performance.now() - startedAt };
  post(report);
  report = { ...report, ...(await timeSteps(opened.value)) };
  await checkConformance(opened.value, (result) => {
    report = { ...report, results: [...report.results, result] };
    post(report);
  });
}

/** Median of single steps after the check prompt; nothing where a step fails, which the suite will tell. */
async function timeSteps(engine: Engine): Promise<{ readonly stepMs?: number }> {
  const start = await engine.extend(engine.emptyCache, CHECK_PROMPT);
  if (!start.ok) return {};
  const times: number[] = [];
  for (let i = 0; i < TIMED_STEPS; i++) {
    const from = performance.now();
    const step = await engine.extend(start.value.cache, [i]);
    if (!step.ok) return {};
    engine.release?.(step.value.cache);
    times.push(performance.now() - from);
  }
  return { stepMs: times.sort((a, b) => a - b)[TIMED_STEPS >> 1]! };
}
