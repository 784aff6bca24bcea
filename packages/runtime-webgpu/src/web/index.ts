export { connectRepairer, WORKER_LOST, type CallOptions, type ClientOptions, type LoadOptions, type RepairerClient, type WorkerEndpoint } from '../worker/client.ts';
export { connectLastingRepairer } from '../worker/lasting-client.ts';
export type {
  EngineRuntimes, LoadedRepairer, LoadPhase, LoadProgress, LoadRequest, PinnedFile, RemoteFailure, RemoteOutcome, RepairReply, RuntimeFiles, WorkerMethods,
} from '../worker/protocol.ts';
export { checkInWorker, probeInWorker, type CheckEndpoint, type EngineReport, type ProbeReport, type RunTaskOptions } from '../worker/engine-check.ts';
export { formatEngineReason, type EngineChoice, type EngineReason, type RejectedEngine, type WebEngineName } from '../probe/choice.ts';
export type { GpuIssue, GpuProfile, MachineProfile, StorageProfile } from '../probe/machine.ts';
export { CONFORMANCE_CHECKS, TOLERANCE, type ConformanceCheck, type ConformanceResult } from '../self-test/conformance.ts';
export { createCheckModel } from '../self-test/check-model.ts';
export { selfTest, type SelfTestIssue, type SelfTestReport } from '../self-test/self-test.ts';
export { DEFAULT_ADAPTER, DEFAULT_MODEL } from './default-artifacts.ts';
export { DEFAULT_ADAPTER_NAME, SHIPPED_ADAPTER_NAMES, SHIPPED_ADAPTERS, type AdapterPins, type ShippedAdapterName } from '../lora/shipped-adapters.ts';
export { fetchPinned, type FetchedFile, type FetchIssue, type FetchWatcher } from './fetch-pinned.ts';
export { openWebEngine, type OpenEngineIssue, type OpenEngineOptions } from './open-engine.ts';
export { serveEngineChecks } from './serve-engine-checks.ts';
export { serveRepairWorker } from './serve-repair-worker.ts';
