/** Keeps the texts that a policy is shown, for the leakage scan after the run: every prompt goes through the tokenizer. */
import type { Tokenizer } from '@contractrl/runtime-webgpu';

export interface PromptRecorder {
  readonly tokenizer: Tokenizer;
  /** The texts since the last call, each once. */
  take(): readonly string[];
}

export function recordPrompts(tokenizer: Tokenizer): PromptRecorder {
  const texts = new Set<string>();
  return {
    tokenizer: {
      ...tokenizer,
      encodePlain: (text) => { texts.add(text); return tokenizer.encodePlain(text); },
      encodeTrusted: (text) => { texts.add(text); return tokenizer.encodeTrusted(text); },
    },
    take() {
      const taken = [...texts];
      texts.clear();
      return taken;
    },
  };
}
