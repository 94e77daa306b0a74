import { existsSync } from 'node:fs';
import type { CopySource } from '../../copy/port.ts';
import { COPIED_TABLES } from '../../copy/tables.ts';
import { StorageError } from '../../errors.ts';
import { COPIED } from '../../migrations.ts';
import { assertComplete } from '../complete.ts';
import { translateError } from '../errors.ts';
import { holdInstanceLock } from '../instance-lock.ts';
import { assertIntact, openWriter, refusal } from '../open.ts';
import { createCopyEnd } from './rows.ts';

/** Tables that are not copied: their rows are computed from other tables or belong to the file. */
const COMPUTED = [
  ...['counters', 'account_counts', 'accounts_unindexed', 'execution_counts', 'execution_blocks', 'idempotency_bytes'],
  ...['migrations', 'accounts_search'],
];

/** Opens a database file whose rows are copied to a database of another kind. No server may use it meanwhile. */
export async function openCopySource(path: string): Promise<CopySource> {
  if (!existsSync(path)) throw new StorageError('DATABASE_MISSING', `there is no database at ${path}`);
  const hold = await holdInstanceLock(path, { waitMs: 0 });
  const opened: ReturnType<typeof openWriter>[] = [];
  try {
    assertComplete(path);
    const client = openWriter(path, opened);
    assertIntact(client);
    // Prevents operator commands from writing rows that would not be copied.
    client.exec('begin immediate');
    return createSource(client, () => hold.release());
  } catch (error) {
    for (const client of opened) client.close();
    await hold.release();
    throw refusal(path, error);
  }
}

function createSource(client: ReturnType<typeof openWriter>, release: () => Promise<void>): CopySource {
  const one = (sql: string) => (client.prepare(sql).pluck().get() as number | null | undefined) ?? 0;
  const lastOf = (name: string) => one(`select max(last_seq & ${2 ** 40 - 1}) from counters where name = '${name}'`);
  /** Whether an earlier copy has left its mark. That copy may be in use, so `reopen` does not remove the mark then. */
  const wasRetired = one(`select count(*) from migrations where name = '${COPIED}'`) > 0;
  let closed = false;
  return {
    ...createCopyEnd(client),
    async unknownTables() {
      const known = new Set([...COPIED_TABLES, ...COMPUTED]);
      const names = client
        .prepare(
          "select name from pragma_table_list where schema = 'main' and type <> 'shadow' and name not like 'sqlite%'",
        )
        .pluck()
        .all() as string[];
      return names.filter((name) => !known.has(name));
    },
    async lastNumbers() {
      const instances = one("select seq from sqlite_sequence where name = 'instances'");
      return { accounts: lastOf('accounts'), executions: lastOf('executions'), instances };
    },
    async retire(at) {
      try {
        client
          .prepare('insert or replace into migrations (name, sha256, applied_at) values (?, ?, ?)')
          .run(COPIED, '', at);
        client.exec('commit');
      } catch (error) {
        throw translateError(error);
      }
    },
    async reopen() {
      if (!wasRetired) client.prepare('delete from migrations where name = ?').run(COPIED);
    },
    async close() {
      if (closed) return;
      closed = true;
      if (client.inTransaction) client.exec('rollback');
      client.close();
      await release();
    },
  };
}

/** Removes the mark of a database that was copied. @returns false if it has none */
export function reopenDatabase(path: string): boolean {
  if (!existsSync(path)) return false;
  const client = openWriter(path);
  try {
    const hasTable = client.prepare("select 1 from sqlite_schema where name = 'migrations'").get() !== undefined;
    return hasTable && client.prepare('delete from migrations where name = ?').run(COPIED).changes > 0;
  } finally {
    client.close();
  }
}
