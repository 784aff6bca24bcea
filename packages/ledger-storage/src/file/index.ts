/** A ledger in a file, for Node. */
export { openFileStorage, type FileStorage, type FileStorageOptions, type Recovery } from './file-storage.ts';
export { scanLedgerFile, type LedgerFileIssue, type TakeRepair } from './scan-file.ts';
