/**
 * `npm run bench:runtime [-- PART… [--cases N|all] [--threads N]]`: prepares the checkout, builds, measures the runtime of the policy beside its peers,
 * and writes the report. Parts are speed, ranks, head, cold, soak, agreement and batch (all, where none is named); `report` only renders what was measured.
 * The peers, node-llama-cpp and transformers.js, are no dependency: they are installed on demand into folders of the user's cache; where that fails,
 * the row says so.
 */
import { join } from 'node:path';
import { findPeers } from './lib/peers.mjs';
import { build, inOrder, ROOT, run } from './lib/run.mjs';
import { prepare } from './prepare.mjs';

const MAIN = join(ROOT, 'benchmarks', 'dist', 'runtime', 'main.js');
const ALL_PARTS = ['speed', 'ranks', 'head', 'cold', 'soak', 'agreement', 'batch'];

const args = process.argv.slice(2);
const firstOption = args.findIndex((arg) => arg.startsWith('--'));
const [named, options] = firstOption === -1 ? [args, []] : [args.slice(0, firstOption), args.slice(firstOption)];
const parts = named.length === 0 ? ALL_PARTS : named.filter((name) => name !== 'report');
const folder = options.indexOf('--out') === -1 ? [] : ['--out', options[options.indexOf('--out') + 1]];

await prepare({ python: parts.length > 0 });

/** A process a part: no part is measured in what another left in memory. */
const measure = (part) => async () => {
  const peers = part === 'speed' ? Object.entries(await findPeers()) : [];
  const about = peers.flatMap(([name, peer]) => ('folder' in peer ? ['--peer', `${name}=${peer.folder}`] : ['--peer-missing', `${name}=${peer.reason}`]));
  return run(process.execPath, [MAIN, 'measure', part, ...options, ...about]);
};

await inOrder(
  () => build('@contractrl/benchmarks'),
  ...parts.map(measure),
  () => run(process.execPath, [MAIN, 'report', ...folder]),
);
