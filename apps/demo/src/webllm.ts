/** The page that repairs with WebLLM: engine and mask in a worker, the loop and its judge here. */
import { repairCall, type RepairRequest } from '@contractrl/core';
import { readRepairRequest } from '@contractrl/core/records';
import { connectWebLlm, type OpenedWebLlm, type WebLlmClient } from '@contractrl/runtime-webgpu/webllm';
import example from './example.json' with { type: 'json' };
import { argumentsAfter, attemptItems, changedLines, definitions, element, figures, verdictSentence } from './render.ts';
import { toReadableJson, toSafeText } from './safe-text.ts';
import type { WebLlmModels } from './webllm-worker.ts';

/** Families whose tokenizers and turns are read; any other would be refused by name after its files were fetched. */
const READABLE = /^(?:SmolLM2|Qwen2|Qwen3|Llama-3|Hermes-[23])/u;

const [select, load, repair, cancel] = [byId<HTMLSelectElement>('model'), byId<HTMLButtonElement>('load'), byId<HTMLButtonElement>('repair'), byId<HTMLButtonElement>('cancel')];
const request = readExample();
let models: WebLlmModels['models'] = [];
let client: WebLlmClient | undefined;
let opened: OpenedWebLlm | undefined;
let running: AbortController | undefined;

byId('call-before').textContent = toReadableJson(JSON.stringify({ request: request.request, call: { name: request.call.name, arguments: JSON.parse(request.call.argumentsText) as unknown } }));
load.addEventListener('click', () => void loadModel());
repair.addEventListener('click', () => void repairExample());
cancel.addEventListener('click', () => running?.abort());
startWorker();

/** WebLLM cannot stop a load: after a cancelled one, the worker goes and another comes. */
function startWorker(): void {
  client?.dispose();
  opened = undefined;
  const worker = new Worker(new URL('./webllm-worker.ts', import.meta.url), { type: 'module' });
  worker.addEventListener('message', ({ data }: MessageEvent<Partial<WebLlmModels>>) => {
    if (data.models === undefined || models.length > 0) return;
    models = data.models.filter(({ modelId }) => READABLE.test(modelId)).sort((a, b) => (a.memoryMb ?? Infinity) - (b.memoryMb ?? Infinity));
    select.append(...models.map(({ modelId, memoryMb }) => Object.assign(element('option', `${modelId}${memoryMb === undefined ? '' : ` (${Math.round(memoryMb)} MB)`}`), { value: modelId })));
    show(navigator.gpu === undefined ? 'This browser has no WebGPU, which WebLLM needs.' : 'Choose a model. It is downloaded once and kept by the browser.');
  });
  client = connectWebLlm(worker as unknown as Parameters<typeof connectWebLlm>[0]);
}

async function loadModel(): Promise<void> {
  const model = models.find(({ modelId }) => modelId === select.value);
  if (model === undefined || client === undefined) return;
  opened = undefined;
  const { signal } = running = new AbortController();
  const progress = byId<HTMLProgressElement>('progress');
  progress.hidden = false;
  show('Loading', 'loading');
  const result = await client.open(model, {
    signal,
    onProgress: (report) => {
      progress.value = report.progress;
      byId('status').textContent = toSafeText(report.text);
    },
  });
  running = undefined;
  progress.hidden = true;
  if (result.ok) {
    opened = result.value;
    return show(`${opened.modelId} is ready: ${opened.logitWidth} logits, context of ${opened.contextLength} tokens, mask in place.`);
  }
  startWorker();
  showFailure(result.error.code, JSON.stringify(result.error.params));
}

async function repairExample(): Promise<void> {
  if (client === undefined || opened === undefined) return;
  const { signal } = running = new AbortController();
  byId('result').hidden = true;
  show('Repairing', 'repairing');
  const startedAt = performance.now();
  const outcome = await repairCall(request, client.proposer(opened), { signal });
  running = undefined;
  const shown = { ...outcome, entries: outcome.frozen.entries };
  byId('attempts').replaceChildren(...attemptItems(outcome.history));
  byId('verdict').textContent = toSafeText(verdictSentence(shown));
  byId('call-after').replaceChildren(...changedLines(request.call.argumentsText, argumentsAfter(shown, request.call.argumentsText)));
  byId('figures').replaceChildren(...definitions(figures(shown, performance.now() - startedAt)));
  byId('result').hidden = false;
  show('Done.', 'done');
}

function show(status: string, state = 'ready'): void {
  const isIdle = state === 'ready' || state === 'done';
  byId('status').textContent = toSafeText(status);
  byId('error').hidden = true;
  select.disabled = load.disabled = !isIdle || models.length === 0;
  repair.disabled = !isIdle || opened === undefined;
  cancel.disabled = isIdle;
  document.body.dataset['state'] = state;
}

function showFailure(code: string, details: string): void {
  show('The model is not loaded.');
  byId('error').textContent = toSafeText(`${code}: ${details}`);
  byId('error').hidden = false;
  document.body.dataset['state'] = 'failed';
}

function readExample(): RepairRequest {
  const read = readRepairRequest(example);
  if (!read.ok) throw new TypeError(read.error.code);
  return read.value;
}

function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}
