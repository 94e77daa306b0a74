import { INSTANCE } from '../../../core/budgets.ts';
import type { CopyEnd, StoredRow } from '../../copy/port.ts';
import { batchOf, conditionOf } from '../../copy/tables.ts';
import { StorageError } from '../../errors.ts';
import { createRepositories } from '../../repositories.ts';
import { createAuditLanes } from '../audit-lanes.ts';
import { openSession, type Session } from '../session.ts';
import { createPostgresStatements } from '../statements.ts';

/**
 * Opens a connection, and begins a transaction on it that locks all tables, so that no other process writes to them.
 *
 * @param isTarget whether other processes must not read them either
 * @throws StorageError `DATABASE_IN_USE` if a server uses the database; `SCHEMA_MISSING` if it has no tables
 */
export async function openLocked(location: string, isTarget: boolean): Promise<{ session: Session; tables: string[] }> {
  const session = await openSession(location, { statementMs: null });
  try {
    await session.query({ text: "begin isolation level repeatable read; set local lock_timeout = '3s'" });
    const { rows: found } = await session.query({
      text: `select relname from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace order by 1`,
    });
    const tables = found.map(([name]) => String(name));
    if (!tables.includes('migrations'))
      throw new StorageError('SCHEMA_MISSING', 'the database has no tables: run `valetkey db migrate`');
    await session.query({
      text: `lock table ${tables.join(', ')} in ${isTarget ? 'access exclusive' : 'share row exclusive'} mode`,
    });
    const { rows } = await session.query({
      text: 'select count(*) from instances where beat_at > (extract(epoch from clock_timestamp()) * 1000)::bigint - $1::bigint',
      values: [INSTANCE.silentMs],
    });
    if (rows[0]?.[0] !== 0) throw inUse();
    return { session, tables };
  } catch (error) {
    await session.close().catch(() => {});
    throw error instanceof StorageError && error.code === '55P03' ? inUse(error) : error;
  }
}

/** The functions that the source and the target of a copy have in common. */
export function createCopyEnd({ query }: Session): CopyEnd {
  const strings = async (text: string, values: unknown[] = []) =>
    (await query({ text, values })).rows.map(([value]) => String(value));
  const { repositories } = createRepositories(createPostgresStatements(query, false), {
    auditHeads: (statements) => createAuditLanes(statements, { number: 0, heads: new Map() }),
  });
  return {
    read: repositories,
    migrations: () => strings("select name from migrations where name like '0%' order by name"),
    columns: (table) =>
      strings(
        `select attname from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped
          and attgenerated = '' order by attname::text collate "C"`,
        [table],
      ),
    async count(table) {
      const { rows } = await query({ text: `select count(*) from ${table} where ${conditionOf(table)}` });
      return Number(rows[0]?.[0]);
    },
    async *rows(table, columns) {
      const select = `select ${columns.join(', ')} from ${table} where ${conditionOf(table)}`;
      await query({ text: `declare copied_rows no scroll cursor for ${select}` });
      for (;;) {
        const { rows } = await query({ text: `fetch ${batchOf(table)} from copied_rows` });
        if (rows.length === 0) break;
        yield rows as StoredRow[];
      }
      await query({ text: 'close copied_rows' });
    },
  };
}

function inUse(cause?: unknown): StorageError {
  return new StorageError(
    'DATABASE_IN_USE',
    'a server uses the database: stop all servers, and wait 15 seconds if one of them was killed',
    { cause },
  );
}
