/** The mask with closed values: equal to a listing of all of them, and what that listing means for requests people write. */
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { loadContract, repairCall, ROOT_POINTER, type Contract, type JsonObject, type JsonPointer, type JsonValue, type RepairOutcome } from '@contractrl/core';
import { closedValues, originFinder, readSchemaNode, type ProvenanceSources } from '@contractrl/core/schema';
import { compileMask, compileValueMask, type MaskMatcher } from '../src/index.ts';
import { ALL_OPERATIONS, allowed, contractOf, feed, matcherOf, randomFrom, stateOf } from './support/contracts.ts';
import { naiveClosedSet, naivelyClosed } from './support/naive-provenance.ts';
import { createNaiveRecognizer, createNaiveValues } from './support/naive-recognizer.ts';
import { jsonValue, randomCase, schema } from './support/random-contracts.ts';
import { sortedTokens, viableIds } from './support/viable-ids.ts';
import { byteVocabulary, smollm2Vocabulary } from './support/vocabulary.ts';

const COST = { promptTokenCount: 0, generatedTokenCount: 0, forcedTokenCount: 0, prefillMs: 0, decodeMs: 0, maskMs: 0 };
const LIMITS = { maxStringLength: 6, maxItems: 2 };
const vocabulary = byteVocabulary([
  '[{"op":"', '"},{"op":"', '"}]', '"},', '}]', '"}', '","', '":', '":"', '","value":', '"path":"/', 'ab', 'a b', '12', '0.5', '1,2', '.5', '[]', '"a"', '\\"', 'é', '😀', '😀"', ' b', 'A', 'tru',
]);
const stopId = vocabulary.stopIds[0] as number;
const textOf = (id: number): string => Buffer.from(vocabulary.tokens[id] ?? []).toString('latin1');
/** On a busy machine; alone each test takes a few seconds. */
const TIMEOUT_MS = 120_000;

const UNITS = ['a', 'b', 'B', ' ', '1', '2', '0', '.', ',', '-', "'", '"', '\\', '%', 'é', 'e\u0301', 'ß', 'Σ', '東', '京', '😀', '👩\u200d💻', '\u200d', '\u0301', '\n', '_', 'x', ' percent'];
const text = fc.string({ unit: fc.constantFrom(...UNITS), maxLength: 7 });
const sources: fc.Arbitrary<ProvenanceSources> = fc.record({
  texts: fc.array(text, { maxLength: 2 }),
  candidate: fc.oneof(jsonValue, fc.record({ a: text, b: fc.constantFrom<JsonValue>(true, 5, -0.25, null, ' 12 ', '') }) as fc.Arbitrary<JsonValue>),
});

let pairCount = 0;
let stateCount = 0;

/** Compares the mask with `isExpected` over every token of the small vocabulary. */
function compare(matcher: MaskMatcher, output: string, isExpected: (text: string, isStop: boolean) => boolean): void {
  const ids = new Set(allowed(matcher));
  const wrong = vocabulary.tokens.flatMap((bytes, id) => {
    const expected = isExpected(output + textOf(id), bytes === undefined);
    return ids.has(id) === (expected && (bytes !== undefined || id === stopId)) ? [] : [`${expected ? 'incomplete' : 'unsound'} ${bytes === undefined ? 'stop' : textOf(id)}`];
  });
  expect({ output, wrong }).toEqual({ output, wrong: [] });
  pairCount += vocabulary.tokens.length;
  stateCount += 1;
}

/** A random output, with `visit` called in front of every token. */
function walk(matcher: MaskMatcher, random: () => number, visit: (output: string) => void): string {
  let output = '';
  for (let step = 0; step < 2000; step += 1) {
    visit(output);
    const ids = allowed(matcher);
    expect(ids.length, `a dead end behind ${output}`).toBeGreaterThan(0);
    const patches = output === '' ? ids.filter((id) => textOf(id).startsWith('[')) : [];
    const choices = patches.length > 0 ? patches : ids;
    const id = choices[Math.floor(random() * choices.length)] as number;
    expect(matcher.acceptToken(id), `after ${output}`).toEqual({ ok: true, value: undefined });
    if (id === stopId) return output;
    output += textOf(id);
  }
  throw new Error(`no end in sight: ${output}`);
}

describe('a mask with provenance', () => {
  test('allows, of bare values, exactly what a listing of the closed values allows', () => {
    const { value, isSatisfiable } = createNaiveValues(LIMITS, false);
    const suggesting = fc.tuple(schema, fc.option(fc.oneof(jsonValue, text))).map(([random, suggestion]): JsonObject => (suggestion === null ? random : { ...random, default: suggestion }));
    fc.assert(fc.property(suggesting, sources, fc.nat(), (random, provenance, seed) => {
      const node = readSchemaNode(random, random, ROOT_POINTER);
      if (!node.ok) return;
      const listed = naivelyClosed(provenance, LIMITS.maxStringLength)(node.value);
      const compiled = compileValueMask(random, vocabulary, { ...LIMITS, provenance });
      expect(compiled.ok).toBe(isSatisfiable(listed));
      if (!compiled.ok) return;
      const matcher = compiled.value.createMatcher();
      const next = randomFrom(seed);
      walk(matcher, next, (output) => {
        if (next() < 0.5) return;
        compare(matcher, output, (whole, isStop) => {
          // a byte that nothing goes on with, so that what may end there must have ended
          const isComplete = value(`${whole} `, 0, listed).ends.includes(whole.length);
          return isStop ? isComplete : isComplete || value(whole, 0, listed).open;
        });
      });
    }), { numRuns: 120 });
  }, TIMEOUT_MS);

  test('and of patches too, with every walk coming to an end', () => {
    fc.assert(fc.property(randomCase, fc.array(text, { maxLength: 2 }), fc.boolean(), ({ parameters, document, overrides, operationsLeft, seed }, texts, excludeNoOps) => {
      const contract = loadContract({ tool: { name: 'tool', description: '', parameters }, ...overrides });
      const provenance = { texts, candidate: document };
      const compiled = contract.ok ? compileMask(contract.value, vocabulary, { ...LIMITS, provenance, excludeNoOps }) : contract;
      if (!contract.ok || !compiled.ok) return;
      const bound = compiled.value.bind(stateOf(document, operationsLeft));
      if (!bound.ok) throw new Error(JSON.stringify(bound.error));
      const recognizer = createNaiveRecognizer(contract.value, document, operationsLeft, LIMITS, false, { excludeNoOps, goal: false, nearer: false }, naivelyClosed(provenance, LIMITS.maxStringLength));
      const next = randomFrom(seed);
      walk(bound.value, next, (output) => {
        if (next() < 0.7) return;
        compare(bound.value, output, (whole, isStop) => (isStop ? recognizer.isComplete(output) : recognizer.isViable(whole)));
      });
    }), { numRuns: 50 });
  }, TIMEOUT_MS);

  test('takes the closed values from core as that listing has them, and originOf agrees', () => {
    fc.assert(fc.property(sources, text, fc.nat(), (provenance, other, seed) => {
      const closed = closedValues(provenance);
      if (!closed.ok) throw new Error(closed.error.code);
      const { strings, numbers } = naiveClosedSet(provenance);
      expect(new Set(closed.value.numbers)).toEqual(numbers);
      const random = randomFrom(seed);
      const listed = [...strings];
      const near = Array.from({ length: 12 }, () => (listed[Math.floor(random() * listed.length)] ?? '') + (random() < 0.4 ? UNITS[Math.floor(random() * UNITS.length)] as string : ''));
      const originsOf = originFinder(provenance);
      for (const tried of [other, '', ...near]) {
        expect({ tried, isClosed: accepts(closed.value.automaton, tried) }).toEqual({ tried, isClosed: strings.has(tried) });
        expect({ tried, kind: originsOf(tried)[0]?.origin.kind !== 'model' }).toEqual({ tried, kind: strings.has(tried) });
      }
    }), { numRuns: 300 });
  }, TIMEOUT_MS);
});

test('what the closed mask lets through has, to the judge, an origin', async () => {
  const written = { count: 0 };
  await fc.assert(fc.asyncProperty(randomCase, async ({ parameters, document, overrides, operationsLeft, seed }) => {
    const contract = loadContract({ tool: { name: 'tool', description: '', parameters }, ...overrides, provenance: 'require', operationBudget: 4 });
    const compiled = contract.ok ? compileMask(contract.value, vocabulary, { ...LIMITS, provenance: { texts: [SAID], candidate: document } }) : contract;
    const bound = compiled.ok ? compiled.value.bind(stateOf(document, Math.min(operationsLeft, 3))) : compiled;
    if (!contract.ok || !bound.ok) return;
    const outcome = await answered(contract.value, document, walk(bound.value, randomFrom(seed), () => undefined));
    expect(outcome.history.map(({ verdict }) => verdict)).not.toContain('provenance/no-origin');
    written.count += outcome.frozen.proposals.flatMap((entry) => (entry.kind === 'attempt' ? entry.written ?? [] : [])).length;
  }), { numRuns: 400, seed: 7 });
  expect(written.count).toBeGreaterThan(100);
}, TIMEOUT_MS);

const SAID = 'ab a 12';

/** A repair whose policy says `output`, byte for byte, at its first attempt. */
async function answered(contract: Contract, document: JsonValue, output: string): Promise<RepairOutcome> {
  const proposal = { kind: 'text', text: Buffer.from(output, 'latin1').toString('utf8'), cost: COST, confidence: undefined, maskDigest: undefined } as const;
  return repairCall(
    { id: 'a', request: [{ role: 'user', content: SAID }], contract: contract.document, toolNames: ['tool'], context: {}, call: { name: 'tool', argumentsText: JSON.stringify(document) }, finishReason: undefined },
    { identity: {}, propose: () => Promise.resolve({ ok: true, value: proposal }) }, { deterministic: false },
  );
}

/** `meta` around a named place, `tags` with one, `city` itself, `note` and `meta/note` free. */
const PARTLY: JsonObject = {
  type: 'object',
  properties: {
    city: { type: 'string', maxLength: 3 }, note: { type: 'string', maxLength: 2 }, count: { type: 'integer' }, tags: { type: 'array', items: { type: 'string', maxLength: 2 }, maxItems: 2 },
    meta: { type: 'object', properties: { id: { type: 'string', maxLength: 2 }, note: { type: 'string', maxLength: 2 } }, additionalProperties: false }, needed: { type: 'boolean' },
  },
  required: ['needed'], additionalProperties: false,
};
const NAMED = ['/city', '/count', '/tags/1', '/meta/id'] as unknown as readonly JsonPointer[];
const CANDIDATE: JsonObject = { city: 'ab', tags: ['x'], meta: { id: 'a' } };
const WORDS: ProvenanceSources = { texts: [SAID], candidate: CANDIDATE };

describe('a mask with provenance at named places', () => {
  const contract = contractOf(PARTLY, { operationBudget: 4, provenance: { require: NAMED } });
  const options = { ...LIMITS, provenance: WORDS, provenanceAt: NAMED };
  const opens = (path: string, spelled: string): boolean => {
    const op = ['/city', '/meta', '/tags', '/meta/id'].includes(path) ? 'replace' : 'add';
    const matcher = matcherOf(contract, CANDIDATE, vocabulary, 3, options);
    return feed(matcher, [...Buffer.from(`[{"op":"${op}","path":"${path}","value":${spelled}`, 'latin1')].map((byte) => vocabulary.tokens.findIndex((token) => token?.length === 1 && token[0] === byte)));
  };

  test.each<[string, string, boolean]>([
    ['/city', '"a"', true], ['/city', '"x"', true], ['/city', '"12"', true], ['/city', '"b"', false], ['/count', '12}', true], ['/count', '1}', false],
    ['/note', '"zz"', true], ['/meta/note', '"zz"', true], ['/meta/id', '"zz"', false], ['/meta', '{"note":"zz"', true], ['/meta', '{"id":"zz"', false], ['/meta', '{"id":"ab"', true],
    ['/tags/-', '"zz"', false], ['/tags/-', '"ab"', true], ['/tags/0', '"zz"', true], ['/tags', '["zz"', false], ['/tags', '["x"', true],
  ])('%s may begin with %s: %s', (path, spelled, expected) => {
    expect(opens(path, spelled)).toBe(expected);
  });

  test('writes nothing that the judge refuses for its origin, and leaves the rest free', async () => {
    const verdicts = new Map<string, number>();
    let madeUpCount = 0;
    await fc.assert(fc.asyncProperty(fc.nat(), async (seed) => {
      const output = walk(matcherOf(contract, CANDIDATE, vocabulary, 3, options), randomFrom(seed), () => undefined);
      const outcome = await answered(contract, CANDIDATE, output);
      // what a free place made up may still be carried to a named one: that is the judge's to see
      const isCarried = /"op":"(?:move|copy)"|"path":"\/tags\/0"/.test(output);
      const verdict = isCarried ? 'carried' : outcome.history[0]?.verdict ?? outcome.status;
      verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
      madeUpCount += outcome.frozen.proposals.flatMap((entry) => (entry.kind === 'attempt' ? entry.written ?? [] : [])).filter(({ origin }) => origin.kind === 'model').length;
    }), { numRuns: 150, seed: 9 });
    expect(verdicts.get('provenance/no-origin')).toBeUndefined();
    expect(madeUpCount).toBeGreaterThan(20);
  }, TIMEOUT_MS);
});

const REQUEST = 'Book a table in San Francisco for 4 people at 7:30pm, not in San Jose; send the "receipt" to jo.doe+x@mail.example before 2024-05-01. At most 1,200.50 dollars.';
const CALL: JsonObject = { city: 7, guests: 'four', mail: null };
const booking = contractOf({
  type: 'object',
  properties: {
    city: { type: 'string' }, guests: { type: 'integer', minimum: 2 }, budget: { type: 'number' }, mail: { type: 'string', format: 'email' }, day: { type: 'string', format: 'date' },
    seating: { enum: ['indoor', 'outdoor'] }, code: { type: 'string', pattern: '^[A-Z]{3}-[0-9]+$' }, tags: { type: 'array', items: { type: 'string', minLength: 20, maxLength: 22 }, maxItems: 2 }, quiet: { type: 'boolean' }, currency: { type: 'string', maxLength: 3, minLength: 3, default: 'EUR' },
  },
}, { allowedOperations: ALL_OPERATIONS, operationBudget: 3 });

describe('on the vocabulary of SmolLM2 a mask with provenance', () => {
  const real = smollm2Vocabulary();
  const provenance = { texts: [REQUEST], candidate: CALL };

  function at(output: string, sourcesOf: ProvenanceSources = provenance): MaskMatcher {
    const matcher = matcherOf(booking, CALL, real, 2, { provenance: sourcesOf });
    expect({ output, isOpen: feed(matcher, bytesOf(output)) }).toEqual({ output, isOpen: true });
    return matcher;
  }
  const bytesOf = (output: string): readonly number[] => [...Buffer.from(output, 'utf8')].map((byte) => real.tokens.findIndex((token) => token?.length === 1 && token[0] === byte));
  const isOpen = (output: string, sourcesOf: ProvenanceSources = provenance): boolean => feed(matcherOf(booking, CALL, real, 2, { provenance: sourcesOf }), bytesOf(output));
  const value = (name: string, spelled: string): string => `[{"op":"add","path":"/${name}","value":${spelled}`;
  const tokensOf = (matcher: MaskMatcher): readonly string[] => allowed(matcher).map((id) => Buffer.from(real.tokens[id] ?? []).toString('utf8'));

  test('is exactly the listing, over every id', () => {
    const short = { texts: ['San Francisco, not San Jose: 1,200.50 on 2024-05-01 by jo@x.example'], candidate: CALL };
    const recognizer = createNaiveRecognizer(booking, CALL, 2, { maxStringLength: 1024, maxItems: 64 }, true, undefined, naivelyClosed(short, 1024));
    const sorted = sortedTokens(real);
    for (const output of [value('budget', '1'), '[{"op":"replace","path":"/city","value":"San', value('tags', '["'), '[{"op":"replace","path":"/mail","value":"j', value('currency', '"')]) {
      const viable = [...viableIds(sorted, recognizer, output)].sort((left, right) => left - right);
      expect({ output, ids: allowed(at(output, short)) }).toEqual({ output, ids: viable });
      pairCount += real.logitWidth;
      stateCount += 1;
    }
  }, TIMEOUT_MS);

  test('offers no path that no closed value fits, and all others', () => {
    expect(isOpen('[{"op":"add","path":"/code"')).toBe(false);
    for (const name of ['budget', 'day', 'seating', 'tags', 'quiet', 'currency']) expect(isOpen(value(name, '')), name).toBe(true);
    expect(isOpen('[{"op":"add","path":"/code"', { ...provenance, texts: ['use AB-1, no: ABC-12'] })).toBe(true);
  });

  test('leaves abstaining, moving and removing where the request is empty', () => {
    const nothing = { texts: [''], candidate: {} };
    expect(isOpen('[{"op":"replace","path":"/city"', nothing)).toBe(false);
    for (const output of ['{"abstain":"not-in-state"}', '[{"op":"remove","path":"/city"}]', '[{"op":"move","from":"/guests","path":"/city"}]', value('seating', '"indoor"}]'), value('quiet', 'true}]'), value('tags', '[]}]'), value('currency', '"EUR"}]')]) {
      expect(isOpen(output, nothing), output).toBe(true);
    }
  });

  test('has values forced up to the end of a word, and where nothing goes on, up to the end of the operation', () => {
    const forced = (output: string): string => Buffer.from(at(output).forcedBytes()).toString('utf8');
    expect(forced('[{"op":"replace","path":"/city","value":"Franc')).toBe('isco');
    expect(forced('[{"op":"replace","path":"/city","value":"San Fra')).toBe('ncisco');
    expect(forced('[{"op":"replace","path":"/city","value":"rece')).toBe('ipt');
    expect(forced(value('day', ''))).toBe('"2024-05-01"}');
    expect(forced(value('budget', '1'))).toBe('');
    expect(forced(value('budget', '12'))).toBe('00.5}');
    expect(forced('[{"op":"replace","path":"/guests","value":20')).toBe('24}');
  });

  test('ends a word or goes on from it, and nothing else', () => {
    const next = new Set(tokensOf(at('[{"op":"replace","path":"/city","value":"San')));
    for (const token of [' Francisco', ' Jose', '"', '"}', ' Fran']) expect(next.has(token), token).toBe(true);
    for (const token of [' Diego', 'ta', ' Francis Bacon', ',', ' San']) expect(next.has(token), token).toBe(false);
  });

  test('names provenance as the clause where the schema alone would take the value', () => {
    const verdictOf = (output: string, token: string): unknown => at(output).explain(real.tokens.findIndex((bytes) => Buffer.from(bytes ?? []).toString('utf8') === token));
    expect(verdictOf('[{"op":"replace","path":"/city","value":"San', ' Francisco')).toEqual({ isAllowed: true });
    expect(verdictOf('[{"op":"replace","path":"/city","value":"San', ' Diego')).toEqual({ isAllowed: false, clause: { kind: 'provenance', pointer: '/city' } });
    expect(verdictOf('[{"op":"replace","path":"/guests","value":', '9')).toEqual({ isAllowed: false, clause: { kind: 'provenance', pointer: '/guests' } });
    expect(verdictOf(value('seating', '"in'), 'side')).toMatchObject({ isAllowed: false, clause: { kind: 'value', keyword: 'enum' } });
  });

  test('keeps a token budget', () => {
    const compiled = compileMask(booking, real, { provenance });
    if (!compiled.ok) throw new Error(compiled.error.code);
    const random = randomFrom(11);
    for (let walkNumber = 0; walkNumber < 6; walkNumber += 1) {
      const bound = compiled.value.bind(stateOf(CALL), { tokenBudget: 28 });
      if (!bound.ok) throw new Error(bound.error.code);
      let count = 0;
      for (; !bound.value.isTerminated(); count += 1) {
        const ids = count === 0 ? allowed(bound.value).filter((id) => real.tokens[id]?.[0] === 0x5b) : allowed(bound.value);
        expect(bound.value.acceptToken(ids[Math.floor(random() * ids.length)] as number).ok).toBe(true);
      }
      expect(count).toBeLessThanOrEqual(28);
    }
  }, TIMEOUT_MS);

  test('takes quotes, backslashes and text that looks like JSON as text', () => {
    const odd = { texts: ['say "a\\b" then ","path":"/city"}]'], candidate: {} };
    expect(isOpen(String.raw`[{"op":"replace","path":"/city","value":"\"a\\b\""}]`, odd)).toBe(true);
    expect(isOpen(String.raw`[{"op":"replace","path":"/city","value":"\",\"path\":\"/city\"}]"}]`, odd)).toBe(true);
    expect(isOpen('[{"op":"replace","path":"/city","value":"then","path"', odd)).toBe(false);
  });

  test('keeps normal forms apart and characters whole', () => {
    const odd = { texts: ['café 👩🏽‍💻 😀'], candidate: {} };
    expect(isOpen('[{"op":"replace","path":"/city","value":"café"}]', odd)).toBe(true);
    expect(isOpen('[{"op":"replace","path":"/city","value":"café', odd)).toBe(false);
    expect(isOpen('[{"op":"replace","path":"/city","value":"cafe"', odd)).toBe(false);
    expect(isOpen('[{"op":"replace","path":"/city","value":"👩🏽‍💻 😀"}]', odd)).toBe(true);
    expect(isOpen('[{"op":"replace","path":"/city","value":"👩🏽"', odd)).toBe(false);
  });

  test('allows nothing that the mask without provenance forbids', () => {
    const random = randomFrom(3);
    for (let walkNumber = 0; walkNumber < 6; walkNumber += 1) {
      const [closed, free] = [matcherOf(booking, CALL, real, 2, { provenance }), matcherOf(booking, CALL, real, 2)];
      for (let step = 0; step < 80; step += 1) {
        const [ids, freeIds] = [allowed(closed), new Set(allowed(free))];
        expect(ids.filter((id) => !freeIds.has(id))).toEqual([]);
        const patches = step === 0 ? ids.filter((id) => real.tokens[id]?.[0] === 0x5b) : ids;
        const id = patches[Math.floor(random() * patches.length)] as number;
        expect([closed, free].every((matcher) => matcher.acceptToken(id).ok)).toBe(true);
        if (closed.isTerminated()) break;
      }
    }
  }, TIMEOUT_MS);

  test('is another mask for other sources, and says so', () => {
    const digestWith = (sourcesOf: ProvenanceSources): string => at('[', sourcesOf).maskDigest();
    expect(digestWith(provenance)).toBe(digestWith({ candidate: { ...CALL }, texts: [REQUEST] }));
    expect(new Set([digestWith(provenance), digestWith({ ...provenance, texts: [`${REQUEST} `] }), matcherOf(booking, CALL, real).maskDigest()]).size).toBe(3);
    const compiled = compileMask(booking, real, { provenance });
    expect(compiled.ok && compiled.value.certificate.provenance).toEqual({ folded: true });
    const plain = compileMask(booking, real);
    expect(plain.ok && plain.value.certificate.provenance).toBeUndefined();
  });

  test('is not compiled for sources that cannot be honoured', () => {
    expect(compileMask(booking, real, { provenance: { texts: ['\ud800'], candidate: {} } })).toEqual({ ok: false, error: { code: 'provenance/lone-surrogate', place: { kind: 'request', text: 0 } } });
    expect(compileMask(booking, real, { provenance: { texts: ['ab '.repeat(100_000)], candidate: {} } })).toMatchObject({ ok: false, error: { code: 'provenance/too-long' } });
  });

  afterAll(() => { console.log(`closed mask = listing on ${pairCount.toLocaleString('en')} (state, token) pairs in ${stateCount} states`); });
});

function accepts({ next, symbolCount, intervalStarts, intervalSymbols, isAccepting }: Extract<ReturnType<typeof closedValues>, { readonly ok: true }>['value']['automaton'], tried: string): boolean {
  let state = 0;
  for (const character of tried) {
    const interval = intervalStarts.findLastIndex((start) => start <= (character.codePointAt(0) as number));
    const symbol = intervalSymbols[interval] as number;
    state = symbol < 0 ? -1 : next[state * symbolCount + symbol] as number;
    if (state < 0) return false;
  }
  return isAccepting[state] === 1;
}
