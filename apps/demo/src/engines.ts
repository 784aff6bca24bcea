/**
 * The page that tests the engines: probes the machine at once, runs the checks on request, one engine after the other, each in a worker of its own,
 * and times a repair with the real model on the engine that it would choose.
 */
import {
  checkInWorker, formatEngineReason, probeInWorker, type EngineReport, type EngineRuntimes, type MachineProfile, type ProbeReport, type RemoteFailure, type WebEngineName,
} from '@contractrl/runtime-webgpu/web';
import { explain } from './explain.ts';
import { formatBytes, formatMs } from './format.ts';
import { timeRealRepair, type RealRepair } from './real-repair.ts';
import { definitions, element } from './render.ts';
import { RUNTIMES } from './runtimes.ts';
import { toReadableJson } from './safe-text.ts';

interface Lane {
  readonly name: string;
  readonly engine: WebEngineName;
  readonly threads: number;
  readonly runtimes: EngineRuntimes;
}

const MAX_THREADS = 4;
const run = byId('run') as HTMLButtonElement;
const repair = byId('repair') as HTMLButtonElement;
/** What the page has found out so far, as data. */
const found: { userAgent: string; engines?: Readonly<Record<string, EngineReport>>; repair?: RealRepair | RemoteFailure } & Partial<ProbeReport> = { userAgent: navigator.userAgent };

void start();

async function start(): Promise<void> {
  const probed = await probeInWorker(newWorker(), RUNTIMES);
  if ('code' in probed) return setStatus(`The browser could not be asked: ${probed.code}.`);
  Object.assign(found, probed);
  const { machine } = probed;
  const lanes = lanesOf(machine);
  byId('machine').append(...definitions(machineEntries(machine)));
  byId('choice').textContent = choiceSentence(probed.choice);
  for (const { name } of lanes) byId('engines').append(row(name, undefined, 'not yet tested'));
  run.addEventListener('click', () => void runChecks(lanes));
  repair.addEventListener('click', () => void runRepair());
  run.disabled = repair.disabled = false;
  setStatus('Ready. It takes some seconds, on a slow machine a minute.');
  document.body.dataset['state'] = 'ready';
}

async function runChecks(lanes: readonly Lane[]): Promise<void> {
  run.disabled = repair.disabled = true;
  document.body.dataset['state'] = 'running';
  const reports: Record<string, EngineReport> = {};
  for (const [index, { name, engine, threads, runtimes }] of lanes.entries()) {
    setStatus(`Testing ${name}`);
    const show = (report: EngineReport, verdict: string): void => byId('engines').children[index]?.replaceWith(row(name, report, verdict));
    const report = await checkInWorker(newWorker(), { kind: 'check', engine, threads, runtimes }, { onReport: (each) => show(each, 'running') });
    reports[name] = report;
    show(report, verdictOf(report));
  }
  showFaults(reports);
  found.engines = reports;
  showReport();
  setStatus('Done.');
  run.disabled = repair.disabled = false;
  document.body.dataset['state'] = 'done';
}

/**
 * WASM with one thread everywhere, with several where the page may share memory; WebGPU also where the probe found none, to say why, and in both of
 * its runtimes where the browser can run both.
 */
function lanesOf({ isIsolated, coreCount, hasJspi }: MachineProfile): readonly Lane[] {
  const { jspi: _smaller, ...withoutJspi } = RUNTIMES;
  const threads = Math.min(MAX_THREADS, coreCount);
  const lane = (name: string, engine: WebEngineName, count: number, runtimes: EngineRuntimes = RUNTIMES): Lane => ({ name, engine, threads: count, runtimes });
  return [
    lane('WASM, 1 thread', 'wasm', 1),
    ...(isIsolated && threads > 1 ? [lane(`WASM, ${threads} threads`, 'wasm', threads)] : []),
    lane('WebGPU', 'webgpu', 1),
    ...(hasJspi ? [lane('WebGPU without promise integration', 'webgpu', 1, withoutJspi)] : []),
  ];
}

async function runRepair(): Promise<void> {
  run.disabled = repair.disabled = true;
  document.body.dataset['repair'] = 'running';
  const say = (text: string): void => { byId('repair-status').textContent = text; };
  const timed = await timeRealRepair(say);
  found.repair = timed;
  byId('repair-figures').replaceChildren(...('code' in timed ? [] : definitions(repairEntries(timed))));
  say('code' in timed ? explain(timed) : 'Done.');
  showReport();
  run.disabled = repair.disabled = false;
  document.body.dataset['repair'] = 'code' in timed ? 'failed' : 'done';
}

function repairEntries({ engine, threads, loadMs, wasCached, status, firstMs, nextMs, memoryBytes }: RealRepair): readonly (readonly [string, string])[] {
  return [
    ['Engine', NAMES[engine] + (engine === 'wasm' ? `, ${threads} thread${threads === 1 ? '' : 's'}` : '')],
    ['Model ready after', `${formatMs(loadMs)}, ${wasCached ? 'kept from an earlier visit' : 'downloaded'}`],
    ['Ended as', status],
    ['First repair', formatMs(firstMs)],
    ['The same again', `${formatMs(nextMs)}: the beginning of its prompt is kept`],
    [`Memory of the page, model loaded${threads > 1 ? ', one thread' : ''}`, memoryBytes === undefined ? 'not said' : formatBytes(memoryBytes)],
  ];
}

function showReport(): void {
  byId('report').textContent = toReadableJson(JSON.stringify(found));
  byId('report-section').hidden = false;
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
