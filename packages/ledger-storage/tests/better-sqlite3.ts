/**
 * A stand-in with the manners of better-sqlite3 12, whose binary is built for each Node: what its API documentation says of `exec`, `prepare`, `run`,
 * `all`, `close` and errors, over one table and the few statements of the storage. It shows that the storage asks for nothing that only `node:sqlite` has.
 * Reference: better-sqlite3 docs/api.md (Database, Statement, SqliteError).
 */
import type { SqliteDatabase } from '../src/sqlite.ts';

/** The part of `Database` and `Statement` that the documentation gives, as TypeScript has it in `@types/better-sqlite3`. */
interface BetterStatement {
  run(...parameters: unknown[]): { changes: number; lastInsertRowid: number | bigint };
  get(...parameters: unknown[]): unknown;
  all(...parameters: unknown[]): unknown[];
}
interface BetterDatabase {
  exec(source: string): this;
  prepare(source: string): BetterStatement;
  close(): this;
}
export type FitsThePort = BetterDatabase extends SqliteDatabase ? true : never;

class SqliteError extends Error {
  override readonly name = 'SqliteError';
  readonly code: string;
  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** What connections of one file share. */
export interface SharedFile {
  readonly rows: Map<number, string>;
  /** The connection that holds the write lock. */
  writer: unknown;
}

export function newFile(): SharedFile {
  return { rows: new Map(), writer: undefined };
}

export class StandInDatabase implements BetterDatabase {
  readonly #file: SharedFile;
  #before: ReadonlyMap<number, string> = new Map();
  #isOpen = true;

  constructor(file: SharedFile) {
    this.#file = file;
  }

  exec(source: string): this {
    this.#mustBeOpen();
    const { rows } = this.#file;
    if (source === 'BEGIN IMMEDIATE') {
      if (this.#file.writer !== undefined) throw new SqliteError('database is locked', 'SQLITE_BUSY');
      this.#file.writer = this;
      this.#before = new Map(rows);
    } else if (source === 'COMMIT' || source === 'ROLLBACK') {
      if (this.#file.writer !== this) throw new SqliteError(`cannot ${source.toLowerCase()} - no transaction is active`, 'SQLITE_ERROR');
      if (source === 'ROLLBACK') {
        rows.clear();
        for (const [sequence, line] of this.#before) rows.set(sequence, line);
      }
      this.#file.writer = undefined;
    } else if (!/^\s*PRAGMA synchronous = EXTRA;\s*CREATE TABLE IF NOT EXISTS contractrl_ledger /u.test(source)) {
      throw new SqliteError(`near "${source}": syntax error`, 'SQLITE_ERROR');
    }
    return this;
  }

  prepare(source: string): BetterStatement {
    this.#mustBeOpen();
    const { rows } = this.#file;
    const isReader = source.startsWith('SELECT');
    const all = (...parameters: unknown[]): unknown[] => {
      this.#mustBeOpen();
      if (!isReader) throw new TypeError('This statement does not return data. Use run() instead');
      const sorted = [...rows].sort(([a], [b]) => a - b);
      if (/ORDER BY sequence DESC LIMIT 1$/u.test(source)) return sorted.slice(-1).map(([sequence, line]) => ({ sequence, line }));
      const [from, limit] = parameters as [number, number];
      if (parameters.length !== 2) throw new RangeError('Too few parameter values were provided');
      return sorted.filter(([sequence]) => sequence >= from).slice(0, limit).map(([, line]) => ({ line }));
    };
    return {
      run: (...parameters) => {
        this.#mustBeOpen();
        if (isReader) throw new TypeError('This statement returns data. Use get(), all(), or iterate() instead');
        const [sequence, line] = parameters as [number, string];
        if (rows.has(sequence)) throw new SqliteError('UNIQUE constraint failed: contractrl_ledger.sequence', 'SQLITE_CONSTRAINT_PRIMARYKEY');
        rows.set(sequence, line);
        return { changes: 1, lastInsertRowid: sequence };
      },
      get: (...parameters) => all(...parameters)[0],
      all,
    };
  }

  close(): this {
    this.#isOpen = false;
    return this;
  }

  #mustBeOpen(): void {
    if (!this.#isOpen) throw new TypeError('The database connection is not open');
  }
}
