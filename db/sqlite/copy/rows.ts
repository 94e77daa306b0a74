import type { CopyEnd, StoredRow } from '../../copy/port.ts';
import { batchOf, conditionOf } from '../../copy/tables.ts';
import type { Client } from '../open.ts';
import { createSqliteRepositories } from '../repositories.ts';

/** The functions that the source and the target of a copy have in common. */
export function createCopyEnd(client: Client): CopyEnd {
  return {
    read: createSqliteRepositories(client).repositories,
    async migrations() {
      return client.prepare("select name from migrations where name like '0%' order by name").pluck().all() as string[];
    },
    async columns(table) {
      return client.prepare('select name from pragma_table_info(?) order by name').pluck().all(table) as string[];
    },
    async count(table) {
      return client
        .prepare(`select count(*) from ${table} where ${conditionOf(table)}`)
        .pluck()
        .get() as number;
    },
    async *rows(table, columns) {
      const statement = client.prepare(`select ${columns.join(', ')} from ${table} where ${conditionOf(table)}`).raw();
      let batch: StoredRow[] = [];
      for (const row of statement.iterate() as IterableIterator<StoredRow>) {
        if (batch.push(row) < batchOf(table)) continue;
        yield batch;
        batch = [];
      }
      if (batch.length > 0) yield batch;
    },
  };
}
