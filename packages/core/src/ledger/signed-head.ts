/**
 * The end of a ledger, kept outside it: the one thing that shows rows missing at the end, also where they end with a whole repair.
 * Signed, it shows too that the ledger was not written anew from the start by who can write the file. Core has no keys: signing and
 * checking are ports (Ed25519, RFC 8032, by WebCrypto or the host's library).
 */
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalText } from '../json/canonical.ts';
import type { Digest } from '../json/digest.ts';
import { parseJson } from '../json/parse.ts';
import { isJsonObject, type JsonObject } from '../json/value.ts';
import { err, ok, type Result } from '../result.ts';
import type { LedgerHead } from './ledger.ts';

/** Of what is signed, whatever the version of the rows: a head that was signed once stays signed. */
const HEAD_VERSION = 1;

export interface SignedHead extends LedgerHead {
  readonly algorithm: 'Ed25519';
  /** 64 bytes in lower-case hexadecimal, over {@link headBytes}. */
  readonly signature: string;
}

export type HeadIssue =
  | { readonly code: 'head/bad-file'; readonly detail: string }
  | { readonly code: 'head/not-signed' }
  | { readonly code: 'head/bad-signature' };

/** Gives the 64 bytes of an Ed25519 signature. */
export type Sign = (bytes: Uint8Array) => Promise<Uint8Array>;
/** Whether an Ed25519 signature is one of the bytes. */
export type VerifySignature = (signature: Uint8Array, bytes: Uint8Array) => Promise<boolean>;

/** What is signed: canonical text that names its own purpose, so that no other signed text can be passed off as a head. */
export function headBytes({ count, head }: LedgerHead): Uint8Array {
  return utf8ToBytes(canonicalText({ purpose: 'contractrl ledger head', version: HEAD_VERSION, count, head }));
}

export async function signHead({ count, head }: LedgerHead, sign: Sign): Promise<SignedHead> {
  return { count, head, algorithm: 'Ed25519', signature: bytesToHex(await sign(headBytes({ count, head }))) };
}

export async function verifySignedHead(head: LedgerHead | SignedHead, verify: VerifySignature): Promise<Result<LedgerHead, HeadIssue>> {
  if (!('signature' in head)) return err({ code: 'head/not-signed' });
  return (await verify(hexToBytes(head.signature), headBytes(head))) ? ok(head) : err({ code: 'head/bad-signature' });
}

/** The text of a head file, its newline included. */
export function formatHead(head: LedgerHead | SignedHead): string {
  return `${canonicalText({ ...head })}\n`;
}

/** Reads a head file, signed or not. Members beside those of a head, as in `{"ok":true,"count":…,"head":…}`, are passed over. */
export function readHead(text: string): Result<LedgerHead | SignedHead, HeadIssue> {
  const parsed = parseJson(text);
  if (!parsed.ok) return err({ code: 'head/bad-file', detail: parsed.error.code });
  if (!isJsonObject(parsed.value)) return err({ code: 'head/bad-file', detail: 'not an object' });
  const { count, head, algorithm, signature }: JsonObject = parsed.value;
  if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0) return err({ code: 'head/bad-file', detail: 'count: not a number of rows' });
  if (typeof head !== 'string' || !/^[0-9a-f]{64}$/.test(head)) return err({ code: 'head/bad-file', detail: 'head: not a SHA-256 digest' });
  const end: LedgerHead = { count, head: head as Digest };
  if (algorithm === undefined && signature === undefined) return ok(end);
  if (algorithm !== 'Ed25519') return err({ code: 'head/bad-file', detail: 'algorithm: not Ed25519' });
  if (typeof signature !== 'string' || !/^[0-9a-f]{128}$/.test(signature)) return err({ code: 'head/bad-file', detail: 'signature: not 64 bytes in hexadecimal' });
  return ok({ ...end, algorithm, signature });
}
