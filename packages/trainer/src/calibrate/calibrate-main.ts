/** The program behind `npm run train:calibrate`. Interrupted, it ends after the example at hand and writes nothing. */
import { validationSide } from '../evaluate/validation-side.ts';
import { calibrate, openAdapterPolicy } from './calibrate.ts';

const stop = new AbortController();
process.once('SIGINT', () => { stop.abort(); });
process.exitCode = await calibrate(
  process.argv.slice(2), { dataFolder: process.env['CONTRACTRL_DATA'] ?? '', openPolicy: openAdapterPolicy, examplesOf: validationSide, clock: () => performance.now(), signal: stop.signal },
  { print: (line) => { console.log(line); }, tell: (line) => { console.error(line); } },
);
