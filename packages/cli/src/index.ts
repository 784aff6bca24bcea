export { EXIT, type ExitCode } from './exit-code.ts';
export type { Io, Output } from './io.ts';
export type { Problem } from './problem.ts';
export type { LoadHooks, LoadProgress, ModelOptions, RepairSession, Services, SessionOptions } from './services.ts';
export { runCli } from './program.ts';
