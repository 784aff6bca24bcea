/**
 * An example as the policy meets it in production: the prompt's ids, and behind them the answer as the mask's own walk writes it. What the mask forces is
 * written by nobody and carries no loss; everywhere else the ids that it allows are what the answer's token is chosen among, the stop token included.
 * Rules and limits are those of the masked proposer but for one, so that what is learnt is what will be asked.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { TokenId, Vocabulary } from '@contractrl/grammar-mask';
import {
  buildPrompt, createMaskMemory, DEFAULT_MAX_ANSWER_TOKENS, DEFAULT_RULES, encodePrompt, MaskCursor, type IdList, type MaskMemory, type MaskRules, type PromptIssue, type Tokenizer,
} from '@contractrl/runtime-webgpu';
import { bindMask } from '../bind-mask.ts';
import { openExample, type Example, type ExampleIssue } from '../data/example.ts';
import type { Step } from '../gradient/batch.ts';

export interface EncodedExample {
  readonly promptIds: readonly TokenId[];
  /** Ends with the stop token. */
  readonly answerIds: readonly TokenId[];
  /** The decisions among the answer's tokens, at least one. */
  readonly decisions: readonly Pick<Step, 'index' | 'allowed'>[];
}

export type EncodeIssue =
  | ExampleIssue
  | PromptIssue
  /** No mask for this contract or this state; `reason` is the mask's own code. */
  | { readonly code: 'sft/no-mask'; readonly reason: string }
  /** The mask does not let the answer through; `written` is what it took of it. */
  | { readonly code: 'sft/not-admitted'; readonly written: string }
  /** The mask leaves no choice, so there is nothing to learn. */
  | { readonly code: 'sft/no-decision' };

export interface EncodeParts {
  readonly tokenizer: Pick<Tokenizer, 'encodePlain' | 'encodeTrusted'>;
  readonly vocabulary: Vocabulary;
  /** Of the training graph; the prompt has what the longest answer leaves of it. */
  readonly contextLength: number;
  /** For examples of one call to share the mask of its contract; default one of this example's own. */
  readonly memory?: MaskMemory;
}

/** Operations that lead no nearer are left for the policy to unlearn: no grammar keeps them from it on a server. The adapters that ship were trained so. */
const LEARNT_RULES: MaskRules = { ...DEFAULT_RULES, nearer: false };

/** O(schema + answer × vocabulary); the lists of a decision inside a text have most of the vocabulary each, so encodings are made when they are wanted. */
export function encodeExample(example: Pick<Example, 'record' | 'noise' | 'answer'>, { tokenizer, vocabulary, contextLength, memory = createMaskMemory() }: EncodeParts): Result<EncodedExample, EncodeIssue> {
  const opened = openExample(example);
  if (!opened.ok) return opened;
  const prompt = encodePrompt(buildPrompt(opened.value), tokenizer as Tokenizer, contextLength - DEFAULT_MAX_ANSWER_TOKENS);
  if (!prompt.ok) return prompt;
  const matcher = bindMask({ memory, vocabulary, logitWidth: vocabulary.logitWidth }, opened.value, LEARNT_RULES);
  if (!matcher.ok) return err({ code: 'sft/no-mask', reason: matcher.error.code });
  const walked = walk(new MaskCursor(matcher.value, { jumpForward: true }), new Spelling(example.answer, vocabulary));
  return walked.ok ? ok({ promptIds: prompt.value.ids, ...walked.value }) : walked;
}

function walk(cursor: MaskCursor, spelling: Spelling): Result<Pick<EncodedExample, 'answerIds' | 'decisions'>, EncodeIssue> {
  const answerIds: TokenId[] = [];
  const decisions: Pick<Step, 'index' | 'allowed'>[] = [];
  for (;;) {
    const moved = cursor.advance(DEFAULT_MAX_ANSWER_TOKENS - answerIds.length);
    if (moved.ok && moved.value.kind === 'ended') break;
    let next: readonly TokenId[] | undefined;
    if (moved.ok && moved.value.kind === 'forced') {
      next = moved.value.ids;
    } else if (moved.ok && moved.value.kind === 'decision' && answerIds.length < DEFAULT_MAX_ANSWER_TOKENS) {
      const { allowed } = moved.value;
      const id = spelling.choose(allowed);
      if (id !== undefined) {
        decisions.push({ index: answerIds.length, allowed: allowed.ids.slice(0, allowed.count) });
        next = cursor.choose(id).ok ? [id] : undefined;
      }
    }
    if (next?.every((id) => spelling.take(id)) !== true) return err({ code: 'sft/not-admitted', written: spelling.written() });
    answerIds.push(...next);
  }
  if (!spelling.hasEnded) return err({ code: 'sft/not-admitted', written: spelling.written() });
  return decisions.length === 0 ? err({ code: 'sft/no-decision' }) : ok({ answerIds, decisions });
}

/** How far an answer is written, in bytes: a token need not end where a character does. */
class Spelling {
  readonly #bytes: Uint8Array;
  readonly #vocabulary: Vocabulary;
  /** The token that begins at an offset where the tokenizer spells the whole answer by itself. */
  readonly #own = new Map<number, TokenId>();
  #offset = 0;
  #hasEnded = false;

  constructor(answer: string, vocabulary: Vocabulary) {
    this.#bytes = new TextEncoder().encode(answer);
    this.#vocabulary = vocabulary;
    let offset = 0;
    for (const id of vocabulary.encode(answer)) {
      this.#own.set(offset, id);
      offset += vocabulary.tokens[id]?.length ?? 0;
    }
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The tokenizer's own token here; behind a forced run that ended inside one the longest that fits. Undefined where none of the allowed ones leads on. */
  choose({ ids, count }: IdList): TokenId | undefined {
    const allowed = ids.subarray(0, count);
    const own = this.#own.get(this.#offset);
    if (own !== undefined && allowed.includes(own)) return own;
    let longest: TokenId | undefined;
    for (const id of allowed) {
      if (this.#fits(id) && (longest === undefined || this.#lengthOf(id) > this.#lengthOf(longest))) longest = id;
    }
    return longest;
  }

  /** Moves on behind a token; false, without moving, where the answer goes on otherwise. */
  take(id: TokenId): boolean {
    if (!this.#fits(id)) return false;
    this.#offset += this.#lengthOf(id);
    this.#hasEnded = this.#vocabulary.stopIds.includes(id);
    return true;
  }

  written(): string {
    return new TextDecoder().decode(this.#bytes.subarray(0, this.#offset));
  }

  #fits(id: TokenId): boolean {
    const token = this.#vocabulary.tokens[id];
    if (token === undefined) return this.#offset === this.#bytes.length && this.#vocabulary.stopIds.includes(id);
    return token.every((byte, index) => byte === this.#bytes[this.#offset + index]);
  }

  #lengthOf(id: TokenId): number {
    return this.#vocabulary.tokens[id]?.length ?? 0;
  }
}
