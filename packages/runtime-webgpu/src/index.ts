export type { Engine, EngineFailure, EngineIdentity, EngineStep, KvCache } from './engine.ts';
export { describeEngine } from './engine.ts';
export type { LinearName, LoraAdapter, LoraMatrix } from './lora/adapter.ts';
export { LINEAR_NAMES } from './lora/adapter.ts';
export type { Tokenizer } from './tokenizer.ts';
export { readGguf, type GgufModel, type ReadGgufOptions } from './model/gguf.ts';
export type { ModelConfig } from './model/config.ts';
export type { ModelIssue } from './model/issue.ts';
export { createTokenizer, type TokenizerIssue } from './model/tokenizer.ts';
export { buildGraph, graphCacheKey, GRAPH_VERSION, type DecoderGraph, type GraphOptions } from './onnx/graph.ts';
export type { WeightFormat } from './onnx/linear.ts';
export { readAdapter, type ReadAdapterOptions } from './lora/peft.ts';
export type { AdapterIssue } from './lora/issue.ts';
export { createOrtEngine, type EngineLoadIssue, type EnginePhase, type OrtEngineOptions } from './ort/engine.ts';
export type { OrtRuntime } from './ort/runtime.ts';
export { createScriptedEngine, type ScriptedEngineOptions } from './scripted/engine.ts';
export { buildPrompt, encodePrompt, PROMPT_VERSION, promptSegments, promptText, type EncodedPrompt, type Prompt, type PromptIssue, type PromptSegment } from './prompt.ts';
export { createRandom, createSampler, logSumExp, type Choice, type Sampler, type Sampling } from './sampling.ts';
export { generate, type Clock, type GenerateFailure, type GenerateOptions, type Generation } from './generate.ts';
export { createPrefixCache, type Prefill, type PrefixCache } from './prefix-cache.ts';
export {
  createMaskedProposer, createProposerMemory, DEFAULT_MAX_ANSWER_TOKENS, type BindableMask, type MaskCompiler, type MaskRules, type ProposerMemory, type ProposerOptions, type ProposerParts,
} from './proposer.ts';
export { createRepairer, type RepairCallOptions, type Repairer, type RepairerParts } from './repairer.ts';
