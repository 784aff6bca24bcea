/**
 * The operations of the mask's patch language on one live document, as data that any export can write down: the same action mask and the
 * same schema nodes that `bind` takes. Only the first operation is known exactly; a later one sees a document that depends on it.
 * Reference: RFC 6902 §4; the mask's own walk is `grammar/operation-grammar.ts`.
 */
import { ABSTAIN_CODES, type Contract, type JsonPointer, type JsonValue, type OperationKind, type RepairState } from '@contractrl/core';
import { actionMask, readSchemaPlace, schemaPlacesIn, type SchemaNode } from '@contractrl/core/schema';
import { createSpelling, type Spelling } from '../grammar/spelling.ts';
import { DEFAULT_MAX_ITEMS, DEFAULT_MAX_STRING_LENGTH, EMPTY_NODE, ValueGrammar, type ValueLimits } from '../grammar/value-grammar.ts';
import type { CompileOptions } from '../mask/compile.ts';
import type { Vocabulary } from '../vocab/vocabulary.ts';
import type { Omissions } from './omission.ts';

export interface ExportOptions extends CompileOptions {
  /** The vocabulary of the mask to be matched, where some of its characters can only be escaped. Default: one that spells every byte. */
  readonly vocabulary?: Vocabulary;
}

export type OperationForm =
  | { readonly kind: 'write'; readonly op: 'add' | 'replace'; readonly paths: readonly [JsonPointer, ...JsonPointer[]]; readonly node: SchemaNode }
  | { readonly kind: 'remove'; readonly paths: readonly JsonPointer[] }
  /** `paths` undefined: any pointer. */
  | { readonly kind: 'transfer'; readonly op: 'move' | 'copy'; readonly from: JsonPointer; readonly paths: readonly JsonPointer[] | undefined };

export interface PatchForms {
  /** What the first operation may be; empty where there is none, and only ABSTAIN is left. */
  readonly first: readonly OperationForm[];
  /** What further ones may be, on any pointer. */
  readonly laterKinds: readonly OperationKind[];
  /** At most this many operations in all. */
  readonly maxOperations: number;
  readonly abstainCodes: readonly string[];
  readonly spelling: Spelling;
  readonly limits: ValueLimits;
}

/** All pairs of a document are quadratic; beyond this many sources the targets are left open. */
const MAX_SOURCES = 64;

const ALL_BYTES: readonly Uint8Array[] = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));

/** O(document × schema depth). */
export function readPatchForms(contract: Contract, { candidate, attemptsLeft, operationsLeft }: RepairState, options: ExportOptions, omissions: Omissions): PatchForms {
  const spelling = createSpelling(options.vocabulary?.tokens ?? ALL_BYTES);
  const limits = { maxStringLength: options.maxStringLength ?? DEFAULT_MAX_STRING_LENGTH, maxItems: options.maxItems ?? DEFAULT_MAX_ITEMS };
  const actions = actionMask(contract, candidate, attemptsLeft > 0 ? operationsLeft : 0);
  const nodeAt = writableNodes(contract, candidate, new ValueGrammar(spelling, limits));

  const first: OperationForm[] = [];
  for (const op of ['add', 'replace'] as const) {
    const byNode = new Map<SchemaNode, [JsonPointer, ...JsonPointer[]]>();
    for (const path of actions[op]) {
      const node = nodeAt(path);
      if (node === undefined) continue;
      const paths = byNode.get(node);
      if (paths === undefined) byNode.set(node, [path]);
      else paths.push(path);
    }
    for (const [node, paths] of byNode) first.push({ kind: 'write', op, paths, node });
  }
  if (actions.remove.length > 0) first.push({ kind: 'remove', paths: actions.remove });
  for (const op of ['move', 'copy'] as const) {
    const isListed = actions[op].length <= MAX_SOURCES;
    if (!isListed) omissions.add('transfer-targets');
    for (const { from, paths } of actions[op]) first.push({ kind: 'transfer', op, from, paths: isListed ? paths() : undefined });
  }

  const maxOperations = first.length > 0 ? operationsLeft : 0;
  if (maxOperations > 0) for (const code of ['goal-directed-closing', 'no-op-exclusion', 'token-budget'] as const) omissions.add(code);
  if (maxOperations > 1) omissions.add('second-operation-document');
  return { first, laterKinds: maxOperations > 1 ? contract.document.allowedOperations : [], maxOperations, abstainCodes: options.abstainCodes ?? ABSTAIN_CODES, spelling, limits };
}

/** The node of a place that the mask would write, by pointer: equal places share one node. */
function writableNodes(contract: Contract, document: JsonValue, grammar: ValueGrammar): (pointer: JsonPointer) => SchemaNode | undefined {
  const placeAt = schemaPlacesIn(contract.schema, document);
  const known = new Map<string, SchemaNode | undefined>();
  return (pointer) => {
    const place = placeAt(pointer);
    if (!place.ok) return undefined;
    if (!known.has(place.value.key)) {
      const node = readSchemaPlace(contract.schema, place.value);
      known.set(place.value.key, node.ok && grammar.add(node.value) !== EMPTY_NODE ? node.value : undefined);
    }
    return known.get(place.value.key);
  };
}
