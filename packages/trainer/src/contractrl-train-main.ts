/** The program `contractrl-train`. */
import { createInterface } from 'node:readline';
import { contractrlTrain } from './contractrl-train.ts';

process.exitCode = await contractrlTrain(
  process.argv.slice(2), { dataFolder: process.env['CONTRACTRL_DATA'] ?? '', openLines: () => createInterface({ input: process.stdin, crlfDelay: Infinity }) },
  { print: (line) => { console.log(line); }, tell: (line) => { console.error(line); } },
);
