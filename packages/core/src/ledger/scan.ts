/**
 * A ledger read line by line: shape, canonical bytes, chain and whole repairs in one pass, so that no ledger need be in memory whole.
 * The first broken row is the one named, and a scan that has named one names it for ever.
 */
import { ok, err, type Result } from '../result.ts';
import { traceOf } from './freeze.ts';
import { endOf, follow, GENESIS, readRowText, type ChainBounds, type LedgerHead, type LedgerIssue, type LedgerRow } from './ledger.ts';

export interface LedgerScan {
  /** One line, its newline left out. */
  line(text: string): Result<LedgerRow, LedgerIssue>;
  /** `rest` is what follows the last newline. A repair that was not closed is `ledger/open-repair` at its first row. */
  end(rest?: string): Result<LedgerHead, LedgerIssue>;
  /** The head after the last whole repair so far: where a writer goes on after a crash. */
  whole(): LedgerHead;
}

/** `take` gets the rows of one whole repair after the other. */
export function scanLedger(bounds: ChainBounds = {}, take: (repair: readonly LedgerRow[]) => void = () => undefined): LedgerScan {
  let at = bounds.from ?? GENESIS;
  let whole = at;
  let index = 0;
  let repair: LedgerRow[] = [];
  let issue: LedgerIssue | undefined;
  const fail = (found: LedgerIssue): Result<never, LedgerIssue> => {
    issue = found;
    return err(found);
  };
  const closeRepair = (): LedgerIssue | undefined => {
    const [first] = repair;
    if (first === undefined) return undefined;
    if (whole.count !== at.count) return { code: 'ledger/open-repair', index: index - repair.length, caseId: first.entry.caseId };
    take(repair);
    repair = [];
    return undefined;
  };

  return {
    line(text) {
      if (issue !== undefined) return err(issue);
      const row = readRowText(text, index);
      if (!row.ok) return fail(row.error);
      const next = follow(at, row.value, index, bounds);
      if (!next.ok) return fail(next.error);
      const { entry } = row.value;
      const open = entry.kind === 'opened' ? closeRepair() : undefined;
      if (open !== undefined) return fail(open);
      repair.push(row.value);
      at = next.value;
      index += 1;
      // Only these end a repair, which keeps the whole linear.
      if ((entry.kind === 'closed' || entry.kind === 'resources') && traceOf(repair.map((each) => each.entry)) !== undefined) whole = at;
      return row;
    },
    end(rest = '') {
      if (issue !== undefined) return err(issue);
      if (rest !== '') return fail({ code: 'ledger/torn-row', index });
      const open = closeRepair();
      if (open !== undefined) return fail(open);
      const end = endOf(at, index, bounds);
      return end.ok ? ok(end.value) : fail(end.error);
    },
    whole: () => whole,
  };
}
