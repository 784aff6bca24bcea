/**
 * What decoding knows of its own answer: how probable it was under the mask, how narrow its narrowest decision, what the mask had to take away where
 * text was free, what an abstention had, where the written values come from, and what speaks against them. A calibration makes one probability of it all.
 * Reference: the laboratory figures on confidence, by which probability and allowed mass tell right from wrong best, and the policy's own abstention worst.
 */
import { isJsonObject, tokensOf, type JsonObject, type JsonPrimitive, type JsonValue, type Observation, type Origin, type Patch } from '@contractrl/core';
import { originFinder, originsOfPatch } from '@contractrl/core/schema';
import { doubtsOf, type PatchDoubts } from './doubts.ts';
import { sayingOf } from './said.ts';

/** Of one output token. */
export interface DecisionFigures {
  readonly logProbability: number;
  readonly margin: number;
  /** log of what the model gave to the allowed ids, at a decision between so many that all logits are there anyway; 0 at others. */
  readonly logAllowed: number;
}
/** A token that was never chosen tells nothing. */
export const FORCED_DECISION: DecisionFigures = { logProbability: 0, margin: Infinity, logAllowed: 0 };

/** Of one answer, over the decisions that were not taken back. */
export interface DecisionSignals {
  /** Σ log p(token | allowed ids); a forced token adds 0. */
  readonly sequenceLogProbability: number;
  /** The smallest gap of a decision, in logits, between what was taken and the best of the rest; undefined where nothing was decided. */
  readonly margin: number | undefined;
  /**
   * Σ log z over the decisions between more than 1,024 ids, those of free text: z is what the unmasked model gives to the allowed ids. At the others the
   * logits of the rest are not computed, see `reportMass`.
   */
  readonly openLogAllowed: number;
  /** What an abstention had of the probability that patches and abstentions had together; undefined where there was no such decision. */
  readonly abstainShare: number | undefined;
  /** Tokens of values that were tried first and missed the goal: what was written in their place is not what the model wanted. */
  readonly takenBackCount: number;
}

export function combineDecisions(figures: readonly DecisionFigures[], abstainShare: number | undefined, takenBackCount: number): DecisionSignals {
  const margin = figures.reduce((least, each) => Math.min(least, each.margin), Infinity);
  return {
    sequenceLogProbability: figures.reduce((sum, each) => sum + each.logProbability, 0), margin: Number.isFinite(margin) ? margin : undefined,
    openLogAllowed: figures.reduce((sum, each) => sum + each.logAllowed, 0), abstainShare, takenBackCount,
  };
}

/**
 * Where a written scalar comes from, by how far it can be trusted. `derived`: of request, context or call by a named change. `spoken` and `completed`: the
 * request says it in another form, or in part. `example`: nothing but the schema's prose or its examples say it. `none`: the model alone.
 */
export const VALUE_SOURCES = ['request', 'context', 'candidate', 'literal', 'derived', 'spoken', 'completed', 'example', 'none'] as const;
export type ValueSource = (typeof VALUE_SOURCES)[number];

/** Of one patch. */
export interface PatchSignals extends DecisionSignals {
  /** How many scalars it writes of each source; what it only moves counts where it stood. */
  readonly sources: Readonly<Record<ValueSource, number>>;
  readonly doubts: PatchDoubts;
}

/** Undefined for a patch that the gate will refuse. O(sources) for each written scalar. */
export function signalsOfPatch(observation: Observation, patch: Patch, decisions: DecisionSignals): PatchSignals | undefined {
  const written = originsOfPatch(observation, patch);
  const doubts = doubtsOf(observation, patch);
  if (written === undefined || doubts === undefined) return undefined;
  const sources: Record<ValueSource, number> = { request: 0, context: 0, candidate: 0, literal: 0, derived: 0, spoken: 0, completed: 0, example: 0, none: 0 };
  for (const { origin, value } of written) sources[sourceOf(origin, value, observation)] += 1;
  const { sequenceLogProbability, margin, openLogAllowed, abstainShare, takenBackCount } = decisions;
  return { sequenceLogProbability, margin, openLogAllowed, abstainShare, takenBackCount, sources, doubts };
}

/** The signals of a proposal's patch as they stand in its record, read back; undefined where there are none. */
export function readPatchSignals({ patch, abstainShare }: JsonObject): PatchSignals | undefined {
  if (patch === undefined || !isJsonObject(patch)) return undefined;
  const { sequenceLogProbability, margin, openLogAllowed, takenBackCount, sources, doubts } = patch;
  const isNumber = (value: JsonValue | undefined): value is number => typeof value === 'number';
  if (!isNumber(sequenceLogProbability) || !isNumber(openLogAllowed) || !isNumber(takenBackCount) || sources === undefined || !isJsonObject(sources)) return undefined;
  if (doubts === undefined || !isJsonObject(doubts)) return undefined;
  const { repeated, unmoved } = doubts;
  const counts = VALUE_SOURCES.map((source) => [source, sources[source]] as const);
  if (!isNumber(repeated) || !isNumber(unmoved) || !counts.every(([, count]) => isNumber(count))) return undefined;
  return {
    sequenceLogProbability, openLogAllowed, takenBackCount, margin: isNumber(margin) ? margin : undefined, abstainShare: isNumber(abstainShare) ? abstainShare : undefined,
    sources: Object.fromEntries(counts) as PatchSignals['sources'], doubts: { repeated, unmoved },
  };
}

function sourceOf(origin: Origin, value: JsonPrimitive, { request, contract: { document: { tool } } }: Observation): ValueSource {
  switch (origin.kind) {
    case 'model': {
      const saying = sayingOf(value, request.map(({ content }) => content));
      if (saying !== undefined) return saying;
      const [found] = originFinder({ texts: [tool.description, ...proseOf(tool.parameters)], candidate: null })(value);
      return found?.origin.kind === 'request' ? 'example' : 'none';
    }
    case 'schema-literal':
      return origin.keywordLocation !== undefined && tokensOf(origin.keywordLocation).at(-1) === 'examples' ? 'example' : 'literal';
    default:
      // a text can hold a number in no other way
      return origin.derivation === 'verbatim' || origin.derivation === 'string-to-number' ? origin.kind : 'derived';
  }
}

/** Every description in a schema. */
function proseOf(schema: JsonValue): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(proseOf);
  if (!isJsonObject(schema)) return [];
  return Object.entries(schema).flatMap(([name, member]) => (name === 'description' && typeof member === 'string' ? [member] : proseOf(member as JsonValue)));
}
