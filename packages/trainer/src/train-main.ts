/** The program behind `npm run train`. Interrupted once, it ends after the example at hand with a checkpoint. */
import { train } from './train.ts';

const stop = new AbortController();
process.once('SIGINT', () => { stop.abort(); });
process.exitCode = await train(
  process.argv.slice(2), { dataFolder: process.env['CONTRACTRL_DATA'] ?? '', loadOrt: () => import('onnxruntime-node'), signal: stop.signal },
  { print: (line) => { console.log(line); }, tell: (line) => { console.error(line); } },
);
