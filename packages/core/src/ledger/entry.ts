/**
 * What the ledger records of one repair: opened, perhaps deterministic, one entry a proposal, closed, resources. Plain JSON, so that a row is bytes.
 * Everything but `resources` follows from the input and the proposals alone and is the same on every machine; no gold label has a field.
 */
import { digestOfText, type Digest } from '../json/digest.ts';
import { hasLoneSurrogate, type JsonObject } from '../json/value.ts';
import type { DeterministicRule } from '../deterministic/deterministic-patch.ts';
import type { Patch } from '../patch/operation.ts';
import type { ReadingStep } from '../reading/find-reading.ts';
import type { MaskTrail } from '../repair/proposer.ts';
import type { WrittenValue } from '../provenance/written.ts';
import type { Violation } from '../validate/violation.ts';

/**
 * Version of the fields below and of what is judged; every repair names its own, and a ledger that begins under another has another genesis digest.
 * 2: written values have their origins, and the request is recorded.
 */
export const LEDGER_VERSION = 2;

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
  /** Absent, 1. */
  readonly version?: number;
  readonly caseId: string;
  /** Null where the contract could not be loaded: then `report` is empty and `closed` names the reason. */
  readonly contractDigest: Digest | null;
  readonly contract: JsonObject | null;
  readonly call: { readonly name: string; readonly arguments: RecordedText };
  readonly toolNames: readonly string[];
  readonly finishReason: string | null;
  readonly context: JsonObject;
  readonly requestDigest: Digest;
  /** What was asked: a source of written values. Absent before version 2. */
  readonly request?: readonly { readonly role: string; readonly content: RecordedText }[];
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
  /** What it wrote. Absent before version 2. */
  readonly written?: readonly WrittenValue[];
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
  /** What it wrote, or was kept from writing by `provenance/no-origin`; absent where that is nothing. */
  readonly written?: readonly WrittenValue[];
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
  /** Every scalar that the repair changed or added; present where the call was repaired, from version 2 on. */
  readonly written?: readonly WrittenValue[];
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

/** Records a text by its digest, and whole where it is short enough and valid Unicode (canonical text can hold nothing else). */
export function recordText(text: string): RecordedText {
  const isRecorded = text.length <= RECORDED_TEXT_LIMIT && !hasLoneSurrogate(text);
  return { text: isRecorded ? text : null, length: text.length, digest: digestOfText(text) };
}
