/**
 * Our mask alone: what the peers have no counterpart for. The index read from its file, fork and rollback, the choice of a token, the mass of
 * the allowed ones, forced runs, and every rule of the mask as an arm of its own, all over the same outputs, each of which repairs its document.
 * A mask is compiled anew for each output, so that every state is met cold. Whatever garbage collection falls into a mask stays in its time;
 * the masks that it fell into are counted and can be told apart.
 */
import { readFileSync } from 'node:fs';
import { performance, PerformanceObserver } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import {
  allowedIdsOf, applyBitmask, bitmaskLength, compileMask, isAllowed, type CompiledMask, type CompileOptions, type MaskMatcher, type TokenId, type Vocabulary,
} from '@contractrl/grammar-mask';
import { loadVocabularyIndex, serializeVocabularyIndex } from '@contractrl/grammar-mask/vocab';
import { createRandom, logSumExp } from '@contractrl/runtime-webgpu';
import { CONTRACT_CASES, contractOf, repairFor, type ContractCase, type Repair } from './contract-cases.ts';
import { greedyEncoder, vocabularyOf, type TokenList, type VocabularyName } from './vocabularies.ts';

/** Times in µs, one number a call. */
export interface RuleArm {
  readonly rules: string;
  readonly bindUs: readonly number[];
  /** One list a run. */
  readonly maskUs: readonly (readonly number[])[];
  /** Of those of all runs together, in order, the ones that a garbage collection fell into. */
  readonly collected: readonly number[];
  readonly acceptUs: readonly number[];
}

export interface OwnCell {
  readonly vocabulary: VocabularyName;
  readonly indexFileBytes: number;
  readonly readIndexMs: readonly number[];
  readonly forkUs: readonly number[];
  readonly rollbackUs: readonly number[];
  /** Filling the bitmask, writing it into the logits and finding the highest. */
  readonly chooseUs: readonly number[];
  /** The logarithm of the allowed mass: two sums over logits, as the decode loop forms them. */
  readonly allowedMassUs: readonly number[];
  /** Over the outputs as the benchmark's encoder splits them, stop token included. */
  readonly emittedTokens: number;
  readonly forcedTokens: number;
  readonly arms: readonly RuleArm[];
}

/** What the committed baseline measured with the model, over the proposals of its first arm. */
export interface DecodeCosts {
  readonly generatedTokens: number;
  readonly forcedTokens: number;
  readonly decodeStepMs: readonly number[];
  /** Mask time a generated token, forced ones included. */
  readonly maskMsPerToken: readonly number[];
}

export interface OwnSpeedRun {
  readonly cells: readonly OwnCell[];
  readonly decode: DecodeCosts;
}

interface Extent {
  readonly runs: number;
  readonly cases: readonly ContractCase[];
  readonly outputsPerCase: number;
}

const WHOLE: Extent = { runs: 3, cases: CONTRACT_CASES, outputsPerCase: 6 };
const READ_COUNT = 5;
/** Room for every output, also where a token is a byte. */
const TOKEN_BUDGET = 400;
/** Longest string of a contract that sets no `maxLength`: as long as an output may get. */
const MAX_STRING_LENGTH = 4096;
/** Masks before the clock, for the host's compiler. */
const WARM_UP_MASKS = 50;
/** As the decode loop cuts: logits further below the highest count as none. */
const MASS_CUT = 18;
const BASELINE_RECORDS = fileURLToPath(new URL('../../results/baseline/records.jsonl.gz', import.meta.url));

interface Rules {
  readonly name: string;
  readonly options: (repair: Repair) => CompileOptions;
  readonly tokenBudget?: number;
}

const RULES: readonly Rules[] = [
  { name: 'none', options: () => ({}) },
  { name: 'excludeNoOps', options: () => ({ excludeNoOps: true }) },
  { name: 'goal', options: () => ({ goal: true }) },
  { name: 'excludeNoOps, goal', options: () => ({ excludeNoOps: true, goal: true }) },
  { name: 'tokenBudget', options: () => ({}), tokenBudget: TOKEN_BUDGET },
  { name: 'provenance', options: ({ request, state }) => ({ provenance: { texts: [request], candidate: state.candidate } }) },
];

/** About ten seconds a vocabulary. */
export async function measureOwnSpeed(list: TokenList, progress: (line: string) => void, extent: Extent = WHOLE): Promise<OwnCell> {
  const encode = greedyEncoder(list);
  const vocabulary = vocabularyOf(list, encode);
  const file = serializeVocabularyIndex(vocabulary);
  const readIndexMs = Array.from({ length: READ_COUNT }, () => {
    const fresh = vocabularyOf(list, encode);
    return timed(() => orThrow(loadVocabularyIndex(fresh, file))).ms;
  });
  const arms: RuleArm[] = [];
  for (const rules of RULES) {
    progress(`${list.name}: ${rules.name}`);
    arms.push(await measureRules(rules, vocabulary, extent));
  }
  return { vocabulary: list.name, indexFileBytes: file.length, readIndexMs: readIndexMs.map(round), ...measureSteps(vocabulary, extent), arms };
}

async function measureRules(rules: Rules, vocabulary: Vocabulary, extent: Extent): Promise<RuleArm> {
  const bitmask = new Int32Array(bitmaskLength(vocabulary.logitWidth));
  const found = { rules: rules.name, bindUs: [] as number[], maskUs: [] as number[][], collected: [] as number[], acceptUs: [] as number[] };
  const collections = watchCollections();
  let warmUp = WARM_UP_MASKS;
  for (let run = 0; run < extent.runs; run += 1) {
    const maskUs: number[] = [];
    for (const [contractCase, repair, ids] of allRepairs(vocabulary, extent)) {
      const compiled = compile(contractCase, vocabulary, rules.options(repair));
      const bound = timed(() => orThrow(compiled.bind(repair.state, rules.tokenBudget === undefined ? {} : { tokenBudget: rules.tokenBudget })));
      found.bindUs.push(micros(bound.ms));
      const spans: (readonly [number, number])[] = [];
      for (const id of ids) {
        const start = performance.now();
        bound.value.fillBitmask(bitmask);
        const end = performance.now();
        if (!isAllowed(bitmask, id)) throw new Error(`${rules.name}: ${contractCase.name} does not spell ${repair.output} behind ${bound.value.text()}`);
        const accepted = timed(() => bound.value.acceptToken(id));
        if (warmUp > 0) warmUp -= 1;
        else {
          spans.push([start, end]);
          found.acceptUs.push(micros(accepted.ms));
        }
      }
      const hit = await collections.within(spans);
      spans.forEach(([start, end], index) => {
        maskUs.push(micros(end - start));
        if (hit.has(index)) found.collected.push(micros(end - start));
      });
    }
    found.maskUs.push(maskUs);
  }
  collections.stop();
  return found;
}

function* allRepairs(vocabulary: Vocabulary, { cases, outputsPerCase }: Extent): Generator<readonly [ContractCase, Repair, readonly TokenId[]]> {
  for (const contractCase of cases) {
    for (let salt = 0; salt < outputsPerCase; salt += 1) {
      const repair = repairFor(contractCase, salt);
      yield [contractCase, repair, [...vocabulary.encode(repair.output), vocabulary.stopIds[0]!]];
    }
  }
}

function compile(contractCase: ContractCase, vocabulary: Vocabulary, options: CompileOptions): CompiledMask {
  return orThrow(compileMask(contractOf(contractCase), vocabulary, { maxStringLength: MAX_STRING_LENGTH, ...options }));
}

/** Collections of the host, by when they ran; it tells of them a turn later. */
function watchCollections(): { within(spans: readonly (readonly [number, number])[]): Promise<ReadonlySet<number>>; stop(): void } {
  let seen: (readonly [number, number])[] = [];
  const observer = new PerformanceObserver((entries) => {
    for (const { startTime, duration } of entries.getEntries()) seen.push([startTime, startTime + duration]);
  });
  observer.observe({ entryTypes: ['gc'] });
  return {
    async within(spans) {
      await setImmediate();
      await setImmediate();
      const hit = new Set(spans.flatMap(([start, end], index) => (seen.some(([from, to]) => from < end && to > start) ? [index] : [])));
      seen = [];
      return hit;
    },
    stop: () => { observer.disconnect(); },
  };
}

type Steps = Omit<OwnCell, 'vocabulary' | 'indexFileBytes' | 'readIndexMs' | 'arms'>;

/** What else a decode step does, along the same outputs without rules. */
function measureSteps(vocabulary: Vocabulary, extent: Extent): Steps {
  const width = vocabulary.logitWidth;
  const bitmask = new Int32Array(bitmaskLength(width));
  const random = createRandom(width);
  const model = Float32Array.from({ length: width }, () => 12 * (random() + random() + random() - 1.5));
  const logits = new Float32Array(width);
  const found = { forkUs: [] as number[], rollbackUs: [] as number[], chooseUs: [] as number[], allowedMassUs: [] as number[], emittedTokens: 0, forcedTokens: 0 };
  for (const [contractCase, repair, ids] of allRepairs(vocabulary, extent)) {
    const matcher = orThrow(compile(contractCase, vocabulary, {}).bind(repair.state));
    let forcedUntil = 0;
    ids.forEach((id, index) => {
      if (index >= forcedUntil) {
        const forced = matcher.fork().forcedTokens();
        found.forcedTokens += forced.length;
        forcedUntil = index + Math.max(1, forced.length);
      }
      logits.set(model);
      found.chooseUs.push(micros(timed(() => choose(matcher, bitmask, logits)).ms));
      const allowed = allowedIdsOf(bitmask);
      found.allowedMassUs.push(micros(timed(() => logSumExp(Float32Array.from(allowed, (other) => model[other]!), allowed.length) - logSumExp(model, width, MASS_CUT)).ms));
      found.forkUs.push(micros(timed(() => matcher.fork()).ms));
      orThrow(matcher.acceptToken(id));
      found.rollbackUs.push(micros(timed(() => { matcher.rollback(1); }).ms));
      orThrow(matcher.acceptToken(id));
    });
    found.emittedTokens += ids.length;
  }
  return found;
}

function choose(matcher: MaskMatcher, bitmask: Int32Array, logits: Float32Array): TokenId {
  matcher.fillBitmask(bitmask);
  applyBitmask(logits, bitmask);
  let best = 0;
  for (let id = 1; id < logits.length; id += 1) if (logits[id]! > logits[best]!) best = id;
  return best;
}

interface BaselineRecord {
  readonly arm: string;
  readonly tokens?: { readonly generated: number; readonly forced: number };
  readonly timing?: { readonly decodeMs: number; readonly maskMs: number };
}

/** From the committed baseline: the default adapter on the committed cases. */
export function readDecodeCosts(): DecodeCosts {
  const records = gunzipSync(readFileSync(BASELINE_RECORDS)).toString('utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as BaselineRecord);
  const found = { generatedTokens: 0, forcedTokens: 0, decodeStepMs: [] as number[], maskMsPerToken: [] as number[] };
  for (const { arm, tokens, timing } of records) {
    if (arm !== 'adapter' || tokens === undefined || timing === undefined || tokens.generated === tokens.forced) continue;
    found.generatedTokens += tokens.generated;
    found.forcedTokens += tokens.forced;
    // a forced run goes in with the token that was chosen before it
    found.decodeStepMs.push(round(timing.decodeMs / (tokens.generated - tokens.forced)));
    found.maskMsPerToken.push(round(timing.maskMs / tokens.generated));
  }
  return found;
}

function timed<T>(run: () => T): { readonly value: T; readonly ms: number } {
  const start = performance.now();
  const value = run();
  return { value, ms: performance.now() - start };
}

function orThrow<T>(result: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: { readonly code: string } }): T {
  if (!result.ok) throw new Error(result.error.code);
  return result.value;
}

const micros = (ms: number): number => round(ms * 1000);

/** Two digits are what the clock holds. */
function round(value: number): number {
  return Math.round(value * 100) / 100;
}
