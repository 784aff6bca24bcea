/**
 * What is measured in a process of its own: `cold-start <engine> <threads> [model]`, with the cases on standard input, and `soak <engine> <repairs>`.
 * Prints JSON. An entry apart from the benchmark's own, so that neither time nor memory of its packages is counted.
 */
import { readFileSync } from 'node:fs';
import type { RepairRequest } from '@contractrl/core';
import { startCold, type ColdEngine } from './cold.ts';
import { soak, type SoakEngine } from './soak.ts';

const [task, engine, count, model] = process.argv.slice(2);
const result = task === 'soak'
  ? await soak(engine as SoakEngine, Number(count))
  : await startCold(engine as ColdEngine, JSON.parse(readFileSync(0, 'utf8')) as readonly RepairRequest[], Number(count), model);
process.stdout.write(`${JSON.stringify(result)}\n`);
