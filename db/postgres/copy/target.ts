import type { CopyTarget } from '../../copy/port.ts';
import { COPIED_TABLES } from '../../copy/tables.ts';
import { StorageError } from '../../errors.ts';
import type { RunQuery } from '../statements.ts';
import { toStored } from '../values.ts';
import { createCopyEnd, openLocked } from './rows.ts';

/** Writes the rows that triggers would have written; the triggers are disabled during the copy. */
const COMPUTE = [
  'insert into account_counts (connection_id, status, total) select connection_id, status, count(*) from accounts group by 1, 2',
  'insert into accounts_search (seq, environment_id, search_text) select seq, environment_id, search_text from accounts',
  `insert into execution_counts (environment_id, connector, tool_name, status, total)
    select environment_id, connector, tool_name, status, count(*) from executions where status <> 'STARTED' group by 1, 2, 3, 4`,
  `insert into execution_blocks (block, first_started_at, last_started_at)
    select distinct seq >> 10, started_at - started_at % 10000, started_at - started_at % 10000 + 9999 from executions`,
  `insert into idempotency_bytes (environment_id, client_id, bytes)
    select environment_id, client_id, sum(256 + coalesce(length(sealed_reply), 0)) from idempotency_keys group by 1, 2`,
];

/**
 * Opens an empty database to which rows are copied. Everything is written in one transaction, so nothing is left of
 * an interrupted copy.
 */
export async function openCopyTarget(location: string): Promise<CopyTarget> {
  const { session, tables } = await openLocked(location, true);
  const { query } = session;
  try {
    await requireEmpty(query);
    for (const table of tables) await query({ text: `alter table ${table} disable trigger user` });
  } catch (error) {
    await session.close().catch(() => {});
    throw error;
  }
  return {
    ...createCopyEnd(session),
    async insert(table, columns, rows) {
      const types = await typesOf(query, table, columns);
      const values = columns.map((_, place) => rows.map((row) => toStored(row[place])));
      const arrays = types.map((type, place) => `$${place + 1}::${type}[]`).join(', ');
      await query({ text: `insert into ${table} (${columns.join(', ')}) select * from unnest(${arrays})`, values });
    },
    async complete({ accounts, executions, instances }) {
      for (const text of COMPUTE) await query({ text });
      const { rows } = await query({ text: 'select coalesce(max(slot), 0) from data_keys' });
      const numbers = { accounts_seq: accounts, executions_seq: executions, instances_number: instances };
      for (const [sequence, last] of Object.entries({ ...numbers, data_keys_slot: Number(rows[0]?.[0]) })) {
        await query({
          text: 'select setval($1::regclass, greatest($2::bigint, 1), $2::bigint > 0)',
          values: [sequence, last],
        });
      }
      // PostgreSQL rejects this change while checks are pending. None are, because foreign keys are not deferred.
      for (const table of tables) await query({ text: `alter table ${table} enable trigger user` });
    },
    async finish() {
      try {
        await query({ text: 'commit' });
      } catch (cause) {
        if (session.isOpen()) throw cause;
        throw new StorageError(
          'OUTCOME_UNKNOWN',
          'the connection was lost at the end of the copy: run the same command again. If it says that the target has rows, the copy is complete',
          { cause },
        );
      }
      await analyze(query);
      await session.close();
    },
    close: () => session.close(),
  };
}

/** @throws StorageError `TARGET_NOT_EMPTY` */
async function requireEmpty(query: RunQuery): Promise<void> {
  for (const table of COPIED_TABLES) {
    const { rows } = await query({ text: `select count(*) from (select 1 from ${table} limit 1) as found` });
    if (rows[0]?.[0] === 0) continue;
    throw new StorageError('TARGET_NOT_EMPTY', `the target has rows in ${table}: use an empty database`);
  }
}

async function typesOf(query: RunQuery, table: string, columns: readonly string[]): Promise<string[]> {
  const { rows } = await query({
    text: `select attname, format_type(atttypid, null) from pg_attribute where attrelid = to_regclass($1) and attnum > 0`,
    values: [table],
  });
  const types = new Map(rows.map(([name, type]) => [String(name), String(type)]));
  return columns.map((column) => types.get(column) ?? 'text');
}

/** Without statistics the planner would choose slow plans until they are collected automatically. */
async function analyze(query: RunQuery): Promise<void> {
  await query({ text: 'analyze' }).catch(() => {});
}
