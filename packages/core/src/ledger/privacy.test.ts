import { describe, expect, test } from 'vitest';
import { GOOD, patchText, requestOf, scripted, STILL_WRONG, textProposal } from '../../tests/support.ts';
import type { Proposal } from '../repair/proposer.ts';
import { repairCall } from '../repair/repair.ts';
import { checkRepair } from './check-repair.ts';
import type { FrozenRepair } from './freeze.ts';
import { appendRepair, formatRow, GENESIS, readLedgerText, repairsIn, verifyRows } from './ledger.ts';
import { hideContents, isHidden } from './privacy.ts';

const KEY = new Uint8Array(32).fill(7);

async function frozenOf(...answers: readonly (string | Proposal)[]): Promise<FrozenRepair> {
  const request = requestOf({ request: 'PRIVATE-REQUEST', context: { customer: 'PRIVATE-STATE' }, call: { name: 'transfer', arguments: { to: 'ACC-2041', amount_cents: '15000', memo: 'PRIVATE-MEMO' } } });
  return (await repairCall(request, scripted(...answers), { seed: 3, deterministic: false })).frozen;
}

function textOf(repair: FrozenRepair): string {
  return appendRepair(GENESIS, repair).rows.map(formatRow).join('');
}

describe('a ledger without contents', () => {
  test('holds no argument, no proposal, no written value, no state and no literal of the contract', async () => {
    const trail = { ...textProposal(patchText({ op: 'replace', path: '/memo', value: 'PRIVATE-VALUE' })), maskTrail: { ids: [91_017], closedCount: 0 } };
    const clear = await frozenOf(trail, STILL_WRONG);
    const secrets = ['PRIVATE-', 'ACC-', '15000', 'many', 'Transfer money', '91017', clear.opened.call.arguments.digest, clear.opened.contractDigest ?? '', clear.opened.requestDigest];
    for (const secret of secrets) expect(textOf(clear), secret).toContain(secret);
    const hidden = textOf(hideContents(clear, KEY));
    for (const secret of secrets) expect(hidden, secret).not.toContain(secret);
  });

  test('hides what a report says beside code and place, and writes that nothing stands where nothing does', async () => {
    const clear = await frozenOf(STILL_WRONG, '{"abstain":"ambiguous"}');
    const { opened, proposals, closed } = hideContents(clear, KEY);
    const hidden = { hidden: expect.stringMatching(/^[0-9a-f]{64}$/) as string };
    expect(clear.opened.report[0]?.params).not.toEqual({});
    expect(opened.report).toEqual(clear.opened.report.map((violation) => ({ ...violation, params: hidden })));
    expect(proposals[0]).toMatchObject({ report: [{ code: 'wrong_type', pointer: '/amount_cents', params: hidden }] });
    expect([closed.patch, closed.params, opened.manifest]).toEqual([null, {}, {}]);
    expect(opened.context).toEqual(hidden);
  });

  test('takes a key of sixteen bytes, and says what it refuses', async () => {
    const clear = await frozenOf(GOOD);
    expect(isHidden(hideContents(clear, KEY.slice(0, 16)))).toBe(true);
    expect(() => hideContents(clear, KEY.slice(0, 15))).toThrow('key must have at least 16 bytes');
    expect(() => hideContents(hideContents(clear, KEY), KEY)).toThrow('repair is hidden already');
  });

  test('says of written values where they stand, and not where they come from', async () => {
    const clear = await frozenOf(patchText({ op: 'copy', from: '/amount_cents', path: '/memo' }), GOOD);
    expect(clear.closed.written).toEqual([
      { pointer: '/amount_cents', origin: { kind: 'candidate', pointer: '/amount_cents', start: 0, end: 5, derivation: 'string-to-number' } },
      { pointer: '/memo', origin: { kind: 'candidate', pointer: '/amount_cents', start: 0, end: 5, derivation: 'verbatim' } },
    ]);
    const { closed, proposals: [first] } = hideContents(clear, KEY);
    expect(closed.written).toEqual(['/amount_cents', '/memo'].map((pointer) => ({ pointer, origin: { hidden: expect.stringMatching(/^[0-9a-f]{64}$/) as string } })));
    expect(first).toMatchObject({ written: [closed.written?.[1]] });
  });

  test('keeps what is structure: case, tool, pointers, codes, counts, seed', async () => {
    const clear = await frozenOf(STILL_WRONG, GOOD);
    const { opened, proposals, closed } = hideContents(clear, KEY);
    expect(opened).toMatchObject({ caseId: 'case-1', call: { name: 'transfer', arguments: { text: null, length: clear.opened.call.arguments.length } }, seed: 3, report: [{ code: 'wrong_type', pointer: '/amount_cents' }] });
    expect(proposals).toMatchObject([{ number: 1, verdict: 'repair/still-invalid', patch: [{ op: 'replace', path: '/amount_cents' }] }, { number: 2, verdict: 'accepted' }]);
    expect(closed).toMatchObject({ status: 'repaired', attempts: 2, operations: 2 });
  });

  test('is chained, read and verified like any other', async () => {
    const hidden = hideContents(await frozenOf(GOOD), KEY);
    const read = readLedgerText(textOf(hidden));
    if (!read.ok) throw new Error(read.error.code);
    expect(verifyRows(read.value)).toMatchObject({ ok: true });
    const repairs = repairsIn(read.value);
    expect(repairs).toMatchObject({ ok: true, value: [{ digest: hidden.digest }] });
  });

  test('shows with the clear trace and the key that they belong together, and with another key or trace that they do not', async () => {
    const [clear, other] = [await frozenOf(GOOD), await frozenOf('{"abstain":"ambiguous"}')];
    const { digest } = hideContents(clear, KEY);
    expect(hideContents(clear, KEY.slice()).digest).toBe(digest);
    expect(hideContents(clear, KEY.map(() => 8)).digest).not.toBe(digest);
    expect(hideContents(other, KEY).digest).not.toBe(digest);
  });

  test('keeps equal values equal: the patch of the end is the one that was proposed', async () => {
    const { proposals: [first], closed } = hideContents(await frozenOf(GOOD), KEY);
    expect(closed.patch).toEqual(first?.kind === 'attempt' && first.patch);
  });

  test('takes no key that could be searched, and hides nothing twice', async () => {
    const clear = await frozenOf(GOOD);
    expect(() => hideContents(clear, KEY.slice(0, 15))).toThrow(RangeError);
    expect(() => hideContents(hideContents(clear, KEY), KEY)).toThrow(TypeError);
    expect([isHidden(clear), isHidden(hideContents(clear, KEY))]).toEqual([false, true]);
  });

  test('is checked as far as it can be, and says what it cannot', async () => {
    const hidden = hideContents(await frozenOf(STILL_WRONG, GOOD), KEY);
    expect(await checkRepair(hidden)).toEqual({
      ok: true, value: { checked: ['structure'], notChecked: [{ step: 'texts', reason: 'replay/hidden' }, { step: 'judgement', reason: 'replay/hidden' }] },
    });
  });
});
