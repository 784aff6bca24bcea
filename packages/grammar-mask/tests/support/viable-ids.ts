/** What a mask should allow, by asking the naive recogniser about every token. */
import type { TokenId, Vocabulary } from '../../src/index.ts';
import type { NaiveRecognizer } from './naive-recognizer.ts';

export interface TokenText {
  readonly id: TokenId;
  /** Binary string: one character a byte. */
  readonly text: string;
}

/** Token texts in byte order, so that a dead prefix rules out all that share it. */
export function sortedTokens(vocabulary: Vocabulary): readonly TokenText[] {
  return vocabulary.tokens
    .flatMap((bytes, id) => (bytes === undefined ? [] : [{ id, text: Buffer.from(bytes).toString('latin1') }]))
    .sort((a, b) => (a.text < b.text ? -1 : 1));
}

/** Viability is closed under prefixes, so one dead prefix answers for every token behind it. */
export function viableIds(sorted: readonly TokenText[], recognizer: NaiveRecognizer, output: string): Set<TokenId> {
  const viable = new Set<TokenId>();
  let dead: string | undefined;
  for (const { id, text } of sorted) {
    if (dead !== undefined && text.startsWith(dead)) continue;
    dead = undefined;
    if (recognizer.isViable(output + text)) {
      viable.add(id);
      continue;
    }
    let length = 1;
    while (recognizer.isViable(output + text.slice(0, length))) length += 1;
    dead = text.slice(0, length);
  }
  return viable;
}
