/** The page that tests the engines: probes the machine at once, runs the checks on request, one engine after the other, each in a worker of its own. */
import {
  checkInWorker, formatEngineReason, probeInWorker, type EngineReport, type MachineProfile, type ProbeReport, type RemoteFailure, type WebEngineName,
} from '@contractrl/runtime-webgpu/web';
import { formatBytes, formatMs } from './format.ts';
import { definitions, element } from './render.ts';
import { RUNTIMES } from './runtimes.ts';
import { toReadableJson } from './safe-text.ts';

interface Lane {
  readonly name: string;
  readonly engine: WebEngineName;
  readonly threads: number;
}

const MAX_THREADS = 4;
const run = byId('run') as HTMLButtonElement;

void start();

async function start(): Promise<void> {
  const probed = await probeInWorker(newWorker(), RUNTIMES);
  if ('code' in probed) return setStatus(`The browser could not be asked: ${probed.code}.`);
  const { machine } = probed;
  const lanes = lanesOf(machine);
  byId('machine').append(...definitions(machineEntries(machine)));
  byId('choice').textContent = choiceSentence(probed.choice);
  for (const { name } of lanes) byId('engines').append(row(name, undefined, 'not yet tested'));
  run.addEventListener('click', () => void runChecks(probed, lanes));
  run.disabled = false;
  setStatus('Ready. It takes some seconds, on a slow machine a minute.');
  document.body.dataset['state'] = 'ready';
}

async function runChecks(probed: ProbeReport, lanes: readonly Lane[]): Promise<void> {
  run.disabled = true;
  document.body.dataset['state'] = 'running';
  const reports: Record<string, EngineReport> = {};
  for (const [index, { name, engine, threads }] of lanes.entries()) {
    setStatus(`Testing ${name}`);
    const show = (report: EngineReport, verdict: string): void => byId('engines').children[index]?.replaceWith(row(name, report, verdict));
    const report = await checkInWorker(newWorker(), { kind: 'check', engine, threads, runtimes: RUNTIMES }, { onReport: (each) => show(each, 'running') });
    reports[name] = report;
    show(report, verdictOf(report));
  }
  showFaults(reports);
  byId('report').textContent = toReadableJson(JSON.stringify({ userAgent: navigator.userAgent, ...probed, engines: reports }));
  byId('report-section').hidden = false;
  setStatus('Done.');
  run.disabled = false;
  document.body.dataset['state'] = 'done';
}

/** WASM with one thread everywhere, with several where the page may share memory; WebGPU also where the probe found none, to say why. */
function lanesOf({ isIsolated, coreCount }: MachineProfile): readonly Lane[] {
  const threads = Math.min(MAX_THREADS, coreCount);
  const single: Lane = { name: 'WASM, 1 thread', engine: 'wasm', threads: 1 };
  const several: readonly Lane[] = isIsolated && threads > 1 ? [{ name: `WASM, ${threads} threads`, engine: 'wasm', threads }] : [];
  return [single, ...several, { name: 'WebGPU', engine: 'webgpu', threads: 1 }];
}

function verdictOf({ failure, results, checkCount }: EngineReport): string {
  if (failure !== undefined) return `not usable: ${formatEngineReason(failure)}`;
  return results.length === checkCount && results.every(({ fault }) => fault === undefined) ? 'passed' : 'failed';
}

function row(name: string, report: EngineReport | undefined, verdict: string): HTMLElement {
  const made = element('tr');
  const head = element('th', name);
  head.scope = 'row';
  const results = report?.results ?? [];
  const passed = results.filter(({ fault }) => fault === undefined).length;
  const difference = Math.max(report?.selfTest?.maxDifference ?? 0, ...results.map(({ maxDifference = 0 }) => maxDifference));
  const cells = [
    verdict,
    results.length === 0 ? '' : `${passed} of ${report?.checkCount}`,
    report?.selfTest === undefined ? '' : difference.toExponential(1),
    report?.loadMs === undefined ? '' : formatMs(report.loadMs),
    report?.stepMs === undefined ? '' : `${report.stepMs.toFixed(1)} ms`,
  ];
  made.append(head, ...cells.map((text) => element('td', text)));
  return made;
}

function showFaults(reports: Readonly<Record<string, EngineReport>>): void {
  const faults = Object.entries(reports).flatMap(([name, { results }]) => results.flatMap(({ name: check, fault }) => (fault === undefined ? [] : [`${name}: ${check}: ${fault}`])));
  byId('faults').hidden = faults.length === 0;
  byId('faults').replaceChildren(...faults.map((fault) => element('li', fault)));
}

function machineEntries({ gpu, coreCount, isIsolated, memoryGb, hasJspi, storage }: MachineProfile): readonly (readonly [string, string])[] {
  return [
    ['Graphics', 'code' in gpu ? formatEngineReason(gpu) : [gpu.vendor, gpu.architecture, gpu.description].filter((text) => text !== '').join(', ') + (gpu.isSoftware ? ' (software)' : '')],
    ...('code' in gpu ? [] : [
      ['16-bit floats', yesNo(gpu.hasF16)] as const,
      ['Subgroups from', gpu.subgroupMinSize === undefined ? 'not said' : String(gpu.subgroupMinSize)] as const,
      ['Largest buffer', formatBytes(gpu.maxBufferBytes)] as const,
    ]),
    ['Cores', String(coreCount)],
    ['Threads', isIsolated ? 'possible: the page is cross-origin isolated' : 'one: the page is not cross-origin isolated'],
    ['Memory', memoryGb === undefined ? 'not said' : `${memoryGb} GB or more`],
    ['JavaScript Promise Integration', yesNo(hasJspi)],
    ['Storage', storage === undefined ? 'not said' : `${formatBytes(storage.usageBytes)} used of ${formatBytes(storage.quotaBytes)}`],
  ];
}

function choiceSentence(choice: ProbeReport['choice'] | RemoteFailure): string {
  if ('code' in choice) return `No engine can be used here: ${formatEngineReason(choice)}.`;
  const rejected = choice.rejected.map(({ engine, reason }) => ` Not ${NAMES[engine]}: ${formatEngineReason(reason)}.`);
  return `Repairs would run on ${NAMES[choice.engine]}: ${formatEngineReason(choice.reason)}.${rejected.join('')}`;
}

const NAMES: Readonly<Record<WebEngineName, string>> = { wasm: 'WASM', webgpu: 'WebGPU' };

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

function newWorker(): Worker {
  return new Worker(new URL('./engine-check-worker.ts', import.meta.url), { type: 'module' });
}

function setStatus(text: string): void {
  byId('status').textContent = text;
}

function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new TypeError(`The page has no element "${id}"`);
  return found;
}
