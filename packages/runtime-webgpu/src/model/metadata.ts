/**
 * Typed reading of GGUF metadata: each getter names the key it misses or refuses, and remembers which keys were asked for,
 * so that a setting nobody understood cannot be passed over in silence.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { ModelIssue } from './issue.ts';

export type Metadata = Readonly<Record<string, unknown>>;

/** A positive safe integer; 64-bit fields arrive as `bigint`. `fallback` stands in where the key is absent. */
export function readCount(metadata: Metadata, key: string, fallback?: number): Result<number, ModelIssue> {
  const value = metadata[key] ?? fallback;
  if (value === undefined) return err({ code: 'model/missing-field', key });
  const count = typeof value === 'bigint' ? Number(value) : value;
  if (typeof count !== 'number' || !Number.isSafeInteger(count) || count <= 0) return err({ code: 'model/bad-field', key, detail: 'not a positive integer' });
  return ok(count);
}

/** A finite number above zero. */
export function readPositive(metadata: Metadata, key: string, fallback?: number): Result<number, ModelIssue> {
  const value = metadata[key] ?? fallback;
  if (value === undefined) return err({ code: 'model/missing-field', key });
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) return err({ code: 'model/bad-field', key, detail: 'not a positive number' });
  return ok(value);
}

export function readText(metadata: Metadata, key: string): Result<string, ModelIssue> {
  const value = metadata[key];
  if (value === undefined) return err({ code: 'model/missing-field', key });
  return typeof value === 'string' ? ok(value) : err({ code: 'model/bad-field', key, detail: 'not a string' });
}

export function readTexts(metadata: Metadata, key: string): Result<readonly string[], ModelIssue> {
  const value = metadata[key];
  if (value === undefined) return err({ code: 'model/missing-field', key });
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
  return isList ? ok(value) : err({ code: 'model/bad-field', key, detail: 'not a list of strings' });
}

export function readIntegers(metadata: Metadata, key: string): Result<readonly number[], ModelIssue> {
  const value = metadata[key];
  if (value === undefined) return err({ code: 'model/missing-field', key });
  const isList = Array.isArray(value) && value.every((item) => Number.isSafeInteger(item));
  return isList ? ok(value) : err({ code: 'model/bad-field', key, detail: 'not a list of integers' });
}
