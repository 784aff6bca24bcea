/** Which phase a load is in, how far, and how long each phase took: what a page shows while it waits. */
import type { WebEngineName } from '../probe/choice.ts';
import type { LoadPhase, LoadProgress } from '../worker/protocol.ts';

/** Between two reports of bytes at least this long: a fast disk delivers thousands of parts a second, and nobody reads them. */
const REPORT_INTERVAL_MS = 100;

export class LoadPhases {
  readonly totalMs: Record<LoadPhase, number> = { wait: 0, download: 0, verify: 0, build: 0, test: 0, start: 0 };
  readonly #report: (progress: LoadProgress) => void;
  readonly #totalBytes: number;
  #phase: LoadPhase | undefined;
  #enteredAt = 0;
  #reportedAt = 0;

  /** `totalBytes` is what will be downloaded. */
  constructor(report: (progress: LoadProgress) => void, totalBytes: number) {
    this.#report = report;
    this.#totalBytes = totalBytes;
  }

  /** `engine`: whose phase it is, once one is chosen. */
  enter(phase: LoadPhase, engine?: WebEngineName): void {
    this.end();
    this.#phase = phase;
    this.#enteredAt = performance.now();
    this.#reportedAt = this.#enteredAt;
    this.#report({ phase, ...(engine === undefined ? {} : { engine }), loadedBytes: 0, totalBytes: 0, bytesPerSecond: 0 });
  }

  /** Bytes of all files so far; `fromBytes` is where the present download began. */
  downloaded(loadedBytes: number, fromBytes: number): void {
    const now = performance.now();
    if (now - this.#reportedAt < REPORT_INTERVAL_MS) return;
    this.#reportedAt = now;
    const seconds = (now - this.#enteredAt) / 1_000;
    this.#report({ phase: 'download', loadedBytes, totalBytes: this.#totalBytes, bytesPerSecond: (loadedBytes - fromBytes) / seconds });
  }

  /** Closes the present phase, so that its time is counted. */
  end(): void {
    if (this.#phase !== undefined) this.totalMs[this.#phase] += performance.now() - this.#enteredAt;
    this.#phase = undefined;
  }
}
