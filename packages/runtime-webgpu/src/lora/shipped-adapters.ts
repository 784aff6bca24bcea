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
    calibration: { sha256: 'c290a8ca64560bb7e8c41656279ed56112f7678ccf168dbc837a00ac98762c9a', sizeBytes: 9_399 },
  },
  r8: {
    config: { sha256: '184a884564a338f228541805a9842857db30f057b9b07c94fc503a1aa9d96207', sizeBytes: 469 },
    weights: { sha256: '99ae7cec8c3b1e4ee75993cefa59eb56321f4df5b0dd3b39c08b9de59d890148', sizeBytes: 4_938_632 },
    calibration: { sha256: '3278c120c415263ecb4210b23a291fb12e5b94240e715e6089ea0acbf5a85020', sizeBytes: 9_410 },
  },
  r16: {
    config: { sha256: '70db23c070eb8937fcbe200ddc8707017a7eeb2fe2b70d8f33577f30d80a0ad8', sizeBytes: 470 },
    weights: { sha256: 'bea0f7f017467d7616bbda056fa9583b2f2e48375903a83b0df059ecfab6d529', sizeBytes: 9_823_632 },
    calibration: { sha256: '8a0f4815c2e797ece0597fa29176efdf26e7e553b3555dfea057cf6ed2ee0fbf', sizeBytes: 9_421 },
  },
};

/** By rank. */
export const SHIPPED_ADAPTER_NAMES: readonly ShippedAdapterName[] = Object.keys(SHIPPED_ADAPTERS) as ShippedAdapterName[];

/** The one that is taken where none is named. */
export const DEFAULT_ADAPTER_NAME: ShippedAdapterName = 'r8';
