import { jsonEqual, type JsonObject, type JsonValue } from '@contractrl/core';
import fc from 'fast-check';
import { applyPatch, type Operation } from 'fast-json-patch';
import { expect, test } from 'vitest';
import { corruptionsOf } from './corruptions.ts';

test.each<[string, JsonObject]>([
  ['absent', { item_ids: ['a1'] }],
  ['null', { order_id: null, item_ids: ['a1'] }],
  ['renamed', { orderId: 'no 7', item_ids: ['a1'] }],
  ['in-list', { order_id: ['no 7'], item_ids: ['a1'] }],
  ['upper-case', { order_id: 'NO 7', item_ids: ['a1'] }],
])('%s spoils a text', (form, expected) => {
  expect(corruptionsOf({ order_id: 'no 7', item_ids: ['a1'] }).find((one) => one.form === form && one.field === 'order_id')?.arguments).toEqual(expected);
});

test('a list loses its brackets or becomes a text, and digits become a number where that gives the same digits', () => {
  const written = corruptionsOf({ ids: ['a1'], zip: '80279', code: '0150' }).filter(({ form }) => ['json-text', 'out-of-list', 'number'].includes(form));
  expect(written.map(({ form, field, arguments: args }) => [form, field, args[field]])).toEqual([['json-text', 'ids', '["a1"]'], ['out-of-list', 'ids', 'a1'], ['number', 'zip', 80279]]);
});

// checklist: A3, D1
test('the canonical patch takes every fault back', () => {
  const value = fc.oneof(fc.string(), fc.constantFrom('12', 'no longer needed'), fc.array(fc.string(), { maxLength: 3 }));
  const call = fc.dictionary(fc.constantFrom('order_id', 'item_ids', 'zip', 'payment_method_id'), value, { minKeys: 1 });
  fc.assert(fc.property(call, (legal) => {
    for (const { arguments: spoilt, patch } of corruptionsOf(legal)) {
      expect(jsonEqual(spoilt, legal)).toBe(false);
      const mended = applyPatch(structuredClone(spoilt) as object, structuredClone(patch) as unknown as Operation[], true).newDocument as JsonValue;
      expect(jsonEqual(mended, legal)).toBe(true);
    }
  }));
});
