/**
 * A trajectory of tool calls of which one arrives spoilt, in its two halves (CHECKLIST F3-F5): what is played, and what scoring alone opens
 * after the run is frozen.
 */
import type { ChatMessage, Contract, Digest, JsonObject, JsonValue, RepairRequest } from '@contractrl/core';
import type { CaseGold } from '../datasets/case.ts';
import type { Form } from './corruptions.ts';
import type { RetailTables } from './retail.ts';
import type { Change, SentCall } from './world.ts';

/** The shop as every trajectory begins, and the contract of each tool: the same for all arms. */
export interface Shop {
  readonly tables: RetailTables;
  readonly contracts: ReadonlyMap<string, Contract>;
}

export interface Episode {
  /** `<task>#<trial>`. */
  readonly id: string;
  readonly task: string;
  /** From 1; each trial of a task spoils another argument, or spoils it otherwise. */
  readonly trial: number;
  readonly form: Form;
  /** What the user wants, as upstream tells it to the one who plays the user. */
  readonly brief: string;
  /** All calls in order, as they arrive. */
  readonly calls: readonly RepairRequest['call'][];
  /** Place of the spoilt one. */
  readonly step: number;
}

/** What the legal trajectory does at each step, and how it leaves the shop. */
export interface EpisodeGold {
  readonly steps: readonly Pick<SentCall, 'arguments' | 'resultDigest' | 'changes'>[];
  readonly changes: readonly Change[];
  readonly stateDigest: Digest;
  /** Of the spoilt call. */
  readonly call: Extract<CaseGold, { readonly kind: 'one-of' }>;
  /** What the tool gives back for the right call. */
  readonly result: JsonValue;
}

/**
 * What a policy may read at a step: the tools' answers so far, and what the user asked for. The wish stands last, as when the agent repeats it for
 * the user to confirm: prompts keep the end of a long dialogue.
 */
export function dialogueOf(brief: string, results: readonly { readonly name: string; readonly result: JsonValue }[]): readonly ChatMessage[] {
  return [...results.map(({ name, result }) => ({ role: 'tool', content: `${name} → ${JSON.stringify(result)}` })), { role: 'user', content: brief }];
}

/** What an episode left behind: everything but times, so that two runs give the same bytes. */
export interface EpisodeRecord {
  readonly id: string;
  readonly arm: string;
  readonly task: string;
  readonly trial: number;
  readonly form: Form;
  readonly step: number;
  readonly tool: string;
  /** Calls in order; those behind one that was not executed are missing. */
  readonly calls: readonly SentCall[];
  /** Every call was executed. Says nothing of being right. */
  readonly isFinished: boolean;
  /** What was sent in place of the spoilt call. */
  readonly finalObject: JsonObject | null;
  /** Side effects of the whole trajectory. */
  readonly changes: readonly Change[];
  readonly stateDigest: Digest;
}
