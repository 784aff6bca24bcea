/**
 * Byte-level BPE over a vocabulary read from either kind of file. Text is not normalised: what is encoded decodes to the same bytes, which spelling
 * forced runs relies on.
 */
import type { TokenId } from '@contractrl/grammar-mask';
import { Tokenizer as LibraryTokenizer } from '@huggingface/tokenizers';
import type { Tokenizer } from '../tokenizer.ts';
import { withOwnMarkers } from './turn-markers.ts';

export interface VocabularyFields {
  readonly idOfText: ReadonlyMap<string, TokenId>;
  readonly specialIds: ReadonlyMap<string, TokenId>;
  readonly tokens: readonly (Uint8Array | undefined)[];
}

export interface BpeSettings {
  /** Pairs, as one text with a space between or as two. */
  readonly merges: readonly (string | readonly [string, string])[];
  /** As `tokenizer.json` writes it. */
  readonly preTokenizer: object;
  /** A piece that is a token as a whole is that token, whatever the merges would make of it. */
  readonly ignoreMerges: boolean;
}

/** Texts of tokens that end a turn or a document in the families read here, beside the file's own end-of-sequence id. */
export const END_TOKENS: readonly string[] = ['<|im_end|>', '<|endoftext|>', '<|eot_id|>', '<|eom_id|>', '<|end_of_text|>'];

export class BpeTokenizer implements Tokenizer {
  readonly specialIds: ReadonlyMap<string, TokenId>;
  readonly stopIds: readonly TokenId[];
  readonly tokens: readonly (Uint8Array | undefined)[];
  readonly #bpe: LibraryTokenizer;
  readonly #specialPattern: RegExp;
  readonly #textOfSpecial: ReadonlyMap<TokenId, string>;

  constructor(vocabulary: VocabularyFields, { merges, preTokenizer, ignoreMerges }: BpeSettings, stopIds: readonly TokenId[]) {
    this.specialIds = vocabulary.specialIds;
    this.tokens = vocabulary.tokens;
    this.stopIds = stopIds;
    this.#textOfSpecial = new Map(Array.from(vocabulary.specialIds, ([text, id]) => [id, text]));
    this.#specialPattern = anyOf([...vocabulary.specialIds.keys()]);
    // The BPE knows no special token at all, so plain text cannot come out as one.
    this.#bpe = new LibraryTokenizer(
      {
        added_tokens: [], normalizer: null, pre_tokenizer: preTokenizer, post_processor: null, decoder: { type: 'ByteLevel' },
        model: { type: 'BPE', vocab: Object.fromEntries(vocabulary.idOfText), merges, ignore_merges: ignoreMerges },
      },
      {},
    );
  }

  encodePlain(text: string): readonly TokenId[] {
    return text === '' ? [] : this.#bpe.encode(text, { add_special_tokens: false }).ids;
  }

  encodeTrusted(text: string): readonly TokenId[] {
    if (this.specialIds.size === 0) return this.encodePlain(text);
    return withOwnMarkers(text, this.specialIds).split(this.#specialPattern).flatMap((piece) => this.specialIds.get(piece) ?? this.encodePlain(piece));
  }

  decode(ids: readonly TokenId[]): string {
    const encoder = new TextEncoder();
    const pieces = ids.map((id) => this.tokens[id] ?? encoder.encode(this.#textOfSpecial.get(id) ?? ''));
    const bytes = new Uint8Array(pieces.reduce((total, piece) => total + piece.length, 0));
    let offset = 0;
    for (const piece of pieces) {
      bytes.set(piece, offset);
      offset += piece.length;
    }
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  }
}

/** Matches any of `texts`, the longest where one begins another; as a group, so that `split` keeps the matches. */
function anyOf(texts: readonly string[]): RegExp {
  const longestFirst = [...texts].sort((a, b) => b.length - a.length);
  return new RegExp(`(${longestFirst.map((text) => text.replace(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`)).join('|')})`, 'u');
}
