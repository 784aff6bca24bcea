/**
 * Reads the input of `repair`: a file or standard input, one JSON document or JSON Lines. Nothing is parsed here beyond telling the
 * two apart; each text goes to core's own reader, so that one broken line costs one record.
 */
import { readFile } from 'node:fs/promises';
import { err, ok, type Result } from '@contractrl/core';
import type { Io } from './io.ts';

/** One text that should hold one record. `line` counts from 1 in the input. */
export type InputRecord =
  | { readonly kind: 'text'; readonly line: number; readonly text: string }
  | { readonly kind: 'undecodable'; readonly line: number };

export interface Input {
  readonly format: 'document' | 'lines';
  readonly records: readonly InputRecord[];
}

export type InputIssue =
  | { readonly code: 'input/unreadable'; readonly path: string; readonly detail: string }
  | { readonly code: 'input/too-large'; readonly path: string; readonly limitBytes: number }
  | { readonly code: 'input/empty'; readonly path: string };

/** All of the input is held in memory once as bytes and once as text; this keeps both within what a small machine has. */
export const INPUT_LIMIT_BYTES: number = 256 * 1024 * 1024;

/** Reads `path`, or standard input for `-`. */
export async function readInput(path: string, io: Io): Promise<Result<Input, InputIssue>> {
  const bytes = await readBytes(path, io);
  if (!bytes.ok) return bytes;
  if (bytes.value.length > INPUT_LIMIT_BYTES) return err({ code: 'input/too-large', path, limitBytes: INPUT_LIMIT_BYTES });
  const input = splitRecords(bytes.value);
  return input.records.length === 0 ? err({ code: 'input/empty', path }) : ok(input);
}

async function readBytes(path: string, io: Io): Promise<Result<Uint8Array, InputIssue>> {
  try {
    return ok(path === '-' ? await io.readStdin() : await readFile(path));
  } catch (error) {
    return err({ code: 'input/unreadable', path, detail: error instanceof Error ? error.message : String(error) });
  }
}

/**
 * One document, unless it has several lines, cannot be read as one value, and some line looks like a whole object. So a document
 * that is printed over many lines and broken somewhere stays one record with one error.
 */
export function splitRecords(bytes: Uint8Array): Input {
  const records = splitLines(bytes).filter((record) => record.kind === 'undecodable' || record.text.trim() !== '');
  const isWholeObject = (record: InputRecord): boolean => record.kind === 'text' && record.text.startsWith('{') && record.text.trimEnd().endsWith('}');
  const first = records[0];
  if (first === undefined || records.length === 1) return { format: 'document', records };
  const whole = decode(bytes);
  if (whole !== undefined && (isJson(whole) || !records.some(isWholeObject))) {
    return { format: 'document', records: [{ kind: 'text', line: first.line, text: whole }] };
  }
  return { format: 'lines', records };
}

const LINE_FEED = 0x0a;

function splitLines(bytes: Uint8Array): InputRecord[] {
  const records: InputRecord[] = [];
  for (let start = 0, line = 1; start < bytes.length; line++) {
    const feed = bytes.indexOf(LINE_FEED, start);
    const end = feed === -1 ? bytes.length : feed;
    const text = decode(bytes.subarray(start, end));
    records.push(text === undefined ? { kind: 'undecodable', line } : { kind: 'text', line, text: text.replace(/\r$/u, '') });
    start = end + 1;
  }
  return records;
}

/** Strict UTF-8, because a replacement character would silently change an argument; a byte order mark is dropped. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
