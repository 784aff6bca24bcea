/**
 * What the ledger records of one repair: opened, perhaps deterministic, one entry a proposal, closed, resources. Plain JSON, so that a row is bytes.
 * Everything but `resources` follows from the input and the proposals alone and is the same on every machine; no gold label has a field.
 */
import { digestOfText, type Digest } from '../json/digest.ts';
import { hasLoneSurrogate, isJsonObject, jsonTypeOf, memberOf, type JsonObject, type JsonValue } from '../json/value.ts';
import type { DeterministicRule } from '../deterministic/deterministic-patch.ts';
import type { Patch } from '../patch/operation.ts';
import type { ReadingStep } from '../reading/find-reading.ts';
import type { MaskTrail } from '../repair/proposer.ts';
import type { Violation } from '../validate/violation.ts';

/** Version of the fields below; it stands in the genesis digest, so ledgers of different versions cannot be joined. */
export const LEDGER_VERSION = 1;

/** Longer texts (UTF-16 units) are recorded by digest alone, so that a row stays readable by the strict reader. */
export const RECORDED_TEXT_LIMIT = 262_144;

/** A text as it was: `text` is null where it is longer than {@link RECORDED_TEXT_LIMIT} or no valid Unicode. */
export interface RecordedText {
  readonly text: string | null;
  readonly length: number;
  readonly digest: Digest;
}

export interface OpenedEntry {
  readonly kind: 'opened';
  readonly caseId: string;
  /** Null where the contract could not be loaded: then `report` is empty and `closed` names the reason. */
  readonly contractDigest: Digest | null;
  readonly contract: JsonObject | null;
  readonly call: { readonly name: string; readonly arguments: RecordedText };
  readonly toolNames: readonly string[];
  readonly finishReason: string | null;
  readonly context: JsonObject;
  /** What was asked, by digest: it steers the policy, and is not needed to replay the structure. */
  readonly requestDigest: Digest;
  /** The verifier's report on the call as it arrived. */
  readonly report: readonly Violation[];
  /** True where readings and the deterministic step were on; absent where the call was taken as it stands, as in older ledgers. */
  readonly deterministic?: boolean;
  /** How the call was read, where not as it stands. */
  readonly reading?: OpenedReading;
  /** Identity of the policy: model, adapter, prompt version, sampling. */
  readonly proposer: JsonObject;
  readonly seed: number | null;
  /** Configuration and source revision of the run, as the host names them. */
  readonly manifest: JsonObject;
  /** Present where contents are recorded by keyed digest alone. `keyCheck` tells whether a key is the one that was used. */
  readonly privacy?: { readonly method: 'hmac-sha256'; readonly keyCheck: Digest };
}

export interface OpenedReading {
  /** The tool that the call's name stands for. */
  readonly toolName?: string;
  /** From the whole text inwards to the object's. */
  readonly steps?: readonly ReadingStep[];
}

/** What was certain without a policy: applied before the first proposal. It costs operations and no attempt. */
export interface DeterministicEntry {
  readonly kind: 'deterministic';
  readonly caseId: string;
  readonly patch: Patch;
  /** The rule of each operation. */
  readonly rules: readonly DeterministicRule[];
  /** As an attempt's. */
  readonly verdict: string;
  readonly report: readonly Violation[];
}

export interface TokenCounts {
  readonly prompt: number;
  readonly generated: number;
  readonly forced: number;
}

export interface AttemptEntry {
  readonly kind: 'attempt';
  readonly caseId: string;
  /** From 1. */
  readonly number: number;
  readonly proposal: RecordedText;
  /** False where generation stopped before the output was complete. */
  readonly isComplete: boolean;
  readonly patch: Patch | null;
  /** `accepted`, `repair/still-invalid`, `gate/…`, or the code of the refusal. */
  readonly verdict: string;
  /** The verifier's report on the candidate after this attempt; empty where it is valid. */
  readonly report: readonly Violation[];
  readonly tokens: TokenCounts;
  readonly maskDigest: string | null;
  /** Absent where the proposer decodes under no mask. */
  readonly maskTrail?: MaskTrail;
}

/** The policy declined: no patch was emitted, so this is not an attempt. */
export interface AbstentionEntry {
  readonly kind: 'abstention';
  readonly caseId: string;
  readonly proposal: RecordedText;
  readonly verdict: string;
  readonly tokens: TokenCounts;
  readonly maskDigest: string | null;
  readonly maskTrail?: MaskTrail;
}

export interface ClosedEntry {
  readonly kind: 'closed';
  readonly caseId: string;
  readonly status: 'valid' | 'repaired' | 'abstained' | 'rejected' | 'failed';
  readonly reason: string | null;
  readonly params: JsonObject;
  readonly patch: Patch | null;
  /** Digest of the arguments that may be dispatched; null where nothing may. */
  readonly argumentsDigest: Digest | null;
  /** a: patches emitted; the call as it arrived and an abstention are none. */
  readonly attempts: number;
  /** r = a − 1, and 0 where a = 0. */
  readonly retries: number;
  readonly operations: number;
  readonly attemptsLeft: number;
  readonly operationsLeft: number;
  readonly validatorCalls: number;
  /** Changed leaves that no operation of the patch names. */
  readonly collateralOp: number;
  /** Changed leaves outside every pointer that the verifier reported. */
  readonly collateralPtr: number;
}

/** Measured, and therefore outside the digest of the trace. Milliseconds. */
export interface ResourcesEntry {
  readonly kind: 'resources';
  readonly caseId: string;
  readonly prefillMs: number;
  readonly decodeMs: number;
  readonly maskMs: number;
  readonly confidence: number | null;
  /** One element a proposal, in order, null where it gave none; absent where none gave any. */
  readonly signals?: readonly (JsonObject | null)[];
}

export type LedgerEntry = OpenedEntry | DeterministicEntry | AttemptEntry | AbstentionEntry | ClosedEntry | ResourcesEntry;

type FieldType = 'string' | 'number' | 'boolean' | 'array' | 'object';
type FieldTable<Entry> = { readonly [Name in keyof Entry]-?: FieldType | `${FieldType}|null` | (undefined extends Entry[Name] ? `${FieldType}|absent` : never) };

/** The fields of every entry and their JSON types, fixed before anything is recorded: a reader refuses every other shape. */
export const ENTRY_FIELDS: { readonly [Kind in LedgerEntry['kind']]: FieldTable<Extract<LedgerEntry, { readonly kind: Kind }>> } = {
  opened: {
    kind: 'string', caseId: 'string', contractDigest: 'string|null', contract: 'object|null', call: 'object', toolNames: 'array', finishReason: 'string|null',
    context: 'object', requestDigest: 'string', report: 'array', deterministic: 'boolean|absent', reading: 'object|absent', proposer: 'object', seed: 'number|null', manifest: 'object',
    privacy: 'object|absent',
  },
  deterministic: { kind: 'string', caseId: 'string', patch: 'array', rules: 'array', verdict: 'string', report: 'array' },
  attempt: {
    kind: 'string', caseId: 'string', number: 'number', proposal: 'object', isComplete: 'boolean', patch: 'array|null', verdict: 'string',
    report: 'array', tokens: 'object', maskDigest: 'string|null', maskTrail: 'object|absent',
  },
  abstention: { kind: 'string', caseId: 'string', proposal: 'object', verdict: 'string', tokens: 'object', maskDigest: 'string|null', maskTrail: 'object|absent' },
  closed: {
    kind: 'string', caseId: 'string', status: 'string', reason: 'string|null', params: 'object', patch: 'array|null', argumentsDigest: 'string|null',
    attempts: 'number', retries: 'number', operations: 'number', attemptsLeft: 'number', operationsLeft: 'number', validatorCalls: 'number',
    collateralOp: 'number', collateralPtr: 'number',
  },
  resources: { kind: 'string', caseId: 'string', prefillMs: 'number', decodeMs: 'number', maskMs: 'number', confidence: 'number|null', signals: 'array|absent' },
};

/** {@link ENTRY_FIELDS} as it is asked for, since every row that is read asks. */
const FIELD_CHECKS: ReadonlyMap<unknown, readonly (readonly [name: string, types: string, allowed: readonly string[]])[]> = new Map(
  Object.entries(ENTRY_FIELDS).map(([kind, fields]) => [kind, Object.entries(fields).map(([name, types]) => [name, types, types.split('|')] as const)]),
);

/** The first fault of a value that should be an entry: a field that is unknown, missing or of another type. Undefined where there is none. */
export function entryFault(value: JsonValue | undefined): string | undefined {
  if (!isJsonObject(value)) return 'entry: not an object';
  const kind = memberOf(value, 'kind');
  const checks = FIELD_CHECKS.get(kind);
  if (checks === undefined) return 'kind: unknown';
  const fields = ENTRY_FIELDS[kind as LedgerEntry['kind']];
  const stranger = Object.keys(value).find((name) => !Object.hasOwn(fields, name));
  if (stranger !== undefined) return `${stranger}: unknown field`;
  const fault = checks.find(([name, , allowed]) => {
    const member = memberOf(value, name);
    return !allowed.includes(member === undefined ? 'absent' : jsonTypeOf(member));
  });
  return fault === undefined ? undefined : `${fault[0]}: not ${fault[1]}`;
}
/** Records a text by its digest, and whole where it is short enough and valid Unicode (canonical text can hold nothing else). */
export function recordText(text: string): RecordedText {
  const isRecorded = text.length <= RECORDED_TEXT_LIMIT && !hasLoneSurrogate(text);
  return { text: isRecorded ? text : null, length: text.length, digest: digestOfText(text) };
}
