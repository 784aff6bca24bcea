/**
 * A pinned file in the Cache API, part by part: what arrived before a cancel, a crash or a lost connection is there for the next try. The key
 * is the digest of the whole; parts prove nothing by themselves, so whoever reads them hashes the whole.
 */
import type { StorageProfile } from '../probe/machine.ts';
import { probeStorage } from '../probe/machine.ts';
import type { PinnedFile } from '../worker/protocol.ts';

/** The file will be downloaded again at the next visit, since the browser refused to keep it: no room, or a mode that keeps nothing. */
export interface KeepIssue {
  readonly code: 'model/not-kept';
  readonly neededBytes: number;
  /** What the browser grants to this origin, where it says so. */
  readonly storage: StorageProfile | undefined;
  readonly cause: unknown;
}

const CACHE_NAME = 'contractrl-models';

/** A lost part costs seconds on a slow line; each is one entry of the cache, and one file on the disk. */
export const PART_BYTES: number = 4 * 2 ** 20;

export class PartStore {
  readonly #file: PinnedFile;
  #cache: Cache | undefined;
  /** Why nothing is kept. */
  issue: KeepIssue | undefined;

  private constructor(file: PinnedFile) {
    this.#file = file;
  }

  /** Never fails: a store that the browser refuses is empty and keeps nothing. */
  static async open(file: PinnedFile): Promise<PartStore> {
    const store = new PartStore(file);
    try {
      store.#cache = await caches.open(CACHE_NAME);
    } catch (cause) {
      await store.#refuse(cause);
    }
    return store;
  }

  /** Copies the kept parts into `bytes` up to the first that is missing; returns how many bytes that are. `onBytes` may say stop. */
  async read(bytes: Uint8Array<ArrayBuffer>, onBytes: (loadedBytes: number) => boolean): Promise<number> {
    let loadedBytes = 0;
    for (let part = 0; loadedBytes < bytes.length; part += 1) {
      const kept = await this.#cache?.match(this.#key(part));
      const content = kept === undefined ? undefined : new Uint8Array(await kept.arrayBuffer());
      if (content === undefined || content.length !== Math.min(PART_BYTES, bytes.length - loadedBytes)) break;
      bytes.set(content, loadedBytes);
      loadedBytes += content.length;
      if (!onBytes(loadedBytes)) break;
    }
    return loadedBytes;
  }

  async keep(part: number, content: Uint8Array<ArrayBuffer>): Promise<void> {
    try {
      await this.#cache?.put(this.#key(part), new Response(content, { headers: { 'content-type': 'application/octet-stream' } }));
    } catch (cause) {
      // half a file that can never be whole would only take room from others
      await this.clear();
      await this.#refuse(cause);
    }
  }

  async clear(): Promise<void> {
    const parts = Math.ceil(this.#file.sizeBytes / PART_BYTES);
    for (let part = 0; part < parts; part += 1) await this.#cache?.delete(this.#key(part));
  }

  async #refuse(cause: unknown): Promise<void> {
    this.#cache = undefined;
    this.issue = { code: 'model/not-kept', neededBytes: this.#file.sizeBytes, storage: await probeStorage(), cause };
  }

  /** The Cache API wants URLs; these are never fetched. */
  #key(part: number): string {
    return new URL(`/contractrl-models/${this.#file.sha256}/${part}`, location.origin).href;
  }
}
