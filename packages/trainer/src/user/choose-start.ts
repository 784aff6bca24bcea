/**
 * What training for a user's tools begins with: an adapter that repairs already, where there is one. Named, it must be there and fit; otherwise it is the one of
 * the same rank that ships, where that is for this base and this prompt, and else nothing.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { LoraAdapter } from '@contractrl/runtime-webgpu';
import { SHIPPED_ADAPTER_NAMES } from '@contractrl/runtime-webgpu/node';
import { NO_START, openStart, type StartIssue } from '../open-start.ts';

export interface Start {
  /** As a repair takes it; undefined for none. */
  readonly name: string | undefined;
  readonly adapter: LoraAdapter | undefined;
  /** Why it is none, where none was not asked for: no adapter of that rank ships, or the code that says why that one cannot be taken. */
  readonly code?: 'train/none-ships' | StartIssue['code'];
}

export interface StartWish {
  /** Name of an adapter that ships, path of a folder, or `none`; undefined for the one that ships. */
  readonly from: string | undefined;
  readonly rank: number;
  /** Name of the base model. */
  readonly base: string;
}

export type ChooseStartIssue = StartIssue
  | { readonly code: 'train/other-rank'; readonly rank: number; readonly startRank: number };

const NO_ADAPTER = { name: undefined, adapter: undefined } as const;

export async function chooseStart({ from, rank, base }: StartWish): Promise<Result<Start, ChooseStartIssue>> {
  if (from === NO_START) return ok(NO_ADAPTER);
  const name = from ?? SHIPPED_ADAPTER_NAMES.find((each) => each === `r${rank}`);
  if (name === undefined) return ok({ ...NO_ADAPTER, code: 'train/none-ships' });
  const opened = await openStart(name, base);
  if (!opened.ok) return from === undefined ? ok({ ...NO_ADAPTER, code: opened.error.code }) : opened;
  return opened.value.rank === rank ? ok({ name, adapter: opened.value }) : err({ code: 'train/other-rank', rank, startRank: opened.value.rank });
}
