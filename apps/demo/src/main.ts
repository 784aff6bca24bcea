/** The page: shows one failed call, loads the model on request, repairs, and shows what happened. */
import { formatEngineReason, type LoadedRepairer, type LoadProgress, type RemoteFailure, type WebEngineName } from '@contractrl/runtime-webgpu/web';
import example from './example.json' with { type: 'json' };
import { explain } from './explain.ts';
import { formatBytes, formatMs } from './format.ts';
import { argumentsAfter, argumentsText, attemptItems, changedLines, definitions, element, figures, reportRows, verdictSentence } from './render.ts';
import { createRepairController, type DemoState } from './repair-controller.ts';
import { toReadableJson } from './safe-text.ts';

const PHASE_NAMES: Readonly<Record<LoadProgress['phase'], string>> = {
  wait: 'Waiting for another tab that downloads the same model',
  download: 'Downloading model and adapter',
  verify: 'Verifying its SHA-256',
  build: 'Building the graph',
  test: 'Fetching the engine and testing it on known answers',
  start: 'Starting the runtime',
};

const callBefore = argumentsText(example.call.arguments);
const controller = createRepairController(show);

byId('case').append(...definitions([['Tool', `${example.call.name}: ${example.tool.description}`], ['Request', example.request]]));
byId('call-before').textContent = toReadableJson(callBefore);
byId('load').addEventListener('click', () => void controller.load());
byId('repair').addEventListener('click', () => void controller.repair(example));
byId('cancel').addEventListener('click', () => controller.cancel());
show(controller.state);

function show(state: DemoState): void {
  const isBusy = state.kind === 'loading' || state.kind === 'repairing';
  document.body.dataset['state'] = state.kind;
  enableButtons({ load: state.kind === 'empty', repair: state.kind === 'ready' || state.kind === 'done', cancel: isBusy });
  setText('status', statusText(state));
  showProgress(state.kind === 'loading' ? state.progress : undefined, isBusy);
  showFailure(state.kind === 'empty' || state.kind === 'ready' ? state.failure : undefined);
  showNotes('loaded' in state ? state.loaded : undefined);
  byId('result').hidden = state.kind !== 'done';
  if (state.kind !== 'done') return;
  byId('report').replaceChildren(...reportRows(state.outcome.reports));
  byId('attempts').replaceChildren(...attemptItems(state.outcome.history));
  byId('verdict').textContent = verdictSentence(state.outcome);
  byId('call-after').replaceChildren(...changedLines(callBefore, argumentsAfter(state.outcome, callBefore)));
  byId('figures').replaceChildren(...definitions(figures(state.outcome, state.totalMs)));
}

function statusText(state: DemoState): string {
  switch (state.kind) {
    case 'empty': return 'The model is not loaded. It is 98 MB, fetched once and kept by the browser.';
    case 'loading': return state.progress === undefined ? 'Starting the worker' : PHASE_NAMES[state.progress.phase];
    case 'ready': {
      const { phaseMs, fromCache, threads, choice } = state.loaded;
      const totalMs = Object.values(phaseMs).reduce((sum, ms) => sum + ms, 0);
      return `The model is ready: ${formatMs(totalMs)}, ${fromCache ? 'kept from an earlier visit' : 'downloaded'}, ${engineText(choice.engine, threads)}.`;
    }
    case 'repairing': return 'Repairing the call';
    case 'done': return `Done in ${formatMs(state.totalMs)}: ${state.outcome.status}.`;
  }
}

function engineText(engine: WebEngineName, threads: number): string {
  return engine === 'webgpu' ? 'on the graphics adapter' : `on WASM with ${threads} thread${threads === 1 ? '' : 's'}`;
}

function showProgress(progress: LoadProgress | undefined, isBusy: boolean): void {
  const bar = byId('progress') as HTMLProgressElement;
  byId('progress-block').hidden = !isBusy;
  if (progress === undefined || progress.totalBytes === 0) {
    bar.removeAttribute('value');
    byId('progress-label').textContent = 'Working';
    return;
  }
  bar.value = progress.loadedBytes / progress.totalBytes;
  const speed = progress.bytesPerSecond === 0 ? '' : `, ${formatBytes(progress.bytesPerSecond)}/s`;
  byId('progress-label').textContent = `${PHASE_NAMES[progress.phase]}: ${formatBytes(progress.loadedBytes)} of ${formatBytes(progress.totalBytes)}${speed}`;
}

function showFailure(failure: RemoteFailure | undefined): void {
  const box = byId('error');
  box.hidden = failure === undefined;
  box.dataset['code'] = failure?.code ?? '';
  box.replaceChildren(...(failure === undefined ? [] : [element('p', explain(failure)), element('code', failure.code)]));
}

/** What went wrong without harm, and why the engines that were passed over were. */
function showNotes(loaded: LoadedRepairer | undefined): void {
  const rejected = (loaded?.choice.rejected ?? []).map(({ engine, reason }) => `Not on ${engine === 'webgpu' ? 'WebGPU' : 'WASM'}: ${formatEngineReason(reason)}.`);
  const notes = [...rejected, ...(loaded?.notes ?? []).map(explain)];
  byId('notes').hidden = notes.length === 0;
  byId('notes').replaceChildren(...notes.map((note) => element('li', note)));
}

/** A button that is disabled under the keyboard's focus hands it to one that can be used. */
function enableButtons(enabled: Readonly<Record<'load' | 'repair' | 'cancel', boolean>>): void {
  const buttons = Object.entries(enabled).map(([id, isEnabled]) => ({ button: byId(id) as HTMLButtonElement, isEnabled }));
  const hadFocus = buttons.some(({ button }) => button === document.activeElement);
  for (const { button, isEnabled } of buttons) button.disabled = !isEnabled;
  const focused = document.activeElement;
  if (hadFocus && (!(focused instanceof HTMLButtonElement) || focused.disabled)) buttons.find(({ isEnabled }) => isEnabled)?.button.focus();
}

/** A live region is read aloud whenever it is written to, so it is written only when it changes. */
function setText(id: string, text: string): void {
  if (byId(id).textContent !== text) byId(id).textContent = text;
}

function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new TypeError(`The page has no element "${id}"`);
  return found;
}
