/**
 * The ONNX graph of a model, built once into the cache. Its name says of which model, builder and settings it is, so a graph is never stale,
 * only missing; what a crash or a full disk left is not under that name. Its weights are a file beside it: ONNX Runtime maps that one into memory and
 * packs from there, where it would copy a graph of one file twice. A graph is as large as its model, so only the last few used are kept.
 */
import { createHash } from 'node:crypto';
import { open, readdir, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { err, ok, type Result } from '@contractrl/core';
import type { GgufModel } from '../model/gguf.ts';
import { buildGraph, graphCacheKey, type DecoderGraph, type GraphOptions } from '../onnx/graph.ts';
import { toFileFailure, type ModelFailure } from './failure.ts';
import { forget, isUntouched, lastUseMs, moveIntoPlace, prepareFolder, remember, temporaryName, touch } from './files.ts';

export type StoredGraph =
  | { readonly kind: 'file'; readonly path: string; readonly isNew: boolean }
  /** Built, but the cache could not keep it: usable now, to be built again next time. */
  | { readonly kind: 'memory'; readonly graph: DecoderGraph; readonly failure: ModelFailure }
  /** ONNX files end at 2 GiB. */
  | { readonly kind: 'too-large'; readonly sizeBytes: number };

const MAX_GRAPH_BYTES = 2 ** 31 - 1;

/** With the one just built. */
const KEPT_GRAPHS = 3;

/**
 * Finds the graph, or builds it: about a second of work and 80 MB for the base model. `readWhole` gives the model with all its tensors, and is called
 * only where there is something to build.
 */
export async function ensureGraph<E>(
  model: GgufModel, options: GraphOptions, cacheDirectory: string, readWhole: () => Promise<Result<GgufModel, E>>,
): Promise<Result<StoredGraph, E>> {
  const path = graphPath(model, options, cacheDirectory);
  if ((await isUntouched(path)) && (await isUntouched(weightsPath(path)))) {
    await touch(path);
    return ok({ kind: 'file', path, isNew: false });
  }
  const whole = await readWhole();
  if (!whole.ok) return whole;
  const graph = buildGraph(whole.value, { ...options, weights: { file: basename(weightsPath(path)) } });
  if (graph.sizeBytes > MAX_GRAPH_BYTES) return ok({ kind: 'too-large', sizeBytes: graph.sizeBytes });
  const written = await writeGraph(graph, path);
  // without a file to map the weights go into the graph
  if (!written.ok) return ok({ kind: 'memory', graph: buildGraph(whole.value, options), failure: written.error });
  await prune(dirname(path));
  return ok({ kind: 'file', path, isNew: true });
}

/** Removes the graphs that were not used for longest. One that another process has loaded stays loaded. */
async function prune(folder: string): Promise<void> {
  const paths = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.onnx')).map((name) => join(folder, name));
  const used = await Promise.all(paths.map(async (path) => ({ path, ms: await lastUseMs(path) })));
  for (const { path } of used.sort((a, b) => b.ms - a.ms).slice(KEPT_GRAPHS)) await dropGraph(path);
}

/** Removes a graph with its weights, and what is noted of them. */
export async function dropGraph(path: string): Promise<void> {
  for (const file of [path, weightsPath(path)]) {
    await forget(file);
    await rm(file, { force: true }).catch(() => undefined);
  }
}

export function graphPath(model: GgufModel, options: GraphOptions, cacheDirectory: string): string {
  return join(cacheDirectory, 'graphs', `${graphCacheKey(model, options)}.onnx`);
}

function weightsPath(path: string): string {
  return `${path}.weights`;
}

/** The weights first: where there is a graph, there is what it refers to. */
async function writeGraph({ parts, externalData, sizeBytes }: DecoderGraph, path: string): Promise<Result<void, ModelFailure>> {
  const room = await prepareFolder(path, sizeBytes);
  if (!room.ok) return room;
  const weights = await write(externalData.map(({ data }) => data), weightsPath(path));
  return weights.ok ? write(parts, path) : weights;
}

async function write(parts: readonly Uint8Array[], path: string): Promise<Result<void, ModelFailure>> {
  const temporary = temporaryName(path);
  const hash = createHash('sha256');
  let file: FileHandle | undefined;
  try {
    file = await open(temporary, 'wx');
    for (const part of parts) {
      hash.update(part);
      await file.writeFile(part);
    }
    await file.sync();
    await file.close();
  } catch (cause) {
    await file?.close().catch(() => undefined);
    await rm(temporary, { force: true }).catch(() => undefined);
    return err(toFileFailure(cause, path, parts.reduce((total, part) => total + part.length, 0)));
  }
  const moved = await moveIntoPlace(temporary, path);
  if (!moved.ok) return moved;
  await remember(path, hash.digest('hex'));
  return ok(undefined);
}
