/** The ledger of many repairs: rows and their chain, replay, storages, hidden contents, heads kept outside, checks of what is on record, scores against gold. */
export {
  createLedger, formatStorageFailure, headAfterRows, memoryStorage, type Ledger, type LedgerStorage, type StorageFailure,
} from './storage.ts';
export { scanLedger, type LedgerScan } from './scan.ts';
export {
  appendEntry, appendRepair, formatRow, GENESIS, headAfter, readLedgerText, readRowText, repairsIn, verifyRows,
  type ChainBounds, type LedgerHead, type LedgerIssue, type LedgerRow,
} from './ledger.ts';
export { replayTrace, type ReplayIssue } from './replay.ts';
export { hideContents, isHidden, MIN_PRIVACY_KEY_BYTES } from './privacy.ts';
export { formatHead, headBytes, readHead, signHead, verifySignedHead, type HeadIssue, type Sign, type SignedHead, type VerifySignature } from './signed-head.ts';
export { LEDGER_VERSION, RECORDED_TEXT_LIMIT } from './entry.ts';
export { ENTRY_FIELDS } from './entry-fields.ts';
export { changedLeaves, countCollateral, type Collateral } from './collateral.ts';
export { Gold, scoreFrozen } from './gold.ts';
export { checkRepair, type ReplayHost, type ReplayReport, type ReplayStep } from './check-repair.ts';
