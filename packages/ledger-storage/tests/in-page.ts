/** The page's side of the IndexedDB test. */
import { appendRepair } from '@contractrl/core/ledger';
import { openIndexedDbStorage } from '../src/indexed-db.ts';
import { sampleRepair } from './sample.ts';
import { checkStorage, opened } from './storage-checks.ts';

const page = {
  check: () => checkStorage((through) => openIndexedDbStorage('checked', through === undefined ? {} : { through })),

  /** Two writers that opened at the same head: what each is told, and what is stored. */
  async race() {
    const repair = await sampleRepair('race');
    const [a, b] = [opened(await openIndexedDbStorage('race')), opened(await openIndexedDbStorage('race'))];
    const told = await Promise.all([a, b].map(async (storage) => {
      const appended = await storage.append(appendRepair(storage.head(), repair).rows);
      return appended.ok ? appended.value.count : appended.error.code;
    }));
    await a.close();
    await b.close();
    const after = opened(await openIndexedDbStorage('race'));
    const stored = after.head().count;
    await after.close();
    return { told, stored, size: repair.entries.length };
  },

  /** A record changed behind the storage's back. */
  async tamper() {
    const storage = opened(await openIndexedDbStorage('tampered'));
    await storage.append(appendRepair(storage.head(), await sampleRepair('tampered')).rows);
    await storage.close();
    await new Promise<void>((resolve, reject) => {
      const request = indexedDB.open('tampered');
      request.onerror = () => reject(request.error ?? new Error('open'));
      request.onsuccess = () => {
        const transaction = request.result.transaction('rows', 'readwrite');
        const store = transaction.objectStore('rows');
        const row = store.get(1) as IDBRequest<string>;
        row.onsuccess = () => store.put(row.result.replace('"number":1', '"number":2'), 1);
        transaction.oncomplete = () => { request.result.close(); resolve(); };
      };
    });
    const again = await openIndexedDbStorage('tampered');
    return again.ok ? 'whole' : again.error;
  },
};
export type LedgerPage = typeof page;
(globalThis as { ledger?: LedgerPage }).ledger = page;
