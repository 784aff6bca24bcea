/**
 * Keeps the texts that a policy is shown, for the leakage scan after the run: every prompt goes through the tokenizer. What others wrote stands in a
 * prompt between two trusted texts, its beginning and its end. Plain text that does not is no prompt: drafts of the answer are encoded too, and the
 * policy is asked about them without being shown them.
 */
import type { Tokenizer } from '@contractrl/runtime-webgpu';

export interface PromptRecorder {
  readonly tokenizer: Tokenizer;
  /** The texts since the last call, each once. */
  take(): readonly string[];
}

export function recordPrompts(tokenizer: Tokenizer): PromptRecorder {
  const texts = new Set<string>();
  let trusted: string | undefined;
  let plain: string | undefined;
  return {
    tokenizer: {
      ...tokenizer,
      // a method of a class is no member of its own
      decode: (ids) => tokenizer.decode(ids),
      encodePlain(text) {
        if (plain !== undefined) trusted = undefined;
        plain = text;
        return tokenizer.encodePlain(text);
      },
      encodeTrusted(text) {
        // the beginning of the next prompt is the text that this one began with
        if (plain !== undefined && trusted !== undefined && trusted !== text) texts.add(plain);
        texts.add(text);
        trusted = text;
        plain = undefined;
        return tokenizer.encodeTrusted(text);
      },
    },
    take() {
      const taken = [...texts];
      texts.clear();
      trusted = undefined;
      plain = undefined;
      return taken;
    },
  };
}
