/**
 * The exports against the mask: by Ajv, by an interpreter of GBNF that knows nothing of the export, and by llguidance itself. Whatever a
 * random walk of the mask spells is admitted; of texts a few characters away, exactly those the mask admits, where nothing is left out.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createJudge, loadContract, type Contract, type JsonObject, type JsonValue } from '@contractrl/core';
import { describeOmission, EXPORT_FORMATS, exportGrammar, type ExportedGrammar, type ExportFormat, type OmissionCode } from '../src/export/index.ts';
import { compileMask, type CompileOptions, type MaskMatcher } from '../src/index.ts';
import { allowed, contractOf, ODD_NAMES, randomFrom, stateOf, WEATHER } from './support/contracts.ts';
import { readGbnf } from './support/gbnf.ts';
import { openLlguidance } from './support/llguidance.ts';
import { randomCase } from './support/random-contracts.ts';
import { byteVocabulary, smollm2Vocabulary } from './support/vocabulary.ts';

const LIMITS = { maxStringLength: 3, maxItems: 2 };
const vocabulary = byteVocabulary(['[{"op":"', '"}]', '","value":', '"path":"/', 'true', '"a"', 'é', '😀']);
const stopId = vocabulary.stopIds[0] as number;
/** Left out of every export; the masks compared here do without them too. */
const OPTIONS_OF_THE_MASK: readonly OmissionCode[] = ['goal-directed-closing', 'no-op-exclusion', 'token-budget'];
/** Texts here stay far below the length that a format cannot count beside a pattern. */
const BEYOND_WALKS: readonly OmissionCode[] = ['string-length'];
const ALPHABET = [...'0123456789ab/~"\\{}[],:.-eé😀\n'];
const TIMEOUT_MS = 60_000;

interface Sample {
  readonly contract: Contract;
  readonly document: JsonValue;
  readonly operationsLeft: number;
  readonly limits: CompileOptions;
  /** What the mask lets through, and texts near it with the mask's verdict. */
  readonly texts: ReadonlyMap<string, boolean>;
}

function sampleOf(contract: Contract, document: JsonValue, operationsLeft: number, seed: number, walkCount: number, further: readonly string[] = [], limits: CompileOptions = LIMITS): Sample | undefined {
  const compiled = compileMask(contract, vocabulary, limits);
  const bound = compiled.ok ? compiled.value.bind(stateOf(document, operationsLeft)) : compiled;
  if (!bound.ok) return undefined;
  const random = randomFrom(seed);
  const texts = new Map(further.map((text) => [text, admits(bound.value, text)]));
  for (let count = 0; count < walkCount; count += 1) {
    const output = walk(bound.value, random);
    texts.set(output, true);
    for (let change = 0; change < 6; change += 1) {
      const near = mutated(output, random);
      texts.set(near, admits(bound.value, near));
    }
  }
  return { contract, document, operationsLeft, limits, texts };
}

function walk(matcher: MaskMatcher, random: () => number): string {
  matcher.reset();
  for (let step = 0; step < 2000; step += 1) {
    const ids = allowed(matcher);
    // nearly always past the abstain branch
    const choices = step === 0 && ids.includes(0x5b) && random() < 0.95 ? ids.filter((id) => vocabulary.tokens[id]?.[0] === 0x5b) : ids;
    const id = choices[Math.floor(random() * choices.length)] as number;
    if (!matcher.acceptToken(id).ok) break;
    if (id === stopId) return matcher.text();
  }
  throw new Error(`no end: ${matcher.text()}`);
}

function admits(matcher: MaskMatcher, text: string): boolean {
  matcher.reset();
  return [...Buffer.from(text, 'utf8')].every((byte) => matcher.acceptToken(byte).ok) && matcher.acceptToken(stopId).ok;
}

/** One character less, more, or another; or what stands between two marks of structure taken out, or written twice. */
function mutated(text: string, random: () => number): string {
  const characters = [...text];
  const pick = (count: number): number => Math.floor(random() * count);
  if (random() < 0.5) {
    const inserted = random() < 0.7 ? [ALPHABET[pick(ALPHABET.length)] as string] : [];
    characters.splice(pick(characters.length), random() < 0.7 ? 1 : 0, ...inserted);
    return characters.join('');
  }
  const marks = characters.flatMap((character, index) => ('{}[],:"'.includes(character) ? [index] : []));
  const [from, to] = [marks[pick(marks.length)] as number, marks[pick(marks.length)] as number].sort((a, b) => a - b) as [number, number];
  const middle = random() < 0.5 ? [] : [...characters.slice(from, to), ...characters.slice(from, to)];
  return [...characters.slice(0, from), ...middle, ...characters.slice(to)].join('');
}

function exported({ contract, document, operationsLeft, limits }: Sample, format: ExportFormat): ExportedGrammar {
  const grammar = exportGrammar(contract, stateOf(document, operationsLeft), format, limits);
  if (!grammar.ok) throw new Error(JSON.stringify(grammar.error));
  return grammar.value;
}

/** Whether the export claims to be equal to the mask. */
function isExact({ notCarried }: ExportedGrammar, beside: readonly OmissionCode[] = []): boolean {
  return notCarried.every(({ code }) => OPTIONS_OF_THE_MASK.includes(code) || beside.includes(code));
}

/** Values for the members of the weather tool, on both sides of what its schema allows. */
const WEATHER_VALUES: readonly (readonly [string, readonly string[]])[] = [
  ['/city', ['"ab"', '"a"', '"abcdefghijkl"', '"abcdefghijklm"', '"é😀"', '"\\u0001\\n"', '"\\u000a\\n"', '"\\/\\/"', 'null']],
  ['/days', ['1', '16', '0', '17', '01', '-1', '1.0', '1e0', '16 ']],
  ['/ratio', ['0.000001', '0.0000001', '1', '1.0', '1.00000000000001', '0', '0.0', '0.123456789012345', '0.1234567890123456', '-0.5']],
  ['/place', ['{"lat":-90,"lon":1}', '{"lat":-90.5,"lon":1}', '{"lat":90.0,"lon":9007199254740991}', '{"lat":0,"lon":9007199254740992}', '{"lat":1}', '{,"lon":1}', '{"lon":1}', '{}',
    '{"lon":1,"lat":1}', '{"lat":1,"lon":1,"label":"abcd"}', '{"lat":1,"lon":1,"label":"abcde"}', '{"lat":1,"lon":1,}', '{"lat":1,"lon":1,"x":1}', '{"label":"a"}']],
  ['/tags', ['[]', '["a"]', '["a","b","c"]', '["a","b","c","d"]', '["a",]', '[,"a"]', '["1234567"]', '["a" ]', '[1]']],
  ['/when', ['0', '-1', '"now or later"', '"now or latex"', '"12345678"', '"123456789"', 'true', '9007199254740991', '0.5']],
];
const WEATHER_TEXTS = WEATHER_VALUES.flatMap(([path, values]) => ['add', 'replace'].flatMap((op) => values.map((value) => `[{"op":"${op}","path":"${path}","value":${value}}]`)));

/** Patterns, formats, divisors and counts: what they exclude, and how a JSON string spells it. */
const CONTENT: JsonObject = {
  type: 'object',
  properties: {
    date: { type: 'string', format: 'date' },
    id: { type: 'string', pattern: '^[A-Z]{2}-[0-9]{1,3}$' },
    slug: { type: 'string', pattern: '^[a-z]+(?:-[a-z]+)*$' },
    time: { type: 'string', format: 'date-time' },
    part: { type: 'string', pattern: '["é\\\\\\n]', maxLength: 4 },
    step: { type: 'integer', multipleOf: 7, minimum: -20, maximum: 700 },
    not: { type: 'integer', not: { enum: [3, 5] }, minimum: 1, maximum: 9 },
    set: { type: 'array', items: { enum: ['a', 'b', 'c'] }, uniqueItems: true },
    some: { type: 'object', properties: { a: { type: 'null' }, b: { type: 'null' }, c: { type: 'null' } }, minProperties: 1, maxProperties: 2, additionalProperties: false },
  },
};
const CONTENT_TEXTS = [
  ['/date', ['"2024-02-29"', '"2023-02-29"', '"2024-13-01"', '"2024-2-9"', '""']],
  ['/id', ['"AB-1"', '"AB-123"', '"AB-1234"', '"xAB-1"', '"ab-1"', '"AB-"']],
  ['/slug', ['"a-b"', '"a"', '"a-"', '"-a"', '"a--b"', '""']],
  ['/time', ['"2024-02-29T10:00:00Z"', '"2024-02-29T10:00:00.1234567+02:00"', '"2023-02-29T10:00:00Z"', '"2024-02-29T25:00:00Z"', '"2024-02-29"']],
  ['/part', ['"\\""', '"a\\\\b"', '"\\n"', '"é"', '"aaaé"', '"aaaaé"', '"aaa"', '""', '"\\u000a"']],
  ['/step', ['0', '7', '-14', '-21', '700', '707', '8', '7.0']],
  ['/not', ['1', '3', '5', '9', '10']],
  ['/set', ['[]', '["a","b","c"]', '["b","a"]', '["a","a"]', '["d"]']],
  ['/some', ['{}', '{"a":null}', '{"b":null,"c":null}', '{"a":null,"b":null,"c":null}', '{"c":null,"a":null}', '{"a":null,"a":null}']],
].flatMap(([path, values]) => (values as string[]).map((value) => `[{"op":"add","path":"${String(path)}","value":${value}}]`));

const hand: readonly Sample[] = [1, 2].flatMap((operationsLeft) => [
  sampleOf(contractOf(WEATHER), { city: 7, days: 'two', tags: ['a'], place: { lat: 1, lon: 2 } }, operationsLeft, 1, 25, WEATHER_TEXTS) ?? [],
  sampleOf(contractOf(ODD_NAMES), { '': 1, 'a"b/c~d': 2 }, operationsLeft, 2, 25) ?? [],
].flat());
/** One member at a time, since what one cannot carry would make the whole inexact. */
const content: readonly Sample[] = Object.entries(CONTENT['properties'] as JsonObject).flatMap(([name, member]) => (
  sampleOf(contractOf({ type: 'object', properties: { [name]: member } }), {}, 1, 3, 8, CONTENT_TEXTS, {}) ?? []
));
const samples: readonly Sample[] = [...hand, ...content, ...fc.sample(randomCase, { numRuns: 60, seed: 4 }).flatMap(({ parameters, document, overrides, operationsLeft, seed }) => {
  const contract = loadContract({ tool: { name: 'tool', description: '', parameters }, ...overrides });
  // one operation, so that the export is exact, as often as several
  return contract.ok ? sampleOf(contract.value, document, seed % 2 === 0 ? Math.min(1, operationsLeft) : operationsLeft, seed, 4) ?? [] : [];
})];

function expectAgreement(sample: Sample, grammar: ExportedGrammar, text: string, isAdmitted: boolean, exact: boolean): void {
  const expected = sample.texts.get(text) === true;
  if (expected || exact) expect(isAdmitted, `${text}\nin\n${grammar.text}`).toBe(expected);
}

describe('GBNF', () => {
  test('admits what the mask admits, and no other text where it claims to be exact', () => {
    const counts = { admitted: 0, refused: 0 };
    for (const sample of samples) {
      const grammar = exported(sample, 'gbnf');
      const isInGrammar = readGbnf(grammar.text);
      for (const [text, expected] of sample.texts) {
        expectAgreement(sample, grammar, text, isInGrammar(text), isExact(grammar, BEYOND_WALKS));
        if (isExact(grammar, BEYOND_WALKS)) counts[expected ? 'admitted' : 'refused'] += 1;
      }
    }
    console.log(`GBNF, exact exports: ${counts.admitted} texts admitted, ${counts.refused} refused`);
    expect(Math.min(counts.admitted, counts.refused)).toBeGreaterThan(100);
  }, TIMEOUT_MS);

  test('lengths and counts beyond what llama.cpp can repeat are widened and named', () => {
    const contract = contractOf({ type: 'object', properties: { text: { type: 'string', maxLength: 2001 }, list: { type: 'array', items: { type: 'null' }, maxItems: 5000 } } });
    const grammar = exportGrammar(contract, stateOf({ text: 1, list: 1 }, 1), 'gbnf');
    if (!grammar.ok) throw new Error(grammar.error.code);
    expect(grammar.value.notCarried).toEqual(expect.arrayContaining([{ code: 'string-length', pointer: '/text' }, { code: 'item-count', pointer: '/list' }]));
    expect(readGbnf(grammar.value.text)(`[{"op":"replace","path":"/text","value":"${'é'.repeat(2001)}"}]`)).toBe(true);
  });
});

describe('JSON Schema', () => {
  test('Ajv admits what the mask admits, and no other value where the export claims to be exact but for spelling', () => {
    let refused = 0;
    for (const sample of samples) {
      const grammar = exported(sample, 'json-schema');
      const judge = createJudge(JSON.parse(grammar.text) as JsonObject, '2020-12');
      if (!judge.ok) throw new Error(`${judge.error.code}\n${grammar.text}`);
      for (const [text, expected] of sample.texts) {
        const value = parsed(text);
        if (value === undefined) continue;
        // one member at most, so that the mask's order of members is the only one, and no number that is too long for it
        const isSpelled = JSON.stringify(value) === text && !/"value":.*:.*,.*:|[0-9.]{16}/.test(text);
        const isAdmitted = judge.value.judge(value).length === 0;
        expectAgreement(sample, grammar, text, isAdmitted, isSpelled && isExact(grammar, ['spelling', 'number-spelling']));
        if (!expected && !isAdmitted) refused += 1;
      }
    }
    console.log(`JSON Schema: ${refused} changed values refused by both`);
    expect(refused).toBeGreaterThan(100);
  }, TIMEOUT_MS);
});

describe('Lark', () => {
  const check = openLlguidance();

  test.skipIf(check === undefined)('llguidance 1.9.1 admits what the mask admits, and no other text where the export claims to be exact (needs Python with pip)', () => {
    const grammars = samples.map((sample) => exported(sample, 'lark'));
    const answers = check?.(samples.map((sample, index) => ({ grammar: (grammars[index] as ExportedGrammar).text, texts: [...sample.texts.keys()] }))) ?? [];
    const counts = { admitted: 0, refused: 0 };
    samples.forEach((sample, index) => {
      const [grammar, answer] = [grammars[index] as ExportedGrammar, answers[index]];
      if (answer === undefined || 'error' in answer) throw new Error(`${answer?.error ?? 'no answer'}\n${grammar.text}`);
      [...sample.texts].forEach(([text, expected], place) => {
        expectAgreement(sample, grammar, text, answer.accepted[place] === true, isExact(grammar, BEYOND_WALKS));
        if (isExact(grammar, BEYOND_WALKS)) counts[expected ? 'admitted' : 'refused'] += 1;
      });
    });
    console.log(`Lark in llguidance, exact exports: ${counts.admitted} texts admitted, ${counts.refused} refused`);
    expect(Math.min(counts.admitted, counts.refused)).toBeGreaterThan(100);
  }, TIMEOUT_MS);
});

describe.each(EXPORT_FORMATS)('%s', (format) => {
  test('says what it leaves out, and of later operations that they do not know the document', () => {
    const codes = (operationsLeft: number): readonly string[] => {
      const grammar = exportGrammar(contractOf(WEATHER), stateOf({ city: 7 }, operationsLeft), format);
      return grammar.ok ? grammar.value.notCarried.map(({ code }) => code) : [];
    };
    expect(codes(1)).toEqual(expect.arrayContaining([...OPTIONS_OF_THE_MASK]));
    expect(codes(1)).not.toContain('second-operation-document');
    expect(codes(2)).toContain('second-operation-document');
  });

  test.each([[0, 2], [2, 0]])('with %i operations and %i attempts left only ABSTAIN remains, whole', (operationsLeft, attemptsLeft) => {
    const grammar = exportGrammar(contractOf(WEATHER), stateOf({ city: 7 }, operationsLeft, attemptsLeft), format, { abstainCodes: ['locked'] });
    if (!grammar.ok) throw new Error(grammar.error.code);
    expect(grammar.value.notCarried.filter(({ code }) => code !== 'spelling')).toEqual([]);
    expect(grammar.value.text).toContain('locked');
    expect(grammar.value.text).not.toContain('replace');
  });

  test('a budget that is no count is refused', () => {
    expect(exportGrammar(contractOf(WEATHER), stateOf({ city: 7 }, 1.5), format)).toEqual({ ok: false, error: { code: 'mask/bad-budget', budget: 'operationsLeft', value: 1.5 } });
  });

  test('locked pointers are not written by the first operation, nor are places with keywords that the mask refuses', () => {
    const contract = contractOf({ type: 'object', properties: { a: { type: 'null' }, b: { type: 'null' }, c: { type: 'string', format: 'regex' } } }, { immutablePaths: ['/a'], allowedOperations: ['replace'] });
    const grammar = exportGrammar(contract, stateOf({ a: 1, b: 1, c: 1 }, 1), format);
    if (!grammar.ok) throw new Error(grammar.error.code);
    expect(grammar.value.text).toContain('/b');
    expect(grammar.value.text).not.toMatch(/\/[ac]\\?"/);
  });
});

test('characters that a vocabulary can only escape are admitted in both spellings, and named', () => {
  const contract = contractOf({ type: 'object', properties: { name: { type: 'string', maxLength: 3 } } });
  const grammar = exportGrammar(contract, stateOf({ name: 1 }, 1), 'gbnf', { vocabulary: smollm2Vocabulary() });
  if (!grammar.ok) throw new Error(grammar.error.code);
  const isInGrammar = readGbnf(grammar.value.text);
  for (const name of ['\u{40000}', '\\ud8c0\\udc00']) expect(isInGrammar(`[{"op":"replace","path":"/name","value":"${name}"}]`)).toBe(true);
  expect(grammar.value.notCarried.map(describeOmission)).toContainEqual(expect.stringMatching(/^character-spelling: /));
});

test('more sources of a move than can be listed leave its target open, and that is named', () => {
  const names = Array.from({ length: 70 }, (_, index) => `m${index}`);
  const contract = contractOf({ type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'null' }])) }, { allowedOperations: ['move'] });
  const grammar = exportGrammar(contract, stateOf(Object.fromEntries(names.map((name) => [name, null])), 1), 'gbnf');
  if (!grammar.ok) throw new Error(grammar.error.code);
  expect(grammar.value.notCarried).toContainEqual({ code: 'transfer-targets' });
  expect(readGbnf(grammar.value.text)('[{"op":"move","from":"/m3","path":"/m69"}]')).toBe(true);
});

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
