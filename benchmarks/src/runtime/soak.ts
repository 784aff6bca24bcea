/**
 * A thousand repairs in a row on the small model of the runtime's self-test: does memory stay level, does each case get the same answer every time,
 * and does a session end when it is told to. Runs in a process of its own. The model's weights are random, so its answers are, too, but fixed.
 */
import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { DEFAULT_OPERATION_BUDGET, type JsonObject, type RepairRequest } from '@contractrl/core';
import { createVocabulary, type TokenId, type Vocabulary } from '@contractrl/grammar-mask';
import { createOrtEngine, createRepairer, type Engine, type GgufModel, type OrtRuntime, type Tokenizer } from '@contractrl/runtime-webgpu';
import { createCheckModel } from '@contractrl/runtime-webgpu/web';
import { importOrt, taken } from './wasm-runtime.ts';

export const SOAK_ENGINES = ['node', 'wasm'] as const;
export type SoakEngine = (typeof SOAK_ENGINES)[number];

export interface SoakRun {
  readonly engine: SoakEngine;
  readonly repairs: number;
  readonly cases: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** Repairs whose trace had another digest than the first of the same case. */
  readonly drifted: number;
  /** SHA-256 over all traces' digests in order. */
  readonly digest: string;
  readonly rssBytes: { readonly start: number; readonly middle: number; readonly end: number };
  readonly totalMs: number;
  /** The code of a step after `dispose`. */
  readonly afterDispose: string;
  readonly sessions: { readonly opened: number; readonly rssBeforeBytes: number; readonly rssAfterBytes: number };
}

/** Ids 0 to 255 are bytes, 256 stops: the vocabulary of the small model. */
const STOP: TokenId = 256;
/** The room that a prompt and an answer need when each byte is a token. */
const CONTEXT_LENGTH = 2048;
const MAX_ANSWER_TOKENS = 160;
/** Rounds over the cases before memory is looked at first: caches and compiled code are there by then. */
const WARM_UP_ROUNDS = 5;
const SESSION_COUNT = 50;

const SCHEMAS: readonly JsonObject[] = [
  { type: 'integer', minimum: 1, maximum: 500 }, { type: 'boolean' }, { enum: ['alpha', 'beta', 'gamma'] }, { type: 'string', maxLength: 8 },
  { type: 'number', minimum: 0, maximum: 1, multipleOf: 0.25 }, { type: 'array', items: { type: 'boolean' }, maxItems: 3 }, { type: 'null' }, { type: 'integer', multipleOf: 5, minimum: 0, maximum: 95 },
];

export async function soak(engine: SoakEngine, repairs: number): Promise<SoakRun> {
  const ort = await importOrt(engine, 1);
  const check = createCheckModel();
  const model: GgufModel = { ...check, config: { ...check.config, contextLength: CONTEXT_LENGTH } };
  const session = await openSession(engine, ort, model);
  const repairer = createRepairer({ engine: session, tokenizer: BYTES, vocabulary: byteVocabulary(), clock: () => performance.now() });
  const cases = soakCases();
  const repairOne = async (index: number): Promise<{ readonly status: string; readonly digest: string }> => {
    const { status, ledger } = await repairer.repair(cases[index % cases.length]!, { deterministic: false, maxAnswerTokens: MAX_ANSWER_TOKENS });
    return { status, digest: ledger };
  };
  for (let index = 0; index < WARM_UP_ROUNDS * cases.length; index += 1) await repairOne(index);

  const first: string[] = [];
  const statuses: Record<string, number> = {};
  const all = createHash('sha256');
  const start = rss();
  let middle = start;
  let drifted = 0;
  const from = performance.now();
  for (let index = 0; index < repairs; index += 1) {
    const { status, digest } = await repairOne(index);
    if (digest !== (first[index % cases.length] ??= digest)) drifted += 1;
    statuses[status] = (statuses[status] ?? 0) + 1;
    all.update(digest);
    if (index === Math.floor(repairs / 2)) middle = rss();
  }
  const totalMs = performance.now() - from;
  const end = rss();
  await repairer.dispose();
  const after = await session.extend(session.emptyCache, [0]);
  return {
    engine, repairs, cases: cases.length, statuses, drifted, digest: all.digest('hex'), rssBytes: { start, middle, end }, totalMs,
    afterDispose: after.ok ? 'none' : after.error.code, sessions: await openMany(engine, ort, model),
  };
}

async function openMany(engine: SoakEngine, ort: OrtRuntime, model: GgufModel): Promise<SoakRun['sessions']> {
  const openAndDispose = async (): Promise<void> => (await openSession(engine, ort, model)).dispose();
  for (let count = 0; count < WARM_UP_ROUNDS; count += 1) await openAndDispose();
  const rssBeforeBytes = rss();
  for (let count = 0; count < SESSION_COUNT; count += 1) await openAndDispose();
  return { opened: SESSION_COUNT, rssBeforeBytes, rssAfterBytes: rss() };
}

async function openSession(engine: SoakEngine, ort: OrtRuntime, model: GgufModel): Promise<Engine> {
  const graph = { format: engine === 'node' ? 'q41x' : 'f32' } as const;
  return taken(await createOrtEngine({ ort, model, graph, executionProvider: engine === 'node' ? 'cpu' : 'wasm', threadCount: 1 }));
}

function rss(): number {
  return process.memoryUsage.rss();
}

const encode = (text: string): readonly TokenId[] => [...new TextEncoder().encode(text)];
const TOKENS: readonly (Uint8Array | undefined)[] = [...Array.from({ length: STOP }, (_, byte) => Uint8Array.of(byte)), undefined];
const BYTES: Tokenizer = {
  encodePlain: encode, encodeTrusted: encode, decode: (ids) => new TextDecoder().decode(Uint8Array.from(ids.filter((id) => id !== STOP))),
  specialIds: new Map(), stopIds: [STOP], tokens: TOKENS,
};

function byteVocabulary(): Vocabulary {
  return taken(createVocabulary({ logitWidth: TOKENS.length, tokens: TOKENS, stopIds: [STOP], encode }));
}

/** One wrong member each, of every kind of schema. */
function soakCases(): readonly RepairRequest[] {
  return SCHEMAS.map((schema, index) => ({
    id: `soak-${String(index)}`,
    request: [{ role: 'user', content: `set it to ${String(index)}` }],
    contract: {
      tool: { name: 'set', description: '', parameters: { type: 'object', properties: { value: schema }, required: ['value'], additionalProperties: false } },
      // with the others, a policy without a taste would only ever remove
      allowedOperations: ['replace'], operationBudget: DEFAULT_OPERATION_BUDGET, attemptBudget: 1, immutablePaths: [], crossField: [], gates: [],
    },
    toolNames: ['set'],
    call: { name: 'set', argumentsText: JSON.stringify({ value: schema['type'] === 'null' ? 0 : null }) },
    finishReason: undefined,
    context: {},
  }));
}
