import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { z as zod3 } from 'zod/v3';
import { loadContract } from '../contract/contract.ts';
import { validateValue } from '../validate/validate.ts';
import { checkFromStandardSchema, contractFromStandardSchema } from './standard-schema.ts';

const BOOKING = z.object({ guests: z.number().int().min(1), from: z.iso.date(), to: z.iso.date(), note: z.string().optional() })
  .refine(({ from, to }) => from < to, { path: ['to'] });

describe('a zod schema', () => {
  test.each([
    ['by the converter that it brings', {}],
    ['by the library\'s own function', { toJsonSchema: (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input' }) }],
  ])('becomes a contract %s', (_, options) => {
    const read = contractFromStandardSchema({ name: 'book', schema: BOOKING }, options);
    expect(read).toMatchObject({ ok: true, value: { notes: [{ code: 'source/rules-beyond-schema', pointer: '/schema', params: { vendor: 'zod' } }] } });
    const contract = read.ok ? loadContract(read.value.document) : read;
    if (!contract.ok) throw new Error(contract.error.code);
    expect(validateValue(contract.value, { guests: 2, from: '2026-01-02', to: '2026-01-05' }).kind).toBe('valid');
    expect(validateValue(contract.value, { guests: '2', from: '2026-01-02', to: 'soon' })).toMatchObject({
      violations: expect.arrayContaining([expect.objectContaining({ pointer: '/guests' }), expect.objectContaining({ pointer: '/to' })]) as unknown,
    });
  });

  test('its refinements come in as a check', () => {
    const read = contractFromStandardSchema({ name: 'book', schema: BOOKING }, { contract: { crossField: [{ kind: 'function', name: 'booking', version: '1' }] } });
    const contract = read.ok ? loadContract(read.value.document, { functions: [checkFromStandardSchema(BOOKING, { name: 'booking', version: '1' })] }) : read;
    if (!contract.ok) throw new Error(contract.error.code);
    expect(validateValue(contract.value, { guests: 2, from: '2026-01-02', to: '2026-01-05' }).kind).toBe('valid');
    expect(validateValue(contract.value, { guests: 2, from: '2026-01-05', to: '2026-01-02' })).toMatchObject({ violations: [{ code: 'cross_field', pointer: '/to' }] });
  });

  test('that validates asynchronously accepts nothing', () => {
    const later = z.object({ a: z.string() }).refine(() => Promise.resolve(true));
    const contract = loadContract({ tool: { name: 't', parameters: {} }, crossField: [{ kind: 'function', name: 'f', version: '1' }] }, { functions: [checkFromStandardSchema(later, { name: 'f', version: '1' })] });
    expect(contract.ok && validateValue(contract.value, { a: 'x' }).kind).toBe('invalid');
  });

  test('with what JSON Schema cannot say is refused by the library\'s own words', () => {
    expect(contractFromStandardSchema({ name: 't', schema: z.object({ at: z.date() }) }))
      .toMatchObject({ ok: false, error: { code: 'source/not-convertible', params: { from: 'zod', reason: expect.stringContaining('Date') as string } } });
  });
});

test('a schema without a converter, as of zod 3, is refused by the name of its library', () => {
  expect(contractFromStandardSchema({ name: 't', schema: zod3.object({}) })).toMatchObject({ ok: false, error: { code: 'source/no-converter', params: { vendor: 'zod' } } });
});

test('what is no Standard Schema is refused', () => {
  expect(contractFromStandardSchema({ name: 't', schema: {} as never })).toMatchObject({ ok: false, error: { code: 'source/not-convertible' } });
});
