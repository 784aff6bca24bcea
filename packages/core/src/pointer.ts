/**
 * JSON Pointer: the address of one value inside a document.
 * Reference: RFC 6901 §3 (syntax), §4 (evaluation).
 */
import type { Brand } from './brand.ts';
import { err, ok, type Result } from './result.ts';
import type { JsonValue } from './json/value.ts';

/** Well-formed pointer text: empty, or reference tokens each led by `/`, with `~0` and `~1` as the only escapes. */
export type JsonPointer = Brand<string, 'JsonPointer'>;
export type PointerIssue =
  | { readonly code: 'pointer/no-leading-slash'; readonly text: string }
  | { readonly code: 'pointer/bad-escape'; readonly text: string; readonly offset: number };

/** The whole document. */
export const ROOT_POINTER: JsonPointer = '' as JsonPointer;

/** Names that reach a prototype in host languages. Never a reference token of a patch, never a member of arguments. */
export const FORBIDDEN_TOKENS: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor']);

/** Whether any member anywhere in `value` has one of the {@link FORBIDDEN_TOKENS} as its name. */
export function namesForbidden(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(namesForbidden);
  return Object.entries(value).some(([name, member]) => FORBIDDEN_TOKENS.has(name) || namesForbidden(member as JsonValue));
}

/** Reads pointer text, O(text.length). Fails with a {@link PointerIssue}; `offset` counts UTF-16 units from 0. */
export function parsePointer(text: string): Result<JsonPointer, PointerIssue> {
  if (text !== '' && !text.startsWith('/')) return err({ code: 'pointer/no-leading-slash', text });
  const offset = text.search(/~(?![01])/u);
  return offset === -1 ? ok(text as JsonPointer) : err({ code: 'pointer/bad-escape', text, offset });
}

/** Joins decoded reference tokens: `['a/b', '0']` gives `/a~1b/0`, no token gives the root. */
export function formatPointer(tokens: readonly string[]): JsonPointer {
  return tokens.map((token) => `/${escapeToken(token)}`).join('') as JsonPointer;
}

/** The decoded reference tokens; `~01` is the token `~1`, not `/`. */
export function tokensOf(pointer: JsonPointer): readonly string[] {
  if (pointer === '') return [];
  const tokens = pointer.slice(1).split('/');
  return pointer.includes('~') ? tokens.map(unescapeToken) : tokens;
}

/** The pointer one decoded token below `pointer`. */
export function childOf(pointer: JsonPointer, token: string): JsonPointer {
  return `${pointer}/${escapeToken(token)}` as JsonPointer;
}

/** The pointer one token above; `undefined` for the root. */
export function parentOf(pointer: JsonPointer): JsonPointer | undefined {
  return pointer === '' ? undefined : pointer.slice(0, pointer.lastIndexOf('/')) as JsonPointer;
}

/** The last decoded token; `undefined` for the root. */
export function lastTokenOf(pointer: JsonPointer): string | undefined {
  return pointer === '' ? undefined : unescapeToken(pointer.slice(pointer.lastIndexOf('/') + 1));
}

/** Whether `prefix` addresses `pointer` itself or one of its ancestors. */
export function isPrefix(prefix: JsonPointer, pointer: JsonPointer): boolean {
  return pointer === prefix || pointer.startsWith(`${prefix}/`);
}

/** The index an array token stands for: `0`, or digits without a leading zero (RFC 6901 §4). `-` and all else: `undefined`. */
export function arrayIndexOf(token: string): number | undefined {
  if (!/^(?:0|[1-9][0-9]*)$/.test(token)) return undefined;
  const index = Number(token);
  return Number.isSafeInteger(index) ? index : undefined;
}

/** The value at `pointer`, or `undefined` where it does not resolve. Own members only; `-` never resolves. */
export function resolvePointer(document: JsonValue, pointer: JsonPointer): JsonValue | undefined {
  let value: JsonValue | undefined = document;
  for (const token of tokensOf(pointer)) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value)) {
      const index = arrayIndexOf(token);
      value = index === undefined ? undefined : (value as readonly JsonValue[])[index];
    } else {
      value = Object.hasOwn(value, token) ? (value as { readonly [name: string]: JsonValue })[token] : undefined;
    }
  }
  return value;
}

/** The pointer as a URI fragment without `#` (RFC 6901 §6), for places that address sub-schemas by `$ref`. */
export function toUriFragment(pointer: JsonPointer): string {
  return pointer.split('/').map(encodeURIComponent).join('/');
}

function unescapeToken(token: string): string {
  return token.includes('~') ? token.replaceAll('~1', '/').replaceAll('~0', '~') : token;
}

function escapeToken(token: string): string {
  return /[~/]/.test(token) ? token.replaceAll('~', '~0').replaceAll('/', '~1') : token;
}
