export { packSegments, type PackedBatch, type Segment, type Step } from './batch.ts';
export { createGradientEngine, type Gradient, type GradientEngine, type GradientEngineOptions, type GradientFailure } from './gradient-engine.ts';
export { adapterOf, initialParameters, parametersOf, type InitialOptions, type LoraParameters, type Parameter, type ParametersIssue } from './parameters.ts';
export {
  addGradients, clipGradients, createOptimiserState, learningRateAt, takeStep, type AdamWOptions, type LearningRateSchedule, type OptimiserState,
} from './adamw.ts';
export { readCheckpoint, writeCheckpoint, type Checkpoint, type CheckpointIssue } from './checkpoint.ts';
