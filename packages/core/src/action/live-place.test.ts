/** The tree of a document says the same whatever it took over from the tree of the document before, and takes over all that did not change. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadContract, type Contract } from '../contract/contract.ts';
import { cloneJson, deepFreeze, type JsonValue } from '../json/value.ts';
import { admitOperation } from '../patch/admit.ts';
import { applyAdmitted, applyPatch } from '../patch/apply.ts';
import type { Operation } from '../patch/operation.ts';
import { livePlacesOf, transferPlaces, type LivePlace } from './live-place.ts';

const NAMES = ['a', 'b', 'x/y', 'z', 'prototype'] as const;
const RECURSIVE = {
  $ref: '#/$defs/node',
  $defs: { node: { properties: { a: { $ref: '#/$defs/node' }, b: { type: 'integer' }, 'x/y': { $ref: '#/$defs/node' } }, additionalProperties: false, prefixItems: [{ type: 'string' }], items: { $ref: '#/$defs/node' } } },
};
/** Which branch is open depends on the values beside a place. */
const UNIONS = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      oneOf: [
        { properties: { b: { const: 1 }, a: { $ref: '#/$defs/node' }, z: false } },
        { properties: { b: { enum: [2, 'v'] }, a: { type: 'string' }, 'x/y': { items: { $ref: '#/$defs/node' } } }, additionalProperties: false },
      ],
    },
  },
};

function contractOf(parameters: object, immutablePaths: readonly string[]): Contract {
  const contract = loadContract({ tool: { name: 'places', parameters }, immutablePaths, operationBudget: 8 });
  if (!contract.ok) throw new TypeError(contract.error.code);
  return contract.value;
}

const { node } = fc.letrec<{ node: JsonValue }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<JsonValue>(0, 1, 2, 'v', null),
    fc.dictionary(fc.constantFrom(...NAMES), tie('node'), { maxKeys: 3 }) as fc.Arbitrary<JsonValue>,
    fc.array(tie('node'), { maxLength: 3 }) as fc.Arbitrary<JsonValue>,
  ),
}));
const scene = fc.record({
  document: (fc.dictionary(fc.constantFrom(...NAMES), node, { maxKeys: 3 }) as fc.Arbitrary<JsonValue>).map((value) => deepFreeze(cloneJson(value))),
  contract: fc.constantFrom(RECURSIVE, UNIONS).chain((schema) => fc.constantFrom([], ['/a/1'], ['/x~1y/a', '/b']).map((locked) => contractOf(schema, locked))),
  steps: fc.array(fc.record({ seed: fc.nat(), value: node, asks: fc.boolean() }), { minLength: 1, maxLength: 4 }),
});

/** All that a tree says, transfers included. */
function told(contract: Contract, root: LivePlace): unknown {
  const one = (place: LivePlace): unknown => {
    const { pointer, token, value, arrayLength, canInsert, point } = place;
    const read = point.place;
    return { pointer, token, value, arrayLength, canInsert, schema: read.ok ? read.value.key : read.error.keyword, ...(value === undefined ? {} : { canRemove: place.canRemove, canReplace: place.canReplace }) };
  };
  const places = [...root.all()];
  const transfers = places.flatMap((from) => (['move', 'copy'] as const).map((kind) => {
    const { root: base, admits } = transferPlaces(contract, root, kind, from);
    return [kind, from.pointer, from.canGive(kind), [...base.all(), ...base.allOpen()].filter(admits).map(({ pointer }) => pointer)];
  }));
  return { places: places.map(one), open: [...root.allOpen()].map(one), transfers };
}

/** An admitted operation, by chance. */
function operationOn(contract: Contract, root: LivePlace, seed: number, value: JsonValue): Operation | undefined {
  const held = [...root.all()];
  const everywhere = [...held, ...root.allOpen()];
  const all: Operation[] = everywhere.flatMap(({ pointer: path }): Operation[] => [
    { op: 'add', path, value }, { op: 'replace', path, value }, { op: 'remove', path },
    ...held.flatMap(({ pointer: from }): Operation[] => [{ op: 'move', from, path }, { op: 'copy', from, path }]),
  ]);
  const admitted = all.filter((operation) => admitOperation(contract, root.value as JsonValue, operation, 1).ok);
  return admitted[seed % Math.max(1, admitted.length)];
}

describe('the tree of the document after an operation', () => {
  test('says what a tree from scratch says, whether or not the one before was asked anything', () => {
    let count = 0;
    fc.assert(fc.property(scene, ({ document, contract, steps }) => {
      let root = livePlacesOf(contract, document);
      for (const { seed, value, asks } of steps) {
        if (asks) told(contract, root);
        const operation = operationOn(contract, livePlacesOf(contract, root.value as JsonValue), seed, value);
        if (operation === undefined) return;
        const after = applyAdmitted(root.value as JsonValue, operation);
        expect({ ok: true, value: after }).toEqual(applyPatch(contract, root.value as JsonValue, [operation], 1));
        root = livePlacesOf(contract, after, root);
        // a contract of its own has no points that an earlier document left
        const fresh = contractOf(contract.schema, contract.immutablePaths);
        expect(told(contract, root)).toEqual(told(fresh, livePlacesOf(fresh, cloneJson(after))));
        count += 1;
      }
    }), { numRuns: 60 });
    expect(count).toBeGreaterThan(60);
  });

  test('takes over every place that did not change', () => {
    const contract = contractOf(RECURSIVE, []);
    const before = livePlacesOf(contract, { a: { a: [1, 2], b: 1 }, 'x/y': { a: 1 }, b: 2 });
    told(contract, before);
    const [a, xy, b] = livePlacesOf(contract, applyAdmitted(before.value as JsonValue, { op: 'replace', path: '/a/b' as never, value: 7 }), before).held;
    expect([xy, b]).toEqual([before.held[1], before.held[2]]);
    expect([a === before.held[0], xy === before.held[1], b === before.held[2], a?.held[0] === before.held[0]?.held[0], a?.held[1] === before.held[0]?.held[1]]).toEqual([false, true, true, true, false]);
  });

  test('takes over nothing where a value beside it opens another branch', () => {
    const contract = contractOf(UNIONS, []);
    const before = livePlacesOf(contract, { b: 1, a: 'v' });
    told(contract, before);
    const after = livePlacesOf(contract, applyAdmitted(before.value as JsonValue, { op: 'replace', path: '/b' as never, value: 2 }), before);
    expect(after.held[1]).not.toBe(before.held[1]);
    expect([before.open.map(({ pointer }) => pointer), after.open.map(({ pointer }) => pointer)]).toEqual([['/z'], ['/x~1y']]);
  });
});
