/**
 * The adapters that ship with this package, by name: the folders in `adapters/`, each with a PEFT adapter for the base model, its card, and the calibration of
 * its release rule. Names and pins stand here alone; `npm run train:pins` prints both as the folders have them.
 */
import type { PinnedFile } from '../worker/protocol.ts';

/** Also the name of the folder, and its number the rank. */
export type ShippedAdapterName = 'r8';

export interface AdapterPins {
  readonly config: Omit<PinnedFile, 'url'>;
  readonly weights: Omit<PinnedFile, 'url'>;
  readonly calibration: Omit<PinnedFile, 'url'>;
}

export const SHIPPED_ADAPTERS: Readonly<Record<ShippedAdapterName, AdapterPins>> = {
  r8: {
    config: { sha256: '184a884564a338f228541805a9842857db30f057b9b07c94fc503a1aa9d96207', sizeBytes: 469 },
    weights: { sha256: '99ae7cec8c3b1e4ee75993cefa59eb56321f4df5b0dd3b39c08b9de59d890148', sizeBytes: 4_938_632 },
    calibration: { sha256: '8e52c9b9548da64d611ee3be37d4d5ff93b013595cbd4443127adb11136e77d5', sizeBytes: 9_457 },
  },
};

/** By rank. */
export const SHIPPED_ADAPTER_NAMES: readonly ShippedAdapterName[] = Object.keys(SHIPPED_ADAPTERS) as ShippedAdapterName[];

/** The one that is taken where none is named. */
export const DEFAULT_ADAPTER_NAME: ShippedAdapterName = 'r8';
