/**
 * An example as a row of another trainer's data set. TRL's GRPOTrainer takes `prompt` and hands every further column on to the reward function; verl
 * takes messages, which its tokenizer's chat template turns into text, and hands on `reward_model.ground_truth`. Both repeat a row as often as a group has
 * completions, so one row is one group. Reference: TRL 1.16 `trainer/grpo_trainer.py`; verl 0.9 `utils/dataset/rl_dataset.py`, `trainer/ppo/reward.py`.
 */
import { err, ok, type Result } from '@contractrl/core';
import { buildPrompt, promptSegments, promptText } from '@contractrl/runtime-webgpu';
import { openExample, type Example, type ExampleIssue } from '../data/example.ts';
import { taskText } from './task.ts';

export interface TrlRow {
  /** The whole text, turn markers included: no chat template may be put around it. */
  readonly prompt: string;
  readonly task: string;
  readonly group: string;
  readonly family: string;
  readonly difficulty: string;
}

export interface ChatTurn {
  readonly role: 'system' | 'user';
  readonly content: string;
}

export interface VerlRow {
  readonly data_source: string;
  readonly prompt: readonly ChatTurn[];
  readonly ability: string;
  readonly reward_model: { readonly style: 'rule'; readonly ground_truth: string };
  readonly extra_info: { readonly split: string; readonly index: number; readonly group: string; readonly family: string; readonly difficulty: string };
}

export type RowIssue = ExampleIssue
  /** Request, tool or call spell a special token, which a tokenizer that reads the whole text would take for one. */
  | { readonly code: 'export/spells-special-token'; readonly token: string };

/** The turns of {@link promptText} as {@link CHAT_TEMPLATE} writes them. */
const TURNS = /^<\|im_start\|>system\n(?<system>[^]*?)<\|im_end\|>\n<\|im_start\|>user\n(?<user>[^]*)<\|im_end\|>\n<\|im_start\|>assistant\n$/u;

/** ChatML, as the runtime's prompt has it. A base with another template of its own must be trained with this one: the runtime writes no other. */
export const CHAT_TEMPLATE: string = "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/** Of ChatML, Llama 3 and Qwen alike. */
const SPECIAL_TOKEN = /<\|\w+\|>/u;

/** What the runtime would show the policy of the example in its first attempt. */
function promptOf(example: Pick<Example, 'record' | 'noise'>): Result<string, RowIssue> {
  const opened = openExample(example);
  if (!opened.ok) return opened;
  const prompt = buildPrompt(opened.value);
  const [special] = promptSegments(prompt).flatMap(({ text, trusted }) => (trusted ? [] : (SPECIAL_TOKEN.exec(text) ?? [])));
  return special === undefined ? ok(promptText(prompt)) : err({ code: 'export/spells-special-token', token: special });
}

export function toTrlRow(example: Example): Result<TrlRow, RowIssue> {
  const { id, family, difficulty } = example;
  const prompt = promptOf(example);
  return prompt.ok ? ok({ prompt: prompt.value, task: taskText(example), group: id, family, difficulty }) : prompt;
}

/** `index` counts the rows of its side. */
export function toVerlRow(example: Example, index: number): Result<VerlRow, RowIssue> {
  const { id, split, source, family, difficulty } = example;
  const prompt = promptOf(example);
  if (!prompt.ok) return prompt;
  const { system, user } = TURNS.exec(prompt.value)?.groups as { readonly system: string; readonly user: string };
  return ok({
    data_source: `contractrl/${source}`, prompt: [{ role: 'system', content: system }, { role: 'user', content: user }], ability: 'tool-call-repair',
    reward_model: { style: 'rule', ground_truth: taskText(example) }, extra_info: { split, index, group: id, family, difficulty },
  });
}
