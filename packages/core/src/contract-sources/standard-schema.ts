/**
 * Schemas of TypeScript libraries (zod, Valibot, ArkType, …) behind the Standard Schema interface. Their JSON Schema comes from their own converter, and what
 * that leaves out can come in as a check. A library without a converter is refused by its name; its own function can be passed in.
 * Reference: Standard Schema 1 and Standard JSON Schema 1 (`~standard`).
 */
import { ROOT_POINTER, formatPointer } from '../pointer.ts';
import { ok, type Result } from '../result.ts';
import type { CheckFunction } from '../validate/cross-field.ts';
import { issueAt, type SourcedContract, type SourceIssue, type SourceOptions } from './source.ts';
import { contractFromJsonSchema } from './tool-definitions.ts';

/** What is read of a schema; `jsonSchema` is there where the library has a Standard JSON Schema converter. */
export interface StandardSchema {
  readonly '~standard': {
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly jsonSchema?: { readonly input: (options: { readonly target: 'draft-2020-12' }) => unknown } | undefined;
  };
}

export interface StandardSchemaOptions extends SourceOptions {
  /** The library's own converter of the input side, such as `(schema) => z.toJSONSchema(schema, { io: 'input' })`, before any that the schema brings. */
  readonly toJsonSchema?: (schema: never) => unknown;
}

/** Reads the schema of a tool's arguments as they arrive, before any transform. Refinements are not in it: see {@link checkFromStandardSchema}. */
export function contractFromStandardSchema(
  tool: { readonly name: string; readonly description?: string; readonly schema: StandardSchema }, options: StandardSchemaOptions = {},
): Result<SourcedContract, SourceIssue> {
  const { name, description = '', schema } = tool;
  const place = formatPointer(['schema']);
  let converted: unknown;
  let vendor = 'unknown';
  // a library's code: it says by throwing what it cannot convert
  try {
    const standard = schema['~standard'];
    vendor = String(standard.vendor);
    const own = standard.jsonSchema;
    if (options.toJsonSchema === undefined && own === undefined) return issueAt('source/no-converter', place, { vendor });
    converted = options.toJsonSchema === undefined ? own?.input({ target: 'draft-2020-12' }) : options.toJsonSchema(schema as never);
  } catch (cause) {
    return issueAt('source/not-convertible', place, { from: vendor, to: 'JSON Schema', reason: cause instanceof Error ? cause.message : 'unknown' });
  }
  const read = contractFromJsonSchema({ name, description, schema: converted }, options);
  return read.ok ? ok({ ...read.value, notes: [...read.value.notes, { code: 'source/rules-beyond-schema', pointer: place, params: { vendor } }] }) : read;
}

/**
 * The library's whole judgement as a check of the contract: add `{ kind: 'function', name, version }` to `crossField` and pass this to `loadContract`.
 * A schema that validates asynchronously accepts nothing here.
 */
export function checkFromStandardSchema(schema: StandardSchema, { name, version }: { readonly name: string; readonly version: string }): CheckFunction {
  return {
    name,
    version,
    check: (args) => {
      const result = schema['~standard'].validate(args) as { readonly issues?: readonly { readonly path?: readonly unknown[] }[] };
      // a promise is no answer, and is refused as such
      if (result instanceof Promise) return result;
      if (result.issues === undefined) return Object.hasOwn(result, 'value');
      const path = result.issues[0]?.path ?? [];
      return path.length === 0 ? ROOT_POINTER : formatPointer(path.map((step) => String(typeof step === 'object' && step !== null && 'key' in step ? step.key : step)));
    },
  };
}
