/** What a first run tells while it works. Counts are bytes; `totalBytes` is known for every stage that counts. */
import type { RejectedEngine } from '../probe/choice.ts';
import type { NodeEngineName } from './choose-engine.ts';
import type { ModelFailure, ModelSource, SourceFailure } from './failure.ts';

export type OpenProgress =
  | { readonly stage: 'download'; readonly source: ModelSource; readonly doneBytes: number; readonly totalBytes: number }
  | { readonly stage: 'extract'; readonly doneBytes: number; readonly totalBytes: number }
  | { readonly stage: 'verify'; readonly doneBytes: number; readonly totalBytes: number }
  /** A source did not work out; the next one is tried. */
  | ({ readonly stage: 'source-failed' } & SourceFailure)
  | { readonly stage: 'build-graph' }
  /** The cache could not keep the graph: it will be built again next time. */
  | { readonly stage: 'graph-not-kept'; readonly failure: ModelFailure }
  /** The graphics adapter is compared with known answers; its shaders are compiled for that. */
  | { readonly stage: 'test-engine' }
  /** Another engine is used. */
  | ({ readonly stage: 'engine-rejected' } & RejectedEngine<NodeEngineName>)
  | { readonly stage: 'load' };

export type OnProgress = (progress: OpenProgress) => void;
