/** `contractrl ledger verify | head`: the hash chain from the first row to the last, and its end to be kept elsewhere. */
import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { err, ok, type Result } from '@contractrl/core';
import { formatHead, signHead, verifySignedHead, type LedgerHead } from '@contractrl/core/ledger';
import { scanLedgerFile } from '@contractrl/ledger-storage/file';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { colorsFor, type Io } from '../io.ts';
import { readHeadFile, readTextFile, toLedgerProblem, verifiedHead } from '../ledger-file.ts';
import { reportProblem, type Problem } from '../problem.ts';
import { toSafeText } from '../render/text.ts';

export interface VerifyOptions {
  readonly json: boolean;
  /** File of a head that the ledger must pass through. */
  readonly head: string | undefined;
  /** PEM file of the Ed25519 key that the head must be signed with. */
  readonly publicKey: string | undefined;
}

export async function ledgerVerifyCommand(path: string, options: VerifyOptions, io: Io): Promise<ExitCode> {
  const kept = await keptHead(options);
  if (!kept.ok) {
    await reportProblem(kept.error, io);
    return kept.error.code === 'head/bad-signature' || kept.error.code === 'head/not-signed' ? EXIT.ledgerBroken : EXIT.usage;
  }
  const scanned = await scanLedgerFile(path, kept.value === undefined ? {} : { through: kept.value });
  if (!scanned.ok) {
    await reportProblem(toLedgerProblem(path, scanned.error), io);
    return EXIT.usage;
  }
  const head = scanned.value;
  if (options.json) {
    const report = head.ok ? { ok: true, ...head.value, ...(kept.value === undefined ? {} : { keptCount: kept.value.count }) } : { ok: false, brokenAt: head.error.index, code: head.error.code };
    await io.stdout.write(`${JSON.stringify(report)}\n`);
  } else if (head.ok) {
    const colors = colorsFor(io.stdout, io.env);
    const through = kept.value === undefined ? '' : `, through the kept head of row ${kept.value.count - 1}`;
    await io.stdout.write(`${colors.green('whole')}  ${toSafeText(path)}: ${head.value.count} rows, head ${head.value.head}${through}\n`);
  } else {
    await reportProblem(toLedgerProblem(path, head.error), io);
  }
  return head.ok ? EXIT.ok : EXIT.ledgerBroken;
}

async function keptHead({ head, publicKey }: VerifyOptions): Promise<Result<LedgerHead | undefined, Problem>> {
  if (head === undefined && publicKey !== undefined) return err({ code: 'usage/no-head', message: '--public-key checks a signed head: give it with --head.' });
  const read = head === undefined ? ok(undefined) : await readHeadFile(head);
  if (!read.ok || read.value === undefined || publicKey === undefined) return read;
  const key = await readKey(publicKey, createPublicKey);
  if (!key.ok) return key;
  const verified = await verifySignedHead(read.value, (signature, bytes) => Promise.resolve(verify(null, bytes, key.value, signature)));
  if (verified.ok) return verified;
  const { code } = verified.error;
  const what = code === 'head/not-signed' ? 'is not signed' : 'is not signed with this key';
  return err({ code, message: `The head in ${head} ${what}: ask who keeps it for another.` });
}

/** Prints the head of a whole ledger, signed where a key is given. */
export async function ledgerHeadCommand(path: string, privateKey: string | undefined, io: Io): Promise<ExitCode> {
  const key = privateKey === undefined ? ok(undefined) : await readKey(privateKey, createPrivateKey);
  if (!key.ok) {
    await reportProblem(key.error, io);
    return EXIT.usage;
  }
  const head = await verifiedHead(path, io);
  if (typeof head === 'number') return head;
  const { value } = key;
  await io.stdout.write(formatHead(value === undefined ? head : await signHead(head, (bytes) => Promise.resolve(sign(null, bytes, value)))));
  return EXIT.ok;
}

async function readKey(path: string, create: (pem: string) => KeyObject): Promise<Result<KeyObject, Problem>> {
  const bad: Result<never, Problem> = err({ code: 'ledger/bad-key', message: `${path} holds no Ed25519 key in PEM: make one with "openssl genpkey -algorithm ed25519".` });
  const pem = await readTextFile(path);
  if (!pem.ok) return pem;
  try {
    const key = create(pem.value);
    return key.asymmetricKeyType === 'ed25519' ? ok(key) : bad;
  } catch {
    return bad;
  }
}
