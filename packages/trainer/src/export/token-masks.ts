/**
 * The contract's mask for a policy that decodes elsewhere, token by token: what may come next after the tokens so far, as bits over the ids of one tokenizer.
 * No forced runs and no taking back, which only our own decoder does: where a patch closes without making the call valid, the validator says so.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { TokenId, Vocabulary } from '@contractrl/grammar-mask';
import { createMaskMemory, DEFAULT_RULES } from '@contractrl/runtime-webgpu';
import { bindMask } from '../bind-mask.ts';
import { openExample, type ExampleIssue } from '../data/example.ts';
import type { Task } from './task.ts';

export type MaskIssue = ExampleIssue
  /** No mask for this contract or this state; `reason` is the mask's own code. */
  | { readonly code: 'masks/none'; readonly reason: string }
  /** The mask does not let `ids[index]` through. */
  | { readonly code: 'masks/refused'; readonly index: number };

/**
 * Bitmasks before `ids[from]`, before each later id, and behind the last; int32 words, `ceil(logitWidth / 32)` of them, id i is bit i % 32 of word i / 32.
 * Behind the stop token there is none. O(ids × vocabulary).
 */
export type MaskAlong = (task: Pick<Task, 'record' | 'noise'>, ids: readonly TokenId[], from: number) => Result<readonly Int32Array<ArrayBuffer>[], MaskIssue>;

export function createMaskAlong(vocabulary: Vocabulary): MaskAlong {
  // a group's completions come together, and groups of one contract soon after each other
  const parts = { memory: createMaskMemory(), vocabulary, logitWidth: vocabulary.logitWidth };
  return (task, ids, from) => {
    const opened = openExample(task);
    if (!opened.ok) return opened;
    const matcher = bindMask(parts, opened.value, { ...DEFAULT_RULES, goal: false });
    if (!matcher.ok) return err({ code: 'masks/none', reason: matcher.error.code });
    const bitmasks: Int32Array<ArrayBuffer>[] = [];
    const look = (): void => {
      const bitmask = new Int32Array(Math.ceil(vocabulary.logitWidth / 32));
      matcher.value.fillBitmask(bitmask);
      bitmasks.push(bitmask);
    };
    for (const [index, id] of ids.entries()) {
      if (index >= from) look();
      if (matcher.value.isTerminated() || !matcher.value.acceptToken(id).ok) return err({ code: 'masks/refused', index });
    }
    if (!matcher.value.isTerminated()) look();
    return ok(bitmasks);
  };
}
