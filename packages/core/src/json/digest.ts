/** SHA-256 of canonical text. Reference: FIPS 180-4 §6.2, over the UTF-8 bytes of RFC 8785 text. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Brand } from '../brand.ts';
import { canonicalText } from './canonical.ts';
import type { JsonValue } from './value.ts';

/** SHA-256 in lower-case hexadecimal, 64 digits. */
export type Digest = Brand<string, 'Digest'>;

/** Digest of a JSON value: independent of member order and of number spelling. */
export function digestOf(value: JsonValue): Digest {
  return digestOfText(canonicalText(value));
}

/** Digest of exact text, as UTF-8. */
export function digestOfText(text: string): Digest {
  return bytesToHex(sha256(utf8ToBytes(text))) as Digest;
}
