/**
 * What a page loads unless told otherwise: the base model and the default adapter, pinned by size and SHA-256.
 * A page adds the addresses it serves them from.
 */
import { DEFAULT_ADAPTER_NAME, SHIPPED_ADAPTERS, type AdapterPins } from '../lora/shipped-adapters.ts';
import { BASE_MODEL } from '../model/base-model.ts';
import type { PinnedFile } from '../worker/protocol.ts';

export const DEFAULT_MODEL: Omit<PinnedFile, 'url'> = { sha256: BASE_MODEL.sha256, sizeBytes: BASE_MODEL.sizeBytes };

export const DEFAULT_ADAPTER: AdapterPins = SHIPPED_ADAPTERS[DEFAULT_ADAPTER_NAME];
