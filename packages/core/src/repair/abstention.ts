/** ABSTAIN, the action that is always open: `{"abstain":"CODE"}` ends a repair and may leave budget unused. */
import { parseJson } from '../json/parse.ts';
import { isJsonObject } from '../json/value.ts';

/** The reasons a policy may choose; published as `abstain/CODE`. */
export const ABSTAIN_CODES = ['ambiguous', 'not-in-state', 'over-budget', 'locked', 'unsafe', 'unknown-tool', 'unrepairable'] as const;

/** Reasons a runtime adds of itself and never offers to the policy. */
export const RUNTIME_ABSTAIN_CODES = ['goal-unreachable', 'low-confidence', 'token-budget', 'no-policy'] as const;

export type AbstainCode = (typeof ABSTAIN_CODES)[number] | (typeof RUNTIME_ABSTAIN_CODES)[number];

/** Reads an abstention; undefined for any other text. An unknown code is not an abstention, so that no free text becomes a reason. */
export function readAbstention(text: string): AbstainCode | undefined {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value) || Object.keys(parsed.value).length !== 1) return undefined;
  const { abstain } = parsed.value;
  return [...ABSTAIN_CODES, ...RUNTIME_ABSTAIN_CODES].find((code) => code === abstain);
}
