/**
 * `contractrl model fetch|path|verify`: the base model in the user's cache. The path alone goes to standard output, for scripts.
 * `contractrl model engines`: what it would run on.
 */
import { formatEngineReason } from '@contractrl/runtime-webgpu/node';
import { ENGINE_NAMES } from '../engine-names.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { reportProblem } from '../problem.ts';
import { createProgressLine } from '../progress.ts';
import type { LoadHooks, ModelOptions, Services } from '../services.ts';

export type ModelAction = 'fetch' | 'path' | 'verify';

export async function modelCommand(action: ModelAction, options: ModelOptions, io: Io, services: Services): Promise<ExitCode> {
  const progress = createProgressLine(io);
  const hooks: LoadHooks = { signal: io.signal, onProgress: (event) => progress.show(event) };
  const path = action === 'path' ? await services.modelPath(options) : action === 'fetch' ? await services.fetchModel(options, hooks) : await services.verifyModel(options, hooks);
  await progress.finish();
  if (io.signal.aborted) return EXIT.interrupted;
  if (!path.ok) {
    await reportProblem(path.error, io);
    return EXIT.notRepaired;
  }
  await io.stdout.write(`${path.value}\n`);
  return EXIT.ok;
}

export async function enginesCommand(io: Io, services: Services): Promise<ExitCode> {
  const progress = createProgressLine(io);
  progress.show({ kind: 'step', label: 'Testing the graphics adapter' });
  const { engine, reason, rejected } = await services.checkEngines();
  await progress.finish();
  if (io.signal.aborted) return EXIT.interrupted;
  const lines = [`${ENGINE_NAMES[engine]}: ${formatEngineReason(reason)}`, ...rejected.map((each) => `not ${ENGINE_NAMES[each.engine]}: ${formatEngineReason(each.reason)} [${each.reason.code}]`)];
  await io.stdout.write(lines.map((line) => `${line}\n`).join(''));
  return EXIT.ok;
}
