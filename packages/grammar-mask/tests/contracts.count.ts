/** Ten thousand random contracts and candidates: masks against the naive recogniser, walks to their end, and every output through core. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyPatch, loadContract, parsePatch, readAbstention, type Contract } from '@contractrl/core';
import { compileMask, type MaskMatcher } from '../src/index.ts';
import { allowed, randomFrom, stateOf } from './support/contracts.ts';
import { newTally, note, writeTally, type Tally } from './support/count.ts';
import { createNaiveRecognizer } from './support/naive-recognizer.ts';
import { randomCase, type RandomCase } from './support/random-contracts.ts';
import { byteVocabulary } from './support/vocabulary.ts';

const LIMITS = { maxStringLength: 3, maxItems: 2 };
const SEED = 20260705;
const CONTRACT_COUNT = 10_000;
/** Cases drawn at a time: some are no contracts, or leave nothing to write. */
const BATCH = 500;
/** Of the states of a walk. */
const CHECKED_SHARE = 0.05;
const LONGEST_WALK = 2000;

const vocabulary = byteVocabulary([
  '[{"op":"', '{"', '"},{"op":"', '"}]', '"},', '},{', '}]', '"}', '","', '":', ':"', '","value":', '"path":"/', '/a', '10', '0.5', 'true', '[]', '{}', '\\"', '\\u00', 'é', '😀', '😀"', '\n',
]);
const stopId = vocabulary.stopIds[0]!;

test('the mask of random contracts equals the naive recogniser, never ends in a dead end, and lets through only what core admits', () => {
  const tally = newTally();
  let drawn = 0;
  for (let batch = 0; tally.contracts < CONTRACT_COUNT; batch += 1) {
    for (const random of fc.sample(randomCase, { numRuns: BATCH, seed: SEED + batch })) {
      drawn += 1;
      if (tally.contracts === CONTRACT_COUNT) break;
      const opened = open(random);
      if (opened !== undefined) count(tally, opened.contract, opened.matcher, random);
    }
  }
  writeTally('contracts', { ...tally, seed: SEED, tokenCount: vocabulary.logitWidth, drawn });
  expect(tally).toMatchObject({ unsound: 0, incomplete: 0, deadEnds: 0, notAdmitted: 0 });
});

function open({ parameters, document, overrides, operationsLeft }: RandomCase): { contract: Contract; matcher: MaskMatcher } | undefined {
  const contract = loadContract({ tool: { name: 'tool', description: '', parameters }, ...overrides });
  const compiled = contract.ok ? compileMask(contract.value, vocabulary, LIMITS) : contract;
  if (!contract.ok || !compiled.ok) return undefined;
  const bound = compiled.value.bind(stateOf(document, operationsLeft));
  if (!bound.ok) throw new Error(JSON.stringify(bound.error));
  return { contract: contract.value, matcher: bound.value };
}

function count(tally: Tally, contract: Contract, matcher: MaskMatcher, random: RandomCase): void {
  tally.contracts += 1;
  const recognizer = createNaiveRecognizer(contract, random.document, random.operationsLeft, LIMITS, false);
  const next = randomFrom(random.seed);
  let output = '';
  for (let step = 0; step < LONGEST_WALK; step += 1) {
    const ids = allowed(matcher);
    // at least one state of every contract
    if (step === 1 || next() < CHECKED_SHARE) compare(tally, new Set(ids), output, (text) => recognizer.isViable(text), recognizer.isComplete(output));
    const patchOnly = output === '' && next() < 0.9 ? ids.filter((id) => vocabulary.tokens[id]?.[0] === 0x5b) : ids;
    const choices = patchOnly.length > 0 ? patchOnly : ids;
    if (choices.length === 0) break;
    const id = choices[Math.floor(next() * choices.length)]!;
    if (!matcher.acceptToken(id).ok) {
      note(tally, 'unsound', `${output} then ${id}, allowed and not accepted`);
      return;
    }
    if (id === stopId) {
      tally.outputs += 1;
      if (!isAdmitted(contract, random, Buffer.from(output, 'latin1').toString('utf8'))) note(tally, 'notAdmitted', output);
      return;
    }
    output += Buffer.from(vocabulary.tokens[id]!).toString('latin1');
  }
  note(tally, 'deadEnds', output);
}

function compare(tally: Tally, ids: ReadonlySet<number>, output: string, isViable: (text: string) => boolean, isComplete: boolean): void {
  tally.states += 1;
  tally.pairs += vocabulary.logitWidth;
  vocabulary.tokens.forEach((bytes, id) => {
    const text = Buffer.from(bytes ?? []).toString('latin1');
    const expected = bytes === undefined ? id === stopId && isComplete : isViable(output + text);
    if (ids.has(id) !== expected) note(tally, expected ? 'incomplete' : 'unsound', `${output} then ${text} (${id})`);
  });
}

function isAdmitted(contract: Contract, { document, operationsLeft }: RandomCase, output: string): boolean {
  if (output.startsWith('{')) return readAbstention(output) !== undefined;
  const patch = parsePatch(output);
  return patch.ok && applyPatch(contract, document, patch.value, operationsLeft).ok;
}
