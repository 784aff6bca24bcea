/** `npm run bench:training-speed`: measures our gradient engine beside PyTorch and writes the report. Some four minutes on two cores that are free for it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { surroundingsNow } from '../parts.ts';
import { ENGINES, measureTrainingSpeed } from './measure.ts';
import { prepareWork } from './prepare-work.ts';
import { writeResults } from './results.ts';

const { values } = parseArgs({
  options: {
    'python': { type: 'string' }, 'out': { type: 'string', default: fileURLToPath(new URL('../../results/training-speed', import.meta.url)) }, 'model': { type: 'string' },
    'rounds': { type: 'string', default: '8' }, 'batch-size': { type: 'string', default: '8' }, 'rank': { type: 'string', default: '8' }, 'threads': { type: 'string', default: String(availableParallelism()) },
  },
});
const { python, out, model } = values;
const [rounds, batchSize, rank, threads] = [values.rounds, values['batch-size'], values.rank, values.threads].map(Number) as [number, number, number, number];
const log = (line: string): void => { process.stderr.write(`${line}\n`); };

async function main(): Promise<number> {
  if (python === undefined || ![rounds, batchSize, rank, threads].every((count) => Number.isInteger(count) && count > 0)) {
    log('Usage: --python COMMAND [--rounds N] [--batch-size N] [--rank R] [--threads N] [--model FILE] [--out FOLDER]; the Python has torch, transformers and PEFT.');
    return 2;
  }
  const surroundings = surroundingsNow();
  const folder = await mkdtemp(join(tmpdir(), 'contractrl-training-speed-'));
  const prepared = await prepareWork({ folder, rank, stepCount: rounds + 1, batchSize, ...(model === undefined ? {} : { model }) });
  if (typeof prepared === 'string') {
    log(prepared);
    return 1;
  }
  const measured = await measureTrainingSpeed({
    ...prepared, python, threads,
    onRound: (round, taken) => { log(`round ${String(round)}: ${ENGINES.map((name) => `${name} ${(taken[name].ms / batchSize).toFixed(0)} ms an example, loss ${taken[name].loss.toFixed(4)}`).join('; ')}`); },
  });
  await rm(folder, { recursive: true });
  if (!measured.ok) {
    log(JSON.stringify(measured.error));
    return 1;
  }
  process.stdout.write(await writeResults(out, { surroundings, result: measured.value }));
  return 0;
}

process.exitCode = await main();
