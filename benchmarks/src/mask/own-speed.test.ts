import { expect, test } from 'vitest';
import { applyPatch, parsePatch, validateArguments } from '@contractrl/core';
import { CONTRACT_CASES, contractOf, repairFor } from './contract-cases.ts';
import { measureOwnSpeed, readDecodeCosts } from './own-speed.ts';
import { byteTokens } from './vocabularies.ts';

test.each(CONTRACT_CASES)('every output to be measured repairs its document: $name', (contractCase) => {
  const contract = contractOf(contractCase);
  for (let salt = 0; salt < 6; salt += 1) {
    const { state, output } = repairFor(contractCase, salt);
    const isValid = (call: unknown): boolean => validateArguments(contract, JSON.stringify(call)).report.kind === 'valid';
    const patch = parsePatch(output);
    const applied = patch.ok ? applyPatch(contract, state.candidate, patch.value, state.operationsLeft) : patch;
    expect([isValid(state.candidate), applied.ok && isValid(applied.value)]).toEqual([false, true]);
  }
});

test('every rule is an arm that spells the outputs, and every token of every run is timed but for the warm-up', async () => {
  const contractCase = CONTRACT_CASES[0]!;
  const cell = await measureOwnSpeed({ name: '49k', ...byteTokens() }, () => undefined, { runs: 2, cases: [contractCase], outputsPerCase: 1 });
  // one token a byte, and the stop token
  const tokenCount = Buffer.byteLength(repairFor(contractCase, 0).output, 'utf8') + 1;
  expect(cell.arms.map(({ rules }) => rules)).toEqual(['none', 'excludeNoOps', 'goal', 'excludeNoOps, goal', 'tokenBudget', 'provenance']);
  for (const { maskUs, acceptUs, collected } of cell.arms) {
    expect([maskUs.map(({ length }) => length), acceptUs.length]).toEqual([[tokenCount - 50, tokenCount], 2 * tokenCount - 50]);
    expect(collected.length).toBeLessThanOrEqual(2 * tokenCount);
  }
  expect([cell.emittedTokens, cell.chooseUs.length, cell.allowedMassUs.length, cell.forkUs.length]).toEqual([tokenCount, tokenCount, tokenCount, tokenCount]);
  expect(cell.forcedTokens).toBeGreaterThan(tokenCount / 4);
});

test('what a decode step costs is read from the committed baseline', () => {
  const { generatedTokens, forcedTokens, decodeStepMs } = readDecodeCosts();
  expect(forcedTokens).toBeLessThan(generatedTokens);
  expect(decodeStepMs.length).toBeGreaterThan(50);
});
