/**
 * The mask on the real vocabulary of SmolLM2: preparation, compile, bind, and every operation of a matcher over distinct cold states,
 * that is, states no earlier call of the same compiled mask has seen in that order. Run with `npx vitest bench --run benchmarks/micro/mask.bench.ts`.
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { bench } from 'vitest';
import { loadContract, type Contract, type JsonObject, type JsonPointer, type JsonValue, type RepairState } from '@contractrl/core';
import { bitmaskLength, compileMask, createVocabulary, type CompiledMask, type MaskMatcher, type TokenId, type Vocabulary } from '@contractrl/grammar-mask';

const OUTPUT_COUNT = 60;
/** Calls before measuring, for the compiler of the host. */
const WARM_UP_COUNT = 50;

/** The committed tokens of SmolLM2 (a length byte, then the token), spelled by the longest match: here only states count, not canonicity. */
function loadVocabulary(): Vocabulary {
  const raw = gunzipSync(readFileSync(new URL('../../packages/grammar-mask/tests/fixtures/smollm2-vocabulary.gz', import.meta.url)));
  const tokens: (Uint8Array | undefined)[] = [];
  const ids = new Map<string, TokenId>();
  for (let offset = 0; offset < raw.length;) {
    const end = offset + 1 + (raw[offset] as number);
    ids.set(raw.toString('latin1', offset + 1, end), tokens.length);
    tokens.push(end === offset + 1 ? undefined : Uint8Array.from(raw.subarray(offset + 1, end)));
    offset = end;
  }
  const encode = (text: string): readonly TokenId[] => {
    const found: TokenId[] = [];
    for (let offset = 0; offset < text.length;) {
      let length = Math.min(24, text.length - offset);
      while (!ids.has(text.slice(offset, offset + length))) length -= 1;
      found.push(ids.get(text.slice(offset, offset + length)) as TokenId);
      offset += length;
    }
    return found;
  };
  const created = createVocabulary({ logitWidth: tokens.length, tokens, stopIds: [2], encode });
  if (!created.ok) throw new Error(created.error.code);
  return created.value;
}

/** `pathCount` members of mixed types; strings bounded by `maxLength`. */
function contractOf(pathCount: number, maxLength: number): Contract {
  const kinds: JsonObject[] = [{ type: 'string', maxLength }, { type: 'integer', minimum: 0, maximum: 5000 }, { type: 'string', enum: ['alpha', 'beta', 'gamma'] }, { type: 'boolean' }];
  const properties = Object.fromEntries(Array.from({ length: pathCount }, (_, index) => [`field_${index}`, kinds[index % kinds.length] as JsonObject]));
  const loaded = loadContract({ tool: { name: 'tool', description: '', parameters: { type: 'object', properties, additionalProperties: false } }, operationBudget: 3 });
  if (!loaded.ok) throw new Error(loaded.error.code);
  return loaded.value;
}

function stateFor(candidate: JsonValue): RepairState {
  return { candidate, code: 'wrong_type', pointer: '' as JsonPointer, history: [], attemptsLeft: 2, operationsLeft: 3 };
}

/** Half of the members present, each with a value of its own, as `salt` chooses. */
function documentFor(pathCount: number, salt: number): JsonValue {
  return Object.fromEntries(Array.from({ length: pathCount }, (_, index) => index).filter((index) => (index + salt) % 2 === 0).map((index) => [`field_${index}`, `${salt} ${index}`]));
}

function quantiles(times: number[]): string {
  times.sort((a, b) => a - b);
  const at = (share: number): string => ((times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0) * 1000).toFixed(1).padStart(8);
  const mean = times.reduce((total, time) => total + time, 0) / times.length * 1000;
  return `n ${String(times.length).padStart(5)}  p50 ${at(0.5)}  p95 ${at(0.95)}  p99 ${at(0.99)}  mean ${mean.toFixed(1).padStart(8)}  max ${at(1)} µs`;
}

function timed<T>(times: number[], run: () => T): T {
  const start = performance.now();
  const result = run();
  times.push(performance.now() - start);
  return result;
}

/** One operation that a policy would write, on a member that exists or not. */
function outputFor(index: number, pathCount: number): string {
  const path = `/field_${(index * 4) % pathCount}`;
  const value = `value ${index * 7919} for ${String.fromCharCode(97 + index % 26).repeat(index % 9)} and ${index}`.slice(0, 60);
  return `[{"op":"${index % 2 === 0 ? 'replace' : 'add'}","path":"${path}","value":"${value}"}`;
}

function measure(vocabulary: Vocabulary, pathCount: number, maxLength: number): void {
  const contract = contractOf(pathCount, maxLength);
  const times = { compile: [] as number[], bind: [] as number[], mask: [] as number[], accept: [] as number[], fork: [] as number[], forced: [] as number[] };
  const bitmask = new Int32Array(bitmaskLength(vocabulary.logitWidth));
  const compile = (): CompiledMask => {
    const compiled = compileMask(contract, vocabulary);
    if (!compiled.ok) throw new Error(compiled.error.code);
    return compiled.value;
  };
  for (let count = 0; count < 20; count += 1) timed(times.compile, compile);
  const compiled = compile();
  let calls = 0;
  for (let index = 0; index < OUTPUT_COUNT; index += 1) {
    const bound = timed(times.bind, () => compiled.bind(stateFor(documentFor(pathCount, index % 2 === 0 ? 0 : 1))));
    if (!bound.ok) throw new Error(bound.error.code);
    const matcher: MaskMatcher = bound.value;
    for (const id of vocabulary.encode(outputFor(index, pathCount))) {
      calls += 1;
      const isWarm = calls > WARM_UP_COUNT;
      timed(isWarm ? times.mask : [], () => matcher.fillBitmask(bitmask));
      timed(isWarm ? times.fork : [], () => matcher.fork());
      timed(isWarm ? times.forced : [], () => matcher.forcedTokens());
      if (!timed(isWarm ? times.accept : [], () => matcher.acceptToken(id)).ok) break;
    }
  }
  console.log(`${pathCount} paths, maxLength ${maxLength}`);
  for (const [name, all] of Object.entries(times)) console.log(`  ${name.padEnd(8)} ${quantiles(all)}`);
}

const prepared: number[] = [];
const vocabulary = loadVocabulary();
timed(prepared, () => compileMask(contractOf(4, 64), vocabulary));
console.log(`vocabulary of ${vocabulary.tokens.length} tokens prepared in ${(prepared[0] as number).toFixed(0)} ms`);
for (const [pathCount, maxLength] of [[4, 64], [16, 64], [16, 4096], [64, 64]] as const) measure(vocabulary, pathCount, maxLength);

const compiled = compileMask(contractOf(16, 64), vocabulary);
const bound = compiled.ok ? compiled.value.bind(stateFor({})) : compiled;
if (!bound.ok) throw new Error(bound.error.code);
const bitmask = new Int32Array(bitmaskLength(vocabulary.logitWidth));
bench('the mask at the start of an output, warm', () => { bound.value.fillBitmask(bitmask); });
