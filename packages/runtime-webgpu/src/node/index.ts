export { cacheDirectory, fetchModel, modelPath, verifyModel, type LocatedModel, type ModelOptions } from './model-store.ts';
export { BASE_MODEL, type ModelPin, type WheelPin } from '../model/base-model.ts';
export { formatModelFailure, type ModelFailure, type ModelSource, type SourceFailure } from './failure.ts';
export type { OnProgress, OpenProgress } from './progress.ts';
export { DEFAULT_ADAPTER_FOLDER, openRuntime, type OpenFailure, type OpenOptions, type Runtime } from './open-runtime.ts';
export { openRepairer } from './open-repairer.ts';
export { checkNodeEngines, NODE_ENGINE_WISHES, type NodeEngineChoice, type NodeEngineName, type NodeEngineWish } from './choose-engine.ts';
export { formatEngineReason, type EngineReason } from '../probe/choice.ts';
