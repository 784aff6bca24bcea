/**
 * The ONNX graph of a model, built once into the cache. Its name says of which model, builder and settings it is, so a graph is never stale,
 * only missing; what a crash or a full disk left is not under that name.
 */
import { createHash } from 'node:crypto';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { err, ok, type Result } from '@contractrl/core';
import type { GgufModel } from '../model/gguf.ts';
import { buildGraph, graphCacheKey, type DecoderGraph, type GraphOptions } from '../onnx/graph.ts';
import { toFileFailure, type ModelFailure } from './failure.ts';
import { forget, isUntouched, moveIntoPlace, prepareFolder, remember, temporaryName } from './files.ts';

export type StoredGraph =
  | { readonly kind: 'file'; readonly path: string; readonly isNew: boolean }
  /** Built, but the cache could not keep it: usable now, to be built again next time. */
  | { readonly kind: 'memory'; readonly graph: DecoderGraph; readonly failure: ModelFailure };

/** Finds the graph, or builds it: about a second of work and 80 MB for the base model. */
export async function ensureGraph(model: GgufModel, options: GraphOptions, cacheDirectory: string, onBuild: () => void): Promise<StoredGraph> {
  const path = graphPath(model, options, cacheDirectory);
  if (await isUntouched(path)) return { kind: 'file', path, isNew: false };
  onBuild();
  const graph = buildGraph(model, options);
  const written = await write(graph, path);
  return written.ok ? { kind: 'file', path, isNew: true } : { kind: 'memory', graph, failure: written.error };
}

/** Removes a graph that turned out to be unusable. */
export async function dropGraph(path: string): Promise<void> {
  await forget(path);
  await rm(path, { force: true }).catch(() => undefined);
}

export function graphPath(model: GgufModel, options: GraphOptions, cacheDirectory: string): string {
  return join(cacheDirectory, 'graphs', `${graphCacheKey(model, options)}.onnx`);
}

async function write(graph: DecoderGraph, path: string): Promise<Result<void, ModelFailure>> {
  const room = await prepareFolder(path, graph.sizeBytes);
  if (!room.ok) return room;
  const temporary = temporaryName(path);
  const hash = createHash('sha256');
  let file: FileHandle | undefined;
  try {
    file = await open(temporary, 'wx');
    for (const part of graph.parts) {
      hash.update(part);
      await file.writeFile(part);
    }
    await file.sync();
    await file.close();
  } catch (cause) {
    await file?.close().catch(() => undefined);
    await rm(temporary, { force: true }).catch(() => undefined);
    return err(toFileFailure(cause, path, graph.sizeBytes));
  }
  const moved = await moveIntoPlace(temporary, path);
  if (!moved.ok) return moved;
  await remember(path, hash.digest('hex'));
  return ok(undefined);
}
