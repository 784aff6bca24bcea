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
  /** The whole text, turn marks included, save for what a tokenizer puts before every text: no chat template may be put around it. */
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

/** How a base marks who speaks: SmolLM2 and Qwen by ChatML, Llama 3 by headers. The runtime writes a prompt with the marks that the base has. */
export const TURN_FORMATS = ['chatml', 'llama3'] as const;
export type TurnFormat = (typeof TURN_FORMATS)[number];

interface TurnMarks {
  readonly open: (role: string) => string;
  readonly close: string;
  /** Of the whole text. The tokenizer puts it before a plain text by itself, and a chat template must. */
  readonly begin: string;
}

const MARKS: Readonly<Record<TurnFormat, TurnMarks>> = {
  chatml: { begin: '', open: (role) => `<|im_start|>${role}\n`, close: '<|im_end|>\n' },
  llama3: { begin: '<|begin_of_text|>', open: (role) => `<|start_header_id|>${role}<|end_header_id|>\n\n`, close: '<|eot_id|>' },
};

/** The turns of {@link promptText}. */
const TURNS = /^<\|im_start\|>system\n(?<system>[^]*?)<\|im_end\|>\n<\|im_start\|>user\n(?<user>[^]*)<\|im_end\|>\n<\|im_start\|>assistant\n$/u;

/** The same marks as a Jinja template of transformers. Other templates add system texts or dates that the runtime's prompt has not. */
export function chatTemplate(format: TurnFormat): string {
  const { begin, open, close } = MARKS[format];
  const quoted = (text: string): string => `'${text.replaceAll('\n', '\\n')}'`;
  const [before, after] = open('\0').split('\0') as [string, string];
  return `{{ ${quoted(begin)} }}{% for message in messages %}{{ ${quoted(before)} + message['role'] + ${quoted(after)} + message['content'] + ${quoted(close)} }}{% endfor %}`
    + `{% if add_generation_prompt %}{{ ${quoted(open('assistant'))} }}{% endif %}`;
}

/** Of ChatML, Llama 3 and Qwen alike. */
const SPECIAL_TOKEN = /<\|\w+\|>/u;

/** What the runtime would show the policy of the example in its first attempt. */
function turnsOf(example: Pick<Example, 'record' | 'noise'>): Result<readonly ChatTurn[], RowIssue> {
  const opened = openExample(example);
  if (!opened.ok) return opened;
  const prompt = buildPrompt(opened.value);
  const [special] = promptSegments(prompt).flatMap(({ text, trusted }) => (trusted ? [] : (SPECIAL_TOKEN.exec(text) ?? [])));
  if (special !== undefined) return err({ code: 'export/spells-special-token', token: special });
  const { system, user } = TURNS.exec(promptText(prompt))?.groups as { readonly system: string; readonly user: string };
  return ok([{ role: 'system', content: system }, { role: 'user', content: user }]);
}

export function toTrlRow(example: Example, format: TurnFormat): Result<TrlRow, RowIssue> {
  const { id, family, difficulty } = example;
  const turns = turnsOf(example);
  if (!turns.ok) return turns;
  const { open, close } = MARKS[format];
  const prompt = turns.value.map(({ role, content }) => `${open(role)}${content}${close}`).join('') + open('assistant');
  return ok({ prompt, task: taskText(example), group: id, family, difficulty });
}

/** `index` counts the rows of its side. */
export function toVerlRow(example: Example, index: number): Result<VerlRow, RowIssue> {
  const { id, split, source, family, difficulty } = example;
  const turns = turnsOf(example);
  if (!turns.ok) return turns;
  return ok({
    data_source: `contractrl/${source}`, prompt: turns.value, ability: 'tool-call-repair',
    reward_model: { style: 'rule', ground_truth: taskText(example) }, extra_info: { split, index, group: id, family, difficulty },
  });
}
