/** What holds of every storage, so that each is tested by the same list, in Node and in a page. Throws at the first thing that is wrong. */
import type { Result } from '@contractrl/core';
import {
  appendRepair, createLedger, GENESIS, scanLedger, type LedgerHead, type LedgerIssue, type LedgerStorage, type StorageFailure,
} from '@contractrl/core/ledger';
import { sampleRepair } from './sample.ts';

type Open = (through?: LedgerHead) => Promise<Result<LedgerStorage, StorageFailure | { readonly code: LedgerIssue['code'] | 'ledger/not-utf8' }>>;

/** `open` opens the same, at first empty, ledger each time. Gives the names of the checks that were made. */
export async function checkStorage(open: Open): Promise<readonly string[]> {
  const made: string[] = [];
  const check = (name: string, isRight: boolean): void => {
    if (!isRight) throw new Error(`not so: ${name}`);
    made.push(name);
  };
  const repair = await sampleRepair('größe 🚆');
  const size = repair.entries.length;

  let storage = opened(await open());
  check('a new ledger is empty', storage.head().count === 0 && (await readAll(storage)).length === 0);
  const ledger = createLedger(storage);
  const heads = await Promise.all([ledger.append(repair), ledger.append(repair), ledger.append(repair)]);
  check('appends at once are made one after the other', heads.every((head, index) => head.ok && head.value.count === size * (index + 1)));
  const head = storage.head();
  check('the rows are whole', isWhole(await readAll(storage), head));
  const stale = await storage.append(appendRepair(GENESIS, repair).rows);
  check('rows that do not follow are refused', !stale.ok && stale.error.code === 'ledger/not-next');
  const part = await storage.append(appendRepair(head, repair).rows.slice(0, 2));
  check('a part of a repair is refused', !part.ok && part.error.code === 'ledger/part-of-repair');
  check('what was refused left nothing', isWhole(await readAll(storage), head));
  const seen: string[] = [];
  await storage.read((line) => seen.push(line) < 2);
  check('reading stops when it is told to', seen.length === 2);
  await storage.close();
  await storage.close();
  const late = await storage.append(appendRepair(head, repair).rows);
  check('a closed ledger takes nothing', !late.ok && late.error.code === 'ledger/closed');

  storage = opened(await open(head));
  check('it is there when opened again', storage.head().head === head.head && isWhole(await readAll(storage), head));
  const next = await createLedger(storage).append(repair);
  check('and goes on', next.ok && isWhole(await readAll(storage), next.value));
  await storage.close();
  const cut = await open({ count: 99, head: head.head });
  check('a ledger that does not reach a kept head is refused', !cut.ok && cut.error.code === 'ledger/truncated');
  return made;
}

export function opened<T>(result: Result<T, { readonly code: string }>): T {
  if (!result.ok) throw new Error(`${result.error.code}: ${JSON.stringify(result.error)}`);
  return result.value;
}

async function readAll(storage: LedgerStorage): Promise<readonly string[]> {
  const lines: string[] = [];
  opened(await storage.read((line) => lines.push(line) > 0));
  return lines;
}

function isWhole(lines: readonly string[], to: LedgerHead): boolean {
  const scan = scanLedger({ to });
  for (const line of lines) scan.line(line);
  return scan.end().ok;
}
