/** The conformance suite over every engine that runs without a browser. Those of the browser are tested with the page `engines.html`. */
import * as ort from 'onnxruntime-node';
import * as ortWeb from 'onnxruntime-web';
import { openBatch, type BatchOptions } from '../../src/batch/batch-engine.ts';
import type { Engine } from '../../src/engine.ts';
import { createOrtEngine, type OrtEngineOptions } from '../../src/ort/engine.ts';
import { createScriptedEngine } from '../../src/scripted/engine.ts';
import { CHECK_VOCABULARY_SIZE, createCheckModel } from '../../src/self-test/check-model.ts';
import { engineConformance } from '../support/engine-conformance.ts';

const model = createCheckModel();

async function open(options: Omit<OrtEngineOptions, 'model'>): Promise<Engine> {
  const made = await createOrtEngine({ model, ...options });
  if (!made.ok) throw new Error(made.error.code, { cause: made.error });
  return made.value;
}

async function openRow(options: Omit<BatchOptions, 'model' | 'width'>): Promise<Engine> {
  const made = await openBatch({ model, width: 2, ...options });
  if (!made.ok) throw new Error(made.error.code, { cause: made.error });
  return made.value.engine;
}

engineConformance('onnxruntime-node, CPU, q41x', () => open({ ort, graph: { format: 'q41x' }, executionProvider: 'cpu', threadCount: 1 }));
engineConformance('onnxruntime-node, CPU, q41', () => open({ ort, graph: { format: 'q41' }, executionProvider: 'cpu', threadCount: 1 }));
engineConformance('onnxruntime-node, CPU, f32, 2 threads', () => open({ ort, graph: { format: 'f32' }, executionProvider: 'cpu', threadCount: 2 }));
engineConformance('onnxruntime-web, WASM in Node, f32', () => {
  ortWeb.env.wasm.numThreads = 1;
  return open({ ort: ortWeb, graph: { format: 'f32', weights: 'files' }, executionProvider: 'wasm' });
});
engineConformance('one row of a batch, CPU, q41x', () => openRow({ ort, graph: { format: 'q41x' }, executionProvider: 'cpu', threadCount: 1 }));
engineConformance('one row of a batch, WASM in Node, f32', () => openRow({ ort: ortWeb, graph: { format: 'f32', weights: 'files' }, executionProvider: 'wasm' }));
engineConformance(
  'scripted engine',
  () => Promise.resolve(createScriptedEngine({
    logitWidth: CHECK_VOCABULARY_SIZE, contextLength: 320, script: (history, out) => out.forEach((_, id) => { out[id] = history.reduce((sum, each, at) => (sum * 31 + each * (at + id)) % 997, 7) / 20; }),
  })),
  { hasModel: false },
);

const gpu = { ort, graph: { format: 'q41' }, executionProvider: 'webgpu' } as const;
const first = await createOrtEngine({ model, ...gpu });
engineConformance('onnxruntime-node, WebGPU, q41', () => (first.ok ? Promise.resolve(first.value) : open(gpu)), { missing: first.ok ? undefined : 'no adapter' });
