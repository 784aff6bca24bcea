import { describe, expect, test } from 'vitest';
import { explain } from './explain.ts';

describe('explain', () => {
  test.each([
    ['worker/aborted', {}, /Nothing was changed/u],
    ['worker/died', { detail: 'x' }, /load the model again/u],
    ['worker/no-answer', { timeoutMs: 120_000 }, /load the model again/u],
    ['worker/not-data', { cause: { name: 'DataCloneError', message: 'f could not be cloned.' } }, /f could not be cloned/u],
    ['worker/exception', { cause: { name: 'RangeError', message: 'Array buffer allocation failed' } }, /Array buffer allocation failed/u],
    ['worker/exception', {}, /no details/u],
    ['model/download-failed', { status: 404 }, /contractrl model fetch/u],
    ['model/download-failed', { status: 0 }, /Check the connection/u],
    ['model/size-mismatch', { expectedBytes: 10, actualBytes: 9 }, /9 bytes.*10/u],
    ['model/digest-mismatch', {}, /not used/u],
    ['engine/load-failed', {}, /memory/u],
    ['web/insecure-context', {}, /https/u],
    ['engine/none-left', { rejected: [{ engine: 'webgpu', reason: { code: 'gpu/no-adapter' } }, { engine: 'wasm', reason: { code: 'engine/out-of-memory' } }] }, /WebGPU: .*adapter.*WASM: .*memory/u],
    ['model/not-kept', { neededBytes: 98e6, storage: { quotaBytes: 50e6, usageBytes: 1e6 } }, /98\.0 MB.*50\.0 MB.*1\.0 MB/u],
    ['model/not-kept', {}, /next visit/u],
  ])('%s %j says what to do', (code, params, sentence) => {
    expect(explain({ code, params })).toMatch(sentence);
  });

  test('a failure that brings its own sentence is shown with it', () => {
    expect(explain({ code: 'engine/other', params: { message: 'The device was lost.' } })).toBe('The device was lost.');
  });

  test('a code without a sentence is still named', () => {
    expect(explain({ code: 'engine/new-thing', params: {} })).toContain('engine/new-thing');
  });

  test('a code that is a member of every object is no explanation', () => {
    expect(explain({ code: 'constructor', params: {} })).toContain('constructor');
  });
});
