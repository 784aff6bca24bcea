/**
 * From addresses to a repairer, inside a worker: fetch and verify the GGUF and the adapter, read them, build the f32 graph in memory,
 * start it on onnxruntime-web's WASM. On WASM f32 decodes eleven times faster than any 4-bit format, and the download stays at 98 MB.
 * The weights go over as external data, a file for each matrix, instead of one buffer of 430 MB; Chromium's renderer then peaks at 0.9 GB.
 */
import { err, ok, readRepairRequest, type Digest, type Result } from '@contractrl/core';
import { createVocabulary, type Vocabulary } from '@contractrl/grammar-mask';
import type { Engine } from '../engine.ts';
import type { LoraAdapter } from '../lora/adapter.ts';
import { readAdapter } from '../lora/peft.ts';
import { readGguf, type GgufModel } from '../model/gguf.ts';
import { createTokenizer } from '../model/tokenizer.ts';
import { createOrtEngine } from '../ort/engine.ts';
import { createRepairer } from '../repairer.ts';
import type { Tokenizer } from '../tokenizer.ts';
import type { OpenHostedRepairer } from '../worker/host.ts';
import type { LoadRequest, PinnedFile, RemoteFailure } from '../worker/protocol.ts';
import { fetchPinned, type FetchIssue } from './fetch-pinned.ts';
import { interruptible } from './interruptible-engine.ts';
import { LoadPhases } from './load-phases.ts';
import { nextTurn } from './next-turn.ts';

type Failure = { readonly code: string };

/** More threads than this bring little at these matrix sizes, and take cores from the page. */
const MAX_THREADS = 4;

/** Fails with a {@link FetchIssue}, or with an issue of the module that refused: `model/…`, `tokenizer/…`, `vocabulary/…`, `adapter/…`, `engine/…`. */
export const openWebRepairer: OpenHostedRepairer = async (request, onProgress, signal) => {
  const files = request.adapter === undefined ? [request.model] : [request.model, request.adapter.config, request.adapter.weights];
  const phases = new LoadPhases(onProgress, files.reduce((sum, file) => sum + file.sizeBytes, 0));
  const fetched = await fetchAll(files, phases, signal);
  if (!fetched.ok) return fetched;
  const { contents, notes, fromCache } = fetched.value;

  phases.enter('build');
  if (await isCancelled(signal)) return err({ code: 'worker/aborted' });
  const policy = await readPolicy(request, contents);
  if (!policy.ok) return policy;
  const { model, tokenizer, vocabulary, adapter } = policy.value;

  const threads = chooseThreads(request);
  const engine = await startEngine(model, request, threads, phases);
  if (!engine.ok) return engine;
  const used = engine.value.useAdapter(adapter);
  phases.end();
  const wasCancelled = await isCancelled(signal);
  if (!used.ok || wasCancelled) {
    await engine.value.dispose();
    return used.ok ? err({ code: 'worker/aborted' }) : used;
  }
  const repairer = createRepairer({ engine: engine.value, tokenizer, vocabulary, clock: () => performance.now() });
  return ok({
    loaded: { identity: repairer.identity(), threads, fromCache, notes, phaseMs: phases.totalMs },
    async repair(record, repairSignal) {
      const read = readRepairRequest(record);
      return read.ok ? ok(await repairer.repair(read.value, { signal: repairSignal })) : read;
    },
    dispose: () => repairer.dispose(),
  });
};

/** Between two blocking steps: whatever the page has posted meanwhile is heard first. */
async function isCancelled(signal: AbortSignal): Promise<boolean> {
  await nextTurn();
  return signal.aborted;
}

interface Policy {
  readonly model: GgufModel;
  readonly tokenizer: Tokenizer;
  readonly vocabulary: Vocabulary;
  readonly adapter: LoraAdapter | undefined;
}

/** `contents` are the verified files in the order they were asked for: model, then configuration and weights of the adapter. */
async function readPolicy(request: LoadRequest, contents: Fetched['contents']): Promise<Result<Policy, Failure>> {
  const [modelBytes, adapterConfig, adapterWeights] = contents;
  if (modelBytes === undefined) throw new TypeError('contents: the model is missing');
  const model = await readGguf(modelBytes, { digest: request.model.sha256 as Digest });
  if (!model.ok) return model;
  const tokenizer = createTokenizer(model.value);
  if (!tokenizer.ok) return tokenizer;
  const { tokens, stopIds } = tokenizer.value;
  const vocabulary = createVocabulary({ logitWidth: model.value.vocabularySize, tokens, stopIds, encode: (text) => tokenizer.value.encodePlain(text) });
  if (!vocabulary.ok) return vocabulary;
  const parts = { model: model.value, tokenizer: tokenizer.value, vocabulary: vocabulary.value };
  if (adapterConfig === undefined || adapterWeights === undefined) return ok({ ...parts, adapter: undefined });
  const adapter = await readAdapter(adapterWeights, new TextDecoder().decode(adapterConfig));
  return adapter.ok ? ok({ ...parts, adapter: adapter.value }) : adapter;
}

interface Fetched {
  readonly contents: readonly Uint8Array<ArrayBuffer>[];
  /** None of the files was downloaded. */
  readonly fromCache: boolean;
  readonly notes: readonly RemoteFailure[];
}

/** One after the other, so that the progress is one bar. */
async function fetchAll(files: readonly PinnedFile[], phases: LoadPhases, signal: AbortSignal): Promise<Result<Fetched, FetchIssue>> {
  const contents: Uint8Array<ArrayBuffer>[] = [];
  const notes: RemoteFailure[] = [];
  let fromCache = true;
  let doneBytes = 0;
  for (const file of files) {
    phases.enter('download');
    const before = doneBytes;
    const fetched = await fetchPinned(file, {
      signal,
      onBytes: (bytes) => phases.downloaded(before + bytes, before),
      onPhase: (phase) => phases.enter(phase),
    });
    if (!fetched.ok) return fetched;
    contents.push(fetched.value.bytes);
    notes.push(...fetched.value.notes);
    fromCache &&= fetched.value.fromCache;
    doneBytes += file.sizeBytes;
  }
  return ok({ contents, fromCache, notes });
}

/** ONNX Runtime is loaded only now: a page that never repairs does not pay for it. */
async function startEngine(model: GgufModel, request: LoadRequest, threads: number, phases: LoadPhases): Promise<Result<Engine, Failure>> {
  const ort = await import('onnxruntime-web/wasm');
  ort.env.wasm.numThreads = threads;
  ort.env.wasm.wasmPaths = request.runtime;
  const engine = await createOrtEngine({
    ort,
    model,
    graph: { format: 'f32', external: true, lora: request.adapter !== undefined },
    executionProvider: 'wasm',
    onProgress: (phase) => { if (phase === 'load-session') phases.enter('start'); },
  });
  return engine.ok ? ok(interruptible(engine.value)) : engine;
}

function chooseThreads(request: LoadRequest): number {
  const most = crossOriginIsolated ? navigator.hardwareConcurrency : 1;
  return Math.max(1, Math.min(request.threads ?? MAX_THREADS, most));
}
