/** Random walks under a mask: what the laws over random contracts have in common. */
import { expect } from 'vitest';
import type { MaskMatcher, Vocabulary } from '../../src/index.ts';
import { allowed } from './contracts.ts';

const LONGEST_WALK = 2000;
const OPEN_BRACKET = 0x5b;

export interface WalkOptions {
  /** How often a walk goes past the abstentions, where a patch can begin. */
  readonly patchShare?: number;
  /** Called in front of every token, with what was written so far as a binary string: one character a byte. */
  readonly visit?: (output: string) => void;
}

/** Walks from where the matcher stands to a stop token and returns the whole output as a binary string; undefined at a goal miss. No dead end is let pass. */
export function randomWalk(matcher: MaskMatcher, { tokens, stopIds }: Vocabulary, random: () => number, { patchShare = 1, visit }: WalkOptions = {}): string | undefined {
  let output = Buffer.from(matcher.text(), 'utf8').toString('latin1');
  for (let step = 0; step < LONGEST_WALK; step += 1) {
    if (matcher.isGoalMiss()) return undefined;
    visit?.(output);
    const ids = allowed(matcher);
    expect(ids.length, `a dead end behind ${output}`).toBeGreaterThan(0);
    const patchOnly = output === '' && (patchShare === 1 || random() < patchShare) ? ids.filter((id) => tokens[id]?.[0] === OPEN_BRACKET) : ids;
    const choices = patchOnly.length > 0 ? patchOnly : ids;
    const id = choices[Math.floor(random() * choices.length)]!;
    expect(matcher.acceptToken(id), `after ${output}`).toEqual({ ok: true, value: undefined });
    if (stopIds.includes(id)) return output;
    output += Buffer.from(tokens[id]!).toString('latin1');
  }
  throw new Error(`no end in sight: ${output}`);
}
