/**
 * Time per repair, case by case, arms in turn: the whole product; its model alone, with mask, jump-forward and the shipped adapter; the same with the
 * bare base model; full regeneration on the same engine; node-llama-cpp with the same model file and the exported grammar; transformers.js with the same
 * weights and its structured output. The deterministic step is on in the first only, so that every case reaches the others' model. An answer's time
 * counts only after the answer was checked.
 */
import { readFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { err, repairCall, type FrozenRepair, type RepairRequest, type Result } from '@contractrl/core';
import { toRepairRecord, type RepairRecord } from '@contractrl/core/records';
import { createRepairer, readGguf, type Repairer, type SpeculationFigures } from '@contractrl/runtime-webgpu';
import type { Runtime } from '@contractrl/runtime-webgpu/node';
import { contractRepair } from '../arms/contract-repair.ts';
import { fullRegeneration } from '../arms/full-regeneration.ts';
import { recordPrompts } from '../prompt-recorder.ts';
import { leakageOf, leaksIn, sealedBfclGold, type Answered, type Leakage, type ShownTexts } from '../score.ts';
import { refusal } from '../scoring/revalidate.ts';
import { allCases, rotated, SEEDS, spread } from './cases.ts';
import { meteredEngine, type EngineFigures } from './metered-engine.ts';
import { NODE_LLAMA_CPP_VERSION, openNodeLlamaCpp } from './peers/node-llama-cpp.ts';
import type { Peer } from './peers/peer.ts';
import { openTransformersJs, TRANSFORMERS_JS_VERSION } from './peers/transformers-js.ts';
import { taken } from './wasm-runtime.ts';

export type PeerName = 'node-llama-cpp' | 'transformers-js';
const PEER_VERSIONS: Readonly<Record<PeerName, string>> = { 'node-llama-cpp': NODE_LLAMA_CPP_VERSION, 'transformers-js': TRANSFORMERS_JS_VERSION };
export const ARM_NAMES = ['product', 'adapter', 'base', 'full-regeneration', 'node-llama-cpp', 'transformers-js'] as const;
export type ArmName = (typeof ARM_NAMES)[number];

export interface SpeedRow {
  readonly arm: ArmName;
  readonly id: string;
  readonly status: RepairRecord['status'];
  readonly reason: string | null;
  /** Dispatched arguments pass the second validation, or nothing is dispatched and no engine failed. */
  readonly isChecked: boolean;
  readonly attempts: number;
  readonly tokens: RepairRecord['tokens'];
  readonly timing: RepairRecord['timing'];
  /** Null where the engine is not ours. */
  readonly engine: EngineFigures | null;
  /** Summed over the attempts; absent where nothing is guessed. */
  readonly speculation?: SpeculationFigures;
}

export interface SpeedRun {
  readonly seeds: readonly number[];
  readonly caseCount: number;
  readonly availableCases: number;
  readonly threads: number;
  readonly rows: readonly SpeedRow[];
  /** Why an arm has no rows. */
  readonly absent: Readonly<Partial<Record<ArmName, string>>>;
  readonly peerVersions: Readonly<Record<PeerName, string>>;
  /** Gold in what the policies were shown, looked for after the run; absent from runs before that. */
  readonly leakage?: Leakage;
}

export interface SpeedOptions {
  readonly caseCount: number;
  readonly threads: number;
  /** Where each was installed, or why it was not. */
  readonly peers: Readonly<Record<PeerName, PeerPlace>>;
  readonly log: (line: string) => void;
}

export type PeerPlace = { readonly folder: string } | { readonly reason: string };

interface TimedAnswer {
  readonly record: RepairRecord;
  readonly frozen: FrozenRepair;
  readonly speculation: SpeculationFigures | undefined;
}

interface TimedArm {
  readonly name: ArmName;
  readonly isOurs: boolean;
  answer(request: RepairRequest): Promise<TimedAnswer>;
}

const clock = (): number => performance.now();
/** Untimed answers of each arm before the first that counts. */
const WARM_UP = 2;
/** transformers.js spells white space and reads every prompt anew: with some 100 tokens an answer and two answers a case it gets these many cases, spread evenly. */
const SLOW_PEER_CASES = 12;

export async function measureSpeed(runtime: Runtime, { caseCount, threads, peers, log }: SpeedOptions): Promise<SpeedRun> {
  const { vocabulary, adapter, model } = runtime;
  const { tokenizer, take } = recordPrompts(runtime.tokenizer);
  const metered = meteredEngine(runtime.engine, clock);
  const { engine } = metered;
  // an arm's own memory: in production no other adapter pushes the kept prompt prefixes out
  const newRepairer = (): Repairer => createRepairer({ engine, tokenizer, vocabulary, clock, memory: metered.newMemory() });
  const signal = new AbortController().signal;
  const ours = [
    contractRepair({ name: 'product', description: '' }, { repairer: newRepairer(), engine, adapter, deterministic: true }),
    contractRepair({ name: 'adapter', description: '' }, { repairer: newRepairer(), engine, adapter, deterministic: false }),
    contractRepair({ name: 'base', description: '' }, { repairer: newRepairer(), engine, adapter: undefined, deterministic: false }),
    fullRegeneration({ engine, tokenizer, vocabulary, clock }),
  ].map((arm): TimedArm => ({ name: arm.name as ArmName, isOurs: true, answer: async (request) => timed(await arm.answer(request, signal)) }));
  const opened: readonly (readonly [PeerName, Result<Peer, string>])[] = [
    ['node-llama-cpp', await openPeer(peers['node-llama-cpp'], (folder) => openNodeLlamaCpp({ folder, modelPath: model.path, tokenizer, threads, clock }))],
    ['transformers-js', await openPeer(peers['transformers-js'], async (folder) => openTransformersJs({ folder, model: taken(await readGguf(await readFile(model.path))), tokenizer, threads, clock }))],
  ];
  const arms = [...ours, ...opened.flatMap(([name, peer]) => (peer.ok ? [peerArm(name, peer.value)] : []))];
  const absent = Object.fromEntries(opened.flatMap(([name, peer]) => (peer.ok ? [] : [[name, peer.error]])));
  for (const [name, reason] of Object.entries(absent)) log(`${name}: ${String(reason)}`);

  const cases = spread(allCases(), caseCount);
  const slowPeerCases = new Set(spread(cases, SLOW_PEER_CASES));
  for (const arm of arms) for (const request of cases.slice(0, WARM_UP)) await arm.answer(request);
  const rows: SpeedRow[] = [];
  const answers: Answered[] = [];
  const shown: ShownTexts[] = [];
  for (const [index, request] of cases.entries()) {
    for (const { name, isOurs, answer } of rotated(arms, index)) {
      if (name === 'transformers-js' && !slowPeerCases.has(request)) continue;
      metered.take();
      take();
      const answered = await answer(request);
      answers.push({ record: { arm: name, id: request.id }, frozen: answered.frozen });
      shown.push({ arm: name, id: request.id, texts: take() });
      rows.push(rowOf(name, request, answered, isOurs ? metered.take() : null));
    }
    log(`${String(index + 1)} of ${String(cases.length)}: ${rows.filter(({ id }) => id === request.id).map((row) => `${row.arm} ${row.status} ${row.timing.totalMs.toFixed(0)} ms`).join(', ')}`);
  }
  for (const [, peer] of opened) if (peer.ok) await peer.value.dispose();
  return { seeds: SEEDS, caseCount: cases.length, availableCases: allCases().length, threads, rows, absent, peerVersions: PEER_VERSIONS, leakage: speedLeakage(answers, cases, shown) };
}

/** Throws a RangeError for an answer to a request that is not among `requests`. */
export function speedLeakage(answers: readonly Answered[], requests: readonly RepairRequest[], shown: readonly ShownTexts[]): Leakage {
  const gold = new Map(SEEDS.flatMap((seed) => [...sealedBfclGold(seed)].map(([id, label]) => [`${String(seed)}:${id}`, label] as const)));
  return leakageOf(shown, leaksIn({ cases: answers }, requests.map((request) => ({ request })), shown, gold));
}

async function openPeer(place: PeerPlace, open: (folder: string) => Promise<Result<Peer, string>>): Promise<Result<Peer, string>> {
  return 'reason' in place ? err(place.reason) : open(place.folder);
}

function peerArm(name: PeerName, { proposer }: Peer): TimedArm {
  return {
    name, isOurs: false,
    async answer(request) {
      const from = clock();
      const outcome = await repairCall(request, proposer, { deterministic: false });
      return { record: toRepairRecord(outcome, { totalMs: clock() - from }), frozen: outcome.frozen, speculation: undefined };
    },
  };
}

function timed({ record, frozen }: { readonly record: RepairRecord; readonly frozen: FrozenRepair }): TimedAnswer {
  const figures = (frozen.resources?.signals ?? []).flatMap((signals) => (signals?.['speculation'] === undefined ? [] : [signals['speculation'] as unknown as SpeculationFigures]));
  const sum = (key: keyof SpeculationFigures): number => figures.reduce((total, each) => total + each[key], 0);
  return {
    record, frozen,
    speculation: figures.length === 0 ? undefined : { passCount: sum('passCount'), draftedTokenCount: sum('draftedTokenCount'), acceptedTokenCount: sum('acceptedTokenCount') },
  };
}

function rowOf(arm: ArmName, request: RepairRequest, { record, speculation }: TimedAnswer, engine: EngineFigures | null): SpeedRow {
  const { status, reason = null, attempts, tokens, timing } = record;
  const isChecked = record.arguments === undefined ? reason?.startsWith('engine/') !== true : refusal(request, record.arguments) === undefined;
  return { arm, id: request.id, status, reason, isChecked, attempts, tokens, timing, engine, ...(speculation === undefined ? {} : { speculation }) };
}
