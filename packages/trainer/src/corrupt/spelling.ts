/**
 * Whether the production mask can write an answer: what it cannot, because a keyword takes `add` and `replace` from the place, no policy could ever be
 * asked for. Asked over single bytes, so that it holds for every tokenizer that has all bytes.
 */
import { openRepair } from '@contractrl/core';
import { compileMask } from '@contractrl/grammar-mask';
import { BYTE_VOCABULARY } from '@contractrl/runtime-webgpu/server';
import type { Corruption } from './corrupt.ts';

/** O(schema + answer). The mask is not kept: contracts are many, and a compiled one is larger than the time it saves. */
export function isSpellable({ contract, candidate, report }: Pick<Corruption, 'contract' | 'candidate' | 'report'>, answer: string): boolean {
  const mask = compileMask(contract, BYTE_VOCABULARY);
  const matcher = mask.ok ? mask.value.bind(openRepair(contract, report, candidate)) : mask;
  return matcher.ok && Array.from(new TextEncoder().encode(answer)).every((byte) => matcher.value.acceptToken(byte).ok) && matcher.value.isAccepting();
}
