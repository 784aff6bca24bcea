/** At least a million (state, token) pairs per vocabulary: states of random walks, every token of a real vocabulary, against the naive recogniser. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { bitmaskLength, isAllowed, type TokenId, type Vocabulary } from '../src/index.ts';
import { ALL_OPERATIONS, contractOf, matcherOf, ODD_NAMES, randomFrom, WEATHER } from './support/contracts.ts';
import { countFolder, newTally, note, writeTally, type Tally } from './support/count.ts';
import { createNaiveRecognizer } from './support/naive-recognizer.ts';
import { sortedTokens, viableIds } from './support/viable-ids.ts';
import { smollm2Vocabulary, vocabularyOf } from './support/vocabulary.ts';

const LIMITS = { maxStringLength: 10, maxItems: 3 };
const SEED = 20260704;
const MIN_STATES = 200;
const MIN_PAIRS = 1_000_000;
/** Of the states of a walk: neighbours differ little. */
const CHECKED_SHARE = 0.12;
const LONGEST_WALK = 60;

const DOCUMENT = { city: 7, unit: 'C', tags: ['x', 'y', 'z'], place: { lat: '1', lon: 2 }, extra: true };
const overrides = { allowedOperations: ALL_OPERATIONS, operationBudget: 3 };
const CASES = [
  { contract: contractOf(WEATHER, overrides), document: DOCUMENT, operationsLeft: 3 },
  { contract: contractOf(WEATHER, { ...overrides, immutablePaths: ['/tags/1', '/city'] }), document: DOCUMENT, operationsLeft: 2 },
  { contract: contractOf(ODD_NAMES, { allowedOperations: ALL_OPERATIONS }), document: { 'a"b/c~d': 'x', 'cafe\u0301': 1 }, operationsLeft: 1 },
];

interface VocabularyFile {
  readonly stopId: TokenId;
  /** Base64 of the bytes; null for special tokens. */
  readonly tokens: readonly (string | null)[];
}

function vocabularyNamed(name: string): Vocabulary | undefined {
  if (name === '49k') return smollm2Vocabulary();
  const path = join(countFolder(), `vocabulary-${name}.json.gz`);
  if (!existsSync(path)) return undefined;
  const { stopId, tokens } = JSON.parse(gunzipSync(readFileSync(path)).toString('utf8')) as VocabularyFile;
  return vocabularyOf(tokens.map((text) => (text === null ? undefined : Uint8Array.from(Buffer.from(text, 'base64')))), [stopId]);
}

test.each(['49k', '128k', '151k'])('the mask equals the naive recogniser over the %s vocabulary', (name) => {
  const vocabulary = vocabularyNamed(name);
  if (vocabulary === undefined) throw new Error(`no vocabulary-${name}.json.gz: run npm run bench:mask`);
  const tally = newTally();
  const sorted = sortedTokens(vocabulary);
  const escapesAstral = !vocabulary.tokens.some((bytes) => bytes?.includes(0xf1));
  const random = randomFrom(SEED);
  const opened = CASES.map(({ contract, document, operationsLeft }) => ({
    recognizer: createNaiveRecognizer(contract, document, operationsLeft, LIMITS, escapesAstral),
    matcher: matcherOf(contract, document, vocabulary, operationsLeft, LIMITS),
  }));
  tally.contracts = opened.length;
  const bitmask = new Int32Array(bitmaskLength(vocabulary.logitWidth));
  for (let turn = 0; tally.states < MIN_STATES || tally.pairs < MIN_PAIRS; turn += 1) {
    const { recognizer, matcher } = opened[turn % opened.length]!;
    matcher.reset();
    let output = '';
    for (let step = 0; step < LONGEST_WALK && !matcher.isTerminated(); step += 1) {
      const count = matcher.fillBitmask(bitmask);
      if (count === 0) note(tally, 'deadEnds', output);
      if (random() < CHECKED_SHARE) compare(tally, vocabulary, bitmask, new Set([...viableIds(sorted, recognizer, output), ...(recognizer.isComplete(output) ? vocabulary.stopIds : [])]), output);
      const id = pick(bitmask, count, random, output === '' ? vocabulary : undefined);
      if (vocabulary.stopIds.includes(id) || !matcher.acceptToken(id).ok) break;
      output += Buffer.from(vocabulary.tokens[id]!).toString('latin1');
    }
    tally.outputs += 1;
  }
  writeTally(name, { ...tally, seed: SEED, tokenCount: vocabulary.logitWidth });
  expect(tally).toMatchObject({ unsound: 0, incomplete: 0, deadEnds: 0 });
});

/** One of the allowed ids; at the start of an output mostly one that opens a patch. */
function pick(bitmask: Int32Array, count: number, random: () => number, opening: Vocabulary | undefined): TokenId {
  const ids: TokenId[] = [];
  for (let id = 0; id < bitmask.length * 32 && ids.length < count; id += 1) if (isAllowed(bitmask, id)) ids.push(id);
  const patches = opening === undefined || random() < 0.1 ? [] : ids.filter((id) => opening.tokens[id]?.[0] === 0x5b);
  const choices = patches.length > 0 ? patches : ids;
  return choices[Math.floor(random() * choices.length)]!;
}

function compare(tally: Tally, vocabulary: Vocabulary, bitmask: Int32Array, expected: ReadonlySet<TokenId>, output: string): void {
  tally.states += 1;
  tally.pairs += vocabulary.logitWidth;
  for (let id = 0; id < vocabulary.logitWidth; id += 1) {
    if (isAllowed(bitmask, id) === expected.has(id)) continue;
    note(tally, expected.has(id) ? 'incomplete' : 'unsound', `${output} then ${Buffer.from(vocabulary.tokens[id] ?? []).toString('latin1')} (${id})`);
  }
}
