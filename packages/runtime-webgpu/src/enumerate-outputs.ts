/**
 * All outputs of a small mask, each in its tokenizer's own spelling: what exact scoring goes over. Works on tokens, because only over them is
 * known what can be spelled at all; a prefix that several token sequences spell is gone into once.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { MaskMatcher, TokenId, Vocabulary } from '@contractrl/grammar-mask';

export interface Output {
  readonly text: string;
  /** The tokenizer's own encoding of the text, and the stop token; another one that the mask admits where it refuses that. */
  readonly ids: readonly TokenId[];
}

export interface TooManyOutputs {
  readonly code: 'mask/too-many-outputs';
  readonly limit: number;
}

/**
 * Every output of `matcher` from where it stands, in no promised order; `matcher` stays as it is. Fails with `mask/too-many-outputs`
 * where there are more than `limit`, as soon as that is known. O(prefixes × tokens allowed there).
 */
export function enumerateOutputs(matcher: MaskMatcher, vocabulary: Vocabulary, limit: number): Result<readonly Output[], TooManyOutputs> {
  const buffer = new Int32Array(matcher.logitWidth);
  const outputs: Output[] = [];
  /** Bytes written so far, one character a byte. */
  const seen = new Set<string>();
  // nothing is a dead end, so each further byte that may follow a prefix is at least one output more: a free string is known by its first two
  let outputCount = 1;
  const stack: { readonly at: MaskMatcher; readonly prefix: string; readonly ids: readonly TokenId[] }[] = [{ at: matcher.fork(), prefix: '', ids: [] }];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const { at, prefix, ids } = node;
    const allowed = buffer.subarray(0, at.allowedIds(buffer));
    const branches = new Set(Array.from(allowed, (id) => vocabulary.tokens[id]?.[0]));
    outputCount += branches.size - 1;
    if (outputCount > limit) return err({ code: 'mask/too-many-outputs', limit });
    // several stop tokens end one output
    if (branches.has(undefined)) outputs.push({ text: at.text(), ids: spell(matcher, vocabulary, at.text()) ?? [...ids, vocabulary.stopIds[0]!] });
    for (const id of allowed.toReversed()) {
      const bytes = vocabulary.tokens[id];
      const next = prefix + String.fromCharCode(...(bytes ?? []));
      if (bytes === undefined || seen.has(next)) continue;
      seen.add(next);
      const after = at.fork();
      after.acceptToken(id);
      stack.push({ at: after, prefix: next, ids: [...ids, id] });
    }
  }
  return ok(outputs);
}

/** Undefined where the mask refuses that spelling, for its length or because the encoder changes the text. */
function spell(matcher: MaskMatcher, vocabulary: Vocabulary, text: string): readonly TokenId[] | undefined {
  const ids = [...vocabulary.encode(text), vocabulary.stopIds[0]!];
  const fork = matcher.fork();
  return ids.every((id) => fork.acceptToken(id).ok) && fork.isTerminated() && fork.text() === text ? ids : undefined;
}
