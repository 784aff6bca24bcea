export type { Engine, EngineFailure, EngineIdentity, EngineStep, EngineVerification, KvCache } from './engine.ts';
export { describeEngine } from './engine.ts';
export type { LinearName, LoraAdapter, LoraMatrix } from './lora/adapter.ts';
export { LINEAR_NAMES } from './lora/adapter.ts';
export type { Tokenizer } from './tokenizer.ts';
export { readGguf, type GgufModel, type ReadGgufOptions } from './model/gguf.ts';
export type { ModelConfig } from './model/config.ts';
export type { RopeScaling } from './model/rope-scaling.ts';
export type { TensorType } from './model/tensor.ts';
export type { ModelIssue } from './model/issue.ts';
export { createTokenizer, type TokenizerIssue } from './model/tokenizer.ts';
export { buildGraph, graphCacheKey, GRAPH_VERSION, type DecoderGraph, type GraphOptions } from './onnx/graph.ts';
export type { Carriage, WeightFormat } from './onnx/linear.ts';
export { weightReport, type WeightUse } from './onnx/weight-report.ts';
export { readAdapter, writeAdapter, type PeftFiles, type WriteAdapterOptions } from './lora/peft.ts';
export type { PeftExpectations } from './lora/peft-config.ts';
export type { WrittenType } from './lora/safetensors.ts';
export { mergeAdapter, type MergeIssue } from './lora/merge.ts';
export type { AdapterIssue } from './lora/issue.ts';
export { createOrtEngine, type OrtEngineOptions } from './ort/engine.ts';
export type { EngineLoadIssue, EnginePhase, SessionOptions } from './ort/session.ts';
export { openBatch, type Batch, type BatchOptions } from './batch/batch-engine.ts';
export type { LoadFailure } from './ort/failure.ts';
export type { GpuDevice } from './ort/gpu.ts';
export type { OrtRuntime } from './ort/runtime.ts';
export { createScriptedEngine, type ScriptedEngineOptions } from './scripted/engine.ts';
export { buildPrompt, encodePrompt, PROMPT_VERSION, promptSegments, promptText, type EncodedPrompt, type Prompt, type PromptIssue, type PromptSegment } from './prompt.ts';
export { createRandom, createSampler, logSumExp, type Choice, type Sampler, type Sampling } from './sampling.ts';
export { generate, type Clock, type ClosedFigures, type GenerateFailure, type GenerateOptions, type Generation } from './generate.ts';
export { MaskCursor, type CursorOptions, type IdList, type Move } from './mask-cursor.ts';
export type { MaskedClass, MassReport, MassStep } from './mass-report.ts';
export { replayMask, walkTrail, type MaskRecord, type MaskReplayIssue, type TrailIssue, type TrailMove } from './replay-mask.ts';
export { enumerateOutputs, type Output, type TooManyOutputs } from './enumerate-outputs.ts';
export { scoreOutputs, type ScoredOutput, type ScoreOptions } from './score-outputs.ts';
export { approximateContract, type ApproximateContract } from './approximate-contract.ts';
export { publicSources } from './public-sources.ts';
export { createDrafter, type Drafter } from './draft.ts';
export type { Ahead, PromptStep, SpeculationFigures } from './engine-cursor.ts';
export { createPrefixCache, type Prefill, type PrefillOptions, type PrefixCache } from './prefix-cache.ts';
export {
  createMaskedProposer, createMaskMemory, createProposerMemory, DEFAULT_MAX_ANSWER_TOKENS, DEFAULT_PROVENANCE_SHARE, DEFAULT_RULES, samplingOfAttempt,
  type BindableMask, type KeptMask, type MaskCompiler, type MaskMemory, type MaskParts, type MaskRules, type ProposerMemory, type ProposerOptions, type ProposerParts,
} from './proposer.ts';
export {
  CALIBRATION_FILE, CALIBRATION_VERSION, confidenceOf, FEATURES, featuresOf, readCalibration, type Calibration, type CalibrationIssue, type ConfidenceMap, type Feature, type Features,
} from './release/calibration.ts';
export type { PatchDoubts } from './release/doubts.ts';
export type { Release } from './release/release.ts';
export { sayingOf, type Saying } from './release/said.ts';
export { readPatchSignals, type DecisionSignals, type PatchSignals, type ValueSource } from './release/signals.ts';
export { createRepairer, type RepairCallOptions, type Repairer, type RepairerParts } from './repairer.ts';
