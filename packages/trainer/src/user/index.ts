/** Training for one user's tools: what `contractrl train` does. */
export { trainForTools, type TrainedForTools, type TrainForToolsIssue, type TrainForToolsOptions, type UserTrainEvent } from './train-for-tools.ts';
export { compareLooks, formatComparison, type Comparison } from './compare-looks.ts';
export { summariseEvaluation } from '../evaluate/summary.ts';
