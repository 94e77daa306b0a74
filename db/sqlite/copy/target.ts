import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { CopyTarget, LastNumbers } from '../../copy/port.ts';
import { makeDirectory, syncDirectory } from '../../directory.ts';
import { StorageError } from '../../errors.ts';
import { translateError } from '../errors.ts';
import { removeNote } from '../fresh-log.ts';
import { holdInstanceLock } from '../instance-lock.ts';
import { removeMark } from '../mark-file.ts';
import { migrate } from '../migrate.ts';
import type { Client } from '../open.ts';
import { createCopyEnd } from './rows.ts';

/** Writes the rows that triggers would have written; the triggers are removed during the copy. */
const COMPUTE = `
  insert into account_counts (connection_id, status, total) select connection_id, status, count(*) from accounts group by 1, 2;
  insert into accounts_search (accounts_search) values ('rebuild');
  insert into execution_counts (environment_id, connector, tool_name, status, total)
    select environment_id, connector, tool_name, status, count(*) from executions where status <> 'STARTED' group by 1, 2, 3, 4;
  insert into execution_blocks (block, first_started_at, last_started_at)
    select seq >> 10, min(started_at), max(started_at) from executions group by 1;
  insert into idempotency_bytes (environment_id, client_id, bytes)
    select environment_id, client_id, sum(256 + coalesce(length(sealed_reply), 0)) from idempotency_keys group by 1, 2;`;

/**
 * Opens an empty database to which rows are copied. They are written to a temporary file, which is renamed at the end.
 * A later copy removes the temporary file of an interrupted one.
 */
export async function openCopyTarget(path: string, now: () => number): Promise<CopyTarget> {
  const hold = await holdInstanceLock(path, { waitMs: 0 });
  const unfinished = `${path}.copying`;
  let client: Client | undefined;
  try {
    if (existsSync(path)) {
      throw new StorageError('TARGET_NOT_EMPTY', `there is a database at ${path}: move it away, or give another path`);
    }
    makeDirectory(dirname(path));
    rmSync(unfinished, { force: true });
    closeSync(openSync(unfinished, 'wx', 0o600));
    client = new Database(unfinished, { fileMustExist: true });
    // An interrupted copy is made again from the beginning, so it needs no log.
    client.pragma('journal_mode = off');
    client.pragma('synchronous = off');
    migrate(client, now);
    return createTarget(client, path, unfinished, () => hold.release());
  } catch (error) {
    client?.close();
    rmSync(unfinished, { force: true });
    await hold.release();
    throw translateError(error);
  }
}

function createTarget(client: Client, path: string, unfinished: string, release: () => Promise<void>): CopyTarget {
  client.pragma('foreign_keys = off');
  const triggers = client.prepare("select name, sql from sqlite_schema where type = 'trigger'").all() as Trigger[];
  for (const { name } of triggers) client.exec(`drop trigger ${name}`);
  let closed = false;
  return {
    ...createCopyEnd(client),
    async insert(table, columns, rows) {
      const places = columns.map(() => '?').join(', ');
      const statement = client.prepare(`insert into ${table} (${columns.join(', ')}) values (${places})`);
      try {
        client.transaction(() => {
          for (const row of rows) statement.run(...row);
        })();
      } catch (error) {
        throw translateError(error);
      }
    },
    async complete(last) {
      complete(client, last);
      for (const { sql } of triggers) client.exec(sql);
      const [dangling] = client.pragma('foreign_key_check') as { table: string }[];
      if (dangling) {
        throw new StorageError('COPY_DAMAGED', `a row of ${dangling.table} refers to a row that is missing`);
      }
    },
    async finish() {
      client.close();
      sync(unfinished);
      for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
      renameSync(unfinished, path);
      syncDirectory(dirname(path));
      // These files describe an earlier database of this name.
      removeNote(path);
      removeMark(path);
      closed = true;
      await release();
    },
    async close() {
      if (closed) return;
      closed = true;
      client.close();
      rmSync(unfinished, { force: true });
      await release();
    },
  };
}

interface Trigger {
  name: string;
  sql: string;
}

function complete(client: Client, { accounts, executions, instances }: LastNumbers): void {
  client.exec(COMPUTE);
  const counter = client.prepare(`insert into counters (environment_id, name, total, last_seq)
    select id, @name, (select count(*) from accounts where @name = 'accounts' and environment_id = environments.id)
      + (select count(*) from executions where @name = 'executions' and environment_id = environments.id),
      (ordinal << 40) + @last from environments`);
  counter.run({ name: 'accounts', last: accounts });
  counter.run({ name: 'executions', last: executions });
  client.prepare("delete from sqlite_sequence where name = 'instances'").run();
  client.prepare("insert into sqlite_sequence (name, seq) values ('instances', ?)").run(instances);
}

function sync(path: string): void {
  const fd = openSync(path, 'r+');
  fsyncSync(fd);
  closeSync(fd);
}
