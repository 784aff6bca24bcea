/**
 * Full validation of a repaired call of 2 KB: its text is read strictly, frozen, looked through for forbidden names, judged by the schema, and by the
 * checks across fields. The answer is looked at before the clock.
 */
import { loadContract, validateArguments, type JsonObject } from '@contractrl/core';

export interface ValidationSpeed {
  readonly textLength: number;
  readonly warmUps: number;
  /** Microseconds of each validation. */
  readonly validUs: readonly number[];
  /** The same call with one wrong member: its report is made too. */
  readonly invalidUs: readonly number[];
  /** `JSON.parse` of the same text, for comparison. */
  readonly parseUs: readonly number[];
}

const closed = (properties: JsonObject, required: readonly string[]): JsonObject => ({ type: 'object', properties, required, additionalProperties: false });
const DATE: JsonObject = { type: 'string', format: 'date' };
const TEXT: JsonObject = { type: 'string' };

const ORDER = closed({
  order_id: { type: 'string', pattern: '^ORD-[0-9]{6}$' },
  note: { type: 'string', maxLength: 2_000 },
  currency: { enum: ['EUR', 'USD', 'CHF'] },
  customer: closed({ name: TEXT, email: { type: 'string', format: 'email' }, phone: { type: ['string', 'null'] } }, ['name', 'email']),
  lines: {
    type: 'array', minItems: 1,
    items: closed({ sku: { type: 'string', pattern: '^[A-Z]{3}-[0-9]{4}$' }, quantity: { type: 'integer', minimum: 1 }, unit_price: { type: 'number', minimum: 0, multipleOf: 0.01 }, title: TEXT, gift: { type: 'boolean' } }, ['sku', 'quantity', 'unit_price']),
  },
  delivery: { oneOf: [
    closed({ kind: { const: 'pickup' }, shop: TEXT }, ['kind', 'shop']),
    closed({ kind: { const: 'post' }, street: TEXT, city: TEXT, date: DATE }, ['kind', 'street', 'city']),
  ] },
  window: closed({ from: DATE, to: DATE }, ['from', 'to']),
}, ['order_id', 'currency', 'customer', 'lines', 'delivery']);

const CALL: JsonObject = {
  order_id: 'ORD-004711', note: 'Please ring twice. '.repeat(8), currency: 'EUR',
  customer: { name: 'Ada Example', email: 'ada@example.org', phone: null },
  lines: Array.from({ length: 17 }, (_, index) => ({ sku: `ABC-${String(1_000 + index)}`, quantity: index + 1, unit_price: (1_999 + index) / 100, title: 'Blue widget, small', gift: index % 2 === 0 })),
  delivery: { kind: 'post', street: '1 Long Street', city: 'Bern', date: '2026-11-30' },
  window: { from: '2026-12-01', to: '2026-12-04' },
};

export function measureValidation(rounds: number): ValidationSpeed {
  const loaded = loadContract({ tool: { name: 'order', parameters: ORDER }, crossField: [{ kind: 'lte', a: '/window/from', b: '/window/to' }] });
  if (!loaded.ok) throw new TypeError(loaded.error.code);
  const contract = loaded.value;
  const valid = JSON.stringify(CALL);
  const invalid = JSON.stringify({ ...CALL, currency: 'eur' });
  const kinds = [valid, invalid].map((text) => validateArguments(contract, text).report.kind);
  if (kinds.join() !== 'valid,invalid') throw new TypeError(`the call to be measured is ${kinds.join()}`);
  const warmUps = Math.ceil(rounds / 4);
  const time = (work: () => unknown): readonly number[] => {
    for (let round = 0; round < warmUps; round += 1) work();
    return Array.from({ length: rounds }, () => {
      const startedAt = performance.now();
      work();
      return Math.round((performance.now() - startedAt) * 1e4) / 10;
    });
  };
  return {
    textLength: valid.length, warmUps,
    validUs: time(() => validateArguments(contract, valid)), invalidUs: time(() => validateArguments(contract, invalid)), parseUs: time(() => JSON.parse(valid)),
  };
}
