export { connectRepairer, type CallOptions, type LoadOptions, type RepairerClient, type WorkerEndpoint } from '../worker/client.ts';
export type { LoadedRepairer, LoadPhase, LoadProgress, LoadRequest, PinnedFile, RemoteFailure, RemoteOutcome, WorkerMethods } from '../worker/protocol.ts';
export { DEFAULT_ADAPTER, DEFAULT_MODEL } from './default-artifacts.ts';
export { serveRepairWorker } from './serve-repair-worker.ts';
