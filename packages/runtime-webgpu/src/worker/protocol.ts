/**
 * What the page and its worker say to each other. One map ties each method to its parameters and its value, so that a request
 * and its reply cannot drift apart. Everything here survives the structured clone; failures travel as data, never as text.
 */
import type { FrozenRepair, JsonObject, JsonValue, RepairOutcome } from '@contractrl/core';
import type { EngineChoice, RejectedEngine, WebEngineName } from '../probe/choice.ts';
import type { SelfTestReport } from '../self-test/self-test.ts';

/** A file to fetch, pinned by content. A byte more or less, or another digest, and it is refused. */
export interface PinnedFile {
  readonly url: string;
  /** SHA-256, lower-case hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

export interface LoadRequest {
  readonly model: PinnedFile;
  /** A PEFT adapter, as its two files, with the calibration of its release rule where it has one; undefined runs the bare base model. */
  readonly adapter: { readonly config: PinnedFile; readonly weights: PinnedFile; readonly calibration?: PinnedFile } | undefined;
  /** WASM threads; undefined chooses by the machine. More than one needs a cross-origin isolated page. */
  readonly threads: number | undefined;
  /** Tried first, whatever the probe says about its speed; undefined chooses by the machine. */
  readonly engine?: WebEngineName;
  /** Not tried, for what became of them before. */
  readonly failed?: readonly RejectedEngine[];
  readonly runtimes: EngineRuntimes;
}

/** Where the bundler put the two files of a WASM build of ONNX Runtime. */
export interface RuntimeFiles {
  readonly mjs: string;
  readonly wasm: string;
}

/** Each is fetched only where it is used; an engine whose files are not named is not tried. */
export interface EngineRuntimes {
  /** 14 MB, CPU alone. */
  readonly wasm?: RuntimeFiles;
  /** 17 MB, WebGPU in browsers with JavaScript Promise Integration. */
  readonly jspi?: RuntimeFiles;
  /** 27 MB, WebGPU in the others. */
  readonly asyncify?: RuntimeFiles;
}

/** `wait`: another tab is downloading the same file. `test`: the engine's numbers are compared with known ones. */
export type LoadPhase = 'wait' | 'download' | 'verify' | 'build' | 'test' | 'start';

/** Bytes are counted in `download`; the other phases cannot be measured from outside and report zeros. */
export interface LoadProgress {
  readonly phase: LoadPhase;
  /** Once one is chosen: what a worker that dies here was busy with. */
  readonly engine?: WebEngineName;
  readonly loadedBytes: number;
  readonly totalBytes: number;
  /** Mean since the download began; 0 while nothing was measured. */
  readonly bytesPerSecond: number;
}

export interface LoadedRepairer {
  /** Model, adapter, prompt and sampling, as the ledger names them. */
  readonly identity: JsonObject;
  /** The engine, why it, and why not the others. */
  readonly choice: EngineChoice;
  readonly selfTest: SelfTestReport;
  readonly threads: number;
  /** The model came from this browser's own cache. */
  readonly fromCache: boolean;
  /** Things that went wrong without harm, such as no room to keep the model for the next visit. */
  readonly notes: readonly RemoteFailure[];
  readonly phaseMs: Readonly<Record<LoadPhase, number>>;
}

type OmitEach<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/**
 * An outcome as data. What proves an accepted call and a frozen repair is their identity in the realm that made them, and that does not
 * cross: a page that dispatches judges `argumentsText` again, and one that keeps a ledger freezes `entries` again, to the same digest.
 */
export type RemoteOutcome = OmitEach<RepairOutcome, 'accepted' | 'frozen'> & { readonly entries: FrozenRepair['entries'] };

export interface RepairReply {
  readonly outcome: RemoteOutcome;
  readonly totalMs: number;
  /** Where engine or worker was lost and the repair was done again: what is loaded now. */
  readonly loaded?: LoadedRepairer;
}

export interface WorkerMethods {
  readonly load: { readonly params: LoadRequest; readonly value: LoadedRepairer };
  /** `record` is an unread input record; the worker reads it, so that text from outside meets one parser only. */
  readonly repair: { readonly params: { readonly record: JsonValue }; readonly value: RepairReply };
  readonly dispose: { readonly params: null; readonly value: null };
}
export type WorkerMethod = keyof WorkerMethods;

/** A failure as data. `code` is `worker/…`, `web/…`, `model/…`, `engine/…` or a code of the module that refused. */
export interface RemoteFailure {
  readonly code: string;
  readonly params: JsonObject;
}

type CallOf<M extends WorkerMethod> = { readonly kind: 'call'; readonly id: number; readonly method: M; readonly params: WorkerMethods[M]['params'] };
type DoneOf<M extends WorkerMethod> = { readonly kind: 'done'; readonly id: number; readonly method: M; readonly value: WorkerMethods[M]['value'] };

export type WorkerCall = { [M in WorkerMethod]: CallOf<M> }[WorkerMethod];
/** `ping` is answered as soon as the worker listens, between two steps at the latest. */
export type ToWorker = WorkerCall | { readonly kind: 'cancel'; readonly id: number } | { readonly kind: 'ping'; readonly id: number };
export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'pong' }
  /** The worker holds this lock for as long as it lives, see `life-lock.ts`. */
  | { readonly kind: 'holds'; readonly lock: string }
  | { readonly kind: 'progress'; readonly id: number; readonly progress: LoadProgress }
  | { [M in WorkerMethod]: DoneOf<M> }[WorkerMethod]
  | { readonly kind: 'failed'; readonly id: number; readonly failure: RemoteFailure };

/** Both ends are ours, yet development tools post into workers too: anything else is ignored. */
export function isToWorker(data: unknown): data is ToWorker {
  return hasKind(data, ['call', 'cancel', 'ping']) && typeof (data as { id?: unknown }).id === 'number';
}

/** As {@link isToWorker}, for the other direction. */
export function isFromWorker(data: unknown): data is FromWorker {
  return hasKind(data, ['ready', 'pong', 'holds', 'progress', 'done', 'failed']);
}

function hasKind(data: unknown, kinds: readonly string[]): boolean {
  return typeof data === 'object' && data !== null && 'kind' in data && typeof data.kind === 'string' && kinds.includes(data.kind);
}

export function toRemoteOutcome(outcome: RepairOutcome): RemoteOutcome {
  const { frozen, ...members } = outcome;
  const data = Object.fromEntries(Object.entries(members).filter(([name]) => name !== 'accepted'));
  return { ...data, entries: frozen.entries } as RemoteOutcome;
}

/**
 * Any issue or failure of this project as one that can be posted: its parameters stay data, a `cause` becomes its name and message,
 * and what the structured clone could refuse (functions, symbols) is left out.
 */
export function toRemoteFailure(failure: { readonly code: string }): RemoteFailure {
  const params: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(failure)) {
    const data = name === 'code' ? undefined : toPlainData(value);
    if (data !== undefined) params[name] = data;
  }
  return { code: failure.code, params };
}

function toPlainData(value: unknown): JsonValue | undefined {
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((item) => toPlainData(item) ?? null);
  if (typeof value !== 'object') return undefined;
  const members = Object.entries(value).map(([name, member]) => [name, toPlainData(member)] as const);
  return Object.fromEntries(members.filter((member): member is readonly [string, JsonValue] => member[1] !== undefined));
}
