/**
 * `npm run train:pins`: prints names and pins of the adapters in packages/runtime-webgpu/adapters, as src/lora/shipped-adapters.ts there has them. Run it when an adapter or
 * its calibration has changed, and put what it prints in the place of what stands there; a test holds the two together.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './lib/run.mjs';

const FOLDER = join(ROOT, 'packages', 'runtime-webgpu', 'adapters');
/** As `ADAPTER_FILES` in src/lora/adapter-files.ts there, once more: this script needs no build. */
const FILES = { config: 'adapter_config.json', weights: 'adapter_model.safetensors', calibration: 'calibration.json' };

const byRank = (a, b) => Number(a.slice(1)) - Number(b.slice(1));

function pinLine(name, part) {
  const bytes = readFileSync(join(FOLDER, name, FILES[part]));
  const sizeBytes = String(bytes.length).replace(/\B(?=(\d{3})+$)/gu, '_');
  return `    ${part}: { sha256: '${createHash('sha256').update(bytes).digest('hex')}', sizeBytes: ${sizeBytes} },`;
}

const names = readdirSync(FOLDER).sort(byRank);
const entries = names.flatMap((name) => [`  ${name}: {`, ...Object.keys(FILES).map((part) => pinLine(name, part)), '  },']);
console.log([`export type ShippedAdapterName = ${names.map((name) => `'${name}'`).join(' | ')};`, '', ...entries].join('\n'));
