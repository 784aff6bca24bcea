/** What training tells on standard error while it goes on: one line that is rewritten on a terminal, a line now and then elsewhere. */
import type { UserTrainEvent } from '@contractrl/trainer/user';
import type { Io } from '../io.ts';
import type { ProgressLine } from '../progress.ts';

/** A bar that moves, and a log of an hour that is still read. */
const TERMINAL_INTERVAL_MS = 200;
const LOG_INTERVAL_MS = 30_000;

export function createTrainReporter(progress: ProgressLine, io: Io): (event: UserTrainEvent) => void {
  const interval = io.stderr.isTerminal ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS;
  let lastMs = -Infinity;
  let lastStage = '';
  return (event) => {
    const lasting = noteOf(event);
    if (lasting !== undefined) {
      progress.show({ kind: 'note', text: lasting });
      return;
    }
    const step = stepOf(event);
    if (step === undefined || (step.stage === lastStage && io.now() - lastMs < interval)) return;
    [lastStage, lastMs] = [step.stage, io.now()];
    progress.show({ kind: 'step', label: `${step.stage}${step.detail}` });
  };
}

function noteOf(event: UserTrainEvent): string | undefined {
  switch (event.kind) {
    case 'left-out': return event.what === 'traces' ? `${event.count} of ${event.name} left out [${event.code}]`
      : event.what === 'tool' ? `Tool "${event.name}" is left out: no contract can honour it [${event.code}]`
        : `No calls are drawn for tool "${event.name}" [${event.code}]`;
    case 'beginning': return event.from === undefined ? `Begins with nothing${event.code === undefined ? '' : `: there is no adapter that it could go on from [${event.code}]`}` : `Begins with the adapter ${event.from}`;
    case 'made': return `${event.train} examples to train on, ${event.validation} to validate with, of ${event.calls.recorded} recorded calls and ${event.calls.train + event.calls.validation - event.calls.recorded} drawn ones`;
    case 'training': return event.event.kind === 'validation' ? `Step ${event.event.step}: validation loss ${event.event.loss.toFixed(4)}` : undefined;
    default: return undefined;
  }
}

function stepOf(event: UserTrainEvent): { readonly stage: string; readonly detail: string } | undefined {
  switch (event.kind) {
    case 'making': return { stage: 'Making examples', detail: ` ${event.done} of ${event.total}` };
    case 'loading': return { stage: 'Loading the model', detail: ', which is fetched first where it is not in the cache' };
    case 'measuring': return { stage: event.when === 'before' ? 'Measuring what there is' : 'Measuring the adapter', detail: ` ${event.done} of ${event.total}` };
    case 'training': return event.event.kind === 'step'
      ? { stage: 'Training', detail: `, step ${event.event.step}, loss ${event.event.loss.toFixed(3)}, ${event.event.examplesPerSecond.toFixed(1)} examples a second, ${Math.ceil(event.event.secondsLeft / 60)} min left at most` }
      : undefined;
    default: return undefined;
  }
}
