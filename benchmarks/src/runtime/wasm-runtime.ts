/** The engine of browsers in Node: the same runtime file, weight format and settings, without a page around it. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { createVocabulary, type Vocabulary } from '@contractrl/grammar-mask';
import { createOrtEngine, createTokenizer, readGguf, type Engine, type EnginePhase, type OrtRuntime, type Tokenizer } from '@contractrl/runtime-webgpu';
import { DEFAULT_ADAPTER_FOLDER, fetchModel, readAdapterFolder } from '@contractrl/runtime-webgpu/node';

export interface WasmRuntime {
  readonly engine: Engine;
  readonly tokenizer: Tokenizer;
  readonly vocabulary: Vocabulary;
}

/** `onnxruntime-node` or `onnxruntime-web` as the runtime package has it installed. */
export async function importOrt(kind: 'node' | 'wasm', threads: number): Promise<OrtRuntime> {
  const ofRuntime = createRequire(createRequire(import.meta.url).resolve('@contractrl/runtime-webgpu/package.json'));
  const loaded = await import(pathToFileURL(ofRuntime.resolve(kind === 'node' ? 'onnxruntime-node' : 'onnxruntime-web')).href) as { readonly default: OrtRuntime & { readonly env: { readonly wasm: { numThreads: number } } } };
  if (kind === 'wasm') loaded.default.env.wasm.numThreads = threads;
  return loaded.default;
}

/** f32, as pages have it, with the shipped adapter in use. Throws where anything fails: nothing is measured then. */
export async function openWasmRuntime(threads: number, modelPath: string | undefined, onProgress: (phase: EnginePhase) => void): Promise<WasmRuntime> {
  const located = taken(await fetchModel(modelPath === undefined ? {} : { model: modelPath }));
  const model = taken(await readGguf(await readFile(located.path)));
  const tokenizer = taken(createTokenizer(model));
  const vocabulary = taken(createVocabulary({
    logitWidth: model.vocabularySize, tokens: tokenizer.tokens, stopIds: tokenizer.stopIds, encode: (text) => tokenizer.encodePlain(text),
  }));
  const engine = taken(await createOrtEngine({ ort: await importOrt('wasm', threads), model, graph: { format: 'f32', weights: 'files' }, executionProvider: 'wasm', onProgress }));
  taken(engine.useAdapter(taken(await readAdapterFolder(DEFAULT_ADAPTER_FOLDER))));
  return { engine, tokenizer, vocabulary };
}

export function taken<T>(result: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: { readonly code: string } }): T {
  if (!result.ok) throw new Error(result.error.code, { cause: result.error });
  return result.value;
}
