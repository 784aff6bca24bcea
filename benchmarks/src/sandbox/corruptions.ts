/**
 * One fault in a legal call, as callers make them (CHECKLIST A3): an argument left out, misnamed, or written as another type. `patch` is the
 * canonical way back. What of these a contract refuses is for the caller to ask.
 */
import { childOf, isJsonArray, ROOT_POINTER, type JsonObject, type JsonValue, type Patch } from '@contractrl/core';

/** Of the first two the value is gone; the others keep it in another notation. */
export const FORMS = ['absent', 'null', 'renamed', 'json-text', 'in-list', 'out-of-list', 'number', 'upper-case'] as const;
export type Form = (typeof FORMS)[number];

export interface Corruption {
  readonly form: Form;
  readonly field: string;
  readonly arguments: JsonObject;
  readonly patch: Patch;
}

/** Every way to spoil one argument of `call`, in the order of its members and of {@link FORMS}. */
export function corruptionsOf(call: JsonObject): readonly Corruption[] {
  return Object.entries(call).flatMap(([field, value]) => FORMS.flatMap((form) => {
    const spoilt = spoil(call, form, field, value);
    return spoilt === undefined ? [] : [{ form, field, ...spoilt }];
  }));
}

function spoil(call: JsonObject, form: Form, field: string, value: JsonValue): Pick<Corruption, 'arguments' | 'patch'> | undefined {
  const path = childOf(ROOT_POINTER, field);
  const written = (other: JsonValue | undefined): Pick<Corruption, 'arguments' | 'patch'> | undefined =>
    (other === undefined ? undefined : { arguments: { ...call, [field]: other }, patch: [{ op: 'replace', path, value }] });
  switch (form) {
    case 'absent': return { arguments: Object.fromEntries(Object.entries(call).filter(([name]) => name !== field)), patch: [{ op: 'add', path, value }] };
    case 'null': return written(null);
    case 'renamed': {
      const name = field.replaceAll(/_(\w)/gu, (_, letter: string) => letter.toUpperCase());
      if (name === field) return undefined;
      const renamed = Object.fromEntries(Object.entries(call).map(([other, member]) => [other === field ? name : other, member]));
      return { arguments: renamed, patch: [{ op: 'move', from: childOf(ROOT_POINTER, name), path }] };
    }
    case 'json-text': return written(isJsonArray(value) ? JSON.stringify(value) : undefined);
    case 'in-list': return written(isJsonArray(value) ? undefined : [value]);
    case 'out-of-list': return written(isJsonArray(value) && value.length === 1 ? value[0] : undefined);
    case 'number': return written(typeof value === 'string' && String(Number(value)) === value ? Number(value) : undefined);
    case 'upper-case': return written(typeof value === 'string' && value.toUpperCase() !== value ? value.toUpperCase() : undefined);
  }
}
