/**
 * What a page loads unless told otherwise: the base model and the default adapter, pinned by size and SHA-256.
 * A page adds the addresses it serves them from.
 */
import { BASE_MODEL } from '../model/base-model.ts';
import type { PinnedFile } from '../worker/protocol.ts';

type Pin = Omit<PinnedFile, 'url'>;

export const DEFAULT_MODEL: Pin = { sha256: BASE_MODEL.sha256, sizeBytes: BASE_MODEL.sizeBytes };

/** The adapter in `adapters/sft-r8`. */
export const DEFAULT_ADAPTER: { readonly config: Pin; readonly weights: Pin } = {
  config: { sha256: '83542c346acb8e7b3e4982cc81453a953f82cbe71dce82f09d7ebde51001e701', sizeBytes: 351 },
  weights: { sha256: '41db5b93efc796b38033a146d71b0e5fa5630406b663215b7564ae56f1201c96', sizeBytes: 4_938_648 },
};
