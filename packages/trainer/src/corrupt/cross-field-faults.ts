/** Faults that only a check across fields sees: each value fits its schema, and they do not fit each other. The repair writes where the check points. */
import {
  childOf, isJsonArray, resolvePointer, ROOT_POINTER, type CrossFieldCheck, type JsonObject, type JsonPointer, type JsonValue,
} from '@contractrl/core';
import { withoutValueAt, withValueAt } from './edit.ts';
import type { Fault } from './family.ts';

/** What may stand at a place that the call leaves out, by its schema. */
export type ValuesAt = (pointer: JsonPointer) => readonly JsonValue[];

/** Every fault of one check of the contract on a legal call; kinds whose breach needs a value that neither call nor schema has give none. */
export function crossFieldFaults(check: CrossFieldCheck, document: JsonObject, valuesAt: ValuesAt): readonly Fault[] {
  const at = (pointer: string): JsonValue | undefined => resolvePointer(document, pointer as JsonPointer);
  const replaced = (form: string, text: string, wrong: readonly JsonValue[]): readonly Fault[] => {
    const [pointer, value] = [text as JsonPointer, at(text)];
    return value === undefined ? [] : wrong.map((other): Fault => ({
      family: 'cross_field', form, code: 'cross_field', pointer, place: pointer,
      spoil: (spoilt) => withValueAt(spoilt, pointer, other), patch: [{ op: 'replace', path: pointer, value }],
    }));
  };
  /** A member that is there is left out; the check says so at `reported`. */
  const leftOut = (text: string, reported: string): readonly Fault[] => {
    const [place, value] = [text as JsonPointer, at(text)];
    return value === undefined ? [] : [{
      family: 'cross_field', form: check.kind, code: 'cross_field', pointer: reported as JsonPointer, place,
      spoil: (spoilt) => withoutValueAt(spoilt, place), patch: [{ op: 'add', path: place, value }],
    }];
  };
  /** A member that may not be there is written too, with the value of `like` or one that its schema names. */
  const added = (text: string, like: string, reported: string): readonly Fault[] => {
    const [place, same] = [text as JsonPointer, at(like)];
    return at(text) !== undefined || same === undefined ? [] : [same, ...valuesAt(place)].map((value): Fault => ({
      family: 'cross_field', form: `${check.kind}-both`, code: 'cross_field', pointer: reported as JsonPointer, place,
      spoil: (spoilt) => withValueAt(spoilt, place, value), patch: [{ op: 'remove', path: place }],
    }));
  };
  switch (check.kind) {
    case 'lt': case 'lte': return replaced(check.kind, check.a, shifted(at(check.b), 1));
    case 'gt': case 'gte': return replaced(check.kind, check.a, shifted(at(check.b), -1));
    case 'eq': return replaced(check.kind, check.a, shifted(at(check.a), 1));
    case 'ne': return replaced(check.kind, check.a, [at(check.b) ?? null]);
    case 'sum': return replaced(check.kind, check.total, shifted(at(check.total), 1));
    case 'requires': return check.required.flatMap((text) => leftOut(text, text));
    case 'excludes': {
      // the first of the excluded that is there is reported, even where the other one is too much
      const present = check.excluded.find((text) => at(text) !== undefined);
      return present === undefined ? check.excluded.flatMap((text) => added(text, check.pointer, text)) : added(check.pointer, present, present);
    }
    case 'exactly_one_of': {
      const present = check.pointers.find((text) => at(text) !== undefined);
      if (present === undefined) return [];
      return [...leftOut(present, ROOT_POINTER), ...check.pointers.flatMap((text) => added(text, present, ROOT_POINTER))];
    }
    case 'at_least_one_of': {
      const present = check.pointers.filter((text) => at(text) !== undefined);
      return present.length === 1 ? leftOut(present[0]!, ROOT_POINTER) : [];
    }
    case 'list_length': {
      const [pointer, list] = [check.pointer as JsonPointer, at(check.pointer)];
      if (!isJsonArray(list) || list.length < 2) return [];
      const last = childOf(pointer, String(list.length - 1));
      return [{
        family: 'cross_field', form: check.kind, code: 'cross_field', pointer, place: pointer,
        spoil: (spoilt) => withoutValueAt(spoilt, last), patch: [{ op: 'add', path: childOf(pointer, '-'), value: list.at(-1)! }],
      }];
    }
    case 'member_of': return replaced(check.kind, check.pointer, at(check.pointer) === undefined ? [] : ['other', 'unknown']);
    case 'unique_by': {
      const list = at(check.pointer);
      if (!isJsonArray(list) || check.by === '') return [];
      return list.slice(1).flatMap((_, index) => {
        const before = at(`${check.pointer}/${String(index)}${check.by}`);
        return before === undefined ? [] : replaced(check.kind, `${check.pointer}/${String(index + 1)}${check.by}`, [before]);
      });
    }
    default: return [];
  }
}

const DAY_MS = 86_400_000;

/** Values a little beyond `value`: numbers by steps, dates by days; nothing else has an order here. */
function shifted(value: JsonValue | undefined, sign: 1 | -1): readonly JsonValue[] {
  if (typeof value === 'number') return [1, 3, 10].map((step) => value + sign * step);
  if (typeof value !== 'string') return [];
  const [date] = /^\d{4}-\d{2}-\d{2}/u.exec(value) ?? [];
  const time = date === undefined ? NaN : Date.parse(`${date}T00:00:00Z`);
  if (date === undefined || Number.isNaN(time)) return [];
  return [1, 2, 9].map((days) => `${new Date(time + sign * days * DAY_MS).toISOString().slice(0, 10)}${value.slice(date.length)}`);
}
