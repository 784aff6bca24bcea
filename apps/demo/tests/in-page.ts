/** Runs in a page, for the tests that load it there: WebGPU with a device that is wrong, with one that goes away; a download; the real model. */
import {
  connectLastingRepairer, createCheckModel, DEFAULT_ADAPTER, DEFAULT_MODEL, fetchPinned, openWebEngine, selfTest, type LoadedRepairer, type RepairerClient, type SelfTestReport, type WebEngineName,
} from '@contractrl/runtime-webgpu/web';
import example from '../src/example.json' with { type: 'json' };
import { RUNTIMES } from '../src/runtimes.ts';

const OPTIONS = { lora: true, runtimes: RUNTIMES, threads: 1 };

/** Runs `work` while devices are asked for through `request`. */
async function whileRequesting<T>(request: (original: GPUAdapter['requestDevice'], wanted: GPUDeviceDescriptor | undefined) => Promise<GPUDevice>, work: () => Promise<T>): Promise<T> {
  const { requestDevice } = GPUAdapter.prototype;
  GPUAdapter.prototype.requestDevice = function (this: GPUAdapter, wanted) {
    return request(requestDevice.bind(this), wanted);
  };
  try {
    return await work();
  } finally {
    GPUAdapter.prototype.requestDevice = requestDevice;
  }
}

/** The self-test with a device that has `subgroups`, as ONNX Runtime would have asked for it. */
export function testGpuWithSubgroups(): Promise<{ readonly ok: true; readonly value: SelfTestReport } | { readonly ok: false; readonly error: { readonly code: string } }> {
  return whileRequesting(
    (original, wanted) => original({ ...wanted, requiredFeatures: ['subgroups'] }),
    () => selfTest((model) => openWebEngine('webgpu', { ...OPTIONS, model, hasJspi: true })),
  );
}

/** Codes of three steps: one, one during which the device is destroyed (which is lost in the same way), one after it. */
export async function loseDevice(): Promise<readonly string[]> {
  let device: GPUDevice | undefined;
  const opened = await whileRequesting(
    async (original, wanted) => (device = await original(wanted)),
    () => openWebEngine('webgpu', { ...OPTIONS, model: createCheckModel(), hasJspi: true }),
  );
  if (!opened.ok) return [opened.error.code];
  const engine = opened.value;
  const step = async (count: number): Promise<string> => {
    const result = await engine.extend(engine.emptyCache, Array.from({ length: count }, (_, id) => id));
    return result.ok ? 'ok' : result.error.code;
  };
  const first = await step(3);
  const running = step(60);
  await Promise.resolve();
  device?.destroy();
  const codes = [first, await running, await step(1)];
  await engine.dispose();
  return codes;
}

/** Fetches the adapter's weights, two parts of them, as a load does; tells what phases it went through. */
export async function fetchAdapter(): Promise<{ readonly phases: readonly string[]; readonly fromCache: boolean | string }> {
  const phases: string[] = [];
  const file = { ...DEFAULT_ADAPTER.weights, url: new URL('/adapter/adapter_model.safetensors', location.href).href };
  const fetched = await fetchPinned(file, { signal: new AbortController().signal, onBytes: () => undefined, onPhase: (phase) => phases.push(phase) });
  return { phases, fromCache: fetched.ok ? fetched.value.fromCache : fetched.error.code };
}

const absolute = (path: string): string => new URL(path, location.href).href;
const workers: Worker[] = [];
let client: RepairerClient | undefined;

/** Loads the real model, where it is said on that engine. Gives back the engine in use, or the code of what failed. */
export async function loadModel(engine?: WebEngineName): Promise<string> {
  client = connectLastingRepairer(() => {
    const worker = new Worker('/src/repair-worker.ts', { type: 'module' });
    workers.push(worker);
    return worker;
  });
  const loaded = await client.load({
    model: { ...DEFAULT_MODEL, url: absolute('/model/model.gguf') },
    adapter: {
      config: { ...DEFAULT_ADAPTER.config, url: absolute('/adapter/adapter_config.json') },
      weights: { ...DEFAULT_ADAPTER.weights, url: absolute('/adapter/adapter_model.safetensors') },
      calibration: { ...DEFAULT_ADAPTER.calibration, url: absolute('/adapter/calibration.json') },
    },
    threads: undefined, runtimes: RUNTIMES, ...(engine === undefined ? {} : { engine }),
  });
  return loaded.ok ? loaded.value.choice.engine : loaded.error.code;
}

/** Ends the worker in use, as a browser ends one that takes too much memory: without a word to the page. Gives back how many were started. */
export function endWorker(): number {
  workers.at(-1)?.terminate();
  return workers.length;
}

/** Repairs a call that takes the model: no rule knows that both names mean one field. */
export async function repairWithModel(): Promise<{ readonly status: string; readonly argumentsText?: string; readonly choice?: LoadedRepairer['choice'] | undefined }> {
  const repaired = await client!.repair(example);
  if (!repaired.ok) return { status: repaired.error.code };
  const { outcome, loaded } = repaired.value;
  return { status: outcome.status, ...('argumentsText' in outcome ? { argumentsText: outcome.argumentsText } : {}), choice: loaded?.choice };
}

/** The same, with the worker ended while it is at it: a second repair of a call is over too soon for a clock to hit it. Says too how many workers were started until then. */
export async function repairWithEndedWorker(): Promise<Awaited<ReturnType<typeof repairWithModel>> & { readonly workerCount: number }> {
  const repaired = repairWithModel();
  const workerCount = endWorker();
  return { ...await repaired, workerCount };
}
