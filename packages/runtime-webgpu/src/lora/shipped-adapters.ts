/**
 * The adapters that ship with this package, by name: the folders in `adapters/`, each with a PEFT adapter for the base model, its card, and the calibration of
 * its release rule. Names and pins stand here alone; `npm run train:pins` prints both as the folders have them.
 */
import type { PinnedFile } from '../worker/protocol.ts';

/** Also the name of the folder, and its number the rank. */
export type ShippedAdapterName = 'r4' | 'r8' | 'r16';

export interface AdapterPins {
  readonly config: Omit<PinnedFile, 'url'>;
  readonly weights: Omit<PinnedFile, 'url'>;
  readonly calibration: Omit<PinnedFile, 'url'>;
}

export const SHIPPED_ADAPTERS: Readonly<Record<ShippedAdapterName, AdapterPins>> = {
  r4: {
    config: { sha256: '5e202caafd30301b62968f18030f98265498f5eb164e7d121316bd948d95cb87', sizeBytes: 468 },
    weights: { sha256: '24237941b42571d29bdd962823a61d9395dcabfe3d713766e6e3c7e7cc341c8c', sizeBytes: 2_496_200 },
    calibration: { sha256: 'b298f41270b7f854a5510174e880242f32b39ab7a968fad36b0991a9a6b38a09', sizeBytes: 9_441 },
  },
  r8: {
    config: { sha256: '184a884564a338f228541805a9842857db30f057b9b07c94fc503a1aa9d96207', sizeBytes: 469 },
    weights: { sha256: '99ae7cec8c3b1e4ee75993cefa59eb56321f4df5b0dd3b39c08b9de59d890148', sizeBytes: 4_938_632 },
    calibration: { sha256: '7d6f0848a60388fcb08a9b37b8ecdad5fafe79e2b2c4089b7da8949ecf23a77d', sizeBytes: 9_463 },
  },
  r16: {
    config: { sha256: '70db23c070eb8937fcbe200ddc8707017a7eeb2fe2b70d8f33577f30d80a0ad8', sizeBytes: 470 },
    weights: { sha256: 'bea0f7f017467d7616bbda056fa9583b2f2e48375903a83b0df059ecfab6d529', sizeBytes: 9_823_632 },
    calibration: { sha256: 'd4834791ebb1bdd264388a92873f20cf61cd2412f9ec8df8f6bcfe4d80b0df45', sizeBytes: 9_483 },
  },
};

/** By rank. */
export const SHIPPED_ADAPTER_NAMES: readonly ShippedAdapterName[] = Object.keys(SHIPPED_ADAPTERS) as ShippedAdapterName[];

/** The one that is taken where none is named. */
export const DEFAULT_ADAPTER_NAME: ShippedAdapterName = 'r8';
