/** What the speed benchmark asks of an engine. A step may be asynchronous; only then is it waited for, so that nobody pays for a promise. */
import type { JsonObject } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import type { ContractCase } from '../contract-cases.ts';
import type { TokenList } from '../vocabularies.ts';

export const ENGINE_NAMES = ['contractrl', 'web-xgrammar', 'structured-output'] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

export type Awaitable<T> = T | Promise<T>;

export interface Engine {
  readonly name: EngineName;
  /** What this engine writes in front of a member's name in a path. */
  readonly slash: string;
  /** Reads a vocabulary: the work done once for a tokenizer. */
  prepare(list: TokenList): Awaitable<PreparedEngine>;
}

export interface PreparedEngine {
  /** Reads a contract or writes its schema, and returns what compiles it from nothing: no cache of an earlier call may help. */
  compiler(contractCase: ContractCase): () => Awaitable<CompiledCase>;
  dispose(): void;
}

export interface CompiledCase {
  /** A matcher at the start of an output; for us, bound to a document of its own, told apart by `salt`. */
  start(salt: number): Awaitable<Walker>;
  dispose(): void;
}

export interface Walker {
  /** Computes the mask of the present state. */
  fill(): Awaitable<void>;
  /** Whether the mask computed last allows a token. */
  isAllowed(id: TokenId): boolean;
  /** False where the token is refused. */
  accept(id: TokenId): Awaitable<boolean>;
  dispose(): void;
}

/** Whether a word list has bit `id & 31` of word `id >> 5`. */
export function hasBit(words: Int32Array | Uint32Array, id: TokenId): boolean {
  return ((words[id >> 5]! >>> (id & 31)) & 1) === 1;
}

/** An engine asked about whole texts instead of tokens; undefined where it refuses the schema. */
export type TextJudge = (schema: JsonObject, text: string) => Promise<'accepts' | 'refuses' | 'refuses the schema'>;
