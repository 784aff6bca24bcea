/** What the files in an adapter's folder are called, here alone: the first two by the PEFT library, the card by the hub that shows it, the calibration by the release rule. */
import { CALIBRATION_FILE } from '../release/calibration.ts';

export type AdapterFile = 'weights' | 'config' | 'card' | 'calibration';

export const ADAPTER_FILES: Readonly<Record<AdapterFile, string>> = {
  weights: 'adapter_model.safetensors', config: 'adapter_config.json', card: 'README.md', calibration: CALIBRATION_FILE,
};
