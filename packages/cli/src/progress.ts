/** Loading progress on standard error: one line that is rewritten on a terminal, plain lines at a gentle rate elsewhere. */
import type { Io } from './io.ts';
import { formatBytes, toSafeText } from './render/text.ts';
import type { LoadProgress } from './services.ts';

/** A bar that moves smoothly, and a log that stays short. */
const TERMINAL_INTERVAL_MS = 100;
const LOG_INTERVAL_MS = 5_000;
const BAR_WIDTH = 24;
const CLEAR_LINE = '\r\u001b[2K';

type LoadStep = Extract<LoadProgress, { readonly kind: 'step' }>;

export interface ProgressLine {
  show(progress: LoadProgress): void;
  /** Removes what is on the line; nothing is shown afterwards. */
  finish(): Promise<void>;
}

export function createProgressLine(io: Io): ProgressLine {
  const { isTerminal } = io.stderr;
  const interval = isTerminal ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS;
  let lastLabel: string | undefined;
  let lastMs = -Infinity;
  let isOpen = false;
  return {
    show(progress) {
      if (progress.kind === 'note') {
        // A note stays; the line is drawn anew below it.
        void io.stderr.write(`${isOpen ? CLEAR_LINE : ''}${toSafeText(progress.text)}\n`);
        return;
      }
      const isNewStep = progress.label !== lastLabel;
      if (!isNewStep && io.now() - lastMs < interval) return;
      lastLabel = progress.label;
      lastMs = io.now();
      isOpen = isTerminal;
      // Not awaited: a progress line that comes late is worth nothing, and the stream keeps the order.
      // In a log the first line of a step only names it: its count has just begun.
      const shown = isTerminal || !isNewStep ? progress : { label: progress.label };
      void io.stderr.write(isTerminal ? `${CLEAR_LINE}${formatProgress(shown, true)}` : `${formatProgress(shown, false)}\n`);
    },
    async finish() {
      if (isOpen) await io.stderr.write(CLEAR_LINE);
      isOpen = false;
    },
  };
}

export function formatProgress({ label, doneBytes, totalBytes }: Omit<LoadStep, 'kind'>, hasBar: boolean): string {
  const text = toSafeText(label);
  if (doneBytes === undefined) return `${text} …`;
  if (totalBytes === undefined || totalBytes <= 0) return `${text}  ${formatBytes(doneBytes)}`;
  const share = Math.min(1, doneBytes / totalBytes);
  const filled = Math.round(share * BAR_WIDTH);
  const bar = hasBar ? `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ` : '';
  return `${text}  ${bar}${Math.floor(share * 100)} %  ${formatBytes(doneBytes)} of ${formatBytes(totalBytes)}`;
}
