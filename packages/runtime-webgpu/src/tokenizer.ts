/** Text to token ids and back, from the fields that the model file itself carries. */
import type { TokenId } from '@contractrl/grammar-mask';

export interface Tokenizer {
  /** Untrusted text: special tokens are not recognised. */
  encodePlain(text: string): readonly TokenId[];
  /** Trusted text in ChatML: special tokens are recognised, and turns are marked as the model marks them. */
  encodeTrusted(text: string): readonly TokenId[];
  decode(ids: readonly TokenId[]): string;
  readonly specialIds: ReadonlyMap<string, TokenId>;
  readonly stopIds: readonly TokenId[];
  /** Bytes by id; `undefined` for special tokens. */
  readonly tokens: readonly (Uint8Array | undefined)[];
}
