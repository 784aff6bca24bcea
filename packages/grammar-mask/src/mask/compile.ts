/**
 * Compiling a contract: everything that does not depend on a document. What the mask cannot constrain is named in the certificate, and the
 * place it stands at loses `add` and `replace`; where that leaves nothing to write and nothing to move, compiling fails.
 */
import {
  ABSTAIN_CODES, cloneJson, deepFreeze, digestOf, err, formatPointer, ok, ROOT_POINTER, tokensOf,
  type Contract, type JsonObject, type JsonPointer, type RepairState, type Result, type SchemaAnnotation,
} from '@contractrl/core';
import {
  closedValues, livePlacesOf, nodeCloser, readSchemaNode, readSchemaPlace, surveySchema,
  type LivePlace, type NodePath, type PatchRules, type ProvenanceIssue, type ProvenanceSources, type SchemaNode, type SchemaPlace, type UnsupportedKeyword,
} from '@contractrl/core/schema';
import { NO_PAST, OperationGrammar, type Ban, type ByteGrammar, type PatchLanguage } from '../grammar/operation-grammar.ts';
import { missingPrintable } from '../grammar/spelling.ts';
import { DEAD, ValueAutomaton, type StateId } from '../grammar/value-automaton.ts';
import { DEFAULT_MAX_ITEMS, DEFAULT_MAX_STRING_LENGTH, EMPTY_NODE, ValueGrammar, type ValueLimits } from '../grammar/value-grammar.ts';
import { indexVocabulary, type VocabularyIndex } from '../vocab/vocabulary-index.ts';
import type { Vocabulary } from '../vocab/vocabulary.ts';
import { MaskWalk } from './mask-walk.ts';
import { createMatcher, type MaskMatcher } from './matcher.ts';

export interface CompileOptions {
  /** Longest string where the schema sets no `maxLength`, in code points. */
  readonly maxStringLength?: number;
  /** Most elements where the schema sets no `maxItems`. */
  readonly maxItems?: number;
  /** Default false. Inside values, objects may have members whose names the schema leaves open, of at most 64 code points. */
  readonly openNames?: boolean;
  /** The reasons a policy may abstain with; a contract may narrow the default list. */
  readonly abstainCodes?: readonly string[];
  /** Default false. No operation that changes nothing, or undoes or repeats an earlier one of the same output. */
  readonly excludeNoOps?: boolean;
  /** Default false. A patch may close only where schema and cross-field checks accept the call it leaves; see {@link MaskMatcher.isGoalMiss}. */
  readonly goal?: boolean;
  /** Default as `goal`. No operation that reaches none of the places at fault, where all are known, or takes a misnamed member away; see `Distance.isStray`. */
  readonly nearer?: boolean;
  /** Default none. Strings and numbers that the schema leaves free are then closed: what stands in these sources, or is derived from it by name. */
  readonly provenance?: ProvenanceSources;
  /** Default all of the call. Values are closed at and below these places only. */
  readonly provenanceAt?: readonly JsonPointer[];
}

export type CompileIssue =
  /** Nothing can be written under this contract and nothing moved. */
  | UnsupportedKeyword
  | ProvenanceIssue
  /** The schema of a bare value accepts nothing. */
  | { readonly code: 'mask/nothing-accepted' }
  | { readonly code: 'mask/no-stop-token' }
  /** No token spells this byte alone, so that the skeleton of a patch is out of reach. */
  | { readonly code: 'mask/unspellable-byte'; readonly byte: number };

export type BindIssue =
  | { readonly code: 'mask/bad-budget'; readonly budget: 'attemptsLeft' | 'operationsLeft' | 'tokenBudget'; readonly value: number }
  /** Not even an abstention fits; the shortest output takes `needed` tokens, stop token included. */
  | { readonly code: 'mask/token-budget'; readonly tokenBudget: number; readonly needed: number }
  /** The mask was compiled for another tokenizer than the model's. */
  | { readonly code: 'mask/vocabulary-mismatch'; readonly what: 'logitWidth' | 'vocabularyDigest'; readonly expected: number | string; readonly actual: number | string };

export interface BindOptions {
  /** Most tokens of the whole output, stop token included. Every output that is begun can then be finished in time. Without it outputs have no such end. */
  readonly tokenBudget?: number;
  /** What the model is known to have; binding fails where the vocabulary of the mask has something else. */
  readonly model?: { readonly logitWidth: number; readonly vocabularyDigest?: string };
}

/** What the mask promises and what it leaves to the judge. */
export interface Certificate {
  /** Declared places whose values the mask spells. */
  readonly readableCount: number;
  /** Keywords it cannot constrain: their places can be removed, moved and copied, not written. */
  readonly unsupported: readonly UnsupportedKeyword[];
  /** Unknown keywords and formats that bind nothing, where the contract says so: a misspelt rule is among them. */
  readonly annotations: readonly SchemaAnnotation[];
  readonly limits: ValueLimits;
  /** Present where values are closed. `folded`: in any case of letters; else as written, but for a capital at the beginning, since all cases did not fit. */
  readonly provenance?: { readonly folded: boolean };
}

/** A contract under one vocabulary, for any document. Its automaton grows as states are reached and is shared by all matchers. */
export interface CompiledMask {
  readonly logitWidth: number;
  readonly certificate: Certificate;
  /** A matcher for the live document and the budgets of `state`. O(document + pointers). */
  bind(state: RepairState, options?: BindOptions): Result<MaskMatcher, BindIssue>;
}

/** Compiles the patches of a contract. Fails with a {@link CompileIssue}. O(schema), after the vocabulary was indexed once. */
export function compileMask(contract: Contract, vocabulary: Vocabulary, options: CompileOptions = {}): Result<CompiledMask, CompileIssue> {
  const parts = openCompilation(vocabulary, options);
  if (!parts.ok) return parts;
  const { automaton, grammar, index, limits, walk, close, provenance } = parts.value;
  const { provenanceAt } = options;
  const closedIn = (pointer: JsonPointer): readonly NodePath[] => (options.provenance === undefined ? [] : provenanceAt === undefined ? [[]] : pathsIn(pointer, provenanceAt));
  const { schema, annotations, document: { allowedOperations } } = contract;

  const { nodes, readableCount, unsupported } = surveySchema(schema, options);
  const [firstUnsupported] = unsupported;
  const canTransfer = allowedOperations.some((kind) => kind === 'remove' || kind === 'move' || kind === 'copy');
  if (firstUnsupported !== undefined && readableCount === 0 && !canTransfer) return err(firstUnsupported);

  const enter = (node: SchemaNode, at: readonly NodePath[]): StateId => {
    const id = grammar.add(close(node, at));
    return id === EMPTY_NODE ? DEAD : automaton.enter(id, 'operation');
  };
  const valueStates = new Map<string, StateId>();
  const keyOf = (placeKey: string, at: readonly NodePath[]): string => (provenanceAt === undefined || at.length === 0 ? placeKey : `${placeKey} ${JSON.stringify(at)}`);
  for (const [key, node] of nodes) valueStates.set(key, enter(node, provenanceAt === undefined ? closedIn(ROOT_POINTER) : []));
  // what the survey did not meet: places below a recursion, or that no schema declares, or where only some values are closed
  const readValues = (place: SchemaPlace, at: readonly NodePath[]): StateId => {
    const key = keyOf(place.key, at);
    let state = valueStates.get(key);
    if (state === undefined) {
      const known = nodes.get(place.key);
      const node = known === undefined ? readSchemaPlace(schema, place, options) : ok(known);
      valueStates.set(key, state = node.ok ? enter(node.value, at) : DEAD);
    }
    return state;
  };

  const abstainCodes = options.abstainCodes ?? ABSTAIN_CODES;
  const rules: PatchRules = { excludeNoOps: options.excludeNoOps ?? false, goal: options.goal ?? false, nearer: options.nearer ?? options.goal ?? false };
  const segments = new WeakMap<LivePlace, Uint8Array>();
  const language: PatchLanguage = {
    rules, contract, spelling: index.spelling, automaton, abstainCodes, isClosedAt: (pointer) => closedIn(pointer).length > 0,
    valueStateAt: ({ point: { place }, pointer }) => (place.ok ? readValues(place.value, closedIn(pointer)) : DEAD),
    known: { add: new WeakMap(), replace: new WeakMap(), remove: new WeakMap() },
    segmentOf(place) {
      let segment = segments.get(place);
      if (segment === undefined) segments.set(place, segment = index.spelling.contentOf(formatPointer([place.token]).slice(1)));
      return segment;
    },
  };
  return ok({
    logitWidth: vocabulary.logitWidth,
    certificate: { readableCount, unsupported, annotations, limits, ...provenance },
    bind({ candidate, attemptsLeft, operationsLeft }, { tokenBudget, model } = {}) {
      const mismatch = model === undefined ? undefined : mismatchOf(vocabulary, model);
      if (mismatch !== undefined) return err(mismatch);
      for (const [budget, value] of [['attemptsLeft', attemptsLeft], ['operationsLeft', operationsLeft], ['tokenBudget', tokenBudget ?? 0]] as const) {
        if (!Number.isInteger(value) || value < 0) return err({ code: 'mask/bad-budget', budget, value });
      }
      const budget = attemptsLeft > 0 ? operationsLeft : 0;
      const identity = (): JsonObject => ({
        contract: contract.digest, document: digestOf(candidate), operationsLeft: budget, abstainCodes, rules: { ...rules }, tokenBudget: tokenBudget ?? null, ...sharedIdentity(vocabulary, limits, options),
      });
      // a document that may still change is copied: the grammar is built while the output grows
      const root = livePlacesOf(contract, Object.isFrozen(candidate) ? candidate : deepFreeze(cloneJson(candidate)));
      const grammarWithout = (bans: readonly Ban[]): OperationGrammar => {
        const operations = new OperationGrammar(language, () => root, budget, 'first', { ...NO_PAST, bans });
        if (bans.length === 0) operations.prepare();
        return operations;
      };
      const matcher = createMatcher({ vocabulary, index, automaton, walk, identity, tokenBudget: tokenBudget ?? Infinity, grammarWithout });
      if (tokenBudget === undefined) return ok(matcher);
      const needed = matcher.shortestCompletion();
      return needed <= tokenBudget ? ok(matcher) : err({ code: 'mask/token-budget', tokenBudget, needed });
    },
  });
}

/** One bare value of a schema as the whole output: for arms that regenerate the arguments, and for tests of the value grammar alone. */
export interface CompiledValueMask {
  readonly logitWidth: number;
  createMatcher(): MaskMatcher;
}

/** Compiles the values of a schema. Fails with a {@link CompileIssue}: here any keyword the mask cannot constrain ends it. */
export function compileValueMask(schema: JsonObject, vocabulary: Vocabulary, options: CompileOptions = {}): Result<CompiledValueMask, CompileIssue> {
  const parts = openCompilation(vocabulary, options);
  if (!parts.ok) return parts;
  const { automaton, grammar, index, limits, walk, close } = parts.value;
  const node = readSchemaNode(schema, schema, ROOT_POINTER, options);
  if (!node.ok) return node;
  const id = grammar.add(close(node.value, options.provenanceAt?.map(tokensOf)));
  if (id === EMPTY_NODE) return err({ code: 'mask/nothing-accepted' });
  const start = automaton.enter(id, 'whole-output');
  const identity = (): JsonObject => ({ schema: digestOf(schema), ...sharedIdentity(vocabulary, limits, options) });
  return ok({ logitWidth: vocabulary.logitWidth, createMatcher: () => createMatcher({ vocabulary, index, automaton, walk, identity, tokenBudget: Infinity, grammarWithout: () => bareValues(start) }) });
}

interface Compilation {
  readonly index: VocabularyIndex;
  readonly grammar: ValueGrammar;
  readonly automaton: ValueAutomaton;
  readonly walk: MaskWalk;
  readonly limits: ValueLimits;
  readonly close: (node: SchemaNode, at?: readonly NodePath[]) => SchemaNode;
  readonly provenance: Pick<Certificate, 'provenance'>;
}

function openCompilation(vocabulary: Vocabulary, options: CompileOptions): Result<Compilation, CompileIssue> {
  if (vocabulary.stopIds.length === 0) return err({ code: 'mask/no-stop-token' });
  const index = indexVocabulary(vocabulary);
  const missing = missingPrintable(index.spelling);
  if (missing !== undefined) return err({ code: 'mask/unspellable-byte', byte: missing });
  const limits = { maxStringLength: options.maxStringLength ?? DEFAULT_MAX_STRING_LENGTH, maxItems: options.maxItems ?? DEFAULT_MAX_ITEMS };
  for (const [name, limit] of Object.entries(limits)) if (!Number.isInteger(limit) || limit < 0) throw new RangeError(`${name}: expected a whole number, got ${limit}`);
  const grammar = new ValueGrammar(index.spelling, limits);
  const automaton = new ValueAutomaton(grammar, index.spelling);
  const compilation = { index, grammar, automaton, walk: new MaskWalk(vocabulary, index, automaton), limits };
  if (options.provenance === undefined) return ok({ ...compilation, close: (node) => node, provenance: {} });
  const closed = closedValues(options.provenance);
  return closed.ok ? ok({ ...compilation, close: nodeCloser(closed.value, limits.maxStringLength), provenance: { provenance: { folded: closed.value.folded } } }) : closed;
}

function mismatchOf({ logitWidth, digest }: Vocabulary, model: NonNullable<BindOptions['model']>): BindIssue | undefined {
  if (model.logitWidth !== logitWidth) return { code: 'mask/vocabulary-mismatch', what: 'logitWidth', expected: logitWidth, actual: model.logitWidth };
  if (model.vocabularyDigest === undefined || model.vocabularyDigest === digest) return undefined;
  return { code: 'mask/vocabulary-mismatch', what: 'vocabularyDigest', expected: digest, actual: model.vocabularyDigest };
}

function sharedIdentity(vocabulary: Vocabulary, limits: ValueLimits, { provenance, provenanceAt }: CompileOptions): JsonObject {
  return {
    vocabulary: vocabulary.digest, logitWidth: vocabulary.logitWidth, limits: { ...limits }, ...(provenance && { provenance: digestOf({ ...provenance }) }), ...(provenanceAt && { provenanceAt }),
  };
}

/** Where `places` lie in a value at `pointer`: an empty path where it lies in one of them. What is appended may become any element. */
function pathsIn(pointer: JsonPointer, places: readonly JsonPointer[]): readonly NodePath[] {
  const tokens = tokensOf(pointer);
  return places.map(tokensOf).filter((place) => place.slice(0, tokens.length).every((token, depth) => token === tokens[depth] || tokens[depth] === '-')).map((place) => place.slice(tokens.length));
}

/** The face of a grammar whose every state belongs to the value automaton. */
function bareValues(start: StateId): ByteGrammar {
  const unreachable = (): never => { throw new RangeError('A bare value has no operations'); };
  return { start, scene: undefined, next: () => DEAD, bytesAt: () => [], guardAt: () => undefined, forcedByte: () => -1, close: unreachable };
}
