/** The program behind `npm run train:data`. */
import { trainData } from './train-data.ts';

process.exitCode = trainData(process.argv.slice(2), process.env['CONTRACTRL_DATA'] ?? '', { print: (line) => { console.log(line); }, tell: (line) => { console.error(line); } });
