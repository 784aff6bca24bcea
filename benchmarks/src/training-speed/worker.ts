/** A process that takes training steps when it is told to: a line in, a line out. One works at a time, the others wait. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface StepTaken {
  readonly ms: number;
  /** Mean −log probability of a decision under the mask, before the step. */
  readonly loss: number;
  /** Tokens that went through the model, padding included. */
  readonly positions: number;
  /** Largest resident memory of the process so far. */
  readonly peakBytes: number;
}

export interface Worker {
  readonly versions: Readonly<Record<string, string>>;
  take(step: number): Promise<StepTaken>;
  /** Ends the process. */
  close(): void;
}

/** Starts one and waits until it is ready. Throws where it ends early; what it says of it goes to this process's standard error. */
export async function openWorker(command: string, args: readonly string[]): Promise<Worker> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const failed = new Promise<never>((_, reject) => { child.on('error', reject); });
  const read = async (): Promise<unknown> => {
    const line = await Promise.race([lines.next(), failed]);
    if (line.done === true) throw new Error(`${command} ${args.join(' ')} ended early`);
    return JSON.parse(line.value);
  };
  const { versions } = await read() as Pick<Worker, 'versions'>;
  return {
    versions,
    take(step) {
      child.stdin.write(`${String(step)}\n`);
      return read() as Promise<StepTaken>;
    },
    close() {
      child.stdin.end();
    },
  };
}
