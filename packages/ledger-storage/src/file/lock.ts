/**
 * One writer a file. The lock is a file beside it that names its holder; it appears whole or not at all (a hard link, `link(2)`), and a
 * lock whose process is gone is taken over. Who may remove a dead lock is settled by a lock of its own, named by the dead one's token: two
 * processes that find the same dead lock cannot both remove it, nor one of them the new lock of the other.
 */
import { randomUUID } from 'node:crypto';
import { link, readFile, readlink, realpath, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { err, ok, type Result } from '@contractrl/core';
import type { StorageFailure } from '@contractrl/core/ledger';

export interface FileLock {
  release(): Promise<void>;
}

interface Holder {
  readonly token: string;
  readonly host: string;
  /** Process ids mean something inside one namespace only. Null where the system has none. */
  readonly namespace: string | null;
  readonly pid: number;
  /** When the process started, as the system counts it: process ids come again. Null where the system does not say. */
  readonly started: string | null;
}

/** Takes `<path>.lock`, or says who has it. File errors are thrown. */
export async function lockFile(path: string): Promise<Result<FileLock, Extract<StorageFailure, { readonly code: 'ledger/locked' }>>> {
  const token = randomUUID();
  const me: Holder = { token, host: hostname(), namespace: await namespaceOfThis(), pid: process.pid, started: (await processState(process.pid))?.started ?? null };
  // One file has one lock, whatever links lead to it.
  const lockPath = `${await realpath(path).catch(() => path)}.lock`;
  const ownPath = `${lockPath}.${token}`;
  await writeFile(ownPath, JSON.stringify(me), { flag: 'wx' });
  try {
    const holder = await take(lockPath, ownPath, me);
    return holder === undefined ? ok({ release: () => remove(lockPath, token) }) : err({ code: 'ledger/locked', holder: `${holder}, by ${lockPath}` });
  } finally {
    await unlink(ownPath);
  }
}

/** Each round ends with the lock, with a live holder, or after somebody else's lock has changed; so many changes in a row mean that it is busy. */
const MAX_ROUNDS = 16;

/** Links `ownPath` to `lockPath`. Undefined, or who holds it. */
async function take(lockPath: string, ownPath: string, me: Holder): Promise<string | undefined> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if (await tryLink(ownPath, lockPath)) return undefined;
    const holder = await readHolder(lockPath);
    if (holder === 'absent') continue;
    if (holder === 'unreadable') return 'a holder that cannot be read';
    if (await mayLive(holder, me)) return `process ${holder.pid} on ${holder.host}`;
    const rightPath = `${lockPath}.dead.${holder.token}`;
    const rival = await take(rightPath, ownPath, me);
    if (rival !== undefined) return rival;
    try {
      await remove(lockPath, holder.token);
    } finally {
      await remove(rightPath, me.token);
    }
  }
  return 'several processes at once';
}

async function tryLink(ownPath: string, lockPath: string): Promise<boolean> {
  try {
    await link(ownPath, lockPath);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function readHolder(lockPath: string): Promise<Holder | 'absent' | 'unreadable'> {
  let text: string;
  try {
    text = await readFile(lockPath, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'absent';
    throw error;
  }
  try {
    const { token, host, namespace, pid, started } = JSON.parse(text) as Partial<Holder>;
    const isHolder = typeof token === 'string' && /^[0-9a-f-]{36}$/u.test(token) && typeof host === 'string' && Number.isInteger(pid);
    return isHolder ? { token, host, namespace: namespace ?? null, pid: pid as number, started: started ?? null } : 'unreadable';
  } catch {
    return 'unreadable';
  }
}

/** False only where it is certain that the process is gone. */
async function mayLive(holder: Holder, me: Holder): Promise<boolean> {
  if (holder.host !== me.host || holder.namespace !== me.namespace) return true;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false;
  }
  const state = await processState(holder.pid);
  if (state === undefined || holder.started === null) return true;
  return !state.isZombie && state.started === holder.started;
}

/** From `/proc` (proc(5)); undefined on systems without it. */
async function processState(pid: number): Promise<{ readonly started: string; readonly isZombie: boolean } | undefined> {
  try {
    const [stat, boot] = await Promise.all([readFile(`/proc/${pid}/stat`, 'utf8'), readFile('/proc/sys/kernel/random/boot_id', 'utf8')]);
    // The name in parentheses may hold spaces and parentheses; behind it come state (field 3) and, as field 22, the start in ticks since the boot.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { started: `${boot.trim()}:${fields[19] ?? ''}`, isZombie: fields[0] === 'Z' || fields[0] === 'X' };
  } catch {
    return undefined;
  }
}

async function namespaceOfThis(): Promise<string | null> {
  try {
    return await readlink('/proc/self/ns/pid');
  } catch {
    return null;
  }
}

/** Removes the lock with this token, and no other. */
async function remove(lockPath: string, token: string): Promise<void> {
  const holder = await readHolder(lockPath);
  if (typeof holder === 'object' && holder.token === token) await unlink(lockPath);
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}
