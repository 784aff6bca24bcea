/**
 * Legal calls → examples: leaks left out, sides dealt, then example after example with a family and a call drawn by weight. What an example is made of follows
 * from the seed and its number alone. A family that few calls can have looks for one that can; what it does not find in time goes to another family.
 */
import { childOf, resolvePointer, ROOT_POINTER, tokensOf, type JsonPrimitive } from '@contractrl/core';
import { originFinder } from '@contractrl/core/schema';
import { sayingOf } from '@contractrl/runtime-webgpu';
import { exampleKeys } from '../audit/example-keys.ts';
import { callKeys, type LeakUnit } from '../audit/keys.ts';
import type { LeakageIndex } from '../audit/leakage-index.ts';
import { corrupt, familiesOf, type Corruption } from '../corrupt/corrupt.ts';
import { SINGLE_FAMILIES, type Family, type SingleFamily } from '../corrupt/family.ts';
import { noisyReport, REPORT_NOISE } from '../corrupt/report-noise.ts';
import { isSpellable } from '../corrupt/spelling.ts';
import { lockedAt, vagueElsewhere } from '../corrupt/unrepairable.ts';
import type { LegalCall } from '../legal-call.ts';
import { openRandom, type Random } from '../random.ts';
import { textsOf, wholeText } from '../request.ts';
import { answerText, toExample, type Example, type Split } from './example.ts';
import { splitCalls } from './split.ts';
import { difficultyOf, structureOf, type Difficulty } from './stratum.ts';
import { SYNTHETIC } from './synthetic/synthetic-source.ts';

/** Weights: the measured recipe for the frequent ones (TRAINING § Recipe), the rest so that each has hundreds in ten thousand. */
export const FAMILY_WEIGHTS: Readonly<Record<Family, number>> = {
  missing_required: 30, wrong_type_lossless: 6, wrong_type_lossy: 22, enum: 6, const: 1, format: 4, pattern: 4, range: 3, length: 2, items: 3, union: 3, additional_property: 4,
  renamed_property: 8, misplaced_value: 3, cross_field: 4, several_fields: 9, value_unknown: 8, locked_field: 3, other_tool: 3,
};

export interface DatasetOptions {
  readonly seed: number;
  readonly count: number;
  /** Of the tools, or of what `split` deals. */
  readonly validationShare?: number;
  /** How sides are dealt; default {@link splitCalls}, by tool. */
  readonly split?: typeof splitCalls;
  /** Of the examples, made of synthetic calls; the rest of public ones. */
  readonly syntheticShare?: number;
  /** Of the repairable examples whose verifier speaks wrongly. */
  readonly noiseShare?: number;
  /** Of the repairable examples with a lock elsewhere in the call, so that a lock alone says nothing. */
  readonly decoyLockShare?: number;
  /** Of the repairable examples whose request is vague about a value that the call has, so that vague words alone say nothing. */
  readonly vagueShare?: number;
  /** Of the examples that the deterministic step repairs, kept; the policy never sees them while that step is on, and without it must not decline them. */
  readonly certainShare?: number;
  /**
   * Whether a value of a public call may be asked for that its request says in other words. Default false: the shipped adapters were trained without. A measure
   * of confidence needs them, or it would learn that such values are wrong.
   */
  readonly asksSpoken?: boolean;
  /** Drawn of one call before the next is, with faults of their own; most share the request too, and training reads what they share once. */
  readonly examplesACall?: number;
  readonly index: LeakageIndex;
  readonly onProgress?: (done: number) => void;
}

export interface Dataset {
  readonly examples: readonly Example[];
  readonly leftOut: { readonly leakingCalls: number; readonly leaking: Readonly<Partial<Record<LeakUnit, number>>>; readonly betweenSplits: number; readonly leakingExamples: number };
}

export const DEFAULT_VALIDATION_SHARE = 0.05;
export const DEFAULT_SYNTHETIC_SHARE = 0.5;
export const DEFAULT_NOISE_SHARE = 0.04;
export const DEFAULT_DECOY_LOCK_SHARE = 0.1;
export const DEFAULT_VAGUE_SHARE = 0.08;
export const DEFAULT_CERTAIN_SHARE = 0.25;
export const DEFAULT_EXAMPLES_A_CALL = 2;

/** Calls and families tried for one example before it is given up. */
const MAX_TRIES = 60;

/** `options.count` examples, fewer only where calls and families give no more. O(count × judge). */
export function buildDataset(calls: readonly LegalCall[], options: DatasetOptions): Dataset {
  const { seed, count, index, validationShare = DEFAULT_VALIDATION_SHARE, split: deal = splitCalls, examplesACall = DEFAULT_EXAMPLES_A_CALL, onProgress } = options;
  const leaking: Partial<Record<LeakUnit, number>> = {};
  const clean = calls.filter(({ id, request, contract, arguments: target }) => {
    const units = new Set(index.leaks(id, callKeys({ id, request: wholeText(request), tools: [contract.document.tool], target })).map(({ unit }) => unit));
    for (const unit of units) leaking[unit] = (leaking[unit] ?? 0) + 1;
    return units.size === 0;
  });
  const { train, validation, leftOut } = deal(clean, validationShare, seed);
  const pools: Readonly<Record<Split, Pool>> = { train: openPool(train), validation: openPool(validation) };

  const examples: Example[] = [];
  const taken = new Set<string>();
  let leakingExamples = 0;
  let last: Drawn | undefined;
  for (let number = 0; examples.length < count && number < count * 2; number += 1) {
    const random = openRandom(seed, `example:${String(number)}`);
    const again = number % examplesACall === 0 ? undefined : last;
    const split: Split = again?.example.split ?? (validation.length > 0 && random.chance(validationShare) ? 'validation' : 'train');
    last = drawExample(pools[split], split, number, random, options, again?.call);
    if (last === undefined) continue;
    const { example } = last;
    const key = JSON.stringify([example.record['tool'], example.record['request'], example.record['call'], example.answer]);
    if (taken.has(key)) continue;
    if (index.leaks(example.id, exampleKeys(example)).length > 0) {
      leakingExamples += 1;
      continue;
    }
    taken.add(key);
    examples.push(example);
    onProgress?.(examples.length);
  }
  return { examples, leftOut: { leakingCalls: calls.length - clean.length, leaking, betweenSplits: leftOut, leakingExamples } };
}

/** Calls of one side, by origin and by the family they can have. */
interface Pool {
  readonly synthetic: readonly LegalCall[];
  readonly others: readonly LegalCall[];
  /** Families that some calls can have; looked up on demand, since it reads every call. */
  readonly offering: Map<SingleFamily, readonly LegalCall[]>;
}

function openPool(calls: readonly LegalCall[]): Pool {
  return { synthetic: calls.filter(({ source }) => source === SYNTHETIC), others: calls.filter(({ source }) => source !== SYNTHETIC), offering: new Map() };
}

interface Drawn {
  readonly call: LegalCall;
  readonly example: Example;
}

/** Of `given`, where it is there, and else of a call that is drawn too. */
function drawExample(pool: Pool, split: Split, number: number, random: Random, options: DatasetOptions, given?: LegalCall): Drawn | undefined {
  const { syntheticShare = DEFAULT_SYNTHETIC_SHARE, certainShare = DEFAULT_CERTAIN_SHARE, asksSpoken = false } = options;
  const isSynthetic = pool.synthetic.length > 0 && (pool.others.length === 0 || random.chance(syntheticShare));
  const calls = isSynthetic ? pool.synthetic : pool.others;
  let family = drawFamily(random);
  for (let tried = 0; tried < MAX_TRIES; tried += 1) {
    // a family that is not found in a while may be one that these calls cannot have
    if (tried > 0 && (given !== undefined || tried % 12 === 0)) family = drawFamily(random);
    const call = given ?? random.pickAny(isRare(family) ? offeringOf(pool, family) : calls);
    if (call === undefined) continue;
    const another = family === 'other_tool' ? random.pickAny(calls) : undefined;
    const found = corrupt(call, family, random, another);
    if (found === undefined) continue;
    const difficulty = difficultyOf(found, call.arguments);
    if (difficulty === 'certain' && !random.chance(certainShare)) continue;
    if ((difficulty === 'inferred' && !isFounded(found, call) && !(asksSpoken && isSpoken(found))) || !isSpellable(found, answerText(found.answer))) continue;
    const corruption = withVagueWords(withDecoyLock(found, call, random, options), difficulty, call, random, options);
    const id = `${call.id}#${String(number)}`;
    const noise = drawNoise(corruption, call, random, options);
    return { call, example: toExample({ call, corruption, id, split, difficulty, structure: structureOf(corruption), noise }) };
  }
  return undefined;
}

const RARE: readonly Family[] = ['const', 'format', 'pattern', 'range', 'length', 'items', 'union', 'misplaced_value', 'cross_field', 'enum'];

function isRare(family: Family): family is SingleFamily {
  return RARE.includes(family);
}

function offeringOf(pool: Pool, family: SingleFamily): readonly LegalCall[] {
  if (pool.offering.size === 0) {
    const byFamily = new Map<SingleFamily, LegalCall[]>(SINGLE_FAMILIES.map((each) => [each, []]));
    for (const call of [...pool.others, ...pool.synthetic]) for (const each of familiesOf(call)) byFamily.get(each)!.push(call);
    for (const [each, calls] of byFamily) pool.offering.set(each, calls);
  }
  return pool.offering.get(family) ?? [];
}

const TOTAL_WEIGHT = Object.values(FAMILY_WEIGHTS).reduce((sum, weight) => sum + weight, 0);

function drawFamily(random: Random): Family {
  let left = random.whole(TOTAL_WEIGHT);
  const entries = Object.entries(FAMILY_WEIGHTS) as readonly (readonly [Family, number])[];
  return entries.find(([, weight]) => (left -= weight) < 0)![0];
}

/**
 * A value that does not stand in public state is taught only where the request is known to say it: our own templates do. Of public rows a lost text or number
 * that nothing says would teach to invent one.
 */
function isFounded({ answer }: Corruption, { source }: LegalCall): boolean {
  return source === SYNTHETIC || (answer.kind === 'patch' && answer.patch.every((operation) => !('value' in operation) || typeof operation.value === 'boolean'));
}

/** Every written scalar is said by the request, as it stands or in other words. */
function isSpoken({ answer, request, candidate }: Corruption): boolean {
  const texts = textsOf(request);
  const originsOf = originFinder({ texts, candidate });
  return answer.kind === 'patch' && answer.patch.every((operation) => !('value' in operation) || originsOf(operation.value).every(({ pointer, origin }) => (
    origin.kind !== 'model' || sayingOf(resolvePointer(operation.value, pointer) as JsonPrimitive, texts) === 'spoken'
  )));
}

function withDecoyLock(corruption: Corruption, { contract, arguments: args }: LegalCall, random: Random, { decoyLockShare = DEFAULT_DECOY_LOCK_SHARE }: DatasetOptions): Corruption {
  if (corruption.answer.kind === 'abstain' || corruption.contract !== contract || !random.chance(decoyLockShare)) return corruption;
  const written = new Set(corruption.answer.patch.flatMap((operation) => [operation.path, ...('from' in operation ? [operation.from] : [])]).map((pointer) => tokensOf(pointer)[0]));
  const other = random.pickAny(Object.keys(args).filter((name) => !written.has(name)));
  if (other === undefined) return corruption;
  const locked = lockedAt(corruption, childOf(ROOT_POINTER, other));
  return locked?.isRepairable === true ? { ...corruption, contract: locked.contract } : corruption;
}

function withVagueWords(corruption: Corruption, difficulty: Difficulty, call: LegalCall, random: Random, { vagueShare = DEFAULT_VAGUE_SHARE }: DatasetOptions): Corruption {
  if (corruption.answer.kind === 'abstain' || !random.chance(vagueShare)) return corruption;
  const vague = vagueElsewhere(corruption, call, random);
  // what stood in the request must stand there still
  return vague !== undefined && difficultyOf(vague, call.arguments) === difficulty ? vague : corruption;
}

function drawNoise(corruption: Corruption, call: LegalCall, random: Random, { noiseShare = DEFAULT_NOISE_SHARE }: DatasetOptions): Parameters<typeof toExample>[0]['noise'] {
  if (corruption.answer.kind === 'abstain' || !random.chance(noiseShare)) return undefined;
  const kind = random.pick(REPORT_NOISE);
  const earlier = kind === 'stale' ? corrupt(call, 'missing_required', random) : undefined;
  const shown = noisyReport(corruption, kind, random, earlier);
  return shown === undefined ? undefined : { kind, shown };
}
