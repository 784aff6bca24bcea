/**
 * What the runtime is measured on: 192 single-field corruptions of BFCL calls, 64 from each of three seeds, and the prompts that the
 * policy reads for them. A smaller sample is spread evenly over all of them, so both kinds of corruption and every seed stay in it.
 */
import { judgeArguments, loadContract, openRepair, type RepairRequest } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import { buildPrompt, encodePrompt, type Tokenizer } from '@contractrl/runtime-webgpu';
import { bfclCases, BFCL_SEED } from '../datasets/bfcl-corruptions.ts';

export const SEEDS: readonly number[] = [BFCL_SEED, BFCL_SEED + 1, BFCL_SEED + 2];

/** Ids are `<seed>:<BFCL id>:<kind>`. */
export function allCases(): readonly RepairRequest[] {
  return SEEDS.flatMap((seed) => bfclCases(seed).map(({ request }) => ({ ...request, id: `${String(seed)}:${request.id}` })));
}

/** `count` of `items` at even distances, all of them where `count` is not smaller. */
export function spread<T>(items: readonly T[], count: number): readonly T[] {
  if (count >= items.length) return items;
  return Array.from({ length: count }, (_, index) => items[Math.floor(index * items.length / count)]!);
}

/** Beginning at another each time, so that none always comes first. */
export function rotated<T>(items: readonly T[], by: number): readonly T[] {
  const from = by % items.length;
  return [...items.slice(from), ...items.slice(0, from)];
}

/** The ids of the first attempt's prompt. Throws for a request that is no invalid call under a loadable contract: these cases all are one. */
export function promptIds({ contract: document, call, context, request }: RepairRequest, tokenizer: Tokenizer): readonly TokenId[] {
  const contract = loadContract(document);
  if (!contract.ok) throw new Error(contract.error.code);
  const judged = judgeArguments(contract.value, call.argumentsText, context);
  if (judged.kind !== 'invalid' || judged.value === undefined) throw new Error(`${call.name}: not an invalid call`);
  const state = openRepair(contract.value, judged.report, judged.value);
  const prompt = encodePrompt(buildPrompt({ contract: contract.value, request, context, state, violations: judged.report.violations }), tokenizer, Infinity);
  if (!prompt.ok) throw new Error(prompt.error.code);
  return prompt.value.ids;
}
