/**
 * From addresses to a repairer, inside a worker: fetch and verify the GGUF and the adapter, read them, choose an engine, test it on known
 * answers, build the graph in memory, start it. An engine that fails on the way is put aside with its reason, and the next one is tried.
 * On WASM the weights go over as external data, a file for each matrix, instead of one buffer of 430 MB; Chromium's renderer then peaks at 0.9 GB.
 */
import { err, ok, type Digest, type Result } from '@contractrl/core';
import { createVocabulary, type Vocabulary } from '@contractrl/grammar-mask';
import type { Engine } from '../engine.ts';
import type { LoraAdapter } from '../lora/adapter.ts';
import { readAdapter } from '../lora/peft.ts';
import { readGguf, type GgufModel } from '../model/gguf.ts';
import { createTokenizer } from '../model/tokenizer.ts';
import { PROMPT_VERSION } from '../prompt.ts';
import { chooseEngine, chooseThreads, type EngineChoice, type RejectedEngine } from '../probe/choice.ts';
import { probeMachine } from '../probe/machine.ts';
import { foreignTo, readCalibration } from '../release/calibration.ts';
import type { Release } from '../release/release.ts';
import { createRepairer } from '../repairer.ts';
import { selfTest, type SelfTestReport } from '../self-test/self-test.ts';
import type { Tokenizer } from '../tokenizer.ts';
import type { OpenHostedRepairer } from '../worker/host.ts';
import type { LoadRequest, PinnedFile, RemoteFailure } from '../worker/protocol.ts';
import { createFailoverRepairer, type StartRepairer } from './failover.ts';
import { fetchPinned, type FetchIssue } from './fetch-pinned.ts';
import { LoadPhases } from './load-phases.ts';
import { nextTurn } from './next-turn.ts';
import { openWebEngine, servedEngines } from './open-engine.ts';

type Failure = { readonly code: string };

/**
 * Fails with a {@link FetchIssue}, with an issue of the module that refused (`model/…`, `tokenizer/…`, `vocabulary/…`, `adapter/…`), or with
 * `engine/none-left`, which lists what was tried.
 */
export const openWebRepairer: OpenHostedRepairer = (request, onProgress, signal) => {
  const { model: modelFile, adapter: adapterFiles } = request;
  const files = [modelFile, ...(adapterFiles === undefined ? [] : [adapterFiles.config, adapterFiles.weights, ...(adapterFiles.calibration === undefined ? [] : [adapterFiles.calibration])])];
  const totalBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  // The model is not held for a second start: the browser keeps it, and the 98 MB are needed by the first engine.
  const start: StartRepairer = async (failed, startSignal) => {
    const phases = new LoadPhases(onProgress, totalBytes);
    const fetched = await fetchAll(files, phases, startSignal);
    if (!fetched.ok) return fetched;
    const { contents, notes, fromCache } = fetched.value;

    phases.enter('build');
    if (await isCancelled(startSignal)) return err({ code: 'worker/aborted' });
    const policy = await readPolicy(request, contents);
    if (!policy.ok) return policy;
    const { model, tokenizer, vocabulary, adapter, release } = policy.value;

    const started = await startBestEngine(model, request, failed, phases, startSignal);
    if (!started.ok) return started;
    const { engine, choice, selfTest: report, threads } = started.value;
    const used = engine.useAdapter(adapter);
    phases.end();
    const wasCancelled = await isCancelled(startSignal);
    if (!used.ok || wasCancelled) {
      await engine.dispose();
      return used.ok ? err({ code: 'worker/aborted' }) : used;
    }
    const repairer = createRepairer({ engine, tokenizer, vocabulary, clock: () => performance.now(), ...(release === undefined ? {} : { release }) });
    return ok({ repairer, loaded: { identity: repairer.identity(), choice, selfTest: report, threads, fromCache, notes, phaseMs: phases.totalMs } });
  };
  return createFailoverRepairer(start, signal, request.failed);
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
  readonly release: Release | undefined;
}

/** `contents` are the verified files in the order they were asked for: model, then configuration and weights of the adapter, then its calibration. */
async function readPolicy(request: LoadRequest, contents: Fetched['contents']): Promise<Result<Policy, Failure>> {
  const [modelBytes, adapterConfig, adapterWeights, calibrationBytes] = contents;
  if (modelBytes === undefined) throw new TypeError('contents: the model is missing');
  const model = await readGguf(modelBytes, { digest: request.model.sha256 as Digest });
  if (!model.ok) return model;
  const tokenizer = createTokenizer(model.value);
  if (!tokenizer.ok) return tokenizer;
  const { tokens, stopIds } = tokenizer.value;
  const vocabulary = createVocabulary({ logitWidth: model.value.vocabularySize, tokens, stopIds, encode: (text) => tokenizer.value.encodePlain(text) });
  if (!vocabulary.ok) return vocabulary;
  const parts = { model: model.value, tokenizer: tokenizer.value, vocabulary: vocabulary.value };
  if (adapterConfig === undefined || adapterWeights === undefined) return ok({ ...parts, adapter: undefined, release: undefined });
  const adapter = await readAdapter(adapterWeights, new TextDecoder().decode(adapterConfig), { promptVersion: PROMPT_VERSION });
  if (!adapter.ok) return adapter;
  if (calibrationBytes === undefined) return ok({ ...parts, adapter: adapter.value, release: undefined });
  const calibration = readCalibration(new TextDecoder().decode(calibrationBytes));
  if (!calibration.ok) return calibration;
  const foreign = foreignTo(calibration.value, { adapterDigest: adapter.value.digest, promptVersion: PROMPT_VERSION });
  return foreign === undefined ? ok({ ...parts, adapter: adapter.value, release: { calibration: calibration.value, threshold: calibration.value.threshold } }) : err(foreign);
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
      onBytes: (bytes, resumed) => phases.downloaded(before + bytes, before + resumed),
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

interface StartedEngine {
  readonly engine: Engine;
  readonly choice: EngineChoice;
  readonly selfTest: SelfTestReport;
  readonly threads: number;
}

/** Down the list of engines until one passes its self-test and loads the model. */
async function startBestEngine(
  model: GgufModel, request: LoadRequest, before: readonly RejectedEngine[], phases: LoadPhases, signal: AbortSignal,
): Promise<Result<StartedEngine, Failure>> {
  const { runtimes } = request;
  const machine = await probeMachine();
  const { hasJspi } = machine;
  const needs = {
    served: servedEngines(runtimes, hasJspi), largestWeightBytes: largestMatrixBytes(model),
    ...(request.engine === undefined ? {} : { preferred: request.engine }),
  };
  const failed = [...before];
  for (;;) {
    const choice = chooseEngine(machine, needs, failed);
    if (!choice.ok) return choice;
    const name = choice.value.engine;
    const threads = name === 'wasm' ? chooseThreads(machine, request.threads) : 1;
    const options = { lora: request.adapter !== undefined, runtimes, threads, hasJspi };
    phases.enter('test', name);
    const report = await selfTest((checkModel) => openWebEngine(name, { ...options, model: checkModel, lora: true }));
    if (await isCancelled(signal)) return err({ code: 'worker/aborted' });
    phases.enter('build', name);
    const engine = report.ok
      ? await openWebEngine(name, { ...options, model, onProgress: (phase) => { if (phase === 'load-session') phases.enter('start', name); } })
      : report;
    if (report.ok && engine.ok) return ok({ engine: engine.value, choice: choice.value, selfTest: report.value, threads });
    if (await isCancelled(signal)) return err({ code: 'worker/aborted' });
    if (!engine.ok) failed.push({ engine: name, reason: engine.error });
  }
}

/** Of a linear in 32 bits; the embedding never goes to an engine. */
function largestMatrixBytes({ config }: GgufModel): number {
  const { hiddenSize, feedForwardSize, headCount, headSize } = config;
  return 4 * hiddenSize * Math.max(feedForwardSize, headCount * headSize);
}
