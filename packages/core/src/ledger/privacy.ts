/**
 * A ledger that holds no contents: arguments, proposals, written values, the contract and the state are recorded by digest alone.
 * The digests are keyed (HMAC, RFC 2104): a bare one of an amount, a flag or a telephone number is found by trying all of them. One key
 * for a whole ledger keeps equal values equal, so that who holds the key can still compare; who holds only the ledger cannot.
 * What stays readable: case id, tool names, pointers, codes, counts, and the identities of policy and run.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalText } from '../json/canonical.ts';
import type { Digest } from '../json/digest.ts';
import { deepFreeze, isJsonArray, isJsonObject, type JsonArray, type JsonObject, type JsonValue } from '../json/value.ts';
import { assertNever } from '../result.ts';
import type { LedgerEntry } from './entry.ts';
import { freeze, type FrozenRepair } from './freeze.ts';

/** Shorter keys can be searched. */
export const MIN_PRIVACY_KEY_BYTES = 16;

/** What stands where a value was. */
interface HiddenValue {
  readonly hidden: Digest;
}

/** `keep`: as it is. `digest`: keyed once more. `value`: any JSON, hidden whole. `leave-out`: absent. The others say where the contents are. */
type Treatment = 'keep' | 'digest' | 'value' | 'text' | 'call' | 'request' | 'report' | 'patch' | 'written' | 'leave-out';
type Treatments = { readonly [Kind in LedgerEntry['kind']]: { readonly [Field in keyof Extract<LedgerEntry, { readonly kind: Kind }>]-?: Treatment } };

/** Every field has its line, so that a new one is decided upon before it compiles. */
const TREATMENTS: Treatments = {
  opened: {
    kind: 'keep', version: 'keep', caseId: 'keep', contractDigest: 'digest', contract: 'value', call: 'call', toolNames: 'keep', finishReason: 'keep', context: 'value',
    requestDigest: 'digest', request: 'request', report: 'report', deterministic: 'keep', reading: 'keep', proposer: 'keep', seed: 'keep', manifest: 'keep', privacy: 'keep',
  },
  deterministic: { kind: 'keep', caseId: 'keep', patch: 'patch', rules: 'keep', written: 'written', verdict: 'keep', report: 'report' },
  // The token ids of a trail spell the proposal.
  attempt: {
    kind: 'keep', caseId: 'keep', number: 'keep', proposal: 'text', isComplete: 'keep', patch: 'patch', written: 'written', verdict: 'keep', report: 'report', tokens: 'keep',
    maskDigest: 'digest', maskTrail: 'leave-out',
  },
  abstention: { kind: 'keep', caseId: 'keep', proposal: 'text', verdict: 'keep', tokens: 'keep', maskDigest: 'digest', maskTrail: 'leave-out' },
  closed: {
    kind: 'keep', caseId: 'keep', status: 'keep', reason: 'keep', params: 'value', patch: 'patch', written: 'written', argumentsDigest: 'digest', attempts: 'keep', retries: 'keep',
    operations: 'keep', attemptsLeft: 'keep', operationsLeft: 'keep', validatorCalls: 'keep', collateralOp: 'keep', collateralPtr: 'keep',
  },
  resources: { kind: 'keep', caseId: 'keep', prefillMs: 'keep', decodeMs: 'keep', maskMs: 'keep', confidence: 'keep', signals: 'keep' },
};

/**
 * The repair with its contents hidden under `key`, random bytes kept apart from the ledger. The same repair and key give the same
 * digest, so the clear trace can later be shown to be the one on record. A short key or a repair that is hidden already is a caller's bug.
 */
export function hideContents(repair: FrozenRepair, key: Uint8Array): FrozenRepair {
  if (key.length < MIN_PRIVACY_KEY_BYTES) throw new RangeError(`key must have at least ${MIN_PRIVACY_KEY_BYTES} bytes`);
  if (isHidden(repair)) throw new TypeError('repair is hidden already');
  const hide = (text: string): Digest => bytesToHex(hmac(sha256, key, utf8ToBytes(text))) as Digest;
  const privacy = { method: 'hmac-sha256', keyCheck: hide('contractrl ledger privacy key') } as const;
  return freeze(repair.entries.map((entry) => {
    const hidden = hideEntry(entry, hide);
    return hidden.kind === 'opened' ? { ...hidden, privacy } : hidden;
  }));
}

export function isHidden({ opened }: Pick<FrozenRepair, 'opened'>): boolean {
  return opened.privacy !== undefined;
}

type Hide = (text: string) => Digest;

function hideEntry(entry: LedgerEntry, hide: Hide): LedgerEntry {
  const treatments: Readonly<Record<string, Treatment>> = TREATMENTS[entry.kind];
  const members = Object.entries(entry as unknown as JsonObject).flatMap(([name, value]) => {
    const treatment = treatments[name] ?? 'value';
    return treatment === 'leave-out' ? [] : [[name, treat(treatment, value, hide)] as const];
  });
  return deepFreeze(Object.fromEntries(members)) as unknown as LedgerEntry;
}

function treat(treatment: Exclude<Treatment, 'leave-out'>, value: JsonValue, hide: Hide): JsonValue {
  switch (treatment) {
    case 'keep': return value;
    case 'digest': return typeof value === 'string' ? hide(value) : null;
    case 'value': return hideValue(value, hide);
    case 'text': return hideText(value, hide);
    case 'call': return { ...(value as JsonObject), arguments: hideText((value as JsonObject)['arguments'] ?? null, hide) };
    case 'request': return (value as JsonArray).map((message) => ({ ...(message as JsonObject), content: hideText((message as JsonObject)['content'] ?? null, hide) }));
    case 'report': return eachMember(value, 'params', hide);
    // offsets tell lengths, and a derivation what is written
    case 'written': return eachMember(value, 'origin', hide);
    case 'patch': return value === null ? null : eachMember(value, 'value', hide);
    default: return assertNever(treatment);
  }
}

/** A recorded text by its length and its digest, keyed. */
function hideText(value: JsonValue, hide: Hide): JsonValue {
  const { length, digest } = value as { readonly length: number; readonly digest: string };
  return { text: null, length, digest: hide(digest) };
}

/** Null and what is empty have nothing to hide, and that they are so is structure. */
function hideValue(value: JsonValue, hide: Hide): JsonValue {
  const isEmpty = value === null || (isJsonObject(value) && Object.keys(value).length === 0);
  return isEmpty ? value : ({ hidden: hide(canonicalText(value)) } satisfies HiddenValue);
}

/** The elements of an array with one member of each hidden. */
function eachMember(value: JsonValue, name: string, hide: Hide): JsonValue {
  if (!isJsonArray(value)) return hideValue(value, hide);
  return value.map((element) => (isJsonObject(element) && Object.hasOwn(element, name) ? { ...element, [name]: { hidden: hide(canonicalText(element[name] ?? null)) } } : element));
}
