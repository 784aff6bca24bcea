/** What holds of every corruption, whatever call, family and seed: the judge, admission and the mask agree with it. Asked of production code, not of the engine's own checks. */
import {
  applyPatch, isPrefix, jsonEqual, judgeArguments, loadContract, parsePatch, readAbstention, validateArguments, type Contract, type JsonValue,
} from '@contractrl/core';
import { originFinder } from '@contractrl/core/schema';
import { compileMask } from '@contractrl/grammar-mask';
import { BYTE_VOCABULARY } from '@contractrl/runtime-webgpu/server';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answerText, corrupt, FAMILIES, isSpellable, openRandom, SINGLE_FAMILIES, UNREPAIRABLE_FAMILIES, type Corruption, type Family, type LegalCall, type SingleFamily } from '../src/index.ts';
import { textsOf } from '../src/request.ts';
import { CALLS, PUBLIC_CALLS, SYNTHETIC_CALLS } from './calls.ts';

const CODES: Readonly<Record<SingleFamily, readonly string[]>> = {
  missing_required: ['missing_required'], wrong_type_lossless: ['wrong_type'], wrong_type_lossy: ['wrong_type'], enum: ['enum_mismatch'], const: ['const_mismatch'], format: ['format_mismatch'],
  pattern: ['pattern_mismatch'], range: ['range_violation'], length: ['length_violation'], items: ['items_violation'], union: ['union_no_match'], additional_property: ['additional_property'],
  renamed_property: ['additional_property'], misplaced_value: ['missing_required', 'wrong_type'], cross_field: ['cross_field'],
};

const anyFamily = fc.constantFrom<Family>(...FAMILIES);
const anyCall = fc.constantFrom<LegalCall>(...CALLS);
const anySeed = fc.nat({ max: 2 ** 31 });

function draw(call: LegalCall, family: Family, seed: number): Corruption | undefined {
  const random = openRandom(seed, 'law');
  return corrupt(call, family, random, random.pickAny(CALLS));
}

/** Checks `law` on the corruptions that `arbitrary` families give; a call that has none of the family is passed over. */
function everyCorruption(families: fc.Arbitrary<Family>, law: (corruption: Corruption, call: LegalCall) => void, runs = 300): void {
  fc.assert(fc.property(anyCall, families, anySeed, (call, family, seed) => {
    const corruption = draw(call, family, seed);
    if (corruption !== undefined) law(corruption, call);
  }), { numRuns: runs });
}

// checklist: A3
describe('a corruption', () => {
  test('is no no-op: text and value differ from the legal call', () => {
    everyCorruption(anyFamily, ({ candidate, argumentsText }, call) => {
      expect(jsonEqual(candidate, call.arguments)).toBe(false);
      expect(JSON.parse(argumentsText)).toEqual(candidate);
    });
  });

  test('is refused by the judge with its code at its pointer, and the code is the family’s', () => {
    everyCorruption(anyFamily, ({ contract, argumentsText, code, pointer, family }) => {
      const { report } = validateArguments(contract, argumentsText);
      expect(report.kind === 'invalid' && report.violations.some((each) => each.code === code && each.pointer === pointer)).toBe(true);
      const codes = (CODES as Partial<Record<Family, readonly string[]>>)[family];
      if (codes !== undefined) expect(codes).toContain(code);
    });
  });

  test('of a repairable family is taken back exactly by its patch, which the contract admits and accepts', () => {
    everyCorruption(fc.constantFrom<Family>(...SINGLE_FAMILIES, 'several_fields'), ({ contract, candidate, answer, family }, call) => {
      if (answer.kind !== 'patch') throw new TypeError(family);
      const repaired = applyPatch(contract, candidate, answer.patch, contract.document.operationBudget);
      expect(repaired.ok && jsonEqual(repaired.value, call.arguments)).toBe(true);
      expect(answer.patch.length).toBe(family === 'several_fields' ? 2 : 1);
      expect(repaired.ok && judgeArguments(contract, JSON.stringify(repaired.value), {}, new Set()).kind).toBe('accepted');
    });
  });

  test('has an answer that reads back as itself, in the form the mask writes', () => {
    everyCorruption(anyFamily, ({ answer }) => {
      const text = answerText(answer);
      if (answer.kind === 'abstain') expect(readAbstention(text)).toBe(answer.code);
      else expect(parsePatch(text)).toEqual({ ok: true, value: answer.patch });
    });
  });

  test('has an answer that the mask admits byte by byte, unless a keyword of a public schema keeps it from writing there', () => {
    everyCorruption(anyFamily, (corruption, { source }) => {
      const { answer, contract } = corruption;
      const isAdmitted = isSpellable(corruption, answerText(answer));
      if (source === 'synthetic') expect(isAdmitted).toBe(true);
      else if (!isAdmitted) expect(unwritable(contract, answer.kind === 'patch' ? answer.patch.map(({ path }) => path) : [])).toBe(true);
    }, 200);
  });

  test('is the same for the same seed, and others differ', () => {
    fc.assert(fc.property(anyCall, anyFamily, anySeed, (call, family, seed) => {
      expect(JSON.stringify(draw({ ...call }, family, seed))).toBe(JSON.stringify(draw(call, family, seed)));
    }), { numRuns: 100 });
    const texts = new Set(Array.from({ length: 40 }, (_, seed) => draw(SYNTHETIC_CALLS[0]!, 'wrong_type_lossy', seed)?.argumentsText));
    expect(texts.size).toBeGreaterThan(5);
  });
});

/** Whether a keyword that the mask cannot constrain stands at, above or below one of the paths. */
function unwritable(contract: Contract, paths: readonly string[]): boolean {
  const mask = compileMask(contract, BYTE_VOCABULARY);
  return mask.ok && paths.some((path) => mask.value.certificate.unsupported.some(({ instanceLocation }) => {
    const place = instanceLocation.replaceAll(/\/\*/gu, '') as typeof instanceLocation;
    return isPrefix(place, path as typeof place) || isPrefix(path as typeof place, place);
  }));
}

describe('an unrepairable one', () => {
  // checklist: B9
  test('lacks a value that neither request nor call holds, or has its one place locked', () => {
    everyCorruption(fc.constantFrom<Family>(...UNREPAIRABLE_FAMILIES), ({ family, answer, contract, candidate, request, pointer }, call) => {
      expect(answer.kind).toBe('abstain');
      if (family === 'locked_field') {
        expect(contract.immutablePaths).toContain(pointer);
        return;
      }
      const lost = valueAt(call.arguments, pointer);
      const origins = originFinder({ texts: textsOf(request), candidate })(lost as JsonValue);
      expect(origins.every(({ origin }) => 'kind' in origin && origin.kind === 'model')).toBe(true);
      expect(request).not.toBe(call.request);
    });
  });

  test('of a locked field is refused by the gate for its lock, and mended without it', () => {
    let checked = 0;
    everyCorruption(fc.constant('locked_field'), ({ contract, candidate, pointer }, call) => {
      const value = valueAt(call.arguments, pointer)!;
      const patch = [{ op: valueAt(candidate, pointer) === undefined ? 'add' as const : 'replace' as const, path: pointer, value }];
      const refused = applyPatch(contract, candidate, patch, 2);
      expect(!refused.ok && refused.error.code).toBe('patch/locked-path');
      expect(applyPatch(call.contract, candidate, patch, 2).ok).toBe(true);
      checked += 1;
    }, 60);
    expect(checked).toBeGreaterThan(10);
  });

  test('of another tool has the request of another call', () => {
    everyCorruption(fc.constant('other_tool'), ({ request }) => { expect(CALLS.some((call) => call.request === request)).toBe(true); }, 60);
  });
});

function valueAt(document: JsonValue, pointer: string): JsonValue | undefined {
  return pointer.split('/').slice(1).reduce<JsonValue | undefined>((value, token) => (typeof value === 'object' && value !== null ? (value as Record<string, JsonValue>)[token] : undefined), document);
}

test.each(FAMILIES.map((family) => ({ family })))('$family is found among the calls', ({ family }) => {
  const found = CALLS.flatMap((call, seed) => draw(call, family, seed) ?? []);
  expect(found.length).toBeGreaterThan(4);
  expect(found.every((corruption) => corruption.family === family)).toBe(true);
});

test('faults lie on the top level, inside objects and inside lists, of public calls too', () => {
  for (const calls of [PUBLIC_CALLS, SYNTHETIC_CALLS]) {
    const positions = new Set(calls.flatMap((call, seed) => (['wrong_type_lossy', 'missing_required'] as const).flatMap((family) => draw(call, family, seed)?.position ?? [])));
    expect([...positions].sort()).toEqual(['array', 'nested', 'top']);
  }
});

test('a contract with two operations less one mends no two fields', () => {
  const call = SYNTHETIC_CALLS.find((each) => draw(each, 'several_fields', 1) !== undefined)!;
  const contract = loadContract({ ...call.contract.document, operationBudget: 1 });
  if (!contract.ok) throw new TypeError(contract.error.code);
  expect(draw({ ...call, contract: contract.value }, 'several_fields', 1)).toBeUndefined();
});
