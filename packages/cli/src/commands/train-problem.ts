/** Why there is no adapter, for a person: what happened and what to do about it. */
import { ADAPTER_FILES, formatUnknownAdapter } from '@contractrl/runtime-webgpu/node';
import type { TrainForToolsIssue } from '@contractrl/trainer/user';
import type { Problem } from '../problem.ts';

export function toTrainProblem(issue: TrainForToolsIssue): Problem {
  return { code: issue.code, message: messageOf(issue) };
}

function messageOf(issue: TrainForToolsIssue): string {
  switch (issue.code) {
    case 'train/tools-unreadable': return `The file of tools is not JSON that can be trusted (${issue.issue}): give one JSON document.`;
    case 'train/duplicate-tool': return `Two tools are called "${issue.name}": leave one out.`;
    case 'train/no-tools': return `The file holds no tool that a contract can honour (${issue.refused.map(({ name, code }) => `${name}: ${code}`).join(', ') || 'there is none'}): see "contractrl contract" for what is wrong.`;
    case 'train/trace-unreadable': return `Line ${issue.line} of ${issue.file} is no recorded call (${issue.issue}): write {"request", "tool", "arguments"}, or give a ledger.`;
    case 'train/ledger-broken': return `The ledger ${issue.file} is broken at row ${issue.row} (${issue.issue}): nothing is learnt from it.`;
    case 'train/no-audit': return `What evaluation needs to be kept apart is missing (${issue.missing.map(({ set }) => set).join(', ')}): leave out --data, or give a folder with all evaluation sets.`;
    case 'train/leak': {
      const [first] = issue.leaks;
      const shown = first === undefined ? '' : ` (first ${first.id}: ${first.unit}, in ${first.sets.join(', ')})`;
      return `${issue.count} of your tools or calls are in public evaluation sets${shown}: leave them out, or train with --allow-overlap, and then figures on those sets say nothing.`;
    }
    case 'train/too-few-calls': return `There are ${issue.train} calls to train on and ${issue.validation} to validate with, and ${issue.neededTrain} and ${issue.neededValidation} are needed: give --traces, more tools, or schemas with more to choose from.`;
    case 'train/too-few-examples': return `The calls give ${issue.train} failed ones to train on and ${issue.validation} to validate with, and ${issue.neededTrain} and ${issue.neededValidation} are needed: raise --examples or --minutes, or give --traces.`;
    case 'adapter/file-missing': return `There is no adapter in ${issue.folder}: give --from a folder with ${ADAPTER_FILES.weights} and ${ADAPTER_FILES.config}, the name of one that ships, or none.`;
    case 'adapter/file-access': return `The adapter in ${issue.folder} cannot be read: check the path and its permissions.`;
    case 'train/other-rank': return `The adapter to begin with has rank ${issue.startRank}, not ${issue.rank}: give --rank ${issue.startRank}, another --from, or --from none.`;
    case 'train/no-model': return issue.message;
    case 'train/no-runtime': return issue.message;
    case 'evaluate/bad-example': return `The example ${issue.id} cannot be repaired (${issue.cause}); please report this.`;
    case 'evaluate/aborted':
    case 'train/aborted': return 'Stopped before there was anything to keep.';
    case 'run/exists': return `There is a run in ${issue.folder} already: give another --out, or --resume to go on with it.`;
    case 'run/missing': return `There is no run in ${issue.folder} to go on with: leave out --resume, or check --out.`;
    case 'run/mismatch': return `The run in that folder was begun otherwise (${issue.members.join(', ')}): give the same files and options again, or another --out.`;
    case 'checkpoint/unreadable':
    case 'checkpoint/mismatch': return 'The checkpoint in that folder is damaged or of another run: begin anew in another one.';
    case 'sft/too-few-examples': return `There are ${issue.train} examples to train on and ${issue.validation} to validate with: raise --examples.`;
    case 'sft/nothing-to-learn': return 'None of the examples of a step fits this model’s prompt and mask: try another --base.';
    case 'gradient/load-failed': return 'ONNX Runtime does not take the training graph, perhaps for lack of memory: close other programs, or try a smaller --base.';
    case 'gradient/too-little-memory': return `Training needs ${gigabytes(issue.neededBytes)} GB of memory, and ${gigabytes(issue.availableBytes)} GB are free: close other programs, or try a smaller --base.`;
    case 'gradient/run-failed': return 'ONNX Runtime failed in a step: --resume goes on from the last checkpoint.';
    case 'gradient/not-finite': return 'The parameters have gone astray: try another --seed.';
    case 'gradient/context-full': return 'An example is longer than the training graph: give shorter descriptions, or report this.';
    case 'gradient/disposed': return 'The training graph was closed.';
    case 'gradient/adapter-mismatch': return `The adapter to begin with has not the form that is trained (${issue.detail}): give another --from, or --from none.`;
    case 'adapter/unknown-name': return formatUnknownAdapter(issue);
    case 'adapter/wrong-base': return `The adapter to begin with is of ${issue.base}, and ${issue.expected} is trained on: give another --from, or --from none.`;
    case 'adapter/other-prompt': return `The adapter to begin with knows another prompt than ${issue.expected}: give another --from, or --from none.`;
    case 'adapter/truncated':
    case 'adapter/bad-header':
    case 'adapter/unsupported-dtype':
    case 'adapter/bad-config':
    case 'adapter/missing-tensor':
    case 'adapter/unexpected-tensor':
    case 'adapter/bad-shape':
    case 'adapter/not-finite': return 'The adapter to begin with cannot be read: give another --from, or --from none.';
  }
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(1);
}
