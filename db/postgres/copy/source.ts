import type { CopySource } from '../../copy/port.ts';
import { COPIED_TABLES } from '../../copy/tables.ts';
import { COPIED } from '../../migrations.ts';
import { openSession } from '../session.ts';
import { createCopyEnd, openLocked } from './rows.ts';

/** Tables that are not copied: they are computed from other tables, describe this database or server, or are empty. */
const COMPUTED = [
  ...['account_counts', 'accounts_search', 'execution_counts', 'execution_blocks', 'idempotency_bytes'],
  ...['migrations', 'crowded_units', 'server_lives'],
];

/** Opens a database whose rows are copied to a database of another kind. No server may use it meanwhile. */
export async function openCopySource(location: string): Promise<CopySource> {
  const { session, tables } = await openLocked(location, false);
  const { query } = session;
  const one = async (text: string) => Number((await query({ text })).rows[0]?.[0]);
  const lastOf = (sequence: string) => one(`select case when is_called then last_value else 0 end from ${sequence}`);
  /** Whether an earlier copy has left its mark. That copy may be in use, so `reopen` does not remove the mark then. */
  const wasRetired = (await one(`select count(*) from migrations where name = '${COPIED}'`)) > 0;
  // In PostgreSQL, the count of an hour can be split into several rows. A database file has one row for each count, so
  // the rows are merged before they are copied.
  for (const name of ['execution_statistics', 'refresh_statistics'])
    if (tables.includes(name)) await query({ text: `select fold_${name}()` });
  return {
    ...createCopyEnd(session),
    async unknownTables() {
      const known = new Set([...COPIED_TABLES, ...COMPUTED]);
      return tables.filter((name) => !known.has(name));
    },
    async lastNumbers() {
      return {
        accounts: await lastOf('accounts_seq'),
        executions: await lastOf('executions_seq'),
        instances: await lastOf('instances_number'),
      };
    },
    async retire(at) {
      const text = `insert into migrations (name, sha256, applied_at) values ($1, '', $2) on conflict do nothing`;
      await query({ text, values: [COPIED, at] });
      await query({ text: 'commit' });
    },
    async reopen() {
      if (!wasRetired) await reopenDatabase(location);
    },
    close: () => session.close(),
  };
}

/** Removes the mark of a database that was copied. @returns false if it has none */
export async function reopenDatabase(location: string): Promise<boolean> {
  const session = await openSession(location);
  try {
    const { rows } = await session.query({ text: "select to_regclass('migrations') is not null" });
    if (rows[0]?.[0] !== true) return false;
    return (await session.query({ text: 'delete from migrations where name = $1', values: [COPIED] })).changes > 0;
  } finally {
    await session.close();
  }
}
