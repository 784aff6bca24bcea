/**
 * WebLLM's engine as far as its documentation and source promise it (0.2.86), without a GPU: the registry is looked at on reload; for each token all
 * logits go to the processor as a copy, the array it returns must be as wide, then penalties, temperature and top-p of the loaded configuration, then
 * the processor is told the token, the stop token too. Faults break one promise each.
 */
import type { LogitProcessor, WebLlmEngine } from '../../src/webllm/port.ts';
import { createRandom } from '../../src/sampling.ts';

export type Fault =
  | 'ignores-registry' | 'samples-masked' | 'shrinks-logits' | 'reports-other-token' | 'reports-nothing' | 'reports-twice' | 'processes-twice' | 'loses-device' | 'cannot-load';

export interface FakeWebLlmOptions {
  readonly logitWidth: number;
  /** Logits after these ids, into zeros. */
  readonly script: (history: readonly number[], out: Float32Array) => void;
  readonly onForward?: (count: number) => void;
}

/** As a model's own configuration may be: nothing neutral. */
const CONFIGURED = { temperature: 0.7, top_p: 0.9, repetition_penalty: 1.3, frequency_penalty: 0.5, presence_penalty: 0.5 };

export class FakeWebLlm implements WebLlmEngine {
  readonly calls: string[] = [];
  /** Lengths of what was run, since the last reset. */
  chunks: number[] = [];
  /** Set once the model is loaded, so that the engine's own trial passes. */
  fault: Fault | undefined;
  loadedWith: Readonly<Record<string, number>> | undefined;
  readonly #options: FakeWebLlmOptions;
  readonly #random = createRandom(1);
  #registry: ReadonlyMap<string, LogitProcessor> | undefined;
  #processor: LogitProcessor | undefined;
  #modelId: string | undefined;
  #history: number[] = [];

  constructor(options: FakeWebLlmOptions, fault?: Fault) {
    this.#options = options;
    this.fault = fault;
  }

  setLogitProcessorRegistry(registry: Map<string, LogitProcessor>): void {
    this.calls.push('registry');
    if (this.fault !== 'ignores-registry') this.#registry = registry;
  }

  async reload(modelId: string, chatOptions: Readonly<Record<string, number>> = {}): Promise<void> {
    await turn();
    if (this.fault === 'cannot-load') throw new Error('Unable to find a compatible GPU. This issue might be because your computer doesn\'t have a GPU.');
    this.calls.push(`reload ${modelId}`);
    this.loadedWith = { ...CONFIGURED, ...chatOptions };
    this.#modelId = modelId;
    this.#processor = this.#registry?.get(modelId);
    this.#history = [];
  }

  async resetChat(_keepStats?: boolean, modelId?: string): Promise<void> {
    await turn();
    // as the library does, which takes it for a chat that has not begun
    if (modelId !== this.#modelId) return;
    this.calls.push('reset');
    this.#history = [];
    this.chunks = [];
    this.#processor?.resetState();
  }

  async forwardTokensAndSample(inputIds: number[], isPrefill: boolean, modelId?: string): Promise<number> {
    if (this.#modelId === undefined || modelId !== this.#modelId) throw new Error('Model not loaded');
    if (inputIds.length === 0 || (inputIds.length > 1 && !isPrefill)) throw new Error('Artifact decode expects exactly one token ID');
    this.#history.push(...inputIds);
    this.chunks.push(inputIds.length);
    this.#options.onForward?.(inputIds.length);
    await turn();
    if (this.fault === 'loses-device') throw new Error('Device was lost. This can happen due to insufficient memory or other GPU constraints.');
    const logits = this.#process();
    const sampled = this.#sample(logits);
    const told = this.fault === 'reports-other-token' ? (sampled + 1) % logits.length : sampled;
    if (this.fault !== 'reports-nothing') this.#processor?.processSampledToken(told);
    if (this.fault === 'reports-twice') this.#processor?.processSampledToken(told);
    this.calls.push('sampled');
    return sampled;
  }

  unload(): Promise<void> {
    this.#modelId = undefined;
    return Promise.resolve();
  }

  #process(): Float32Array {
    const width = this.#options.logitWidth;
    const row = new Float32Array(width);
    this.#options.script(this.#history, row);
    const given = row.slice(0, this.fault === 'shrinks-logits' ? width - 1 : width);
    if (this.fault === 'processes-twice') this.#processor?.processLogits(given.slice());
    const processed = this.#processor?.processLogits(given) ?? given;
    if (processed.length !== given.length) throw new RangeError('copyFrom: the sizes differ');
    this.calls.push('processed');
    return processed;
  }

  #sample(logits: Float32Array): number {
    if (this.fault === 'samples-masked') return logits.indexOf(Math.min(...logits));
    const { temperature, top_p: topP, repetition_penalty: repetition, frequency_penalty: frequency, presence_penalty: presence } = this.loadedWith as typeof CONFIGURED;
    const shaped = logits.map((logit, id) => {
      const times = this.#history.filter((seen) => seen === id).length;
      if (times === 0) return logit;
      return (logit > 0 ? logit / repetition : logit * repetition) - frequency * times - presence;
    });
    const top = shaped.reduce((best, logit) => Math.max(best, logit), -Infinity);
    const weights = Array.from(shaped, (logit, id) => ({ id, weight: Math.exp((logit - top) / Math.max(temperature, 1e-6)) })).sort((a, b) => b.weight - a.weight || b.id - a.id);
    const total = weights.reduce((sum, { weight }) => sum + weight, 0);
    let [mass, drawn] = [0, 0];
    const kept = weights.filter(({ weight }) => {
      const isIn = mass < topP * total;
      mass += weight;
      return isIn && weight > 0;
    });
    const share = this.#random() * kept.reduce((sum, { weight }) => sum + weight, 0);
    return (kept.find(({ weight }) => (drawn += weight) > share) ?? kept[0]!).id;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
