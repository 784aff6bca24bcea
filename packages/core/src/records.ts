/** Failed calls and outcomes as records of JSON Lines: reading the one, writing the other. */
export { readRepairRequest, readRequestText } from './intake/request.ts';
export { failedRecord, toRepairRecord, type RepairRecord } from './repair/record.ts';
